//! The owner of a phase's state. Workers and the user's stop are messages to it; it waits for due
//! times itself, decides what starts when, and knows when the phase is over.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};

use crate::record::{RequestError, Status};

use super::clock::Clock;
use super::context::{Context, Shared, SlotFree};
use super::draft::Draft;
use super::drive::Counts;
use super::pacer::Pacer;
use super::phase::{Phase, PhaseKind, Prepared};
use super::progress::Progress;
use super::stop::Stop;
use super::worker::work;
use super::writer::WriterGone;

/// How often progress is told to look at its watch.
const TICK: Duration = Duration::from_millis(500);

/// How a phase ended.
#[derive(Debug, Default)]
pub(crate) struct PhaseEnd {
    pub(crate) counts: Counts,
    /// The first request that did not succeed, when the phase must succeed.
    pub(crate) failure: Option<RequestError>,
}

/// Why a phase could not be carried out.
#[derive(Debug)]
pub(crate) enum PhaseError {
    /// A journal could not be written; the writer knows why.
    WriterGone,
    /// A task broke down.
    Machinery(String),
}

impl From<WriterGone> for PhaseError {
    fn from(_: WriterGone) -> Self {
        Self::WriterGone
    }
}

/// Runs a phase to its end on a clock that starts with it: everything is sent and recorded, or stopped and recorded.
pub(crate) async fn run(
    phase: Phase,
    shared: &Shared,
    stop: &Stop,
    progress: &Progress,
) -> Result<PhaseEnd, PhaseError> {
    let (slots, freed) = mpsc::unbounded_channel();
    let halt = Stop::new();
    if stop.is_requested() {
        halt.request();
    }
    let clock = Clock::start(shared.speed);
    let ctx = Arc::new(Context { shared: shared.clone(), kind: phase.kind, clock, halt, slots });
    let pacer = phase.open_loop.then(|| {
        let due = phase.requests.iter().map(|prepared| prepared.due_us.unwrap_or_default()).collect();
        Pacer::new(clock, due)
    });
    let mut dispatcher = Dispatcher::new(phase, ctx, pacer);
    let (stop, progress) = (stop.clone(), progress.clone());
    // on a thread of the runtime: what it starts begins on the same thread, without another's waking up
    let mut task = JoinSet::new();
    task.spawn(async move {
        dispatcher.run(freed, &stop, &progress).await;
        dispatcher
    });
    let mut dispatcher = match task.join_next().await {
        Some(Ok(dispatcher)) => dispatcher,
        Some(Err(error)) => return Err(PhaseError::Machinery(format!("the dispatcher broke down: {error}"))),
        None => return Err(PhaseError::Machinery("the dispatcher was not started".into())),
    };
    if let Some(broken) = dispatcher.broken {
        return Err(broken);
    }
    dispatcher.record_unsent().await?;
    Ok(dispatcher.end)
}

struct Dispatcher {
    ctx: Arc<Context>,
    pacer: Option<Pacer>,
    must_succeed: bool,
    /// Not yet due; in closed loop, empty from the start.
    scheduled: VecDeque<Arc<Prepared>>,
    /// Due, waiting for a slot.
    waiting: VecDeque<Arc<Prepared>>,
    /// Free slots with the time since when; `None` is no cap.
    slots: Option<VecDeque<u64>>,
    workers: JoinSet<Result<Status, WriterGone>>,
    end: PhaseEnd,
    /// Why the phase cannot go on; what runs is stopped in good order all the same.
    broken: Option<PhaseError>,
}

impl Dispatcher {
    fn new(phase: Phase, ctx: Arc<Context>, pacer: Option<Pacer>) -> Self {
        let requests = VecDeque::from(phase.requests);
        let slots = phase.cap.map(|cap| vec![0; cap.clamp(1, requests.len().max(1))].into());
        let (scheduled, waiting) =
            if phase.open_loop { (requests, VecDeque::new()) } else { (VecDeque::new(), requests) };
        Self {
            ctx,
            pacer,
            must_succeed: phase.must_succeed,
            scheduled,
            waiting,
            slots,
            workers: JoinSet::new(),
            end: PhaseEnd::default(),
            broken: None,
        }
    }

