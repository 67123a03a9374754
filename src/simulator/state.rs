//! What all handlers share, and the one way in which every endpoint has something made.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::cost::{Profile, Shape};
use super::engine::{Clock, Engine};
use super::faults::Faults;
use super::fields::Fields;
use super::jobs::Jobs;
use super::medium::{Look, Medium};
use super::random;
use super::reply::Refusal;
use super::schedule::{Policy, Times};
use super::settings::Settings;

/// How much may be encoded ahead of its time, so that a long queue does not fill the memory.
const AHEAD_MB: u32 = 512;
/// How many prepared media null mode keeps.
const PREPARED: usize = 64;

/// The simulated server.
pub(crate) struct App {
    pub(crate) settings: Settings,
    pub(crate) profile: &'static Profile,
    pub(crate) jobs: Jobs,
    pub(crate) faults: Faults,
    pub(crate) started_at: i64,
    engine: Engine,
    ahead: Semaphore,
    drawn: AtomicU64,
    tally: Tally,
    prepared: Mutex<Vec<(Medium, Vec<Bytes>)>>,
    tasks: Mutex<JoinSet<()>>,
}

/// Requests served since the start.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) succeeded: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) latency_us: AtomicU64,
    pub(crate) encoding_us: AtomicU64,
    pub(crate) denoising_us: AtomicU64,
    pub(crate) step_us: AtomicU64,
    pub(crate) decoding_us: AtomicU64,
}

impl Tally {
    fn success(&self, times: &Times, steps: u32) {
        let add = |counter: &AtomicU64, from_s: f64, to_s: f64, parts: f64| {
            counter.fetch_add(micros((to_s - from_s) / parts), Ordering::Relaxed);
        };
        add(&self.latency_us, times.arrival_s, times.finished_s, 1.0);
        add(&self.encoding_us, times.started_s, times.encoded_s, 1.0);
        add(&self.denoising_us, times.encoded_s, times.denoised_s, 1.0);
        add(&self.step_us, times.encoded_s, times.denoised_s, f64::from(steps.max(1)));
        add(&self.decoding_us, times.denoised_s, times.finished_s, 1.0);
        self.succeeded.fetch_add(1, Ordering::Relaxed);
    }
}

/// Something made: the media, and what the server says about making them.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) media: Vec<Bytes>,
    pub(crate) times: Times,
    pub(crate) peak_memory_mb: f64,
    profiled: bool,
}

impl Made {
    /// Modelled seconds from arrival to the end, queue included.
    pub(crate) fn inference_s(&self) -> f64 {
        rounded(self.times.finished_s - self.times.arrival_s)
    }

    /// Modelled seconds by stage; `None` while the profiler is off.
    pub(crate) fn stage_durations(&self) -> Option<Value> {
        let times = &self.times;
        self.profiled.then(|| {
            json!({
                "text_encoder.forward": rounded(times.encoded_s - times.started_s),
                "diffuse": rounded(times.denoised_s - times.encoded_s),
                "vae.decode": rounded(times.finished_s - times.denoised_s),
            })
        })
    }
}

/// To the microsecond.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

impl App {
    pub(crate) fn start(settings: Settings) -> io::Result<Self> {
        let invalid = |message| io::Error::new(io::ErrorKind::InvalidInput, message);
        let profile = settings.cost_profile().map_err(invalid)?;
        let policy = Policy {
            lanes: settings.layout.data,
            slots: if settings.step_execution { settings.max_num_seqs } else { 1 },
            member_share: profile.member_share,
        };
        let clock = Clock::new(settings.speed);
        Ok(Self {
            engine: Engine::start(policy, clock)?,
            faults: Faults::new(&settings.faults, settings.seed, clock),
            profile,
            jobs: Jobs::new(settings.seed),
            started_at: jiff::Timestamp::now().as_second(),
            ahead: Semaphore::new(AHEAD_MB as usize),
            drawn: AtomicU64::new(0),
            tally: Tally::default(),
            prepared: Mutex::new(Vec::new()),
            tasks: Mutex::new(JoinSet::new()),
            settings,
        })
    }

    /// Ends the engine and every job.
    pub(crate) async fn stop(&self) {
        self.engine.stop();
        let mut tasks = match self.tasks.lock() {
            Ok(mut tasks) => std::mem::take(&mut *tasks),
            Err(_) => return,
        };
        tasks.shutdown().await;
    }

    /// Now, in modelled seconds.
    pub(crate) fn now_s(&self) -> f64 {
        self.engine.clock().now_s()
    }

    pub(crate) fn clock(&self) -> Clock {
        self.engine.clock()
    }

