//! How many requests were in flight, by a sweep over their intervals.

use super::row::Row;

/// (sent, done) in microseconds of every request that was sent.
pub(crate) fn intervals(records: &[Row]) -> Vec<(u64, u64)> {
    records.iter().filter_map(|record| Some((record.sent_us()?, record.done_us))).collect()
}

/// Changes of the number in flight, in order of time; at equal times ends come before starts, so a
/// slot that is handed over is one request, not two.
fn changes(intervals: &[(u64, u64)]) -> Vec<(u64, i64)> {
    let mut changes: Vec<(u64, i64)> = intervals
        .iter()
        // an interval without length still is one request
        .flat_map(|(start, end)| [(*start, 1), ((*end).max(start + 1), -1)])
        .collect();
    changes.sort_unstable();
    changes
}

/// Most requests in flight at once.
pub(crate) fn peak(intervals: &[(u64, u64)]) -> u64 {
    let most = changes(intervals)
        .iter()
        .scan(0_i64, |level, (_, change)| {
            *level += change;
            Some(*level)
        })
        .max();
    most.and_then(|level| u64::try_from(level).ok()).unwrap_or_default()
}

/// Share of the time between first start and last end with at least `level` in flight; `None` when
/// no time passed.
#[expect(clippy::cast_precision_loss, reason = "microseconds of a run are below 2^53")]
pub(crate) fn share_at(intervals: &[(u64, u64)], level: u32) -> Option<f64> {
    let changes = changes(intervals);
    let (first, last) = (changes.first()?.0, changes.last()?.0);
    let mut in_flight = 0_i64;
    let mut at_level = 0_u64;
    for pair in changes.windows(2) {
        let [(from, change), (to, _)] = pair else { continue };
        in_flight += change;
        if in_flight >= i64::from(level) {
            at_level += to - from;
        }
    }
    (last > first).then(|| at_level as f64 / (last - first) as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_peak_is_the_most_that_hold_any_start(
            spans in prop::collection::vec((0..1_000_u64, 1..300_u64), 0..40)
        ) {
            let spans: Vec<(u64, u64)> = spans.into_iter().map(|(start, length)| (start, start + length)).collect();
            let holding = |at: u64| spans.iter().filter(|(start, end)| *start <= at && at < *end).count() as u64;
            let most = spans.iter().map(|(start, _)| holding(*start)).max().unwrap_or_default();
            prop_assert_eq!(peak(&spans), most);
        }
    }

    #[test]
    fn requests_one_after_another_are_one_in_flight() {
        assert_eq!(peak(&[(0, 300_000), (300_000, 600_000), (600_000, 900_000)]), 1);
        assert_eq!(peak(&[(0, 2_805_700), (2_805_700, 5_611_400), (5_611_400, 8_417_100)]), 1);
    }

    #[test]
    fn overlapping_requests_are_counted_at_the_same_instant_only() {
        assert_eq!(peak(&[(0, 1_000_000), (500_000, 1_500_000), (1_000_000, 2_000_000)]), 2);
    }

    #[test]
    fn nothing_sent_is_nothing_in_flight_and_an_instant_reply_is_one() {
        assert_eq!(peak(&[]), 0);
        assert_eq!(peak(&[(5, 5)]), 1);
    }

    #[test]
    fn the_share_of_time_at_a_level_counts_the_drain_at_the_end() {
        let share = share_at(&[(0, 10), (0, 30)], 2).unwrap();
        assert!((share - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(share_at(&[], 1), None);
    }
}
