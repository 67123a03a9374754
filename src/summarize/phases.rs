//! The parts of a video job's time: submit, wait, content, delete.

use super::row::Row;
use super::sample::Sample;
use super::types::{Distribution, JobPhases};
use crate::record::Status;
use std::time::Duration;

/// Distributions over the jobs that succeeded; `None` when there were none.
pub(super) fn of(records: &[Row]) -> Option<JobPhases> {
    let jobs: Vec<&Row> =
        records.iter().filter(|record| record.status == Status::Ok && record.created_us().is_some()).collect();
    if jobs.is_empty() {
        return None;
    }
    let between = |from: fn(&Row) -> Option<u64>, to: fn(&Row) -> Option<u64>| {
        let times = jobs.iter().filter_map(|record| Some(seconds(from(record)?, to(record)?)));
        Sample::of_finite(times).map_or_else(Distribution::default, |sample| sample.distribution())
    };
    Some(JobPhases {
        submit: between(super::row::Row::sent_us, super::row::Row::created_us),
        wait: between(super::row::Row::created_us, super::row::Row::first_terminal_us),
        content: between(super::row::Row::first_terminal_us, super::row::Row::content_done_us),
        delete: between(|record| Some(record.done_us), super::row::Row::deleted_us),
    })
}

fn seconds(from_us: u64, to_us: u64) -> f64 {
    Duration::from_micros(to_us.saturating_sub(from_us)).as_secs_f64()
}
