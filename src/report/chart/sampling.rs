//! How much of many runs and many requests is drawn, so that a report stays of a size that opens.

/// What the charts of one run may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    /// Requests of a timeline.
    pub(super) requests: usize,
    /// Steps of a distribution, of all its classes together.
    pub(super) steps: usize,
}

impl Budget {
    /// The share of one of so many runs.
    pub(crate) fn of(runs: usize) -> Self {
        let share = |all: usize, least: usize, most: usize| (all / runs.max(1)).clamp(least, most);
        Self { requests: share(6_000, 40, 400), steps: share(20_000, 200, 1_000) }
    }
}

/// Positions of at most `most` of `count` things, evenly spread, with the first and the last.
pub(super) fn spread(count: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    let gaps = most.saturating_sub(1).max(1);
    let mut places: Vec<usize> = (0..=gaps).map(|place| place * (count - 1) / gaps).collect();
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_few_is_taken_whole_and_what_is_many_evenly_with_both_ends() {
        assert_eq!(spread(3, 10), [0, 1, 2]);
        assert_eq!(spread(101, 5), [0, 25, 50, 75, 100]);
        assert!(spread(0, 5).is_empty());
        assert_eq!(spread(10_000, 400).len(), 400);
    }

    #[test]
    fn many_runs_share_what_may_be_drawn() {
        assert_eq!(Budget::of(1), Budget { requests: 400, steps: 1_000 });
        assert_eq!(Budget::of(200), Budget { requests: 40, steps: 200 });
        assert_eq!(Budget::of(0), Budget::of(1));
    }
}
