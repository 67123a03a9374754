//! What is compared: two arms, each a set of points of the matrix with their repeats. The facts of a
//! point come from the plan and the files; nothing here reads any.

use crate::record::{Record, Status};
use crate::summarize::{Summary, seconds};

use super::fingerprint::Fingerprint;

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Arm {
    /// What people call it: a variant, or a folder with its run.
    pub name: String,
    /// Its points, in the plan's order.
    pub points: Vec<Point>,
}

/// A point of the matrix with its repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Run id without the repeat.
    pub id: String,
    /// The id without the variant: where the point lies in the matrix.
    pub place: String,
    /// Variant.
    pub variant: String,
    /// Hash of what was asked.
    pub workload_key: String,
    /// What the point shares with others that differ in concurrency alone; `None` in open loop.
    pub sweep: Option<String>,
    /// Most in flight at once; `None` without a cap.
    pub concurrency: Option<u32>,
    /// What must be equal for a comparison to mean something.
    pub fingerprint: Fingerprint,
    /// Its repeats that have numbers, in order.
    pub repeats: Vec<Repeat>,
}

/// One run of a point.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeat {
    /// Number, from 1.
    pub number: u32,
    /// Wall-clock start of the measured phase in microseconds since 1970.
    pub started_us: Option<i64>,
    /// Its numbers.
    pub summary: Summary,
    /// Its measured requests.
    pub records: Vec<Record>,
}

impl Repeat {
    /// Records that succeeded, of one class or all.
    pub(super) fn successes<'a>(&'a self, class: Option<&'a str>) -> impl Iterator<Item = &'a Record> {
        self.records
            .iter()
            .filter(move |record| record.status == Status::Ok && class.is_none_or(|class| record.class == class))
    }

    /// The latency that SLO and page headline, in seconds.
    pub(super) fn headline_s(&self, record: &Record) -> Option<f64> {
        let us = if self.summary.headline == "response_time" { record.response_time_us } else { record.latency_us };
        us.map(seconds)
    }

    /// 1 for a request that met its target, 0 for one that missed it; `None` without a target, and for one
    /// that was never decided.
    pub(super) fn met(&self, record: &Record) -> Option<f64> {
        let of_class = || self.summary.slo.as_ref()?.targets_s.get(&record.class).copied();
        let target_s = record.slo_ms.map(|ms| ms / 1e3).or_else(of_class)?;
        match record.status {
            Status::Cancelled => None,
            Status::Failed | Status::Censored => Some(0.0),
            // targets are kept to the microsecond
            Status::Ok => self.headline_s(record).map(|time| if time <= target_s + 5e-7 { 1.0 } else { 0.0 }),
        }
    }
}
