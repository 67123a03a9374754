//! The scheduler on a thread of its own. A thread, because its timer is exact to some tens of microseconds
//! where the runtime's is to a millisecond, which at a high speed would be a good part of a request.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::cost::{Cost, Shape};
use super::schedule::{Job, Policy, Scheduler, Times};

/// Turns wall time into modelled seconds since the start and back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    start: Instant,
    speed: f64,
}

impl Clock {
    /// Starts at 0.
    pub(crate) fn new(speed: f64) -> Self {
        Self { start: Instant::now(), speed }
    }

    /// Modelled seconds since the start.
    pub(crate) fn now_s(&self) -> f64 {
        self.start.elapsed().as_secs_f64() * self.speed
    }

    /// Wall time of a modelled span; a span too long for a clock is cut to a year.
    pub(crate) fn wall(&self, modelled_s: f64) -> Duration {
        const YEAR: Duration = Duration::from_hours(365 * 24);
        Duration::try_from_secs_f64((modelled_s / self.speed).max(0.0)).unwrap_or(YEAR).min(YEAR)
    }

    fn until(&self, modelled_s: f64) -> Duration {
        self.wall(modelled_s).min(Duration::from_hours(1)).saturating_sub(self.start.elapsed())
    }
}

enum Message {
    Serve(Job<oneshot::Sender<Times>>),
    /// A client went away; its job may be in the queue.
    Left,
    Stop,
}

/// Tells the thread when the wait for a job is given up.
struct Wait<'a> {
    orders: &'a mpsc::Sender<Message>,
    done: oneshot::Receiver<Times>,
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let answered = self.done.is_terminated();
        self.done.close();
        if !answered && self.orders.send(Message::Left).is_err() {
            // the thread has ended, and its queue with it
        }
    }
}

/// Requests being served and requests waiting in one number, so that nobody sees a request that moves
/// from the queue to a slot in both.
#[derive(Debug, Default)]
struct Load(AtomicU64);

impl Load {
    fn set(&self, (running, waiting): (usize, usize)) {
        let half = |count: usize| u64::from(u32::try_from(count).unwrap_or(u32::MAX));
        self.0.store((half(running) << 32) | half(waiting), Ordering::Relaxed);
    }

    fn get(&self) -> (u64, u64) {
        let both = self.0.load(Ordering::Relaxed);
        (both >> 32, both & u64::from(u32::MAX))
    }
}

/// A handle to the scheduler's thread.
pub(crate) struct Engine {
    clock: Clock,
    orders: mpsc::Sender<Message>,
    load: Arc<Load>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// The engine has stopped and serves nothing any more.
#[derive(Debug)]
pub(crate) struct Stopped;

impl Engine {
    /// Starts the thread.
    pub(crate) fn start(policy: Policy, clock: Clock) -> io::Result<Self> {
        let (orders, inbox) = mpsc::channel();
        let load = Arc::new(Load::default());
        let shown = Arc::clone(&load);
        let thread = std::thread::Builder::new()
            .name("simulated-engine".into())
            .spawn(move || serve(&inbox, Scheduler::new(policy), clock, &shown))?;
        Ok(Self { clock, orders, load, thread: Mutex::new(Some(thread)) })
    }

    /// The time base.
    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    /// Serves a request that came at `arrival_s` and returns when it is done. Dropping the future while the
    /// request waits takes it out of the queue.
    pub(crate) async fn serve(&self, arrival_s: f64, shape: Shape, cost: Cost) -> Result<Times, Stopped> {
        let (ticket, done) = oneshot::channel();
        self.orders.send(Message::Serve(Job { arrival_s, shape, cost, ticket })).map_err(|_| Stopped)?;
        let mut wait = Wait { orders: &self.orders, done };
        (&mut wait.done).await.map_err(|_| Stopped)
    }

    /// Requests being served, and requests waiting.
    pub(crate) fn load(&self) -> (u64, u64) {
        self.load.get()
    }

    /// Ends the thread; requests in it are dropped.
    pub(crate) fn stop(&self) {
        let asked = self.orders.send(Message::Stop);
        let thread = self.thread.lock().ok().and_then(|mut thread| thread.take());
        if let (Ok(()), Some(thread)) = (asked, thread) {
            // a panic of the thread has been printed already, and there is nothing left to serve
            drop(thread.join());
        }
    }
}

fn serve(inbox: &mpsc::Receiver<Message>, mut scheduler: Scheduler<oneshot::Sender<Times>>, clock: Clock, load: &Load) {
    loop {
        let first = match scheduler.next_s() {
            None => inbox.recv().map_err(|_| mpsc::RecvTimeoutError::Disconnected),
            Some(at) => inbox.recv_timeout(clock.until(at)),
        };
        let first = match first {
            Ok(message) => Some(message),
            Err(mpsc::RecvTimeoutError::Timeout) => None,
            Err(mpsc::RecvTimeoutError::Disconnected) => return,
        };
        for message in first.into_iter().chain(inbox.try_iter()) {
            match message {
                Message::Serve(job) => scheduler.submit(job),
                Message::Left => {}
                Message::Stop => return,
            }
        }
        scheduler.forget(oneshot::Sender::is_closed);
        let finished = scheduler.advance(clock.now_s());
        // before anyone hears of it: who has a reply is no longer being served
        load.set(scheduler.load());
        for (ticket, times) in finished {
            if ticket.send(times).is_err() {
                // the client went away while it was served; the time is spent all the same
            }
        }
    }
}
