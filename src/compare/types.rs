//! A comparison as `compare --format json` prints it. Changes are relative (0.1 is 10 % more); what could not
//! be told is null.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::levels::Level;
use super::measure::Basis;
use super::order::RunOrder;
use super::rank::RankTest;
use crate::catalog::Unit;

/// Version of a comparison.
pub const COMPARISON_FORMAT: u32 = 1;

/// Two arms compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Version of this format.
    pub format: u32,
    /// What the other arm is compared with.
    pub baseline: String,
    /// The other arm.
    pub candidate: String,
    /// Whether a simulator answered in either arm; such numbers are not measurements.
    pub simulated: bool,
    /// Whether every pair of points may be compared.
    pub comparable: bool,
    /// Keys that differ and were not allowed to; nothing is compared while there are any.
    pub differing: Vec<String>,
    /// Their values, and those that were allowed to differ.
    pub differences: Vec<KeyDifference>,
    /// Pairs that are not compared, and why.
    pub excluded: Vec<Excluded>,
    /// Points of one arm that the other does not have.
    pub unpaired: Vec<String>,
    /// What is worth knowing about the whole comparison.
    pub notes: Vec<String>,
    /// Pairs of points, in the baseline's order.
    pub runs: Vec<PointComparison>,
    /// Geometric mean of the candidate's values by the baseline's over all points, by metric, where there are
    /// several points.
    pub geomean: IndexMap<String, Geomean>,
    /// Throughput by concurrency, where a sweep has several levels.
    pub levels: Vec<Level>,
}

/// A key that differs between the arms of some pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyDifference {
    /// The key.
    pub key: String,
    /// The baseline's value; null is unknown.
    pub baseline: Value,
    /// The candidate's value; null is unknown.
    pub candidate: Value,
    /// Whether it was refused, allowed by name, or is what two variants are compared for.
    pub kind: DifferenceKind,
    /// Pairs of points in which these values differ, by the baseline's id.
    pub ids: Vec<String>,
}

/// What a differing key means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    /// The arms are not comparable.
    Refused,
    /// It was allowed by name.
    Allowed,
    /// Two variants differ in it on purpose.
    Configuration,
}

/// A pair that cannot be compared, whatever is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Excluded {
    /// The baseline's id.
    pub id: String,
    /// Why.
    pub reason: String,
}

/// Two points compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointComparison {
    /// The baseline's run id, without the repeat.
    pub id: String,
    /// The candidate's.
    pub candidate_id: String,
    /// Repeats of baseline and candidate.
    pub repeats: [u64; 2],
    /// Requests of all repeats of baseline and candidate that succeeded.
    pub requests: [u64; 2],
    /// Whether requests were paired by their index; else the arms are two samples.
    pub paired: bool,
    /// In which order the runs were made.
    pub order: RunOrder,
    /// Changes of the run's metrics.
    pub metrics: Vec<MetricChange>,
    /// Changes of the stage times that the server tells; a family of tests of their own.
    pub stages: Vec<MetricChange>,
    /// Changes of the headline latency by class, where the point mixes several.
    pub classes: IndexMap<String, Vec<MetricChange>>,
}

/// Which way a change goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The candidate is better.
    Better,
    /// The candidate is worse.
    Worse,
    /// The values are equal, or neither way of this metric is better.
    Same,
}

impl Change {
    /// The name in files and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Same => "same",
        }
    }
}

/// Why a change is not called significant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// Every repeat of both arms has the same value.
    NoDifference,
    /// One repeat per arm cannot show how much runs of the same server differ.
    OneRepeat,
    /// The repeats of the two arms overlap.
    WithinNoise,
    /// Chance gives such a difference too often.
    Chance,
    /// The change is below what counts as an effect.
    BelowFloor,
    /// What happened between polls of the jobs may be all of it.
    PollGaps,
    /// Too few requests for this percentile.
    TooFewRequests,
    /// There is nothing to judge by.
    NoTest,
}

impl Doubt {
    /// In words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::NoDifference => "no difference",
            Self::OneRepeat => "one repeat: no claim",
            Self::WithinNoise => "within noise",
            Self::Chance => "may be chance",
            Self::BelowFloor => "below the effect floor",
            Self::PollGaps => "within the poll gaps",
            Self::TooFewRequests => "too few requests",
            Self::NoTest => "no test",
        }
    }
}

/// The change of one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricChange {
    /// Path in `results.json`.
    pub metric: String,
    /// Its heading.
    pub label: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Mean over the baseline's repeats.
    pub baseline: f64,
    /// Mean over the candidate's repeats.
    pub candidate: f64,
    /// Smallest and largest repeat of the baseline; null with one repeat.
    pub baseline_spread: Option<[f64; 2]>,
    /// The same of the candidate.
    pub candidate_spread: Option<[f64; 2]>,
    /// Candidate − baseline.
    pub difference: f64,
    /// Difference / baseline; null when that is 0.
    pub change: Option<f64>,
    /// Which way it goes.
    pub direction: Change,
    /// Whether the difference is real as far as the basis reaches.
    pub significant: bool,
    /// Why not; null when it is.
    pub doubt: Option<Doubt>,
    /// Lower end of the 95 % interval of the change.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Two-sided p-value.
    pub p: Option<f64>,
    /// The same after Holm's correction for all metrics of the table.
    pub p_adjusted: Option<f64>,
    /// The rank test, on requests, batches or repeats.
    pub rank: Option<RankTest>,
    /// How far interval and p-value reach.
    pub basis: Basis,
    /// Change by which times that lie between polls of jobs may be off: smallest and largest; null without jobs.
    pub poll_bounds: Option<[f64; 2]>,
    /// A remark on this metric.
    pub note: Option<String>,
}

/// A metric over all points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Geomean {
    /// Points in which both arms have a value above 0.
    pub points: u64,
    /// Geometric mean of candidate / baseline, less 1.
    pub change: f64,
    /// Which way it goes.
    pub direction: Change,
    /// Points in which the change is significant for the better and for the worse.
    pub significant: [u64; 2],
}
