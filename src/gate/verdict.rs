//! A verdict as `gate --format json` prints it. Changes are relative (0.1 is 10 % more); what could not
//! be told is null.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalog::Unit;

/// Version of a verdict.
pub const VERDICT_FORMAT: u32 = 1;

/// How a gate ended, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    /// Everything that is gated was compared, and holds.
    Pass,
    /// There is nothing to compare with.
    NoBaseline,
    /// There is a baseline, and comparing with it would say nothing.
    NotComparable,
    /// Something is worse than it may be.
    Regression,
    /// The run did not run as planned.
    RunFailed,
}

impl VerdictKind {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::NoBaseline => "no_baseline",
            Self::NotComparable => "not_comparable",
            Self::Regression => "regression",
            Self::RunFailed => "run_failed",
        }
    }

    /// As people read it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::NoBaseline => "no baseline",
            Self::NotComparable => "not comparable",
            Self::Regression => "regression",
            Self::RunFailed => "run failed",
        }
    }
}

/// Which way a value moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    /// For the better.
    Better,
    /// For the worse.
    Worse,
    /// Not at all.
    Same,
}

/// The verdict over all runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// Version of this format.
    pub format: u32,
    /// The worst of the runs.
    pub verdict: VerdictKind,
    /// Whether a simulator answered in some run; such numbers are not measurements.
    pub simulated: bool,
    /// Where the baseline comes from; null without one.
    pub baseline: Option<String>,
    /// Every run, in the plan's order.
    pub runs: Vec<RunVerdict>,
    /// Every metric that is gated, by run.
    pub metrics: Vec<MetricVerdict>,
    /// What is worth knowing about the whole.
    pub notes: Vec<String>,
}

/// The verdict of one run with its repeats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunVerdict {
    /// Run id, without repeat.
    pub id: String,
    /// The worst of its metrics, or what kept it from being compared.
    pub verdict: VerdictKind,
    /// What kept it from being compared; null when nothing did.
    pub reason: Option<String>,
    /// Hardware of the run; null when it is not known.
    pub hardware: Option<String>,
    /// Repeats behind its values.
    pub repeats: u32,
    /// Keys that differ from the baseline.
    pub differences: Vec<KeyDiffers>,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

/// A key that differs between a run and its baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyDiffers {
    /// The key, as `--allow` takes it.
    pub key: String,
    /// The baseline's value; null is unknown.
    pub baseline: Value,
    /// The run's value; null is unknown.
    pub value: Value,
    /// Whether it was allowed to differ.
    pub allowed: bool,
}

/// The verdict of one metric of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricVerdict {
    /// Run id, without repeat.
    pub id: String,
    /// Path in `results.json`.
    pub metric: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Mean over repeats; null when it was not measured.
    pub value: Option<f64>,
    /// Lower end of the 95 % interval of that mean; null with one repeat.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// What it is compared with; null for a limit.
    pub baseline: Option<f64>,
    /// The worst value that passes; null when there is nothing to compare with.
    pub limit: Option<f64>,
    /// (value − baseline) / baseline.
    pub change: Option<f64>,
    /// Which way that is.
    pub direction: Option<Trend>,
    /// The outcome.
    pub verdict: VerdictKind,
    /// What is worth knowing, such as why a change beyond the tolerance passes.
    pub note: Option<String>,
}
