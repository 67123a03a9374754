//! The one place that writes a run's journals. Lines arrive over a bounded channel; everything that
//! is waiting goes out in one write per file; a line is acknowledged once it is in its file, which
//! outlives this process. That it outlives the machine is a second thread's matter: it syncs what was
//! written every second, and the end of a run syncs the rest. The first failed write or sync ends the
//! writer, and every later line is refused.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::record::{CreatedJob, Journal, Record, RunDir, Status};

use super::phase::PhaseKind;

/// Lines that may wait; a disk slower than that holds back the workers, never the dispatcher.
const WAITING: usize = 1024;
/// Lines written at once.
const BATCH: usize = 512;
/// Longest time that an acknowledged line stays in the system's memory only.
const SYNC_EVERY: Duration = Duration::from_secs(1);
/// How long the writer lets lines that nobody waits for gather: to be woken for each of them would cost more
/// than to write it.
const GATHER: Duration = Duration::from_millis(1);

/// Takes the outcomes of requests whose records are in their file, many at once.
pub(crate) type Written = mpsc::UnboundedSender<Vec<Status>>;

enum Line {
    Record(PhaseKind, Box<Record>, Written),
    Records(PhaseKind, Vec<Record>, oneshot::Sender<()>),
    Job(CreatedJob, oneshot::Sender<()>),
}

/// The writer is gone because a file could not be written; [`Writer::finish`] has the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WriterGone;

/// Sends lines to the writer.
#[derive(Clone)]
pub(crate) struct Lines(mpsc::Sender<Line>);

impl Lines {
    /// Appends records; they are in the file when this returns.
    pub(crate) async fn records(&self, phase: PhaseKind, records: Vec<Record>) -> Result<(), WriterGone> {
        let (written, ack) = oneshot::channel();
        self.send(Line::Records(phase, records, written), ack).await
    }

    /// Hands a record over; its outcome is told to `written` once it is in its file.
    pub(crate) async fn record(&self, phase: PhaseKind, record: Record, written: Written) -> Result<(), WriterGone> {
        self.0.send(Line::Record(phase, Box::new(record), written)).await.map_err(|_| WriterGone)
    }

    /// Returns when the writer has gone.
    pub(crate) async fn gone(&self) {
        self.0.closed().await;
    }

    /// Appends a line about a job; it is in the file when this returns.
    pub(crate) async fn job(&self, job: CreatedJob) -> Result<(), WriterGone> {
        let (written, ack) = oneshot::channel();
        self.send(Line::Job(job, written), ack).await
    }

    async fn send(&self, line: Line, ack: oneshot::Receiver<()>) -> Result<(), WriterGone> {
        self.0.send(line).await.map_err(|_| WriterGone)?;
        ack.await.map_err(|_| WriterGone)
    }
}

/// The running writer.
pub(crate) struct Writer {
    lines: Lines,
    thread: JoinSet<io::Result<()>>,
}

/// Which journals a run needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Needed {
    pub(crate) warmup: bool,
    pub(crate) calibration: bool,
    pub(crate) jobs: bool,
}

impl Writer {
    /// Opens the journals, so that a folder that cannot be written is known before the first request.
    pub(crate) fn start(dir: &RunDir, needed: Needed) -> io::Result<Self> {
        let open = |wanted: bool, path| wanted.then(|| Journal::open(path)).transpose();
        let mut files = Files {
            records: Some(Journal::open(&dir.records())?),
            warmup: open(needed.warmup, &dir.warmup())?,
            calibration: open(needed.calibration, &dir.calibration())?,
            jobs: open(needed.jobs, &dir.jobs())?,
        };
        let (sender, mut receiver) = mpsc::channel(WAITING);
        let mut thread = JoinSet::new();
        let (ends, end) = sync_channel::<()>(0);
        let state = Arc::<State>::default();
        let (syncing, sync_state) = (files.syncing()?, Arc::clone(&state));
        thread.spawn_blocking(move || sync_regularly(&syncing, &sync_state, &end));
        thread.spawn_blocking(move || {
            // the other thread ends with this one
            let _ends = ends;
            let mut batch = Vec::new();
            while let Some(line) = receiver.blocking_recv() {
                batch.push(line);
                while batch.len() < BATCH
                    && let Ok(line) = receiver.try_recv()
                {
                    batch.push(line);
                }
                if state.broken.load(Ordering::Relaxed) {
                    // the other thread tells why
                    return Ok(());
                }
                let is_waited_for = batch.iter().any(|line| !matches!(line, Line::Record(..)));
                files.write(batch.drain(..))?;
                state.unsynced.store(true, Ordering::Relaxed);
                if !is_waited_for && !needed.jobs {
                    std::thread::sleep(GATHER);
                }
            }
            files.sync()
        });
        Ok(Self { lines: Lines(sender), thread })
    }

