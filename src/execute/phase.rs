//! What a phase consists of: its requests, encoded a little ahead of their time, and when they are due.

use std::sync::Arc;
use std::time::Duration;

use crate::endpoint::{Body, Encoder, Wire};
use crate::record::Asked;
use crate::workload::{Class, Request};

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
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) request: Request,
    pub(crate) body: Body,
    pub(crate) asked: Asked,
    /// The class' name.
    pub(crate) class: Arc<str>,
}

/// Ready requests in order; an error says which one cannot be encoded, and why.
pub(crate) type Ready<'a> = Box<dyn Iterator<Item = Result<Arc<Prepared>, String>> + Send + 'a>;

/// One phase, ready to run.
pub(crate) struct Phase<'a> {
    pub(crate) kind: PhaseKind,
    /// How many requests there are.
    pub(crate) count: usize,
    pub(crate) requests: Ready<'a>,
    /// When each is due in open loop, in microseconds from t0; `None` in closed loop.
    pub(crate) due_us: Option<Vec<u64>>,
    /// Most in flight; `None` is no cap.
    pub(crate) cap: Option<usize>,
    /// Whether the first failure ends the phase.
    pub(crate) must_succeed: bool,
}

/// Encodes requests one after the other, when they are wanted.
pub(crate) fn prepare<'a>(wire: &'a Wire, requests: impl Iterator<Item = Request> + Send + 'a) -> Ready<'a> {
    let mut encoder = Encoder::new(wire);
    let mut last: Option<(Class, Arc<str>)> = None;
    Box::new(requests.map(move |request| {
        let ready = encoder.prepare(&request);
        let (body, asked) = ready.map_err(|error| format!("request `{}`: {error}", request.request_id))?;
        let class = request.class();
        let name = match &last {
            Some((known, name)) if *known == class => Arc::clone(name),
            Some(_) | None => Arc::clone(&last.insert((class, class.to_string().into())).1),
        };
        Ok(Arc::new(Prepared { asked, class: name, request, body }))
    }))
}

/// Due times in microseconds, one per request; the schedule is in seconds.
pub(crate) fn due_us(schedule: &[f64], count: usize) -> Result<Vec<u64>, String> {
    let due = schedule.iter().take(count).map(|seconds| Duration::try_from_secs_f64(*seconds).ok().map(micros));
    match due.collect::<Option<Vec<u64>>>() {
        Some(due) if due.len() == count => Ok(due),
        Some(_) | None => Err("a request: it has no due time in the schedule".to_owned()),
    }
}
