//! One number of a summary, with its interval and what it rests on.

use serde_json::{Map, Value};

use crate::catalog::Unit;

/// A number of a summary by the path that tables, comparisons and gates use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// The number.
    pub value: f64,
    /// Its 95 % interval within the run, in the number's unit; `None` when the summary has none.
    pub interval: Option<[f64; 2]>,
    /// Observations it rests on; the run's successes where the summary has no closer count.
    pub n: Option<u64>,
}

impl Figure {
    /// The number at a path like `latency_s.p99` or `classes.512x512-s20.latency_s.mean` of a stored
    /// summary; `None` when it is null or there is no such number.
    pub fn of(summary: &Value, path: &str) -> Option<Self> {
        let value = number(summary, path)?;
        let (scope, within) = scope(summary, path).unwrap_or((summary, path));
        let headline = summary.get("headline").and_then(Value::as_str).map(|name| format!("{name}_s"));
        let interval = interval(scope, within, headline.as_deref());
        let beside = within.rsplit_once('.').and_then(|(parent, _)| number(scope, &format!("{parent}.n")));
        let n = beside.and_then(whole).or_else(|| scope.get("completed").and_then(Value::as_u64));
        Some(Self { value, interval, n })
    }
}

/// The part of the summary that speaks of the same requests: a class, for a path into one.
fn scope<'a>(summary: &'a Value, path: &'a str) -> Option<(&'a Value, &'a str)> {
    let rest = path.strip_prefix("classes.")?;
    let classes = summary.get("classes")?.as_object()?;
    classes.iter().find_map(|(name, class)| Some((class, rest.strip_prefix(name)?.strip_prefix('.')?)))
}

/// The interval that the summary has for its headline latency.
fn interval(scope: &Value, path: &str, headline: Option<&str>) -> Option<[f64; 2]> {
    let (family, statistic) = path.split_once('.')?;
    if Some(family) != headline {
        return None;
    }
    let ends = if statistic == "mean" {
        let ends = scope.get("mean_interval_s")?;
        [ends.get(0)?, ends.get(1)?]
    } else {
        let percentile = scope.get("percentiles")?.get(statistic)?;
        [percentile.get("low")?, percentile.get("high")?]
    };
    Some([ends[0].as_f64()?, ends[1].as_f64()?])
}

/// The number at a path; names in the summary may have dots in them.
fn number(value: &Value, path: &str) -> Option<f64> {
    let map = value.as_object()?;
    if let Some(number) = map.get(path) {
        return number.as_f64();
    }
    splits(path).find_map(|(name, rest)| number(map.get(name)?, rest))
}

fn splits(path: &str) -> impl Iterator<Item = (&str, &str)> {
    path.match_indices('.').filter_map(|(at, _)| Some((path.get(..at)?, path.get(at + 1..)?)))
}

/// A count that JSON made a float.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a count")]
fn whole(number: f64) -> Option<u64> {
    (number >= 0.0 && number.fract() == 0.0).then_some(number as u64)
}

/// Paths of all numbers of a summary.
pub(super) fn paths(summary: &Value) -> Vec<String> {
    fn collect(map: &Map<String, Value>, above: &str, found: &mut Vec<String>) {
        for (name, value) in map {
            let path = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
            match value {
                Value::Object(map) => collect(map, &path, found),
                Value::Number(_) => found.push(path),
                Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) => {}
            }
        }
    }
    let mut found = Vec::new();
    collect(summary.as_object().unwrap_or(&Map::new()), "", &mut found);
    found
}

/// The unit as it stands behind a number; `None` for counts.
pub(crate) const fn symbol(unit: Unit) -> Option<&'static str> {
    match unit {
        Unit::Seconds => Some("s"),
        Unit::Milliseconds => Some("ms"),
        Unit::PerSecond => Some("/s"),
        Unit::PerHourPerGpu => Some("/h/GPU"),
        Unit::Megabytes => Some("MiB"),
        Unit::Fraction => Some("share"),
        Unit::Ratio => Some("×"),
        Unit::Pixels => Some("px"),
        Unit::Count => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn summary() -> Value {
        json!({
            "headline": "latency", "completed": 10, "throughput_per_s": 0.5, "max_concurrency": null,
            "latency_s": { "mean": 2.0, "p50": 1.9, "p99": null },
            "response_time_s": { "mean": 3.0 },
            "mean_interval_s": [1.8, 2.2],
            "percentiles": { "p50": { "n": 10, "low": 1.5, "high": 2.5 }, "p99": { "n": 10, "low": null, "high": null } },
            "rtf": { "n": 4, "mean": 0.7 },
            "stage_ms": { "vae.decode": { "n": 3, "mean": 12.0 } },
            "classes": { "512x512-s2.5": { "completed": 6, "mean_interval_s": [1.0, 1.2], "latency_s": { "mean": 1.1 } } },
        })
    }

    #[test]
    fn a_headline_latency_comes_with_its_interval_and_another_without() {
        let of = |path| Figure::of(&summary(), path);
        assert_eq!(of("latency_s.mean"), Some(Figure { value: 2.0, interval: Some([1.8, 2.2]), n: Some(10) }));
        assert_eq!(of("latency_s.p50"), Some(Figure { value: 1.9, interval: Some([1.5, 2.5]), n: Some(10) }));
        assert_eq!(of("response_time_s.mean"), Some(Figure { value: 3.0, interval: None, n: Some(10) }));
        assert_eq!(of("throughput_per_s"), Some(Figure { value: 0.5, interval: None, n: Some(10) }));
    }

    #[test]
    fn what_some_requests_tell_rests_on_those() {
        assert_eq!(Figure::of(&summary(), "rtf.mean").unwrap().n, Some(4));
        assert_eq!(Figure::of(&summary(), "stage_ms.vae.decode.mean").unwrap().n, Some(3));
    }

    #[test]
    fn a_class_has_its_own_interval_and_count() {
        let figure = Figure::of(&summary(), "classes.512x512-s2.5.latency_s.mean").unwrap();
        assert_eq!(figure, Figure { value: 1.1, interval: Some([1.0, 1.2]), n: Some(6) });
    }

    #[test]
    fn what_was_not_measured_is_no_number() {
        for path in ["latency_s.p99", "max_concurrency", "headline", "latency_s", "nothing", ""] {
            assert_eq!(Figure::of(&summary(), path), None, "{path}");
        }
    }

    #[test]
    fn paths_name_every_number() {
        let paths = paths(&summary());
        assert!(paths.iter().all(|path| Figure::of(&summary(), path).is_some()), "{paths:?}");
        assert!(paths.iter().any(|path| path == "stage_ms.vae.decode.mean"), "{paths:?}");
    }
}
