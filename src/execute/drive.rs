//! One run from warm-up to its last record.

use std::io;
use std::time::Instant;

use jiff::Timestamp;

use crate::catalog::ErrorClass;
use crate::endpoint::Wire;
use crate::plan::{EndpointPlan, Phases, Plan, RunPlan, SloTarget};
use crate::record::{RequestError, RunDir, Status};

use super::client::Client;
use super::context::Shared;
use super::dispatcher::{self, PhaseEnd, PhaseError};
use super::inspect::Inspector;
use super::phase::{Phase, PhaseKind, due_us, prepare};
use super::progress::Progress;
use super::secrets::Secrets;
use super::stop::Stop;
use super::writer::{Needed, Writer};

/// The server to drive.
pub struct Target {
    /// Base URL, without a path.
    pub url: String,
    /// Model id to send.
    pub model: String,
    /// How much faster than modelled the server answers; 1 for a real one.
    pub speed: f64,
    /// API key and header values.
    pub secrets: Secrets,
}

/// One run and what it needs.
pub struct Drive<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The run.
    pub run: &'a RunPlan,
    /// Endpoint settings of the run's variant.
    pub endpoint: &'a EndpointPlan,
    /// The run's requests.
    pub phases: Phases,
    /// The server.
    pub target: &'a Target,
    /// The run's folder; exists.
    pub dir: &'a RunDir,
    /// Keep the media that come back.
    pub save_media: bool,
    /// The user's stop.
    pub stop: Stop,
    /// Where progress is shown.
    pub progress: &'a Progress,
    /// Told when the clock of the measured requests starts.
    pub on_start: &'a (dyn Fn(Instant) + Sync),
}

/// How many requests ended how; together they are the requests of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Succeeded.
    pub ok: u64,
    /// Failed.
    pub failed: u64,
    /// Cut by a limit of the client.
    pub censored: u64,
    /// Stopped, or never sent.
    pub cancelled: u64,
}

impl Counts {
    /// All of them.
    pub const fn total(&self) -> u64 {
        self.ok + self.failed + self.censored + self.cancelled
    }

    pub(crate) fn add(&mut self, status: Status, requests: u64) {
        *match status {
            Status::Ok => &mut self.ok,
            Status::Failed => &mut self.failed,
            Status::Censored => &mut self.censored,
            Status::Cancelled => &mut self.cancelled,
        } += requests;
    }
}

/// What became of a run that was carried out or stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Driven {
    /// Whether the user's stop ended it early.
    pub interrupted: bool,
    /// Start of the measured phase; `None` when it never began.
    pub started_at: Option<Timestamp>,
    /// Its end.
    pub ended_at: Option<Timestamp>,
    /// Outcomes of the measured requests.
    pub counts: Counts,
}

/// Why a run could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// A warm-up request did not succeed.
    #[error("warmup failed: {}", told(.0))]
    Warmup(RequestError),
    /// A calibration request did not succeed.
    #[error("calibration failed: {}", told(.0))]
    Calibration(RequestError),
    /// A request cannot be put on the wire.
    #[error("cannot encode {0}")]
    Encode(String),
    /// Results could not be written.
    #[error("cannot write results: {0}")]
    Io(#[from] io::Error),
    /// The client could not be set up, or broke down.
    #[error("{0}")]
    Client(String),
}

/// The error in words, with the reply's status in front, or the class when there was no reply.
fn told(error: &RequestError) -> String {
    match error.http_status {
        Some(status) if error.class == ErrorClass::HttpStatus => {
            let prefix = format!("HTTP {status}");
            if error.message.starts_with(&prefix) {
                error.message.clone()
            } else {
                format!("{prefix}: {}", error.message)
            }
        }
        _ => format!("{}: {}", error.class, error.message),
    }
}

/// Carries out a run: warm-up, calibration, then what is measured. Records of what happened are in
/// the run's folder when this returns, whatever it returns.
pub async fn drive(drive: Drive<'_>) -> Result<Driven, DriveError> {
    let wire = wire(drive.plan, drive.endpoint, &drive.target.model);
    let ready = Ready::new(&drive, &wire)?;
    let needed = Needed {
        warmup: !drive.phases.warmup.is_empty(),
        calibration: !drive.phases.calibration.is_empty(),
        jobs: drive.endpoint.api == crate::catalog::Api::Videos && !drive.endpoint.sync_video,
    };
    let media = drive.save_media.then(|| drive.dir.media());
    if let Some(media) = &media {
        fs_err::create_dir_all(media)?;
    }
    let client = Client::new(drive.endpoint.into(), drive.target, ready.connections()).map_err(DriveError::Client)?;
    let writer = Writer::start(drive.dir, needed)?;
    let shared = Shared {
        client,
        wire: wire.clone(),
        speed: drive.target.speed,
        timeout: drive.endpoint.timeout.clone(),
        poll: drive.endpoint.poll.clone(),
        media,
        slo_ms: fixed_target_ms(drive.plan),
        secrets: drive.target.secrets.clone(),
        lines: writer.lines(),
        inspector: drive.endpoint.decodes_media().then(Inspector::new),
    };
    let driven = ready.run(&drive, &shared).await;
    drop(shared);
    // a file that could not be written is the reason behind whatever else went wrong
    writer.finish().await?;
    driven
}

