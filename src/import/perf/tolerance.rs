//! `baseline-tolerance`, which older files have, → `[gate]` with the baseline of the scenario.

use indexmap::IndexMap;
use serde_json::Value;

use super::super::document::{Findings, kind};
use super::PerfPoint;
use super::baseline::metric;
use super::entry::Entry;
use crate::scenario::model::{Gate, GateMetric};

/// The gate of a scenario; `None` when there is no baseline.
pub(super) fn gate<'e, 'a: 'e>(
    scenario: &str,
    entries: impl Iterator<Item = &'e Entry<'a>>,
    points: &[PerfPoint],
    findings: &mut Findings,
) -> Option<Gate> {
    let figures = || points.iter().flat_map(|point| point.figures.values());
    figures().next()?;
    // a metric that only some runs have would leave the others without a baseline
    let everywhere = |name: &str| figures().all(|figures| figures.values.contains_key(name));
    let known: Vec<&'static str> =
        super::baseline::METRICS.iter().map(|(_, name)| *name).filter(|name| everywhere(name)).collect();
    let mut metrics: IndexMap<String, GateMetric> = IndexMap::new();
    for node in entries.filter_map(|entry| entry.tolerance.as_ref()) {
        let all = |share: f64| known.iter().map(|name| (Some(*name), Some(share), *name)).collect();
        let wanted: Vec<(Option<&'static str>, Option<f64>, &str)> = match (node.value, share(node.value)) {
            (Value::Object(table), _) => {
                table.iter().map(|(key, value)| (metric(key), share(value), key.as_str())).collect()
            }
            (_, Some(share)) => all(share),
            (value, None) => {
                let message = format!("a tolerance is a share of at least 0, not {}; it is left out", kind(value));
                findings.note(node, message);
                continue;
            }
        };
        for (name, share, written) in wanted {
            let (Some(name), Some(share)) = (name, share) else {
                findings
                    .note(node, format!("the tolerance of `{written}` is left out: it is no share of a known metric"));
                continue;
            };
            let rule = GateMetric { tolerance: Some(share), absolute: None };
            if metrics.get(name).is_some_and(|earlier| *earlier != rule) {
                findings.note(
                    node,
                    format!("`{name}` has another tolerance in an earlier entry, which counts for the whole scenario"),
                );
            } else {
                metrics.insert(name.to_owned(), rule);
            }
        }
    }
    Some(Gate { baseline: Some(format!("{scenario}.baseline.json")), metrics, limits: IndexMap::new() })
}

fn share(value: &Value) -> Option<f64> {
    value.as_f64().filter(|share| share.is_finite() && *share >= 0.0)
}
