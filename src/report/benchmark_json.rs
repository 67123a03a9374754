//! JSON for github-action-benchmark, which keeps a chart per name and raises an alarm when a value got
//! worse. It takes one direction per file: a file of metrics where less is better, for its tool
//! `customSmallerIsBetter`, and one where more is better, for `customBiggerIsBetter`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::catalog::{Direction, METRICS, MetricSpec, Validity};
use crate::history::{Figure, significant, symbol};
use crate::summarize::{Results, Summary, is_supported};

/// Which metrics a file holds, and so which tool of github-action-benchmark reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Latencies, memory, failures: `customSmallerIsBetter`.
    Smaller,
    /// Throughput, attainment: `customBiggerIsBetter`.
    Bigger,
}

impl Better {
    const fn direction(self) -> Direction {
        match self {
            Self::Smaller => Direction::LowerIsBetter,
            Self::Bigger => Direction::HigherIsBetter,
        }
    }
}

/// One value of one chart.
#[derive(Debug, Serialize)]
struct Measure {
    name: String,
    unit: &'static str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

/// The metrics of that direction as a JSON array of `{name, unit, value, range?, extra}`. A name is
/// `<scenario> <run id>: <metric>`, with `(simulated)` behind the run of a simulator, so that each chart
/// holds one thing; when several results bring the same run, a number tells them apart. `range` is the
/// 95 % interval within the run, `extra` what a reader must know beside the number. Runs that are invalid
/// have no values here, since an alarm would rest on them.
pub fn github_action_benchmark<'a>(
    results: impl IntoIterator<Item = &'a Results>,
    better: Better,
) -> Result<String, serde_json::Error> {
    let mut seen = BTreeMap::new();
    let mut values = Vec::new();
    for results in results {
        for run in results.runs.iter().filter(|run| run.validity != Validity::Invalid) {
            let name = name(results, run);
            let count = seen.entry(name.clone()).and_modify(|count| *count += 1).or_insert(1_u32);
            let name = if *count > 1 { format!("{name} #{count}") } else { name };
            let summary = serde_json::to_value(run)?;
            let directed = METRICS.iter().filter(|spec| spec.direction == better.direction());
            values
                .extend(directed.filter_map(|spec| value(&name, results, run, spec, Figure::of(&summary, spec.name)?)));
        }
    }
    serde_json::to_string_pretty(&values).map(|text| text + "\n")
}

fn name(results: &Results, run: &Summary) -> String {
    let simulated = if run.simulated { " (simulated)" } else { "" };
    format!("{} {}{simulated}", results.scenario, run.id)
}

fn value(name: &str, results: &Results, run: &Summary, spec: &MetricSpec, figure: Figure) -> Option<Measure> {
    let range = figure.interval.map(|[low, high]| format!("{} to {}", significant(low), significant(high)));
    figure.value.is_finite().then(|| Measure {
        name: format!("{name}: {}", spec.label),
        unit: symbol(spec.unit).unwrap_or("count"),
        value: figure.value,
        range,
        extra: extra(results, run, spec, figure),
    })
}

/// What a reader must know beside the number, a line each.
fn extra(results: &Results, run: &Summary, spec: &MetricSpec, figure: Figure) -> String {
    let mut lines = vec![spec.name.to_owned()];
    if run.simulated {
        lines.push(format!("simulated ({}× speed), not a measurement", run.speed));
    }
    if let Some(n) = figure.n {
        lines.push(format!("n = {n}"));
        if quantile(spec.name).is_some_and(|share| !is_supported(n, share)) {
            lines.push("too few requests for this percentile".to_owned());
        }
    }
    if figure.interval.is_some() {
        lines.push("range: 95 % interval within this run".to_owned());
    }
    lines.push(run.validity.name().to_owned());
    lines.extend(run.warnings.iter().map(|warning| warning.text.clone()));
    lines.push(format!("key {}, plan {}", run.key, results.plan_hash));
    lines.join("\n")
}

/// The share of a percentile's name.
fn quantile(path: &str) -> Option<f64> {
    match path.rsplit_once('.')?.1 {
        "p50" => Some(0.5),
        "p90" => Some(0.9),
        "p95" => Some(0.95),
        "p99" => Some(0.99),
        _ => None,
    }
}
