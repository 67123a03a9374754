//! The client against itself: what it adds to a latency, how many requests a second it can carry,
//! how exactly it keeps a schedule. Requests go the whole way of a run's requests, from dispatcher
//! over client and judge to the record in its file; only the server is one that answers at once.

use std::io;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use jiff::Timestamp;
use tempfile::TempDir;

use crate::catalog::{Api, Task};
use crate::endpoint::Wire;
use crate::plan::{PollPlan, TimeoutPlan};
use crate::record::{
    CLIENT_FORMAT, ClientProbe, Record, RequestError, ResultsDir, RunDir, Spread, Status, read_journal,
};
use crate::units::{Limit, Span};
use crate::workload::{Request, Shape};

use super::client::{Client, Connect};
use super::context::Shared;
use super::dispatcher::{self, PhaseEnd, PhaseError};
use super::drive::Target;
use super::phase::{Phase, PhaseKind, Prepared, prepare};
use super::progress::Progress;
use super::stop::Stop;
use super::writer::{Needed, Writer};

/// Requests for the added latency: the fewest whose P99 has an interval.
const LATENCIES: usize = 300;
/// They end earlier when the client is slow.
const LATENCIES_WITHIN: Duration = Duration::from_millis(500);
/// Requests in flight for the highest rate: beyond what two cores need to be busy.
const AT_ONCE: usize = 32;
/// How long the highest rate is sought.
const RATE_FOR: Duration = Duration::from_millis(400);
/// Ticks of the timer, and the gap between two.
const TICKS: usize = 100;
const TICK: Duration = Duration::from_millis(2);
/// Connections are made, and the server's replies prepared, before anything is timed.
const FIRST: usize = 2 * AT_ONCE;
const FIRST_WITHIN: Duration = Duration::from_millis(100);
/// How much longer a client that is far too slow gets for its first requests, and how often they are
/// looked for.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// More requests than any client sends within a second.
const ENOUGH: usize = 200_000;
/// Width and height asked for: a picture of about a kilobyte.
const SIDE: u32 = 16;

/// Why the client could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum GaugeError {
    /// A request to the null server did not succeed.
    #[error("the null server's reply: {}", .0.message)]
    Refused(RequestError),
    /// Nothing ended in time.
    #[error("not one request to the null server ended in time")]
    Nothing,
    /// Its files cannot be written or read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The client could not be set up, or broke down.
    #[error("{0}")]
    Client(String),
}

/// Measures the client within about a second and a half, in the order rate, latency, timer.
///
/// `null` is a server that answers at once; `folder` is where results will go, so that records are
/// written to the same disk.
pub async fn measure_client(null: &Target, folder: &Path, at: Timestamp) -> Result<ClientProbe, GaugeError> {
    let gauge = Gauge::new(null, folder)?;
    let max_rate_per_s = gauge.rate(AT_ONCE, RATE_FOR).await?;
    let latencies_ms = gauge.latencies_ms(1, LATENCIES, LATENCIES_WITHIN).await?;
    let errors_ms = gauge.timer_errors_ms().await?;
    Ok(ClientProbe {
        format: CLIENT_FORMAT,
        measured_at: at.to_string(),
        added_latency_ms: Spread::of(latencies_ms).ok_or(GaugeError::Nothing)?,
        max_rate_per_s,
        timer_error_ms: Spread::of(errors_ms).ok_or(GaugeError::Nothing)?,
    })
}

/// A client that is to be measured, with connections for 64 requests at once.
pub struct Gauge {
    client: Client,
    wire: Wire,
    request: Arc<Prepared>,
    /// Removed at the end.
    folder: TempDir,
}

/// What is to be carried out.
struct Load {
    count: usize,
    due_us: Option<Vec<u64>>,
    cap: Option<usize>,
}

/// What became of a load.
struct Carried {
    ok: u64,
    took: Duration,
}

impl Gauge {
    /// A client of the server `null`; its records go to a hidden folder in `folder` for as long as
    /// it lives.
    pub fn new(null: &Target, folder: &Path) -> Result<Self, GaugeError> {
        let connect = Connect { limit: Limit::After(Span::seconds(5)), proxy: None, ca_file: None, http2: false };
        let client = Client::new(connect, null, Some(2 * AT_ONCE)).map_err(GaugeError::Client)?;
        let wire = wire(&null.model);
        let request = prepare(&wire, std::iter::once(request())).next().ok_or(GaugeError::Nothing)?;
        let request = request.map_err(GaugeError::Client)?;
        let folder = tempfile::Builder::new().prefix(".client-probe-").tempdir_in(folder)?;
        Ok(Self { client, wire, request, folder })
    }

    /// Requests per second with this many in flight, sought for `span`.
    pub async fn rate(&self, concurrency: usize, span: Duration) -> Result<f64, GaugeError> {
        self.carry(Self::closed(concurrency, FIRST), FIRST_WITHIN).await?;
        let carried = self.carry(Self::closed(concurrency, ENOUGH), span).await?;
        let ok = u32::try_from(carried.ok).unwrap_or(u32::MAX);
        if ok == 0 { Err(GaugeError::Nothing) } else { Ok(f64::from(ok) / carried.took.as_secs_f64()) }
    }

