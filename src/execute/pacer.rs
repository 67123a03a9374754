//! Releases requests at their due times in open loop. A thread of its own sleeps to each due time:
//! the runtime's timer wakes a millisecond late, a thread a tenth of that. The schedule is absolute,
//! so a late release does not move the next one.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use tokio::sync::mpsc;

use super::clock::Clock;

/// A running pacer; it ends when it has released everything, or is dropped.
pub(crate) struct Pacer {
    released: mpsc::UnboundedReceiver<usize>,
    thread: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Pacer {
    /// Starts releasing the positions of `due_us`, which is sorted, on this clock.
    pub(crate) fn start(clock: Clock, due_us: Vec<u64>) -> std::io::Result<Self> {
        let (release, released) = mpsc::unbounded_channel();
        let (alive, ended) = channel::<()>();
        let thread = thread::Builder::new().name("pacer".into()).spawn(move || {
            for (position, due) in due_us.into_iter().enumerate() {
                // a time that the system's clock cannot tell never comes
                let Some(due) = clock.at_us(due) else { return };
                let wait = due.saturating_duration_since(Instant::now());
                if !wait.is_zero() && ended.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                if release.send(position).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { released, thread: Some((alive, thread)) })
    }

    /// The next position that has become due; `None` after the last.
    pub(crate) async fn next(&mut self) -> Option<usize> {
        self.released.recv().await
    }
}

impl Drop for Pacer {
    fn drop(&mut self) {
        self.released.close();
        if let Some((alive, thread)) = self.thread.take() {
            // wakes the thread from its sleep
            drop(alive);
            // it holds no lock and cannot panic; a thread that did has nothing left to tell
            drop(thread.join());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn positions_come_in_order_and_never_before_they_are_due() {
        let clock = Clock::start(1.0);
        let due: Vec<u64> = (0..20).map(|i| i * 5_000).collect();
        let mut pacer = Pacer::start(clock, due.clone()).unwrap();
        for (position, due) in due.iter().enumerate() {
            assert_eq!(pacer.next().await, Some(position));
            assert!(clock.now_us() >= *due);
        }
        assert_eq!(pacer.next().await, None);
    }

    #[tokio::test]
    async fn dropping_it_does_not_wait_for_the_schedule() {
        let begun = Instant::now();
        let mut pacer = Pacer::start(Clock::start(1.0), vec![0, 3_600_000_000]).unwrap();
        assert_eq!(pacer.next().await, Some(0));
        drop(pacer);
        assert!(begun.elapsed() < Duration::from_mins(1));
    }

    #[tokio::test]
    async fn a_simulated_schedule_passes_faster() {
        let clock = Clock::start(100.0);
        let begun = Instant::now();
        let mut pacer = Pacer::start(clock, vec![0, 5_000_000]).unwrap();
        assert_eq!((pacer.next().await, pacer.next().await), (Some(0), Some(1)));
        assert!(begun.elapsed() >= Duration::from_millis(49) && begun.elapsed() < Duration::from_secs(4));
    }
}
