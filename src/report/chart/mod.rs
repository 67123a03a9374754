//! Pictures: what a plan's results and records look like, as SVG documents.
//!
//! Results and records → `scene` (shapes in pixels) → plotters' SVG backend → a document with a style
//! sheet for light and dark and a tooltip on everything that stands for a run or a request. Charts
//! without data are not made; the same input gives the same bytes. Reads and writes no files.

mod bars;
mod distribution;
mod frame;
mod group;
mod load;
mod look;
mod pareto;
mod sampling;
mod scale;
mod scene;
mod stages;
mod svg;
mod telemetry;
mod timeline;

use std::collections::BTreeSet;

use self::frame::Words;
use self::group::{Comparison, variant_label};
use self::scene::Scene;
use super::caption;
use super::official::dataset_label;
use super::text::{counted, inline};
use crate::plan::Plan;
use crate::record::{Record, TelemetrySample};
use crate::summarize::{Results, Summary};

pub(crate) use self::bars::{status_name, turns};
pub(crate) use self::sampling::Budget;
pub use self::svg::ChartError;
pub(crate) use self::svg::style;

/// A chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    /// Stem of a file name: a kind and what it is of, unique among the charts of a plan.
    pub name: String,
    /// What is compared, where, and whether it was simulated; one line.
    pub title: String,
    /// The run, for charts of the requests of one run.
    pub run: Option<String>,
    /// The SVG document.
    pub svg: String,
}

/// Every chart that has data: those that compare runs in the plan's order, then those of each run.
/// `records` and `telemetry` give those of a run by its id and are asked once per run.
pub fn charts(
    plan: &Plan,
    results: &Results,
    records: &dyn Fn(&str) -> Vec<Record>,
    telemetry: &dyn Fn(&str) -> Vec<TelemetrySample>,
) -> Result<Vec<Chart>, ChartError> {
    let mut charts = comparing(plan, results)?;
    let budget = Budget::of(results.runs.len());
    for run in &results.runs {
        charts.extend(of_run(plan, results, run, (&records(&run.id), &telemetry(&run.id)), budget)?);
    }
    let mut taken = BTreeSet::new();
    for chart in &mut charts {
        let stem = chart.name.clone();
        let names = std::iter::once(stem.clone()).chain((2_u32..).map(|number| format!("{stem}-{number}")));
        chart.name = names.into_iter().find(|name| taken.insert(name.clone())).unwrap_or(stem);
    }
    Ok(charts)
}

/// The charts that compare runs.
pub(crate) fn comparing(plan: &Plan, results: &Results) -> Result<Vec<Chart>, ChartError> {
    let mut charts = Vec::new();
    for group in Comparison::all(plan, results) {
        let kinds = [
            ("latency", load::latency(plan, results, &group)),
            ("throughput", load::throughput(plan, results, &group)),
            ("pareto", pareto::pareto(plan, results, &group)),
            ("stages", stages::stages(plan, results, &group)),
        ];
        for (kind, drawn) in kinds {
            charts.extend(chart(&format!("{kind}-{}", group.stem), None, drawn)?);
        }
    }
    Ok(charts)
}

/// The charts of one run: of its requests, and of its server.
pub(crate) fn of_run(
    plan: &Plan,
    results: &Results,
    run: &Summary,
    (records, samples): (&[Record], &[TelemetrySample]),
    budget: Budget,
) -> Result<Vec<Chart>, ChartError> {
    let words = words_of_run(plan, results, run);
    let kinds = [
        ("distribution", distribution::distribution(words.clone(), run, records, budget)),
        ("timeline", timeline::timeline(words.clone(), run, records, budget)),
        ("telemetry", telemetry::telemetry(words, run, records, samples, budget)),
    ];
    let mut charts = Vec::new();
    for (kind, drawn) in kinds {
        charts.extend(chart(&format!("{kind}-{}", run.id), Some(&run.id), drawn)?);
    }
    Ok(charts)
}

fn words_of_run(plan: &Plan, results: &Results, run: &Summary) -> Words {
    let parts = [
        format!("{} ({}, {})", inline(&plan.title), inline(&plan.model), plan.task),
        inline(dataset_label(plan, &run.dataset)),
        format!("variant {}, {}", variant_label(plan, &run.variant), counted(run.gpus.into(), "GPU")),
    ];
    Words { subtitle: parts.join(" · "), simulated: caption::simulated(results), ..Words::default() }
}

fn chart(stem: &str, run: Option<&str>, drawn: Option<(Words, Scene)>) -> Result<Option<Chart>, ChartError> {
    let Some((words, scene)) = drawn else { return Ok(None) };
    let title = words.whole();
    let svg = svg::draw(&scene, &title)?;
    Ok(Some(Chart { name: file_stem(stem), title, run: run.map(str::to_owned), svg }))
}

/// The stem with nothing in it that a path or an address would need to escape.
fn file_stem(stem: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    stem.chars().map(|c| if safe(c) { c } else { '_' }).take(150).collect()
}