/// How requests of a plan to an endpoint are put on the wire.
pub fn wire(plan: &Plan, endpoint: &EndpointPlan, model: &str) -> Wire {
    Wire {
        api: endpoint.api,
        task: plan.task,
        model: model.to_owned(),
        extra_body: endpoint.extra_body.clone(),
        bot_task: endpoint.bot_task.clone(),
        return_stage_metrics: endpoint.return_stage_metrics,
        stream: endpoint.stream,
        spelling: endpoint.spelling,
        sync_video: endpoint.sync_video,
        check_media: endpoint.reads_media(),
        keep_pictures: endpoint.decodes_media(),
        max_reply: endpoint.max_reply.bytes(),
    }
}

fn fixed_target_ms(plan: &Plan) -> Option<f64> {
    match plan.slo.as_ref()?.target {
        SloTarget::Latency(span) => Some(span.duration().as_secs_f64() * 1e3),
        SloTarget::Scale { .. } | SloTarget::RowOnly => None,
    }
}

/// The phases of a run, each request encoded before its turn comes.
struct Ready<'a> {
    warmup: Phase<'a>,
    calibration: Phase<'a>,
    measured: Phase<'a>,
}

impl<'a> Ready<'a> {
    fn new(drive: &'a Drive<'_>, wire: &'a Wire) -> Result<Self, DriveError> {
        let phases = &drive.phases;
        let cap = drive.run.traffic.max_concurrency.map(|cap| cap as usize);
        // what one request of a kind cannot do no other can, and before anything is sent is the time to say so
        prepare(wire, phases.measured.kinds()).try_for_each(|ready| ready.map(drop)).map_err(DriveError::Encode)?;
        let due_us = phases.due_s.as_deref().map(|due_s| due_us(due_s, phases.measured.len()));
        let due_us = due_us.transpose().map_err(DriveError::Encode)?;
        Ok(Self {
            warmup: Phase {
                kind: PhaseKind::Warmup,
                count: phases.warmup.len(),
                requests: prepare(wire, phases.warmup.iter().cloned()),
                due_us: None,
                cap: Some(drive.run.warmup.concurrency as usize),
                must_succeed: true,
            },
            calibration: Phase {
                kind: PhaseKind::Calibration,
                count: phases.calibration.len(),
                requests: prepare(wire, phases.calibration.iter().cloned()),
                due_us: None,
                cap: Some(1),
                must_succeed: true,
            },
            measured: Phase {
                kind: PhaseKind::Measured,
                count: phases.measured.len(),
                requests: prepare(wire, phases.measured.each()),
                // a closed loop without a cap would send everything at once; the plan does not make one
                cap: cap.or_else(|| due_us.is_none().then_some(1)),
                due_us,
                must_succeed: false,
            },
        })
    }

    fn connections(&self) -> Option<usize> {
        self.measured.cap.map(|cap| self.warmup.cap.unwrap_or(1).max(cap))
    }

    async fn run(self, drive: &Drive<'_>, shared: &Shared) -> Result<Driven, DriveError> {
        for (phase, error) in [
            (self.warmup, DriveError::Warmup as fn(RequestError) -> DriveError),
            (self.calibration, DriveError::Calibration),
        ] {
            if phase.count == 0 || drive.stop.is_requested() {
                continue;
            }
            if let Some(failure) = run_phase(phase, drive, shared).await?.failure {
                return Err(error(failure));
            }
        }
        let began = !drive.stop.is_requested();
        let started_at = began.then(Timestamp::now);
        if began {
            (drive.on_start)(Instant::now());
        }
        let end = run_phase(self.measured, drive, shared).await?;
        let interrupted = drive.stop.is_requested() && end.counts.cancelled > 0;
        Ok(Driven { interrupted, started_at, ended_at: began.then(Timestamp::now), counts: end.counts })
    }
}

async fn run_phase(phase: Phase<'_>, drive: &Drive<'_>, shared: &Shared) -> Result<PhaseEnd, DriveError> {
    drive.progress.phase(phase.kind.name(), phase.count as u64);
    dispatcher::run(phase, shared, &drive.stop, drive.progress).await.map_err(|error| match error {
        PhaseError::WriterGone => DriveError::Io(io::Error::other("the writer of the journals has ended")),
        PhaseError::Machinery(message) => DriveError::Client(message),
        PhaseError::Encode(message) => DriveError::Encode(message),
    })
}
