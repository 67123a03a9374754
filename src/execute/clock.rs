//! The time base of a phase: one monotonic origin, and a factor between modelled and wall time.
//! A real server has factor 1; a simulated run passes `speed` times faster on the wall than in its
//! records, and so do its sleeps and limits.

use std::time::{Duration, Instant};

/// A running time base.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    origin: Instant,
    speed: f64,
}

impl Clock {
    /// Starts a clock now. A speed that is no positive number counts as 1.
    pub(crate) fn start(speed: f64) -> Self {
        let speed = if speed.is_finite() && speed > 0.0 { speed } else { 1.0 };
        Self { origin: Instant::now(), speed }
    }

    /// Microseconds of modelled time since the start.
    pub(crate) fn now_us(&self) -> u64 {
        self.modelled_us(self.origin.elapsed())
    }

    /// The wall span in which this much modelled time passes.
    pub(crate) fn wall(&self, modelled: Duration) -> Duration {
        Duration::try_from_secs_f64(modelled.as_secs_f64() / self.speed).unwrap_or(modelled)
    }

    /// The wall instant of a modelled time; `None` when it is beyond what the system's clock can tell.
    pub(crate) fn at_us(&self, us: u64) -> Option<Instant> {
        self.origin.checked_add(self.wall(Duration::from_micros(us)))
    }

    /// The wall instant that much modelled time from now.
    pub(crate) fn after(&self, modelled: Duration) -> Option<Instant> {
        Instant::now().checked_add(self.wall(modelled))
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "microseconds of a run are far below 2^53, and elapsed time is not negative"
    )]
    fn modelled_us(&self, wall: Duration) -> u64 {
        (wall.as_nanos() as f64 * self.speed / 1e3) as u64
    }
}

/// Whole microseconds of a span; the largest number when it has more.
pub(crate) fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_simulated_minute_passes_in_three_seconds_at_speed_twenty() {
        let clock = Clock::start(20.0);
        assert_eq!(clock.wall(Duration::from_mins(1)), Duration::from_secs(3));
        assert_eq!(clock.modelled_us(Duration::from_secs(3)), 60_000_000);
        assert_eq!(clock.at_us(60_000_000), Some(clock.origin + Duration::from_secs(3)));
    }

    #[test]
    fn a_speed_that_is_no_factor_counts_as_one() {
        for speed in [0.0, -3.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Clock::start(speed).wall(Duration::from_secs(2)), Duration::from_secs(2));
        }
    }

    #[test]
    fn a_limit_beyond_the_clock_is_no_instant() {
        assert_eq!(Clock::start(1.0).after(Duration::MAX), None);
        assert_eq!(micros(Duration::MAX), u64::MAX);
    }
}