    /// A handle for those who have lines to write.
    pub(crate) fn lines(&self) -> Lines {
        self.lines.clone()
    }

    /// Waits until every line is written; the first failure is the result. All handles must be gone.
    pub(crate) async fn finish(self) -> io::Result<()> {
        let Self { lines, mut thread } = self;
        drop(lines);
        let mut all = Ok(());
        while let Some(ended) = thread.join_next().await {
            all = all.and(ended.unwrap_or_else(|error| Err(io::Error::other(error))));
        }
        all
    }
}

/// What the two threads tell each other.
#[derive(Debug, Default)]
struct State {
    /// Something was written since the last sync.
    unsynced: AtomicBool,
    /// The disk refused a sync; what is written from then on may never be on it.
    broken: AtomicBool,
}

/// Syncs what was written, every now and then, until the writer has ended, which syncs the rest itself.
fn sync_regularly(files: &[fs_err::File], state: &State, end: &Receiver<()>) -> io::Result<()> {
    while end.recv_timeout(SYNC_EVERY) == Err(RecvTimeoutError::Timeout) {
        if state.unsynced.swap(false, Ordering::Relaxed) {
            let synced = files.iter().try_for_each(fs_err::File::sync_data);
            synced.inspect_err(|_| state.broken.store(true, Ordering::Relaxed))?;
        }
    }
    Ok(())
}

struct Files {
    records: Option<Journal>,
    warmup: Option<Journal>,
    calibration: Option<Journal>,
    jobs: Option<Journal>,
}

impl Files {
    fn write(&mut self, lines: impl Iterator<Item = Line>) -> io::Result<()> {
        let (mut measured, mut warmup, mut calibration, mut jobs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut acks = Vec::new();
        let (mut outcomes, mut told) = (Vec::new(), None);
        for line in lines {
            match line {
                Line::Record(phase, record, written) => {
                    outcomes.push(record.status);
                    told = Some(written);
                    match phase {
                        PhaseKind::Measured => measured.push(*record),
                        PhaseKind::Warmup => warmup.push(*record),
                        PhaseKind::Calibration => calibration.push(*record),
                    }
                }
                Line::Records(phase, records, written) => {
                    match phase {
                        PhaseKind::Measured => measured.extend(records),
                        PhaseKind::Warmup => warmup.extend(records),
                        PhaseKind::Calibration => calibration.extend(records),
                    }
                    acks.push(written);
                }
                Line::Job(job, written) => {
                    jobs.push(job);
                    acks.push(written);
                }
            }
        }
        append(&mut self.jobs, &jobs)?;
        append(&mut self.records, &measured)?;
        append(&mut self.warmup, &warmup)?;
        append(&mut self.calibration, &calibration)?;
        // a phase ends only when all its outcomes are told, so these are of one phase
        if let Some(told) = told {
            told.send(outcomes).ok();
        }
        for ack in acks {
            // who gave up waiting does not need the answer
            ack.send(()).ok();
        }
        Ok(())
    }

    fn all(&self) -> impl Iterator<Item = &Journal> {
        [&self.records, &self.warmup, &self.calibration, &self.jobs].into_iter().flatten()
    }

    fn sync(&self) -> io::Result<()> {
        self.all().try_for_each(Journal::sync)
    }

    fn syncing(&self) -> io::Result<Vec<fs_err::File>> {
        self.all().map(Journal::syncing).collect()
    }
}

fn append<T: serde::Serialize>(journal: &mut Option<Journal>, items: &[T]) -> io::Result<()> {
    match journal {
        _ if items.is_empty() => Ok(()),
        Some(journal) => journal.append(items),
        None => Err(io::Error::other("a line came for a journal that was not opened")),
    }
}