    pub(crate) fn load(&self) -> (u64, u64) {
        self.engine.load()
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Runs a job on its own and gives a handle to end it.
    pub(crate) fn spawn(&self, job: impl Future<Output = ()> + Send + 'static) -> Option<tokio::task::AbortHandle> {
        let mut tasks = self.tasks.lock().ok()?;
        while tasks.try_join_next().is_some() {}
        Some(tasks.spawn(job))
    }

    /// Refuses a request for another model.
    pub(crate) fn check_model(&self, fields: &Fields) -> Result<(), Refusal> {
        match fields.text("model")? {
            Some(asked) if asked != self.settings.model => Err(Refusal::bad(format!(
                "Model mismatch: request asks for '{asked}', the server runs '{}'",
                self.settings.model
            ))),
            _ => Ok(()),
        }
    }

    /// Makes what a request that came at `arrival_s` asked for, in its modelled time. Without a seed every call
    /// draws one of its own.
    pub(crate) async fn make(
        &self,
        arrival_s: f64,
        shape: Shape,
        medium: Medium,
        seed: Option<i64>,
    ) -> Result<Made, Refusal> {
        let made = self.made(arrival_s, shape, medium, seed).await;
        let tally = &self.tally;
        match &made {
            Ok(made) => tally.success(&made.times, shape.steps),
            Err(_) => drop(tally.failed.fetch_add(1, Ordering::Relaxed)),
        }
        made
    }

    async fn made(&self, arrival_s: f64, shape: Shape, medium: Medium, seed: Option<i64>) -> Result<Made, Refusal> {
        let settings = &self.settings;
        let index = self.drawn.fetch_add(1, Ordering::Relaxed);
        let (media, times) = if settings.null {
            (self.prepared(medium)?, Times::at(arrival_s, arrival_s))
        } else {
            let slowness = random::slowness(settings.noise, settings.seed, index);
            let cost = self.profile.cost(&settings.layout, &shape).scaled(slowness);
            let seed = seed.map_or_else(|| random::nth(settings.seed, index), i64::cast_unsigned);
            let (served, encoded) =
                tokio::join!(self.engine.serve(arrival_s, shape, cost), self.encoded_ahead(medium, seed));
            let times = served.map_err(|_| Refusal::stopped())?;
            (encoded?, times)
        };
        let peak_memory_mb = self.profile.peak_memory_mb(&settings.layout, &shape);
        Ok(Made { media, times, peak_memory_mb: rounded(peak_memory_mb), profiled: settings.profiler })
    }

    async fn encoded_ahead(&self, medium: Medium, seed: u64) -> Result<Vec<Bytes>, Refusal> {
        let share = medium.megabytes().min(AHEAD_MB);
        let _held = self.ahead.acquire_many(share).await.map_err(|_| Refusal::stopped())?;
        let look = self.look(seed);
        match off_loop(move || medium.encode(seed, look)).await? {
            Ok(media) => Ok(media),
            Err(error) => Err(Refusal::internal(error.to_string())),
        }
    }

    /// How pictures look. What a cache moves their colours by is the same for the same cache and seed.
    fn look(&self, seed: u64) -> Look {
        match self.settings.cache_backend.as_deref() {
            Some(name) => Look::Drifted(random::nth(random::of_text(name), seed)),
            None if self.settings.detailed => Look::Detailed,
            None => Look::Plain,
        }
    }

    /// The same medium for everybody who asks for its like.
    fn prepared(&self, medium: Medium) -> Result<Vec<Bytes>, Refusal> {
        let find = |kept: &[(Medium, Vec<Bytes>)]| {
            kept.iter().find(|(known, _)| *known == medium).map(|(_, media)| media.clone())
        };
        if let Some(media) = self.prepared.lock().ok().and_then(|kept| find(&kept)) {
            return Ok(media);
        }
        let seed = self.settings.seed;
        let media = medium.encode(seed, self.look(seed)).map_err(|error| Refusal::internal(error.to_string()))?;
        if let Ok(mut kept) = self.prepared.lock() {
            if kept.len() >= PREPARED {
                kept.remove(0);
            }
            kept.push((medium, media.clone()));
        }
        Ok(media)
    }
}

fn micros(seconds: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a span from 0 to a year")]
    let micros = (seconds.max(0.0) * 1e6).round() as u64;
    micros
}

/// Runs heavy work beside the event loop; giving up the future gives up the work that has not begun.
pub(crate) async fn off_loop<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Refusal> {
    let mut set = JoinSet::new();
    set.spawn_blocking(work);
    match set.join_next().await {
        Some(Ok(result)) => Ok(result),
        _ => Err(Refusal::internal("the encoder broke")),
    }
}
