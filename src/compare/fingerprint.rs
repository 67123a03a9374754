//! Whether two points may be compared at all: what was asked and on what hardware must be equal. Keys
//! that differ are listed, and refused unless each is allowed. The URL is not among them.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde_json::Value;

use super::arm::Point;
use crate::catalog::Validity;
use crate::summarize::real_u64;

/// Shares of failed requests that differ by more leave other requests to compare.
const ERROR_RATES: f64 = 0.01;
/// The key of shares of failed requests.
const ERROR_RATE: &str = "error_rate";

/// The facts of a point; null is unknown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fingerprint {
    /// What was asked, how it arrived, and on what: these must be equal.
    pub conditions: IndexMap<String, Value>,
    /// Layout and serve arguments: the point of comparing two variants, and a mistake between two runs of one.
    pub configuration: IndexMap<String, Value>,
}

/// A key whose values differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) key: String,
    /// Null is unknown.
    pub(super) baseline: Value,
    pub(super) candidate: Value,
}

/// What differs between two points.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Differences {
    /// Keys that must be equal and are not.
    pub(super) conditions: Vec<Difference>,
    /// Keys of two variants' configurations, which may differ.
    pub(super) configuration: Vec<Difference>,
    /// Keys that nobody knows on either side.
    pub(super) unknown: BTreeSet<String>,
}

/// Compares the facts of two points.
pub(super) fn differences(a: &Point, b: &Point) -> Differences {
    let mut found = Differences::default();
    let Fingerprint { conditions, configuration } = &a.fingerprint;
    differ(conditions, &b.fingerprint.conditions, &mut found.conditions, &mut found.unknown);
    let mut layout = Vec::new();
    // what a variant leaves out is off, not unknown
    differ(configuration, &b.fingerprint.configuration, &mut layout, &mut BTreeSet::new());
    if a.variant == b.variant {
        found.conditions.extend(layout);
    } else {
        found.configuration = layout;
    }
    let (lost, missed) = (error_rate(a), error_rate(b));
    if (lost - missed).abs() > ERROR_RATES {
        let rounded = |rate: f64| Value::from((rate * 1e4).round() / 1e4);
        found.conditions.push(Difference {
            key: ERROR_RATE.to_owned(),
            baseline: rounded(lost),
            candidate: rounded(missed),
        });
    }
    found
}

fn differ(
    a: &IndexMap<String, Value>,
    b: &IndexMap<String, Value>,
    differing: &mut Vec<Difference>,
    unknown: &mut BTreeSet<String>,
) {
    let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
    for key in keys {
        let of = |facts: &IndexMap<String, Value>| facts.get(key).cloned().unwrap_or_default();
        match (of(a), of(b)) {
            (Value::Null, Value::Null) => {
                unknown.insert(key.clone());
            }
            (baseline, candidate) if baseline != candidate => {
                differing.push(Difference { key: key.clone(), baseline, candidate });
            }
            _ => {}
        }
    }
}

/// Failed requests by requests.
fn error_rate(point: &Point) -> f64 {
    let sum = |of: &dyn Fn(&super::arm::Repeat) -> u64| point.repeats.iter().map(of).sum::<u64>();
    let (failed, requests) = (sum(&|repeat| repeat.summary.failed), sum(&|repeat| repeat.summary.requests));
    if requests == 0 { 0.0 } else { real_u64(failed) / real_u64(requests) }
}

/// Why a point cannot be compared whatever is allowed; `None` when it can.
pub(super) fn hindrance(point: &Point) -> Option<String> {
    if point.repeats.is_empty() {
        return Some("it has no run with numbers".to_owned());
    }
    point.repeats.iter().find_map(|repeat| {
        let summary = &repeat.summary;
        if summary.censored > 0 {
            return Some(format!(
                "`{}`: {} of {} requests were cut by a limit of the client, so that their times are only known to be longer",
                summary.id, summary.censored, summary.requests
            ));
        }
        (summary.validity == Validity::Invalid).then(|| {
            let why: Vec<&str> = summary.warnings.iter().map(|warning| warning.text.as_str()).collect();
            format!("`{}`: its numbers are invalid: {}", summary.id, why.join("; "))
        })
    })
}

/// Keys that can be allowed for these points.
pub(super) fn keys<'a>(points: impl Iterator<Item = &'a Point>) -> BTreeSet<String> {
    let of = |point: &Point| {
        let Fingerprint { conditions, configuration } = &point.fingerprint;
        conditions.keys().chain(configuration.keys()).cloned().collect::<Vec<_>>()
    };
    points.flat_map(of).chain([ERROR_RATE.to_owned()]).collect()
}
