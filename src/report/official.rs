//! The results table of the performance dashboards: their columns first and exactly as they have
//! them, then a column for everything else that varies.

use super::query::Subject;
use super::table::{Cell, Column, Table, Value};
use super::text::distinct;
use crate::catalog::{DEGREES, Medium, Validity};
use crate::plan::{Axis, Plan, RunPlan, VariantPlan};
use crate::summarize::{Distribution, Summary, is_supported};

/// Degrees with a column of their own on the dashboards of pictures.
const IMAGE_DEGREES: &[&str] = &["cfg", "ulysses", "tensor", "vae_patch"];
/// The same on those of videos.
const VIDEO_DEGREES: &[&str] = &["cfg", "ulysses", "tensor", "hsdp", "vae_patch"];
/// Every axis, in the order of columns.
const AXES: [Axis; 9] = [
    Axis::Variant,
    Axis::Dataset,
    Axis::MaxConcurrency,
    Axis::RequestRate,
    Axis::Requests,
    Axis::Size,
    Axis::NumInferenceSteps,
    Axis::NumFrames,
    Axis::Seed,
];
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
    differing_degrees(&plan.variants.iter().collect::<Vec<_>>(), plan.task.medium())
}

fn differing_degrees(variants: &[&VariantPlan], medium: Medium) -> Vec<&'static str> {
    let shown = degrees(medium);
    let differs = |key: &str| {
        let mut values = variants.iter().map(|variant| degree(variant, key));
        values.next().is_some_and(|first| values.any(|value| value != first))
    };
    DEGREES.iter().map(|degree| degree.key).filter(|key| !shown.contains(key) && differs(key)).collect()
}

/// The table's columns for these rows: the dashboards' own, then what varies besides.
pub(crate) fn columns(subjects: &[Subject<'_>], medium: Medium) -> Vec<Column> {
    let further = Further::of(subjects, medium);
    let mut columns = vec![
        Column::text("dataset_label", "Dataset Configuration"),
        Column::number("max_concurrency", "Max Concur.", 0),
    ];
    let degree_column = |key: &&str| Column::number(*key, degree_header(key), 0);
    columns.extend(degrees(medium).iter().map(degree_column));
    columns.push(Column::number("latency_s.mean", "Mean Latency", SECONDS).unit("s"));
    columns.push(Column::number("latency_s.p99", "P99 Latency", SECONDS).unit("s"));
    if further.folder {
        columns.push(Column::text("folder", "Results"));
    }
    if further.variant {
        columns.push(Column::text("variant_label", "Variant"));
    }
    columns.extend(further.degrees.iter().map(degree_column));
    if further.gpus {
        columns.push(Column::number("gpus", "GPUs", 0));
    }
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

/// What a table says about runs beyond the official columns.
struct Further {
    folder: bool,
    variant: bool,
    degrees: Vec<&'static str>,
    gpus: bool,
    axes: Vec<Axis>,
    response_time: bool,
    repeat: bool,
}

impl Further {
    fn of(subjects: &[Subject<'_>], medium: Medium) -> Self {
        let shown = |axis: &Axis| matches!(axis, Axis::Variant | Axis::Dataset | Axis::MaxConcurrency);
        let folders = distinct(subjects.iter().map(|subject| subject.source.name.to_owned()));
        // within one folder the plan says what varies; folders may differ in what each holds constant
        let between = |axis: Axis| folders.len() > 1 && values(subjects, axis).len() > 1;
        let planned = |axis: Axis| subjects.iter().any(|subject| subject.source.plan.varying.contains(&axis));
        let axes = AXES.iter().copied().filter(|axis| !shown(axis) && (planned(*axis) || between(*axis)));
        let variants = variants(subjects);
        Self {
            folder: folders.len() > 1,
            variant: needs_variant_column(&variants, medium),
            degrees: differing_degrees(&variants, medium),
            gpus: distinct(variants.iter().map(|variant| variant.gpus.to_string())).len() > 1,
            axes: axes.collect(),
            response_time: subjects.iter().any(Subject::is_open_loop),
            repeat: subjects.iter().any(|subject| subject.source.plan.repeats > 1 || subject.summary.repeat > 1),
        }
    }
}

/// The variants of the rows, each once.
fn variants<'a>(subjects: &[Subject<'a>]) -> Vec<&'a VariantPlan> {
    let mut found: Vec<&VariantPlan> = Vec::new();
    for variant in subjects.iter().filter_map(Subject::variant) {
        let same = |other: &VariantPlan| other.name == variant.name && other.config_key == variant.config_key;
        if !found.iter().any(|other| same(other)) {
            found.push(variant);
        }
    }
    found
}

fn values(subjects: &[Subject<'_>], axis: Axis) -> Vec<String> {
    let of = |subject: &Subject<'_>| Some(Cell::from(axis_value(axis, subject.source.plan, subject.run()?)).raw());
    distinct(subjects.iter().filter_map(of))
}

/// Whether two variants look alike in the table's degrees, so that their names must tell them apart.
fn needs_variant_column(variants: &[&VariantPlan], medium: Medium) -> bool {
    let further = differing_degrees(variants, medium);
    let keys: Vec<&str> = degrees(medium).iter().copied().chain(further).collect();
    let mut layouts: Vec<Vec<String>> =
        variants.iter().map(|variant| keys.iter().map(|key| degree(variant, key)).collect()).collect();
    layouts.sort();
    layouts.dedup();
    layouts.len() < variants.len()
}

fn axis_column(axis: Axis) -> Column {
    match axis {
        Axis::Variant => Column::text("variant_label", "Variant"),
        Axis::Dataset => Column::text("dataset_label", "Dataset"),
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

fn marked(value: Value, marks: Vec<usize>) -> Cell {
    Cell { value, marks, link: None }
}

/// What is to be known about a run's numbers: its validity with the reasons, or what it warns of.
pub(crate) fn doubt_note(summary: &Summary) -> Option<String> {
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
