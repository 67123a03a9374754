//! Two sets of records → differences with intervals. Pure: arms with their facts come in, a comparison goes
//! out, and the same records always give the same one.
//!
//! From five repeats on a difference is judged over repeats (Student's t of the repeats, of pairs where they
//! were run side by side; intervals from repeats and blocks of requests drawn again), because requests of one
//! run share a server and prove nothing about the next. With fewer the tests are on requests and say so.

mod arm;
mod comparison;
mod detectable;
mod false_alarms;
mod fingerprint;
#[cfg(test)]
mod fixture_tests;
mod holm;
mod judge;
mod levels;
mod measure;
mod metrics;
mod normal;
mod order;
mod rank;
mod resample;
mod series;
mod student;
mod types;

pub use arm::{Arm, Point, Repeat};
pub use comparison::{CompareError, CompareSettings, RESAMPLES, compare};
pub use detectable::{Detectable, NoiseLevel, POWER, detectable, noise, repeats_for, requests_for};
pub use false_alarms::{AlarmRate, PointAlarms, SELF_TEST_FORMAT, SelfTest, TRIALS, self_test};
pub use fingerprint::Fingerprint;
pub use levels::{Level, Scaling};
pub use measure::{Basis, REPEATS_FOR_A_CLAIM};
pub use order::RunOrder;
pub use rank::{RankTest, RankTestName, mann_whitney, signed_rank};
pub use types::{
    COMPARISON_FORMAT, Change, Comparison, DifferenceKind, Doubt, Excluded, Geomean, KeyDifference, MetricChange,
    PointComparison,
};
