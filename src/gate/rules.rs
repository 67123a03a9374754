//! What must hold: how far a metric may be from its baseline, and limits that need none.

use indexmap::IndexMap;

use crate::catalog::{Direction, METRICS, MetricSpec, Unit, metric};
use crate::diagnostic::nearest;

/// Relative change for the worse that passes where nothing else is said.
pub const DEFAULT_TOLERANCE: f64 = 0.1;

/// Metrics that are gated where the rules name none, when the baseline has them.
pub(super) const USUAL: [&str; 9] = [
    "throughput_per_s",
    "goodput_per_s",
    "latency_s.mean",
    "latency_s.p99",
    "response_time_s.mean",
    "response_time_s.p99",
    "peak_memory_mb.max",
    "peak_memory_mb.mean",
    "slo.attainment",
];

/// How far a metric may be from its baseline. A change for the worse fails when it exceeds both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Share of the baseline.
    pub relative: f64,
    /// Amount in the metric's unit.
    pub absolute: f64,
}

/// A limit, written as a number in the metric's unit or as a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// In the metric's own unit.
    Number(f64),
    /// A time in seconds.
    Seconds(f64),
}

/// What must hold for a run to pass.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rules {
    tolerance: Option<f64>,
    metrics: IndexMap<&'static str, Tolerance>,
    limits: IndexMap<&'static str, f64>,
    /// Keys that may differ from the baseline.
    pub allow: Vec<String>,
}

/// A rule that means nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RulesError {
    /// What is wrong.
    pub message: String,
    /// What would be right, when known.
    pub hint: Option<String>,
}

impl RulesError {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }
}

impl Rules {
    /// Sets the relative tolerance of metrics that have none of their own.
    pub fn tolerate(&mut self, relative: f64) -> Result<(), RulesError> {
        self.tolerance = Some(checked(relative, "tolerance")?);
        Ok(())
    }

    /// Gates a metric against its baseline. Without an own relative tolerance the common one holds, and
    /// none when there is an absolute one.
    pub fn gate(&mut self, name: &str, relative: Option<f64>, absolute: Option<f64>) -> Result<(), RulesError> {
        let spec = spec(name)?;
        if spec.direction == Direction::Neutral {
            return Err(RulesError::new(format!("no direction of `{name}` is better, so it cannot be gated")));
        }
        let common = self.tolerance.unwrap_or(DEFAULT_TOLERANCE);
        let relative = match (relative, absolute) {
            (Some(relative), _) => checked(relative, "tolerance")?,
            (None, Some(_)) => 0.0,
            (None, None) => common,
        };
        let absolute = checked(absolute.unwrap_or(0.0), "absolute tolerance")?;
        self.metrics.insert(spec.name, Tolerance { relative, absolute });
        Ok(())
    }

    /// Sets the worst value that passes: the largest of what should be small, the smallest of what should
    /// be large.
    pub fn limit(&mut self, name: &str, limit: Limit) -> Result<(), RulesError> {
        let spec = spec(name)?;
        if spec.direction == Direction::Neutral {
            return Err(RulesError::new(format!("no direction of `{name}` is better, so it cannot have a limit")));
        }
        let value = match (limit, spec.unit) {
            (Limit::Number(value), _) => value,
            (Limit::Seconds(seconds), Unit::Seconds) => seconds,
            (Limit::Seconds(seconds), Unit::Milliseconds) => seconds * 1e3,
            (Limit::Seconds(_), _) => {
                return Err(RulesError::new(format!("`{name}` is no time; its limit is a number")));
            }
        };
        self.limits.insert(spec.name, checked(value, "limit")?);
        Ok(())
    }

    /// Metrics that are named, with their tolerance.
    pub(super) const fn metrics(&self) -> &IndexMap<&'static str, Tolerance> {
        &self.metrics
    }

    /// Limits by metric.
    pub(super) const fn limits(&self) -> &IndexMap<&'static str, f64> {
        &self.limits
    }

    /// Whether there is a limit, so that something can be said without a baseline.
    pub fn has_limits(&self) -> bool {
        !self.limits.is_empty()
    }

    /// The tolerance of a metric that the rules do not name.
    pub(super) fn common(&self) -> Tolerance {
        Tolerance { relative: self.tolerance.unwrap_or(DEFAULT_TOLERANCE), absolute: 0.0 }
    }
}

fn spec(name: &str) -> Result<&'static MetricSpec, RulesError> {
    metric(name).ok_or_else(|| {
        let near = nearest(name, METRICS.iter().map(|spec| spec.name));
        RulesError {
            message: format!("there is no metric `{name}`"),
            hint: near.map(|near| format!("did you mean `{near}`?")),
        }
    })
}

fn checked(value: f64, what: &str) -> Result<f64, RulesError> {
    if value.is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        Err(RulesError::new(format!("`{value}` is not a {what} of at least 0")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_mean_nothing_are_refused() {
        let mut rules = Rules::default();
        let error = rules.gate("latency_s.p98", None, None).unwrap_err();
        assert_eq!(error.message, "there is no metric `latency_s.p98`");
        assert!(error.hint.is_some_and(|hint| hint.contains("latency_s.p9")));
        assert!(rules.gate("duration_s", None, None).is_err(), "neither longer nor shorter is better");
        assert!(rules.gate("latency_s.mean", Some(f64::NAN), None).is_err());
        assert!(rules.gate("latency_s.mean", Some(-0.1), None).is_err());
        assert!(rules.limit("slo.attainment", Limit::Seconds(3.0)).is_err(), "a share is no time");
        assert!(rules.tolerate(f64::INFINITY).is_err());
        assert_eq!(rules, Rules::default());
    }

    #[test]
    fn a_time_is_a_limit_in_the_metrics_unit() {
        let mut rules = Rules::default();
        rules.limit("latency_s.p99", Limit::Seconds(36.0)).unwrap();
        rules.limit("denoise_step_ms", Limit::Seconds(0.25)).unwrap();
        rules.limit("failed", Limit::Number(0.0)).unwrap();
        assert_eq!(rules.limits().values().copied().collect::<Vec<_>>(), [36.0, 250.0, 0.0]);
    }
}
