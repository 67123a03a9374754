//! The results table of the performance dashboards: their columns first and exactly as they have
//! them, then a column for everything else that varies.

use super::table::{Cell, Column, Table, Value};
use crate::catalog::{DEGREES, Medium, Validity};
use crate::plan::{Axis, Plan, RunPlan, VariantPlan};
use crate::summarize::{Distribution, Results, Summary, is_supported};

/// Degrees with a column of their own on the dashboards of pictures.
const IMAGE_DEGREES: &[&str] = &["cfg", "ulysses", "tensor", "vae_patch"];
/// The same on those of videos.
const VIDEO_DEGREES: &[&str] = &["cfg", "ulysses", "tensor", "hsdp", "vae_patch"];
/// Decimals of seconds on the dashboards.
pub(crate) const SECONDS: usize = 4;

/// The degrees that the dashboards of this medium show.
pub(crate) const fn degrees(medium: Medium) -> &'static [&'static str] {
    match medium {
        Medium::Image => IMAGE_DEGREES,
        Medium::Video => VIDEO_DEGREES,
    }
}

/// A degree as a dashboard prints it: `Off` when absent, `On` for a switch.
pub(crate) fn degree(variant: &VariantPlan, key: &str) -> String {
    let number = match key {
        "hsdp" if variant.parallel.hsdp == Some(true) => return "On".to_owned(),
        key => variant.parallel.degree(key),
    };
    number.map_or_else(|| "Off".to_owned(), |number| number.to_string())
}

/// The dashboards' heading of a degree.
pub(crate) fn degree_header(key: &str) -> &str {
    DEGREES.iter().find(|degree| degree.key == key).map_or(key, |degree| degree.header)
}

/// Degrees that the dashboards do not show and that differ between the variants.
pub(crate) fn further_degrees(plan: &Plan) -> Vec<&'static str> {
    let shown = degrees(plan.task.medium());
    let differs = |key: &str| {
        let mut values = plan.variants.iter().map(|variant| degree(variant, key));
        values.next().is_some_and(|first| values.any(|value| value != first))
    };
    DEGREES.iter().map(|degree| degree.key).filter(|key| !shown.contains(key) && differs(key)).collect()
}

/// Whether two variants look alike in the table's degrees, so that their names must tell them apart.
fn needs_variant_column(plan: &Plan) -> bool {
    let keys: Vec<&str> = degrees(plan.task.medium()).iter().copied().chain(further_degrees(plan)).collect();
    let mut layouts: Vec<Vec<String>> =
        plan.variants.iter().map(|variant| keys.iter().map(|key| degree(variant, key)).collect()).collect();
    layouts.sort();
    layouts.dedup();
    layouts.len() < plan.variants.len()
}

/// What a table says about runs beyond the official columns.
struct Further {
    variant: bool,
    degrees: Vec<&'static str>,
    axes: Vec<Axis>,
    response_time: bool,
    repeat: bool,
}

impl Further {
    fn of(plan: &Plan, results: &Results) -> Self {
        let shown = |axis: &Axis| matches!(axis, Axis::Variant | Axis::Dataset | Axis::MaxConcurrency);
        Self {
            variant: needs_variant_column(plan),
            degrees: further_degrees(plan),
            axes: plan.varying.iter().copied().filter(|axis| !shown(axis)).collect(),
            response_time: results.runs.iter().any(|run| run.headline == "response_time"),
            repeat: plan.repeats > 1 || results.runs.iter().any(|run| run.repeat > 1),
        }
    }
}

/// The results table: a row per run, in the plan's order.
pub(crate) fn table(plan: &Plan, results: &Results) -> Table {
    let further = Further::of(plan, results);
    let mut table = Table { columns: columns(plan, &further), ..Table::default() };
    for summary in &results.runs {
        let row = row(plan, summary, &further, &mut table);
        table.rows.push(row);
    }
    table
}

fn columns(plan: &Plan, further: &Further) -> Vec<Column> {
    let mut columns =
        vec![Column::text("dataset", "Dataset Configuration"), Column::number("max_concurrency", "Max Concur.", 0)];
    let degree_column = |key: &&str| Column::number(*key, degree_header(key), 0);
    columns.extend(degrees(plan.task.medium()).iter().map(degree_column));
    columns.push(Column::number("latency_s.mean", "Mean Latency", SECONDS).unit("s"));
    columns.push(Column::number("latency_s.p99", "P99 Latency", SECONDS).unit("s"));
    if further.variant {
        columns.push(Column::text("variant", "Variant"));
    }
    columns.extend(further.degrees.iter().map(degree_column));
    columns.extend(further.axes.iter().map(|axis| axis_column(*axis)));
    if further.response_time {
        columns.push(Column::number("response_time_s.mean", "Mean Response Time", SECONDS).unit("s"));
        columns.push(Column::number("response_time_s.p99", "P99 Response Time", SECONDS).unit("s"));
    }
    if further.repeat {
        columns.push(Column::number("repeat", "Repeat", 0));
    }
    columns
}

fn axis_column(axis: Axis) -> Column {
    match axis {
        Axis::Variant => Column::text("variant", "Variant"),
        Axis::Dataset => Column::text("dataset", "Dataset"),
        Axis::MaxConcurrency => Column::number("max_concurrency", "Max Concur.", 0),
        Axis::RequestRate => Column::number("request_rate", "Request Rate", 4).unit("1/s"),
        Axis::Requests => Column::number("requests", "Requests", 0),
        Axis::Size => Column::number("size", "Size", 0),
        Axis::NumInferenceSteps => Column::number("num_inference_steps", "Steps", 0),
        Axis::NumFrames => Column::number("num_frames", "Frames", 0),
        Axis::Seed => Column::number("seed", "Seed", 0),
    }
}

