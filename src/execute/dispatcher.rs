//! The owner of a phase's state. Workers and the user's stop are messages to it; it waits for due
//! times itself, decides what starts when, and knows when the phase is over.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};

use crate::record::{RequestError, Status};

use super::clock::Clock;
use super::context::{Context, Shared, SlotFree};
use super::draft::Draft;
use super::drive::Counts;
use super::feed::{CHUNK, Chunk, Feed};
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
    /// A request could not be put on the wire, after others had been sent.
    Encode(String),
}

impl From<WriterGone> for PhaseError {
    fn from(_: WriterGone) -> Self {
        Self::WriterGone
    }
}

/// Runs a phase to its end on a clock that starts with it: everything is sent and recorded, or stopped and recorded.
pub(crate) async fn run(
    phase: Phase<'_>,
    shared: &Shared,
    stop: &Stop,
    progress: &Progress,
) -> Result<PhaseEnd, PhaseError> {
    let Phase { kind, count, requests, due_us, cap, must_succeed } = phase;
    let (slots, freed) = mpsc::unbounded_channel();
    let (written, outcomes) = mpsc::unbounded_channel();
    let halt = Stop::new();
    if stop.is_requested() {
        halt.request();
    }
    let (first, chunks, feeding) = Feed::start(requests, cap.unwrap_or(1)).map_err(PhaseError::Encode)?;
    let clock = Clock::start(shared.speed);
    let ctx = Arc::new(Context { shared: shared.clone(), kind, clock, halt, slots, written });
    let slots = cap.map(|cap| vec![0; cap.clamp(1, count.max(1))].into());
    let pacer = due_us.map(|due_us| Pacer::new(clock, due_us));
    let mut dispatcher = Dispatcher { pacer, must_succeed, slots, ..Dispatcher::new(ctx) };
    dispatcher.bring(first);
    let inbox = Inbox { freed, outcomes, chunks };
    let (stop, progress) = (stop.clone(), progress.clone());
    // on a thread of the runtime: what it starts begins on the same thread, without another's waking up
    let mut task = JoinSet::new();
    task.spawn(async move {
        dispatcher.run(inbox, &stop, &progress).await;
        dispatcher
    });
    let (brought, ended) = tokio::join!(feeding.run(), task.join_next());
    let dispatcher = match ended {
        Some(Ok(dispatcher)) => dispatcher,
        Some(Err(error)) => return Err(PhaseError::Machinery(format!("the dispatcher broke down: {error}"))),
        None => return Err(PhaseError::Machinery("the dispatcher was not started".into())),
    };
    brought.map_err(PhaseError::Encode)?;
    match dispatcher.broken {
        Some(broken) => Err(broken),
        None => Ok(dispatcher.end),
    }
}

/// What others send to the dispatcher.
struct Inbox {
    freed: mpsc::UnboundedReceiver<SlotFree>,
    outcomes: mpsc::UnboundedReceiver<Vec<Status>>,
    chunks: mpsc::Receiver<Chunk>,
}

/// A request and, in open loop, when it is due.
type Waiting = (Arc<Prepared>, Option<u64>);

struct Dispatcher {
    ctx: Arc<Context>,
    pacer: Option<Pacer>,
    must_succeed: bool,
    /// Whether every request has been brought.
    all_here: bool,
    /// Not yet due; in closed loop always empty.
    scheduled: VecDeque<Arc<Prepared>>,
    /// Requests that were due before they were brought.
    owed: VecDeque<u64>,
    /// Due, waiting for a slot.
    waiting: VecDeque<Waiting>,
    /// Free slots with the time since when; `None` is no cap.
    slots: Option<VecDeque<u64>>,
    workers: JoinSet<Result<(), WriterGone>>,
    /// Requests that were started and whose records are not known to be in their file.
    unwritten: u64,
    end: PhaseEnd,
    /// Why the phase cannot go on; what runs is stopped in good order all the same.
    broken: Option<PhaseError>,
}

impl Dispatcher {
    fn new(ctx: Arc<Context>) -> Self {
        Self {
            ctx,
            pacer: None,
            must_succeed: false,
            all_here: false,
            scheduled: VecDeque::new(),
            owed: VecDeque::new(),
            waiting: VecDeque::new(),
            slots: None,
            workers: JoinSet::new(),
            unwritten: 0,
            end: PhaseEnd::default(),
            broken: None,
        }
    }

