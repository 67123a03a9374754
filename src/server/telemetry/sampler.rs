//! Looks at GPUs and at `/metrics` while a run goes on, on a thread and a runtime of its own.

use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::devices::Devices;
use super::exposition::Exposition;
use super::families::server_sample;
use crate::record::{GpuSample, Journal, ServerSample, TelemetrySample};
use crate::server::Probe;
use crate::server::group::is_member;

/// Time between two looks, modelled when the run is simulated.
pub const INTERVAL: Duration = Duration::from_millis(500);
/// Least time between two looks on the wall, so that a fast simulation is not disturbed.
const LEAST: Duration = Duration::from_millis(50);
/// How long the last look of a run may take.
const LAST: Duration = Duration::from_secs(2);
/// Scrapes that may fail one after another before the server is asked no more.
const MISSES: u32 = 3;
/// Where servers tell their metrics.
const PATH: &str = "/metrics";

/// What there is to look at for one server, and where it is kept.
#[derive(Debug, Clone)]
pub struct Telemetry {
    /// `telemetry.jsonl`.
    pub file: PathBuf,
    /// The server, to be asked for its metrics.
    pub probe: Probe,
    /// GPUs that the server works on, as far as that is known; `None` when they are not here.
    pub devices: Option<Arc<dyn Devices>>,
    /// Process group of the server, when omni-bench started it.
    pub group: Option<u32>,
    /// Whether the server has metrics; it is told once when it has not.
    pub scraped: Arc<Mutex<Scraped>>,
}

/// What is known of a server's metrics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scraped {
    misses: u32,
    given_up: bool,
}

#[derive(Debug)]
enum Order {
    Begin(Instant),
    End,
}

/// A run that is looked at. When this is dropped the looking ends, too.
#[derive(Debug)]
pub struct Watch {
    orders: mpsc::UnboundedSender<Order>,
    done: oneshot::Receiver<Vec<String>>,
}

impl Telemetry {
    /// What there is to look at, with nothing known of it.
    pub fn new(file: PathBuf, probe: Probe, devices: Option<Arc<dyn Devices>>, group: Option<u32>) -> Self {
        Self { file, probe, devices, group, scraped: Arc::default() }
    }

    /// A thread that waits for the run to begin.
    pub fn watch(&self, run: &str, speed: f64) -> io::Result<Watch> {
        let (orders, inbox) = mpsc::unbounded_channel();
        let (tell, done) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let looker = Looker {
            journal: Journal::open(&self.file)?,
            of: self.clone(),
            run: run.to_owned(),
            speed,
            notes: Vec::new(),
        };
        let work = move || {
            let notes = runtime.block_on(looker.work(inbox));
            if tell.send(notes).is_err() {
                // the campaign did not wait; what was seen is in the file
            }
        };
        std::thread::Builder::new().name("telemetry".to_owned()).spawn(work)?;
        Ok(Watch { orders, done })
    }
}

impl Watch {
    /// The run's clock started at this moment.
    pub fn begins(&self, origin: Instant) {
        self.order(Order::Begin(origin));
    }

    /// The run has ended: one more look, then what is worth a note. A driver or server that hangs is
    /// not waited for longer than a few seconds.
    pub async fn ends(self) -> Vec<String> {
        self.order(Order::End);
        let late = || vec!["telemetry: the last look at the server did not end in time".to_owned()];
        timeout(2 * LAST, self.done).await.map_or_else(|_| late(), Result::unwrap_or_default)
    }

    fn order(&self, order: Order) {
        if self.orders.send(order).is_err() {
            // the thread has ended by itself and has told why
        }
    }
}

/// The thread's own state.
struct Looker {
    of: Telemetry,
    journal: Journal,
    run: String,
    speed: f64,
    notes: Vec<String>,
}

/// A scrape on its way: when it was sent, and what came of it.
type Scrape = Pin<Box<dyn Future<Output = (Instant, Result<ServerSample, Refusal>)>>>;

/// Why a scrape gave nothing.
struct Refusal {
    why: String,
    /// The server answered, and not with metrics.
    settled: bool,
}

