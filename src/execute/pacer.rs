//! Releases requests at their due times in open loop. The schedule is absolute, so a late release
//! does not move the next one.
//!
//! A sleeping thread, or a runtime whose threads sleep, wakes up to some milliseconds late on a
//! machine whose idle cores have to be woken. So the last stretch before a due time is not slept but
//! spent in the runtime, on the thread that will send the request: between two looks at the clock it
//! does whatever else is to be done there.

use std::time::{Duration, Instant};

use super::clock::Clock;

/// How long before a due time sleeping ends: the timer's step of a millisecond, and as much again for
/// waking up.
const AWAKE: Duration = Duration::from_millis(2);

/// A schedule in progress.
#[derive(Debug)]
pub(crate) struct Pacer {
    clock: Clock,
    due_us: Vec<u64>,
    released: usize,
}

impl Pacer {
    /// When a position is due.
    pub(crate) fn due_us(&self, position: usize) -> Option<u64> {
        self.due_us.get(position).copied()
    }

    /// Will release the positions of `due_us`, which is sorted, on this clock.
    pub(crate) const fn new(clock: Clock, due_us: Vec<u64>) -> Self {
        Self { clock, due_us, released: 0 }
    }

    /// Waits until the next position is due; `None` after the last, or before one whose time the
    /// system's clock cannot tell. Nothing is lost when the wait is dropped.
    pub(crate) async fn next(&mut self) -> Option<usize> {
        let position = self.released;
        let due = self.clock.at_us(*self.due_us.get(position)?)?;
        if let Some(early) = due.checked_sub(AWAKE)
            && Instant::now() < early
        {
            tokio::time::sleep_until(early.into()).await;
        }
        while Instant::now() < due {
            tokio::task::yield_now().await;
        }
        self.released += 1;
        Some(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn positions_come_in_order_and_never_before_they_are_due() {
        let clock = Clock::start(1.0);
        let due: Vec<u64> = (0..20).map(|i| i * 5_000).collect();
        let mut pacer = Pacer::new(clock, due.clone());
        for (position, due) in due.iter().enumerate() {
            assert_eq!(pacer.next().await, Some(position));
            assert!(clock.now_us() >= *due);
        }
        assert_eq!(pacer.next().await, None);
    }

    #[tokio::test]
    async fn a_wait_that_is_dropped_loses_nothing() {
        let mut pacer = Pacer::new(Clock::start(1.0), vec![0, 30_000, 3_600_000_000]);
        assert_eq!(pacer.next().await, Some(0));
        for wait_ms in [1, 40] {
            let waited = tokio::time::timeout(Duration::from_millis(wait_ms), pacer.next()).await;
            assert_eq!(waited.ok(), (wait_ms == 40).then_some(Some(1)));
        }
        assert!(tokio::time::timeout(Duration::from_millis(1), pacer.next()).await.is_err());
    }

    #[tokio::test]
    async fn a_simulated_schedule_passes_faster() {
        let clock = Clock::start(100.0);
        let begun = Instant::now();
        let mut pacer = Pacer::new(clock, vec![0, 5_000_000]);
        assert_eq!((pacer.next().await, pacer.next().await), (Some(0), Some(1)));
        assert!(begun.elapsed() >= Duration::from_millis(49) && begun.elapsed() < Duration::from_secs(4));
    }
}