    async fn run(&mut self, mut inbox: Inbox, stop: &Stop, progress: &Progress) {
        let mut tick = tokio::time::interval(TICK);
        let (ctx, mut abandoned, mut writer_gone) = (Arc::clone(&self.ctx), false, false);
        let (mut stopped, mut now) = (pin!(stop.stopped()), pin!(stop.abandoned()));
        let mut gone = pin!(ctx.shared.lines.gone());
        while !self.is_over() {
            tokio::select! {
                biased;
                () = &mut now, if !abandoned => {
                    abandoned = true;
                    self.ctx.halt.now();
                }
                () = &mut stopped, if !self.halted() => self.ctx.halt.request(),
                Some(free) = inbox.freed.recv() => {
                    self.slot_free(free);
                    while let Ok(free) = inbox.freed.try_recv() {
                        self.slot_free(free);
                    }
                }
                released = next_due(self.pacer.as_mut()), if !self.halted() && !self.all_released() => self.release(released),
                chunk = inbox.chunks.recv(), if self.wants_more() => match chunk {
                    Some(chunk) => self.bring(chunk),
                    None => self.all_here = true,
                },
                Some(outcomes) = inbox.outcomes.recv() => self.tally(&outcomes, progress),
                Some(joined) = self.workers.join_next() => {
                    self.joined(joined);
                    while let Some(joined) = self.workers.try_join_next() {
                        self.joined(joined);
                    }
                }
                () = &mut gone, if !writer_gone => {
                    writer_gone = true;
                    self.fail(PhaseError::WriterGone);
                }
                _ = tick.tick() => progress.tick(),
            }
            self.start_ready();
        }
        if self.broken.is_none()
            && let Err(error) = self.record_unsent(&mut inbox.chunks).await
        {
            self.broken = Some(error);
        }
    }

    fn is_over(&self) -> bool {
        let all_started = self.all_here && self.scheduled.is_empty() && self.waiting.is_empty();
        let is_idle = self.workers.is_empty() && (self.unwritten == 0 || self.broken.is_some());
        is_idle && (all_started || self.halted())
    }

    fn halted(&self) -> bool {
        self.ctx.halt.is_requested()
    }

    fn all_released(&self) -> bool {
        self.all_here && self.scheduled.is_empty()
    }

    fn wants_more(&self) -> bool {
        !self.all_here && !self.halted() && self.scheduled.len().max(self.waiting.len()) < CHUNK
    }

    /// Takes requests that are ready.
    fn bring(&mut self, chunk: Chunk) {
        match self.pacer {
            Some(_) => self.scheduled.extend(chunk),
            None => self.waiting.extend(chunk.into_iter().map(|prepared| (prepared, None))),
        }
        while !self.owed.is_empty()
            && let Some(prepared) = self.scheduled.pop_front()
        {
            let due_us = self.owed.pop_front();
            self.waiting.push_back((prepared, due_us));
        }
        self.start_ready();
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
            let Some((prepared, due_us)) = self.waiting.pop_front() else { return };
            let due_us = due_us.or(free_us).unwrap_or_default();
            self.unwritten += 1;
            // what a request goes through has some kilobytes, which a task would be moved with
            self.workers.spawn(Box::pin(work(Arc::clone(&self.ctx), prepared, due_us)));
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
        let due_us = self.pacer.as_ref().zip(released).and_then(|(pacer, position)| pacer.due_us(position));
        match (due_us, self.scheduled.pop_front()) {
            (Some(due_us), Some(prepared)) => self.waiting.push_back((prepared, Some(due_us))),
            (Some(due_us), None) if !self.all_here => self.owed.push_back(due_us),
            _ => self.fail(PhaseError::Machinery("the schedule ended before its last request".into())),
        }
    }

    fn tally(&mut self, outcomes: &[Status], progress: &Progress) {
        self.unwritten = self.unwritten.saturating_sub(outcomes.len() as u64);
        for status in outcomes {
            self.end.counts.add(*status, 1);
            progress.outcome(*status);
        }
    }

    fn joined(&mut self, joined: Result<Result<(), WriterGone>, JoinError>) {
        match joined {
            Ok(Ok(())) => {}
            Ok(Err(WriterGone)) => self.fail(PhaseError::WriterGone),
            Err(error) => self.fail(PhaseError::Machinery(format!("a request's task broke down: {error}"))),
        }
    }

    /// Requests that a stop kept from being sent get their records too. Of a phase that is not
    /// counted they are of no use to anyone.
    async fn record_unsent(&mut self, chunks: &mut mpsc::Receiver<Chunk>) -> Result<(), PhaseError> {
        if self.ctx.kind != PhaseKind::Measured {
            return Ok(());
        }
        let now_us = self.ctx.clock.now_us();
        let mut unsent: Vec<Waiting> = self.waiting.drain(..).collect();
        unsent.extend(self.scheduled.drain(..).map(|prepared| (prepared, None)));
        loop {
            self.cancel(unsent, now_us).await?;
            match chunks.recv().await {
                Some(chunk) => unsent = chunk.into_iter().map(|prepared| (prepared, None)).collect(),
                None => return Ok(()),
            }
        }
    }

    async fn cancel(&mut self, unsent: Vec<Waiting>, now_us: u64) -> Result<(), PhaseError> {
        if unsent.is_empty() {
            return Ok(());
        }
        let shared = &self.ctx.shared;
        let due_us = |index: usize| self.pacer.as_ref().map_or(Some(now_us), |pacer| pacer.due_us(index));
        let record = |(prepared, due): Waiting| {
            let due_us = due.or(due_us(prepared.request.index)).unwrap_or(now_us);
            Draft::unsent(&prepared, shared, due_us, now_us)
        };
        let records: Vec<_> = unsent.into_iter().map(record).collect();
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
