//! Results against a baseline → verdict. In: the summaries of runs with their facts, a baseline file,
//! rules. Out: a verdict per run and metric, and one over all. Pure: it measures nothing, reads no
//! clock and no plan; whether a process ends well is for others to say.

mod baseline;
mod confirm;
mod entry;
mod judge;
mod measured;
mod metric;
mod pair;
mod rules;
mod verdict;

pub use baseline::{BASELINE_FORMAT, Baseline, BaselineEntry, BaselineError, BaselineMetric, BaselineSource};
pub use confirm::Confirmation;
pub use entry::LEAST_RUNS;
pub use judge::gate;
pub use measured::Measured;
pub use rules::{DEFAULT_TOLERANCE, Limit, Rules, RulesError, Tolerance};
pub use verdict::{KeyDiffers, MetricVerdict, RunVerdict, Trend, VERDICT_FORMAT, Verdict, VerdictKind};