    async fn run(&mut self, mut freed: mpsc::UnboundedReceiver<SlotFree>, stop: &Stop, progress: &Progress) {
        let mut tick = tokio::time::interval(TICK);
        let mut abandoned = false;
        loop {
            self.start_ready();
            let all_sent = self.scheduled.is_empty() && self.waiting.is_empty();
            if self.workers.is_empty() && (all_sent || self.halted()) {
                return;
            }
            tokio::select! {
                biased;
                () = stop.abandoned(), if !abandoned => {
                    abandoned = true;
                    self.ctx.halt.now();
                }
                () = stop.stopped(), if !self.halted() => self.ctx.halt.request(),
                Some(free) = freed.recv() => self.slot_free(free),
                released = next_due(self.pacer.as_mut()), if !self.halted() && !self.scheduled.is_empty() => self.release(released),
                Some(joined) = self.workers.join_next() => self.tally(joined, progress),
                _ = tick.tick() => progress.tick(),
            }
        }
    }

    fn halted(&self) -> bool {
        self.ctx.halt.is_requested()
    }

    fn start_ready(&mut self) {
        if self.halted() {
            return;
        }
        while !self.waiting.is_empty() {
            let free_us = match &mut self.slots {
                None => None,
                Some(slots) => match slots.pop_front() {
                    None => return,
                    free => free,
                },
            };
            let Some(prepared) = self.waiting.pop_front() else { return };
            let due_us = prepared.due_us.or(free_us).unwrap_or_default();
            self.workers.spawn(work(Arc::clone(&self.ctx), prepared, due_us));
        }
    }

    fn slot_free(&mut self, free: SlotFree) {
        if let Some(slots) = &mut self.slots {
            slots.push_back(free.at_us);
        }
        if self.must_succeed && self.end.failure.is_none() && free.end.status != Status::Cancelled {
            self.end.failure = free.end.error;
            if self.end.failure.is_some() {
                self.ctx.halt.request();
            }
        }
    }

    fn fail(&mut self, error: PhaseError) {
        self.ctx.halt.request();
        self.broken.get_or_insert(error);
    }

    fn release(&mut self, released: Option<usize>) {
        // the pacer releases in order, so the position is that of the first one still scheduled
        match (released, self.scheduled.pop_front()) {
            (Some(_), Some(prepared)) => self.waiting.push_back(prepared),
            _ => self.fail(PhaseError::Machinery("the schedule ended before its last request".into())),
        }
    }

    fn tally(&mut self, joined: Result<Result<Status, WriterGone>, JoinError>, progress: &Progress) {
        match joined {
            Ok(Ok(status)) => {
                self.end.counts.add(status, 1);
                progress.outcome(status);
            }
            Ok(Err(WriterGone)) => self.fail(PhaseError::WriterGone),
            Err(error) => self.fail(PhaseError::Machinery(format!("a request's task broke down: {error}"))),
        }
    }

    /// Requests that a stop kept from being sent get their records too. Of a phase that is not
    /// counted they are of no use to anyone.
    async fn record_unsent(&mut self) -> Result<(), PhaseError> {
        let unsent = self.waiting.drain(..).chain(self.scheduled.drain(..));
        if self.ctx.kind != PhaseKind::Measured {
            return Ok(());
        }
        let now_us = self.ctx.clock.now_us();
        let shared = &self.ctx.shared;
        let record = |prepared: Arc<Prepared>| {
            Draft::unsent(&prepared.request, shared, prepared.due_us.unwrap_or(now_us), now_us)
        };
        let records: Vec<_> = unsent.map(record).collect();
        if records.is_empty() {
            return Ok(());
        }
        self.end.counts.add(Status::Cancelled, records.len() as u64);
        Ok(shared.lines.records(PhaseKind::Measured, records).await?)
    }
}

async fn next_due(pacer: Option<&mut Pacer>) -> Option<usize> {
    match pacer {
        Some(pacer) => pacer.next().await,
        None => std::future::pending().await,
    }
}