impl Looker {
    async fn work(mut self, mut inbox: mpsc::UnboundedReceiver<Order>) -> Vec<String> {
        let Some(Order::Begin(origin)) = inbox.recv().await else { return self.notes };
        let gap = INTERVAL.div_f64(self.speed).max(LEAST);
        let mut ticks = interval(gap);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut scrape: Option<Scrape> = None;
        let ended = loop {
            tokio::select! {
                biased;
                order = inbox.recv() => break order.is_some(),
                answer = answered(&mut scrape) => {
                    scrape = None;
                    self.keep_answer(origin, answer);
                }
                _ = ticks.tick() => {
                    self.look_at_gpus(origin);
                    if scrape.is_none() {
                        scrape = self.scrape();
                    }
                }
            }
        };
        // a watch that was dropped has nobody to wait for the last look
        if ended {
            self.look_at_gpus(origin);
            // a scrape on its way tells of an earlier moment
            if let Some(scrape) = self.scrape()
                && let Ok(answer) = timeout(LAST, scrape).await
            {
                self.keep_answer(origin, answer);
            }
        }
        self.notes
    }

    fn look_at_gpus(&mut self, origin: Instant) {
        let Some(devices) = self.of.devices.clone() else { return };
        let sent = Instant::now();
        match devices.sample() {
            Ok(mut gpus) => {
                self.name_processes(&mut gpus);
                self.keep(origin, sent, Some(gpus), None);
            }
            Err(why) => {
                self.of.devices = None;
                self.notes.push(format!("telemetry: the GPUs are looked at no more in `{}`: {why}", self.run));
            }
        }
    }

    fn name_processes(&self, gpus: &mut [GpuSample]) {
        for process in gpus.iter_mut().flat_map(|gpu| gpu.processes.iter_mut().flatten()) {
            if process.name.is_none() {
                process.name = name_of(process.pid);
            }
            if process.of_server.is_none() {
                process.of_server = self.of.group.and_then(|group| is_member(group, process.pid));
            }
        }
    }

    fn scrape(&self) -> Option<Scrape> {
        let given_up = self.scraped(|scraped| scraped.given_up);
        let probe = self.of.probe.clone();
        (!given_up).then(|| {
            let scrape: Scrape = Box::pin(async move { (Instant::now(), asked(&probe).await) });
            scrape
        })
    }

    fn scraped<T>(&self, look: impl FnOnce(&mut Scraped) -> T) -> T {
        look(&mut self.of.scraped.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn keep_answer(&mut self, origin: Instant, (sent, answer): (Instant, Result<ServerSample, Refusal>)) {
        match answer {
            Ok(sample) => {
                self.scraped(|scraped| scraped.misses = 0);
                self.keep(origin, sent, None, Some(sample));
            }
            Err(refusal) => {
                let given_up = self.scraped(|scraped| {
                    scraped.misses += 1;
                    scraped.given_up |= refusal.settled || scraped.misses >= MISSES;
                    scraped.given_up
                });
                if given_up {
                    let (url, why) = (self.of.probe.url(), refusal.why);
                    self.notes
                        .push(format!("`{url}{PATH}` is not asked again: {why}; its queue is not in the results"));
                }
            }
        }
    }

    fn keep(&mut self, origin: Instant, sent: Instant, gpus: Option<Vec<GpuSample>>, server: Option<ServerSample>) {
        let at_us = self.modelled_us(sent.saturating_duration_since(origin));
        let took_us = self.modelled_us(sent.elapsed());
        let sample = TelemetrySample { run: self.run.clone(), at_us, took_us, gpus, server };
        if let Err(error) = self.journal.append(&[sample]) {
            // the run itself goes on
            self.of.devices = None;
            self.scraped(|scraped| scraped.given_up = true);
            self.notes.push(format!("telemetry is kept no more: {error}"));
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "microseconds of a run are far below 2^53, and spans are not negative"
    )]
    fn modelled_us(&self, span: Duration) -> u64 {
        (span.as_secs_f64() * self.speed * 1e6) as u64
    }
}

async fn answered(scrape: &mut Option<Scrape>) -> (Instant, Result<ServerSample, Refusal>) {
    match scrape {
        Some(scrape) => scrape.await,
        None => std::future::pending().await,
    }
}

async fn asked(probe: &Probe) -> Result<ServerSample, Refusal> {
    let refusal = |why: String, settled: bool| Refusal { why, settled };
    let answer = probe.get(PATH).await.map_err(|why| refusal(why, false))?;
    if !answer.is_success() {
        let absent = matches!(answer.status, 401 | 403 | 404 | 405 | 410 | 501);
        return Err(refusal(format!("it answered {}", answer.status), absent));
    }
    let text = String::from_utf8_lossy(&answer.body);
    // a text that was cut ends within a line
    let whole = if answer.is_cut() { text.rsplit_once('\n').map_or("", |(whole, _)| whole) } else { &text };
    server_sample(&Exposition::parse(whole))
        .ok_or_else(|| refusal("its answer has no `vllm_omni:` family".to_owned(), true))
}

/// What a process is called, when it can be seen from here.
fn name_of(pid: u32) -> Option<String> {
    let name = fs_err::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}
