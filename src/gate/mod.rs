//! Results against a baseline → verdict. In: the summaries of runs, a baseline file, rules. Out: a
//! verdict per run and metric, and one over all. Pure: it measures nothing, reads no clock and no plan.

mod baseline;

pub use baseline::{BASELINE_FORMAT, Baseline, BaselineEntry, BaselineError, BaselineMetric, BaselineSource};
