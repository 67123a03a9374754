//! Formats that need more than tables: the HTML report and those of other programs.

use std::path::Path;

use indexmap::IndexSet;

use super::super::charts::with_files;
use super::super::compare::comparisons_html;
use super::super::dashboard::facts;
use super::super::failure::Failure;
use super::super::stored::Stored;
use crate::catalog::metric;
use crate::cli::{BenchmarkDirection, ReportArgs};
use crate::exit::Exit;
use crate::history::{Entry, Filter, History, trend_points, trend_svg};
use crate::report::{self, Better, HtmlInput};
use crate::summarize::Results;

/// Metrics whose way over time the HTML report shows.
const TRENDS: [&str; 3] = ["latency_s.mean", "latency_s.p99", "throughput_per_s"];

/// The HTML report of one folder, with the runs that were chosen.
pub(super) fn html(args: &ReportArgs, chosen: &[Results], folders: &[(String, Stored)]) -> Result<String, Failure> {
    let ([results], [(name, stored)]) = (chosen, folders) else {
        let message = format!("an HTML report is of one results folder, and {} are named", folders.len());
        return Err(Failure::new(Exit::Usage, message));
    };
    let trend = args.history.as_deref().map(|file| trends(file, results)).transpose()?;
    let comparison = match comparisons_html(stored) {
        Some(Ok(comparisons)) => comparisons,
        Some(Err(why)) => vec![format!("<p>The variants are not compared: {}</p>", report::html_text(&why))],
        None => Vec::new(),
    };
    let (manifests, environments) = (stored.manifests.clone(), stored.environments.clone());
    let facts = facts(Path::new(""), &stored.plan, (&stored.dir, name), manifests, environments);
    let made = with_files(&stored.dir, |records, telemetry| {
        report::html(&HtmlInput {
            plan: &stored.plan,
            results,
            facts: &facts,
            records,
            telemetry,
            trend: trend.as_deref(),
            comparison: &comparison,
        })
    });
    made.map_err(Failure::results)?.map_err(Failure::results)
}

/// How the chosen runs' lines went, as HTML.
fn trends(file: &Path, results: &Results) -> Result<String, Failure> {
    let keys: IndexSet<(&str, bool)> = results.runs.iter().map(|run| (run.key.as_str(), run.simulated)).collect();
    let all = History::open_existing(file).and_then(|history| history.select(&Filter::default()));
    let of_runs = |entry: &Entry| keys.contains(&(entry.key.as_str(), entry.simulated));
    let entries: Vec<Entry> = all.map_err(Failure::results)?.into_iter().filter(of_runs).collect();
    if entries.is_empty() {
        return Ok("<p>The history has no entry of these runs.</p>".to_owned());
    }
    let mut parts = Vec::new();
    for name in TRENDS {
        let trend = trend_points(&entries, name).map_err(Failure::results)?;
        let title = metric(name).map_or(name, |spec| spec.label);
        // a metric without a single number has no picture
        if let Ok(svg) = trend_svg(&trend) {
            parts.push(format!("<h3>{}</h3>\n{svg}", report::html_text(title)));
        }
    }
    Ok(parts.join("\n"))
}

/// JSON for github-action-benchmark, of the metrics of one direction.
pub(super) fn github_action_benchmark(args: &ReportArgs, chosen: &[Results]) -> Result<String, Failure> {
    let better = match args.better {
        BenchmarkDirection::Smaller => Better::Smaller,
        BenchmarkDirection::Bigger => Better::Bigger,
    };
    report::github_action_benchmark(chosen, better).map_err(Failure::results)
}

/// `OpenMetrics` text.
pub(super) fn openmetrics(chosen: &[Results]) -> Result<String, Failure> {
    report::openmetrics(chosen).map_err(Failure::results)
}
