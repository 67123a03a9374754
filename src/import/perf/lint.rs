//! Figures that do not look like measurements.

use indexmap::IndexMap;
use serde_json::Value;

use super::super::document::{Findings, Node};
use super::PointFigures;
use super::baseline::show;
use super::cases::Case;
use super::sweep::Step;

/// Memory that a device has, in MiB: as its driver reports it where that is known, else the nominal size.
const DEVICE_MEMORY: [(&str, f64); 9] = [
    ("H100", 81_559.0),
    ("H200", 143_771.0),
    ("L4", 23_034.0),
    ("B200", 183_359.0),
    ("MI325", 262_144.0),
    ("B60", 24_576.0),
    ("S5000", 81_920.0),
    ("A2", 65_536.0),
    ("A3", 65_536.0),
];
/// Share of the memory above which a figure is more likely the card's size than a peak.
const FULL: f64 = 0.98;
/// Rounding error above which a figure is too coarse for a gate.
const COARSE: f64 = 0.01;
/// Range of throughput × mean latency / concurrency of a closed loop. The first and last requests of a
/// run overlap less than the others, so the product falls short of 1 by about half the concurrency per count.
const LOOP: std::ops::RangeInclusive<f64> = 0.85..=1.05;
/// Names of cards that a description may give.
const CARDS: [&str; 14] =
    ["H100", "H200", "H800", "H20", "L4", "L40S", "L40", "B200", "B300", "A100", "A800", "A40", "A10", "MI300X"];

/// Notes what is odd about the values of a metric on a hardware.
pub(super) fn figures(script: &str, label: &str, node: &Node<'_>, findings: &mut Findings) {
    let values: Vec<&Value> = match node.value {
        Value::Array(values) => values.iter().collect(),
        single => vec![single],
    };
    let memory = script.starts_with("peak_memory_mb");
    for value in values {
        let Some(figure) = value.as_f64().filter(|figure| *figure > 0.0) else { continue };
        let size = DEVICE_MEMORY.iter().find(|(known, _)| *known == label).map(|(_, size)| *size);
        if let Some(size) = size.filter(|size| memory && figure >= FULL * size) {
            let message = format!(
                "`{script}` {value} is {:.1} % of the {size:.0} MiB that a `{label}` has: the card's size rather than a measurement?",
                100.0 * figure / size
            );
            findings.note(node, message);
        } else if memory && figure % 1000.0 == 0.0 {
            findings.note(node, format!("`{script}` {value} is a round number: a limit rather than a measurement?"));
        } else if let Some(error) = rounding(value).filter(|error| !memory && *error >= COARSE) {
            findings.note(
                node,
                format!("`{script}` {value} is rounded to ±{:.1} %, which eats into any tolerance", 100.0 * error),
            );
        }
    }
}

/// Half a unit of the last written digit over the value.
fn rounding(value: &Value) -> Option<f64> {
    let text = value.to_string();
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| if decimals == "0" { 0 } else { decimals.len() });
    Some(0.5 * 10_f64.powi(-i32::try_from(decimals).ok()?) / value.as_f64()?)
}

/// Notes closed-loop figures that contradict each other: throughput × mean latency is the number of
/// requests in flight (Little's law).
pub(super) fn consistency(
    node: &Node<'_>,
    label: &str,
    steps: &[Step],
    points: &[IndexMap<String, PointFigures>],
    findings: &mut Findings,
) {
    for (step, point) in steps.iter().zip(points) {
        let value = |name: &str| point.get(label)?.values.get(name)?.as_ref().ok().copied();
        let (Some(rate), Some(mean)) = (value("throughput_per_s"), value("latency_s.mean")) else { continue };
        let closed = step.request_rate.per_second().is_none();
        if !closed || step.requests < 4 * u64::from(step.max_concurrency) {
            continue;
        }
        let share = rate * mean / f64::from(step.max_concurrency);
        if !LOOP.contains(&share) {
            let message = format!(
                "at {} throughput × mean latency is {share:.2} of the concurrency, where a closed loop stays near 1: one of the two is not a measurement",
                show(*step)
            );
            findings.note(node, message);
        }
    }
}

/// Notes a description that speaks of a card for which the case has neither mark nor baseline.
pub(super) fn description(case: &Case<'_>, labels: &[&str], findings: &mut Findings) {
    let Some(description) = case.description else { return };
    for word in description.split(|letter: char| !letter.is_ascii_alphanumeric()) {
        let elsewhere = CARDS.contains(&word) && !labels.contains(&word);
        if elsewhere && !labels.is_empty() && !case.marks.hardware.values().any(|label| label == word) {
            let message =
                format!("the description speaks of `{word}`, the baseline is filed under `{}`", labels.join("`, `"));
            findings.note(case.node.get("description").as_ref().unwrap_or(&case.node), message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rounding_of_a_figure_is_half_a_unit_of_its_last_digit() {
        let error = |text: &str| rounding(&serde_json::from_str(text).unwrap()).unwrap();
        assert!((error("0.027") - 0.0185).abs() < 1e-4);
        assert!((error("2.0238") - 0.000_024_7).abs() < 1e-6);
        assert!((error("27.0") - 0.0185).abs() < 1e-4);
        assert!((error("41") - 0.0122).abs() < 1e-4);
    }
}
