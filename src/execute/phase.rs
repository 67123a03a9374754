//! What a phase consists of, prepared before its first request: requests with their encoded bodies.

use std::sync::Arc;
use std::time::Duration;

use crate::endpoint::{Body, Encoder, Wire};
use crate::workload::Request;

use super::clock::micros;

/// The three phases of a run, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PhaseKind {
    /// Brings the server into its working state; never counted.
    Warmup,
    /// Times each class alone, for SLO targets; never counted.
    Calibration,
    /// What the run is about.
    Measured,
}

impl PhaseKind {
    /// The name that progress shows.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Warmup => "warm-up",
            Self::Calibration => "calibration",
            Self::Measured => "measured",
        }
    }
}

/// A request ready to be sent.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub(crate) request: Request,
    pub(crate) body: Body,
    /// When it is due in open loop, in microseconds from t0.
    pub(crate) due_us: Option<u64>,
}

/// One phase, ready to run.
#[derive(Debug)]
pub(crate) struct Phase {
    pub(crate) kind: PhaseKind,
    pub(crate) requests: Vec<Arc<Prepared>>,
    /// Whether requests are sent at due times.
    pub(crate) open_loop: bool,
    /// Most in flight; `None` is no cap.
    pub(crate) cap: Option<usize>,
    /// Whether the first failure ends the phase.
    pub(crate) must_succeed: bool,
}

/// Encodes requests; `schedule` gives their due times in open loop, in seconds.
pub(crate) fn prepare(
    wire: &Wire,
    requests: &[Request],
    schedule: Option<&[f64]>,
) -> Result<Vec<Arc<Prepared>>, String> {
    let mut encoder = Encoder::new(wire);
    let ready = requests.iter().enumerate().map(|(position, request)| {
        let wrong = |why: &dyn std::fmt::Display| format!("request `{}`: {why}", request.request_id);
        let body = encoder.encode(request).map_err(|error| wrong(&error))?;
        let due_us = match schedule {
            None => None,
            Some(schedule) => {
                let due = schedule.get(position).and_then(|seconds| Duration::try_from_secs_f64(*seconds).ok());
                Some(micros(due.ok_or_else(|| wrong(&"it has no due time in the schedule"))?))
            }
        };
        Ok(Arc::new(Prepared { request: request.clone(), body, due_us }))
    });
    ready.collect()
}
