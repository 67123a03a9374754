//! The baseline of an entry → figures per hardware and point of the sweep. What cannot be used stays
//! as a figure without a value and its reason, so that a gate tells "no baseline" instead of passing.

use indexmap::IndexMap;
use serde_json::Value;

use super::super::document::{Findings, Node, kind};
use super::PointFigures;
use super::cases::Case;
use super::lint;
use super::sweep::Step;
use crate::diagnostic::nearest;

/// Hardware labels of the project that these files belong to.
const LABELS: [&str; 9] = ["H100", "H200", "L4", "B200", "MI325", "B60", "S5000", "A2", "A3"];

/// The script's metrics and their names in `results.json`.
pub(super) const METRICS: [(&str, &str); 8] = [
    ("throughput_qps", "throughput_per_s"),
    ("latency_mean", "latency_s.mean"),
    ("latency_median", "latency_s.p50"),
    ("latency_p50", "latency_s.p50"),
    ("latency_p95", "latency_s.p95"),
    ("latency_p99", "latency_s.p99"),
    ("peak_memory_mb_max", "peak_memory_mb.max"),
    ("peak_memory_mb_mean", "peak_memory_mb.mean"),
];

/// The metric's name in `results.json`.
pub(super) fn metric(script: &str) -> Option<&'static str> {
    METRICS.iter().find(|(known, _)| *known == script).map(|(_, name)| *name)
}

/// Figures by hardware, for each step of the sweep.
pub(super) fn read(
    case: &Case<'_>,
    entry: &Node<'_>,
    baseline: Option<&Node<'_>>,
    steps: &[Step],
    findings: &mut Findings,
) -> Vec<IndexMap<String, PointFigures>> {
    let mut points = vec![IndexMap::new(); steps.len()];
    let Some(node) = baseline else {
        findings.note(entry, "the entry has no baseline");
        return points;
    };
    let hint = "write `{\"H100\": {\"latency_mean\": 2.5}}`";
    if !node.value.is_object() {
        findings
            .note(node, format!("a baseline is a table of hardware, not {}; it is left out; {hint}", kind(node.value)));
        return points;
    }
    if node.entries().any(|(key, value)| metric(key).is_some() && !value.value.is_object()) {
        findings.note(
            node,
            format!("the baseline names no hardware, so nothing can be compared with it; it is left out; {hint}"),
        );
        return points;
    }
    for (label, figures) in node.entries() {
        if !LABELS.contains(&label) {
            let known = LABELS.join(", ");
            findings.note(
                &figures,
                format!("`{label}` is no hardware that these files know ({known}); its figures are left out"),
            );
        } else if figures.value.is_object() {
            hardware(label, &figures, steps, &mut points, findings);
            lint::consistency(&figures, label, steps, &points, findings);
        } else {
            findings.note(
                &figures,
                format!("the figures of `{label}` are a table, not {}; they are left out", kind(figures.value)),
            );
        }
    }
    let missing: Vec<&str> =
        case.marks.hardware.values().map(String::as_str).filter(|label| node.get(label).is_none()).collect();
    if !missing.is_empty() {
        let there: Vec<String> = node.entries().map(|(label, _)| format!("`{label}`")).collect();
        let there = if there.is_empty() {
            "there is none at all".to_owned()
        } else {
            format!("there is one for {}", there.join(", "))
        };
        findings.note(
            node,
            format!("the case is marked for `{}` and has no baseline for it; {there}", missing.join("`, `")),
        );
    }
    points
}

fn hardware(
    label: &str,
    figures: &Node<'_>,
    steps: &[Step],
    points: &mut [IndexMap<String, PointFigures>],
    findings: &mut Findings,
) {
    for (script, node) in figures.entries() {
        let Some(name) = metric(script) else {
            let near = nearest(script, METRICS.map(|(known, _)| known));
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            findings.note(&node, format!("there is no metric `{script}`; it is left out{near}"));
            continue;
        };
        let values = per_step(&node, steps, findings);
        for ((point, value), step) in points.iter_mut().zip(values).zip(steps) {
            let value = value.and_then(|value| usable(script, value));
            if let Err(reason) = &value {
                findings.note(&node, format!("no baseline at {}: {reason}", show(*step)));
            }
            let figures = point.entry(label.to_owned()).or_default();
            figures.values.insert(name, value);
        }
        lint::figures(script, label, &node, findings);
    }
}

/// The value for each step: a number holds for all, a list goes with the sweep.
fn per_step<'a>(node: &Node<'a>, steps: &[Step], findings: &mut Findings) -> Vec<Result<&'a Value, String>> {
    match node.value {
        Value::Array(values) => {
            if values.len() > steps.len() {
                findings.note(
                    node,
                    format!(
                        "{} values for {} points of the sweep; the last ones belong to none",
                        values.len(),
                        steps.len()
                    ),
                );
            }
            let missing =
                || Err(format!("the list has {} values for {} points of the sweep", values.len(), steps.len()));
            (0..steps.len()).map(|position| values.get(position).map_or_else(missing, Ok)).collect()
        }
        Value::Object(_) => {
            let reason = "the value is a table, where a number or a list is read".to_owned();
            steps.iter().map(|_| Err(reason.clone())).collect()
        }
        value => steps.iter().map(|_| Ok(value)).collect(),
    }
}

/// A figure that something can be compared with.
fn usable(script: &str, value: &Value) -> Result<f64, String> {
    match value {
        Value::Null => Err(format!("`{script}` is null")),
        Value::Number(number) => match number.as_f64().filter(|figure| figure.is_finite()) {
            Some(0.0) => Err(format!("`{script}` is 0, which no run measures")),
            Some(figure) if figure < 0.0 => Err(format!("`{script}` is {figure}, below 0")),
            Some(figure) => Ok(figure),
            None => Err(format!("`{script}` is not a finite number")),
        },
        other => Err(format!("`{script}` is {}, not a number", kind(other))),
    }
}

/// A step as people read it.
pub(super) fn show(step: Step) -> String {
    match step.request_rate.per_second() {
        Some(rate) => format!("{rate} requests/s with {} requests", step.requests),
        None => format!("concurrency {} with {} requests", step.max_concurrency, step.requests),
    }
}
