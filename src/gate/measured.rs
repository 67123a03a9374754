//! What is gated: a point of the matrix with its repeats and the facts that a comparison rests on.

use indexmap::IndexMap;
use serde_json::Value;

use crate::summarize::Summary;

/// A point of the results.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Run id without repeat.
    pub id: String,
    /// Hash of what was asked and who answered.
    pub key: String,
    /// Hash of what was asked.
    pub workload_key: String,
    /// Hash of who answered.
    pub config_key: String,
    /// Hardware, as declared; `None` when it is not known.
    pub hardware: Option<String>,
    /// Whether a simulator answered.
    pub simulated: bool,
    /// Facts that must be equal, by name; without the hardware.
    pub facts: IndexMap<String, Value>,
    /// The numbers of each repeat, in order.
    pub repeats: Vec<Summary>,
    /// Why the point did not run as planned, when it did not: a repeat without numbers, or more requests
    /// without success than the plan allows.
    pub fault: Option<String>,
}

impl Measured {
    /// The metric in every repeat; `None` when one of them lacks it.
    pub(super) fn values(&self, metric: &str) -> Option<Vec<f64>> {
        let values: Option<Vec<f64>> = self.repeats.iter().map(|repeat| repeat.metric(metric)).collect();
        values.filter(|values| !values.is_empty() && values.iter().all(|value| value.is_finite()))
    }

    /// Observations behind a metric of requests in each repeat.
    pub(super) fn observations(&self) -> Option<u64> {
        self.repeats.iter().map(|repeat| repeat.completed).min()
    }

    /// Whether the percentile that a metric is rests on enough requests in every repeat; true for what is none.
    pub(super) fn is_supported(&self, metric: &str) -> bool {
        self.repeats.iter().all(|repeat| is_supported(repeat, metric))
    }
}

/// Whether the percentile that a metric is rests on enough requests; true for what is none.
pub(super) fn is_supported(summary: &Summary, metric: &str) -> bool {
    let Some((_, last)) = metric.rsplit_once('.') else { return true };
    summary.percentiles.get(last).is_none_or(|percentile| percentile.supported)
}
