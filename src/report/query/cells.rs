//! A cell with the footnotes that its figure needs: percentiles that so few requests do not support,
//! censoring, what a figure is made from, doubt.

use super::aggregate::{Aggregate, several};
use super::subject::{Part, Subject};
use crate::report::figures;
use crate::report::official::{Basis, doubt_note, percentile};
use crate::report::table::{Cell, Table, Value};
use crate::summarize::Distribution;

/// Axes along which runs of one row must not differ without a word; repeats may.
const AXES: &[&str] = &[
    "scenario",
    "model",
    "dataset",
    "max_concurrency",
    "request_rate",
    "requests",
    "size",
    "num_inference_steps",
    "num_frames",
    "seed",
    "variant",
    "config_key",
    "workload_key",
    "simulated",
    "environment.gpu",
];

/// The cell of one row and column. `counted` lets footnotes say how many requests there are.
pub(super) fn cell(
    group: &[Subject<'_>],
    (aggregate, key): (Aggregate, &str),
    counted: bool,
    table: &mut Table,
) -> Cell {
    if key == "runs" {
        return Value::Count(group.len() as u64).into();
    }
    if let [subject] = group {
        return single(subject, key, counted, table);
    }
    let values: Vec<Value> = group.iter().map(|subject| subject.value(key)).collect();
    let is_axis = AXES.contains(&key) || matches!(key, "variant_label" | "dataset_label" | "repeat" | "gpus");
    if is_axis {
        let same = values.iter().all(|value| Some(value) == values.first());
        return if same { values.into_iter().next().unwrap_or(Value::Absent).into() } else { several(&values).into() };
    }
    let (value, from) = aggregate.value(&values);
    let mut cell = Cell::from(value);
    if let Some(from) = from.filter(|from| *from < group.len()) {
        cell.marks.push(table.note(format!("from {from} of {} runs; the others have no such figure", group.len())));
    }
    cell
}

fn single(subject: &Subject<'_>, key: &str, counted: bool, table: &mut Table) -> Cell {
    let summary = subject.summary;
    match (subject.part, key) {
        (Part::Run, "throughput_per_s" | "throughput_per_hour") => {
            Cell { marks: figures::throughput(summary, table).marks, ..subject.value(key).into() }
        }
        (Part::Run, "rtf.mean") => figures::rtf(summary, table),
        (Part::Run, "peak_memory_mb.max") => figures::memory(summary, table),
        (Part::Run, key) => {
            let basis = Basis { completed: summary.completed, censored: summary.censored, counted };
            quantile(key, &summary.latency_s, &summary.response_time_s, basis, table)
                .unwrap_or_else(|| subject.value(key).into())
        }
        (Part::Class(_, class), key) => {
            let basis = Basis { completed: class.completed, censored: class.censored, counted };
            quantile(key, &class.latency_s, &class.response_time_s, basis, table)
                .unwrap_or_else(|| subject.value(key).into())
        }
        (Part::Stage(_), key) => subject.value(key).into(),
    }
}

/// A percentile of a latency with its marks; `None` for another key.
fn quantile(
    key: &str,
    latency: &Distribution,
    response: &Distribution,
    basis: Basis,
    table: &mut Table,
) -> Option<Cell> {
    let (of, name) = key.split_once('.')?;
    let distribution = match of {
        "latency_s" => latency,
        "response_time_s" => response,
        _ => return None,
    };
    matches!(name, "p50" | "p90" | "p95" | "p99").then(|| percentile(basis, distribution, name, table))
}

/// What is to be known about the figures of a row: doubt in them, and what stands for several runs.
pub(super) fn remarks(group: &[Subject<'_>], shown: &[&str]) -> Vec<String> {
    if let [subject] = group {
        return doubt_note(subject.summary).filter(|_| !shown.contains(&"validity")).into_iter().collect();
    }
    let mut remarks = vec![
        "over the runs of the row: numbers are arithmetic means unless the heading says otherwise, so a percentile is the \
         mean of the runs' percentiles"
            .to_owned(),
    ];
    let differing: Vec<String> = AXES.iter().filter(|key| differs(group, key)).map(|key| format!("`{key}`")).collect();
    if !differing.is_empty() {
        remarks.push(format!("the runs of the row differ in {}", differing.join(", ")));
    }
    let doubtful = group.iter().filter(|subject| doubt_note(subject.summary).is_some()).count();
    if doubtful > 0 {
        remarks.push(format!("{doubtful} of the {} runs of the row warn of something", group.len()));
    }
    remarks
}

fn differs(group: &[Subject<'_>], key: &str) -> bool {
    let mut values = group.iter().map(|subject| subject.value(key));
    values.next().is_some_and(|first| values.any(|value| value != first))
}
