//! `results.csv`: one row per run with its axes, layout and every number, in full precision.

use indexmap::{IndexMap, IndexSet};

use super::escape::formula;
use super::official::{axis_value, dataset_label, degree};
use super::source::Source;
use super::table::{Cell, Column, Table, Value};
use crate::catalog::DEGREES;
use crate::plan::{Axis, Plan};
use crate::summarize::{Results, Summary};

/// Numbers that have their column in every file; others, like stage times, follow when a run has them.
const NUMBERS: &[&str] = &[
    "completed",
    "failed",
    "censored",
    "cancelled",
    "duration_s",
    "throughput_per_s",
    "offered_per_s",
    "goodput_per_s",
    "latency_s.mean",
    "latency_s.std",
    "latency_s.min",
    "latency_s.p50",
    "latency_s.p90",
    "latency_s.p95",
    "latency_s.p99",
    "latency_s.max",
    "latency_s.at_least",
    "response_time_s.mean",
    "response_time_s.std",
    "response_time_s.min",
    "response_time_s.p50",
    "response_time_s.p90",
    "response_time_s.p95",
    "response_time_s.p99",
    "response_time_s.max",
    "response_time_s.at_least",
    "queue_s.mean",
    "queue_s.std",
    "queue_s.min",
    "queue_s.p50",
    "queue_s.p90",
    "queue_s.p95",
    "queue_s.p99",
    "queue_s.max",
    "percentiles.p50.n",
    "percentiles.p50.low",
    "percentiles.p50.high",
    "percentiles.p90.n",
    "percentiles.p90.low",
    "percentiles.p90.high",
    "percentiles.p95.n",
    "percentiles.p95.low",
    "percentiles.p95.high",
    "percentiles.p99.n",
    "percentiles.p99.low",
    "percentiles.p99.high",
    "images",
    "images_per_s",
    "pixels_per_image",
    "denoise_step_ms",
    "image_generation_ms.mean",
    "image_generation_ms.std",
    "image_generation_ms.p50",
    "image_generation_ms.p90",
    "image_generation_ms.p95",
    "image_generation_ms.p99",
    "video_duration_s",
    "video_frames",
    "video_s_per_s",
    "rtf.mean",
    "rtf.std",
    "rtf.p50",
    "rtf.p90",
    "rtf.p95",
    "rtf.p99",
    "video_generation_ms.mean",
    "video_generation_ms.std",
    "video_generation_ms.p50",
    "video_generation_ms.p90",
    "video_generation_ms.p95",
    "video_generation_ms.p99",
    "frames_per_s",
    "megapixels_per_s",
    "megapixel_steps_per_s",
    "outputs_per_hour_per_gpu",
    "peak_concurrency",
    "peak_memory_mb.max",
    "peak_memory_mb.mean",
    "peak_memory_mb.median",
    "peak_memory_mb.p90",
    "peak_memory_mb.p95",
    "peak_memory_mb.p99",
    "peak_memory_mb.n",
    "slo.attainment",
    "slo.wanted",
    "slo.met",
    "slo.of",
    "slo.without_target",
    "slo.scale",
    "slo.fit.a_s",
    "slo.fit.b_s",
    "slo.fit.residual_s",
    "lateness_ms.p50",
    "lateness_ms.p99",
    "lateness_ms.max",
];

/// Numbers that already stand among the axes, and those kept per class, which have no fixed names.
fn is_elsewhere(name: &str) -> bool {
    matches!(name, "max_concurrency" | "request_rate" | "repeat" | "gpus" | "requests" | "speed")
        || name.starts_with("classes.")
        || name.starts_with("slo.targets_s.")
        || name.starts_with("slo.calibration.")
}

/// The results as CSV (RFC 4180): a header line of names, then one line per run.
pub fn csv(plan: &Plan, results: &Results) -> Result<String, csv::Error> {
    render(&table(&[Source::unnamed(plan, results)]))
}

/// The table as CSV: a header line of keys, then one line per row, without marks. Text that a
/// spreadsheet would carry out as a formula is made text.
pub(crate) fn render(table: &Table) -> Result<String, csv::Error> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    writer.write_record(table.columns.iter().map(|column| formula(&column.key)))?;
    for row in &table.rows {
        writer.write_record(row.iter().map(safe))?;
    }
    let bytes = writer.into_inner().map_err(csv::IntoInnerError::into_error)?;
    String::from_utf8(bytes).map_err(|error| std::io::Error::other(error).into())
}

fn safe(cell: &Cell) -> String {
    match &cell.value {
        Value::Text(_) | Value::Markdown(_) => formula(&cell.raw()),
        Value::Count(_) | Value::Number(_) | Value::Above(_) | Value::Absent => cell.raw(),
    }
}

const AXES: [(&str, Axis); 8] = [
    ("max_concurrency", Axis::MaxConcurrency),
    ("request_rate", Axis::RequestRate),
    ("requests", Axis::Requests),
    ("size", Axis::Size),
    ("num_inference_steps", Axis::NumInferenceSteps),
    ("num_frames", Axis::NumFrames),
    ("seed", Axis::Seed),
    ("dataset_label", Axis::Dataset),
];

/// Columns of words, and intervals, before the numbers.
const STATES: [&str; 14] = [
    "repeat",
    "gpus",
    "simulated",
    "speed",
    "validity",
    "warnings",
    "reasons",
    "headline",
    "kaplan_meier",
    "throughput_comparable",
    "rtf.basis",
    "slo.basis",
    "mean_interval_s.low",
    "mean_interval_s.high",
];