    /// Latencies of up to this many requests as records tell them, in milliseconds.
    pub async fn latencies_ms(
        &self,
        concurrency: usize,
        requests: usize,
        within: Duration,
    ) -> Result<Vec<f64>, GaugeError> {
        let dir = self.run_dir();
        self.carry(Self::closed(concurrency, requests), within).await?;
        let records = read_journal::<Record>(&dir.warmup())?.items;
        let latencies = records.iter().filter(|record| record.status == Status::Ok);
        let latencies = latencies.filter_map(|record| record.latency_us).map(ms);
        Ok(latencies.collect())
    }

    /// How much later than due the requests of an open loop are sent, in milliseconds, at 500 a second.
    pub async fn timer_errors_ms(&self) -> Result<Vec<f64>, GaugeError> {
        let dir = self.run_dir();
        let step = super::clock::micros(TICK);
        let due_us = Some((1..).map(|tick| tick * step).take(TICKS).collect());
        self.carry(Load { count: TICKS, due_us, cap: None }, PATIENCE).await?;
        let records = read_journal::<Record>(&dir.warmup())?.items;
        let sent = records.iter().filter_map(|record| record.sent_us.map(|sent| (sent, record.due_us)));
        let errors: Vec<f64> = sent.map(|(sent, due)| ms(sent.saturating_sub(due))).collect();
        if errors.is_empty() { Err(GaugeError::Nothing) } else { Ok(errors) }
    }

    fn closed(concurrency: usize, requests: usize) -> Load {
        Load { count: requests, due_us: None, cap: Some(concurrency) }
    }

    fn run_dir(&self) -> RunDir {
        ResultsDir::at(self.folder.path()).run("probe")
    }

    /// Carries out requests until all are done or the time is over.
    async fn carry(&self, load: Load, within: Duration) -> Result<Carried, GaugeError> {
        let dir = self.run_dir();
        drop(fs_err::remove_dir_all(dir.path()));
        fs_err::create_dir_all(dir.path())?;
        let writer = Writer::start(&dir, Needed { warmup: true, calibration: false, jobs: false })?;
        let shared = self.shared(&writer);
        let phase = Phase {
            kind: PhaseKind::Warmup,
            count: load.count,
            requests: Box::new(std::iter::repeat_n(&self.request, load.count).map(|request| Ok(Arc::clone(request)))),
            due_us: load.due_us,
            cap: load.cap,
            must_succeed: true,
        };
        let (ended, took) = until_over(phase, &shared, within).await;
        drop(shared);
        // a file that could not be written is the reason behind whatever else went wrong
        writer.finish().await?;
        let end = ended.map_err(|error| match error {
            PhaseError::WriterGone => GaugeError::Io(io::Error::other("the writer of the journals has ended")),
            PhaseError::Machinery(message) | PhaseError::Encode(message) => GaugeError::Client(message),
        })?;
        match end.failure {
            Some(failure) => Err(GaugeError::Refused(failure)),
            None => Ok(Carried { ok: end.counts.ok, took }),
        }
    }

    fn shared(&self, writer: &Writer) -> Shared {
        Shared {
            client: self.client.clone(),
            wire: self.wire.clone(),
            speed: 1.0,
            timeout: TimeoutPlan { connect: Limit::Never, request: Limit::Never, job: Limit::Never },
            poll: PollPlan { first: Span::millis(50), growth: 0.0, max: Span::millis(50) },
            media: None,
            slo_ms: None,
            secrets: super::Secrets::default(),
            lines: writer.lines(),
            inspector: None,
        }
    }
}

/// Runs the phase for this long, and longer when until then fewer requests have ended than are in
/// flight: a slow client has figures too, and they are not to be those of its start.
async fn until_over(phase: Phase<'_>, shared: &Shared, within: Duration) -> (Result<PhaseEnd, PhaseError>, Duration) {
    let (stop, progress, begun) = (Stop::new(), Progress::silent(), Instant::now());
    let least = phase.cap.unwrap_or(1) as u64;
    let mut load = pin!(dispatcher::run(phase, shared, &stop, &progress));
    tokio::select! {
        ended = &mut load => (ended, begun.elapsed()),
        () = time_over(within, least, &progress) => {
            let took = begun.elapsed();
            stop.request();
            (load.await, took)
        }
    }
}

async fn time_over(within: Duration, least: u64, progress: &Progress) {
    tokio::time::sleep(within).await;
    let patience = Instant::now() + PATIENCE;
    while progress.ended() < least && Instant::now() < patience {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

fn ms(us: u64) -> f64 {
    Duration::from_micros(us).as_secs_f64() * 1e3
}

fn wire(model: &str) -> Wire {
    Wire {
        api: Api::Generations,
        task: Task::T2i,
        model: model.to_owned(),
        extra_body: IndexMap::new(),
        bot_task: None,
        return_stage_metrics: false,
        stream: false,
        spelling: crate::catalog::Spelling::default(),
        sync_video: false,
        check_media: true,
        keep_pictures: false,
        max_reply: 1 << 20,
    }
}

pub(super) fn request() -> Request {
    Request {
        index: 0,
        row: 0,
        request_id: "probe-0001".into(),
        task: Task::T2i,
        shape: Shape { width: Some(SIDE), height: Some(SIDE), num_inference_steps: Some(1), ..Shape::default() },
        prompt: "client probe".into(),
        negative_prompt: None,
        n: None,
        seed: None,
        fields: IndexMap::new(),
        images: Vec::new(),
        videos: Vec::new(),
        slo_ms: None,
        timestamp_s: None,
    }
}