/// A run's value on an axis.
pub(crate) fn axis_value(axis: Axis, plan: &Plan, run: &RunPlan) -> Value {
    match axis {
        Axis::Variant => plan.variant(&run.variant).map_or(&run.variant, |variant| &variant.label).as_str().into(),
        Axis::Dataset => dataset_label(plan, &run.dataset).into(),
        Axis::MaxConcurrency => run.traffic.max_concurrency.map_or("none".into(), |cap| Value::Count(cap.into())),
        Axis::RequestRate => run.traffic.request_rate.to_string().into(),
        Axis::Requests => Value::Count(run.traffic.requests),
        Axis::Size => run.point.size.map_or(Value::Absent, |size| size.to_string().into()),
        Axis::NumInferenceSteps => run.point.num_inference_steps.map(u64::from).into(),
        Axis::NumFrames => run.point.num_frames.map(u64::from).into(),
        Axis::Seed => Value::Count(run.traffic.seed),
    }
}

/// A dataset's name in tables.
pub(crate) fn dataset_label<'a>(plan: &'a Plan, name: &'a str) -> &'a str {
    plan.datasets.get(name).map_or(name, |dataset| &dataset.label)
}

fn row(plan: &Plan, summary: &Summary, further: &Further, table: &mut Table) -> Vec<Cell> {
    let variant = plan.variant(&summary.variant);
    let show = |key: &&str| Cell::from(variant.map_or(Value::Absent, |variant| degree(variant, key).into()));
    let cap = summary.max_concurrency.map_or("none".into(), |cap| Value::Count(cap.into()));
    let mut cells = vec![dataset_label(plan, &summary.dataset).into(), cap.into()];
    cells.extend(degrees(plan.task.medium()).iter().map(show));
    let basis = Basis { completed: summary.completed, censored: summary.censored, counted: true };
    let doubt = doubt_note(summary).map(|note| table.note(note));
    cells.push(marked(summary.latency_s.mean.into(), doubt.into_iter().collect()));
    cells.push(percentile(basis, &summary.latency_s, "p99", table));
    if further.variant {
        cells.push(variant.map_or(&summary.variant, |variant| &variant.label).as_str().into());
    }
    cells.extend(further.degrees.iter().map(show));
    let run = plan.run(&summary.id);
    cells.extend(
        further.axes.iter().map(|axis| Cell::from(run.map_or(Value::Absent, |run| axis_value(*axis, plan, run)))),
    );
    if further.response_time {
        cells.push(marked(summary.response_time_s.mean.into(), Vec::new()));
        cells.push(percentile(basis, &summary.response_time_s, "p99", table));
    }
    if further.repeat {
        cells.push(Value::Count(summary.repeat.into()).into());
    }
    cells
}

fn marked(value: Value, marks: Vec<usize>) -> Cell {
    Cell { value, marks }
}

/// What is to be known about a run's numbers: its validity with the reasons, or what it warns of.
fn doubt_note(summary: &Summary) -> Option<String> {
    let reasons: Vec<&str> = summary.warnings.iter().map(|warning| warning.text.as_str()).collect();
    let reasons = reasons.join("; ");
    match summary.validity {
        Validity::Valid if reasons.is_empty() => None,
        Validity::Valid => Some(format!("valid, to be known: {reasons}")),
        Validity::Suspect | Validity::Invalid => Some(format!("{}: {reasons}", summary.validity)),
    }
}

/// What percentiles rest on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Basis {
    pub(crate) completed: u64,
    pub(crate) censored: u64,
    /// Whether a footnote says how many requests there are; without, rows share their footnotes.
    pub(crate) counted: bool,
}

/// A percentile (`p50`, `p90`, `p95`, `p99`), with a mark when so many requests do not support it or
/// some were censored.
pub(crate) fn percentile(basis: Basis, distribution: &Distribution, name: &str, table: &mut Table) -> Cell {
    let (value, share, needed) = match name {
        "p50" => (distribution.p50, 0.5, 6),
        "p90" => (distribution.p90, 0.9, 29),
        "p95" => (distribution.p95, 0.95, 59),
        _ => (distribution.p99, 0.99, 299),
    };
    let title = name.to_uppercase();
    let n = basis.completed + basis.censored;
    let note = match basis.completed {
        _ if basis.censored > 0 => Some(format!(
            "percentiles by Kaplan–Meier: {} of {n} requests were cut by a limit of the client, and means leave them out",
            basis.censored
        )),
        0 => None,
        1 => Some("n=1, no percentile".to_owned()),
        _ if is_supported(n, share) => None,
        _ if basis.counted => Some(format!(
            "{title} of {n} requests: not supported below {needed}, where its 95 % interval begins to exist"
        )),
        _ => Some(format!("{title} of fewer than {needed} requests: not supported, it has no 95 % interval")),
    };
    marked(bounded(value, distribution.at_least), note.map(|note| table.note(note)).into_iter().collect())
}

/// A percentile, or the bound that it lies above when censoring hides it.
fn bounded(percentile: Option<f64>, at_least: Option<f64>) -> Value {
    match (percentile, at_least) {
        (None, Some(bound)) => Value::Above(bound),
        (percentile, _) => percentile.into(),
    }
}