/// Percentiles that say whether they are supported.
const PERCENTILES: [&str; 4] = ["p50", "p90", "p95", "p99"];

/// A row per run of every folder, whose names stand first when there are several.
pub(crate) fn table(sources: &[Source<'_>]) -> Table {
    let runs = sources.iter().flat_map(|source| source.results.runs.iter().map(move |run| (source, run)));
    let runs: Vec<_> = runs.map(|(source, summary)| (source, summary, summary.figures())).collect();
    let mut numbers: IndexSet<String> = NUMBERS.iter().map(|name| (*name).to_owned()).collect();
    let found = runs.iter().flat_map(|(_, _, figures)| figures.keys());
    numbers.extend(found.filter(|name| !is_elsewhere(name)).cloned());
    let several = sources.len() > 1;
    let words = ["id", "key", "workload_key", "config_key", "variant", "dataset"];
    let supported = PERCENTILES.map(|name| format!("percentiles.{name}.supported"));
    let keys = several
        .then_some("folder")
        .into_iter()
        .chain(words)
        .chain(AXES.map(|(key, _)| key))
        .chain(DEGREES.iter().map(|degree| degree.key))
        .chain(STATES)
        .chain(supported.iter().map(String::as_str))
        .chain(numbers.iter().map(String::as_str));
    let row = |source: &Source<'_>, summary: &Summary, figures: &IndexMap<String, f64>| {
        let mut row: Vec<Cell> = several.then(|| source.name.into()).into_iter().collect();
        row.extend(head(source.plan, summary));
        row.extend(numbers.iter().map(|name| Cell::from(figures.get(name).copied())));
        row
    };
    Table {
        columns: keys.map(|key| Column::text(key, key)).collect(),
        rows: runs.iter().map(|(source, summary, figures)| row(source, summary, figures)).collect(),
        notes: Vec::new(),
    }
}

/// Everything before the numbers.
fn head(plan: &Plan, summary: &Summary) -> Vec<Cell> {
    let run = plan.run(&summary.id);
    let variant = plan.variant(&summary.variant);
    let mut row: Vec<Cell> =
        [&summary.id, &summary.key, &summary.workload_key, &summary.config_key, &summary.variant, &summary.dataset]
            .map(|text| text.as_str().into())
            .into();
    row.extend(AXES.map(|(_, axis)| match axis {
        // in a file for programs a run without a cap has none, instead of a word
        Axis::MaxConcurrency => Value::from(summary.max_concurrency.map(u64::from)).into(),
        Axis::Dataset => dataset_label(plan, &summary.dataset).into(),
        Axis::RequestRate => summary.request_rate.to_string().into(),
        Axis::Requests => Value::Count(summary.requests).into(),
        Axis::Variant | Axis::Size | Axis::NumInferenceSteps | Axis::NumFrames | Axis::Seed => {
            Cell::from(run.map_or(Value::Absent, |run| axis_value(axis, plan, run)))
        }
    }));
    row.extend(DEGREES.iter().map(|spec| {
        Cell::from(variant.map_or(Value::Absent, |variant| match degree(variant, spec.key).as_str() {
            "Off" if spec.switch => "false".into(),
            "On" => "true".into(),
            "Off" => Value::Absent,
            number => number.into(),
        }))
    }));
    let kinds: Vec<&str> = summary.warnings.iter().map(|warning| warning.kind.name()).collect();
    row.extend([
        Value::Count(summary.repeat.into()).into(),
        Value::Count(summary.gpus.into()).into(),
        Cell::from(summary.simulated.to_string()),
        Cell::from(Some(summary.speed)),
        Cell::from(summary.validity.name()),
        Cell::from(kinds.join(" ")),
        Cell::from(summary.warnings.iter().map(|warning| warning.text.as_str()).collect::<Vec<_>>().join("; ")),
        Cell::from(summary.headline.as_str()),
        Cell::from(summary.kaplan_meier.to_string()),
        Cell::from(summary.throughput_comparable.to_string()),
        Cell::from(summary.rtf.as_ref().map_or(Value::Absent, |rtf| rtf.basis.as_str().into())),
        Cell::from(summary.slo.as_ref().map_or(Value::Absent, |slo| slo.basis.as_str().into())),
        Cell::from(summary.mean_interval_s.map(|[low, _]| low)),
        Cell::from(summary.mean_interval_s.map(|[_, high]| high)),
    ]);
    row.extend(PERCENTILES.map(|name| {
        let supported = summary.percentiles.get(name).map(|percentile| percentile.supported);
        Cell::from(supported.map_or(Value::Absent, |supported| supported.to_string().into()))
    }));
    row
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_table_read_back_has_the_same_cells(rows in prop::collection::vec(prop::collection::vec("[ -~äß≥\n\r,\"']{0,16}", 3), 1..4)) {
            let table = Table {
                columns: ["a", "b", "c"].map(|key| Column::text(key, key)).into(),
                rows: rows.iter().map(|row| row.iter().map(|text| Cell::from(text.as_str())).collect()).collect(),
                notes: Vec::new(),
            };
            let text = render(&table).unwrap();
            let mut reader = ::csv::Reader::from_reader(text.as_bytes());
            let read: Vec<Vec<String>> =
                reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
            let safe: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|text| formula(text)).collect()).collect();
            prop_assert_eq!(read, safe);
        }

        #[test]
        fn numbers_are_never_made_text(number in any::<f64>().prop_filter("finite", |number| number.is_finite())) {
            let read: f64 = safe(&Cell::from(Some(number))).parse().unwrap();
            prop_assert_eq!(read.to_bits(), number.to_bits());
        }
    }
}
