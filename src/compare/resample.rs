//! Drawing runs again: consecutive requests in blocks, because neighbours share a queue and a batch;
//! and repeats, because runs differ by more than their requests do.

use super::series::Series;
use crate::summarize::{SplitMix, real};

/// Seed of all resampling here: the same records always give the same interval.
const SEED: u64 = 0x0063_6F6D_7061_7265;

/// How two arms belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Design {
    /// Whether the k-th repeats of both arms were run next to each other.
    pub(crate) repeats_paired: bool,
    /// Whether equal positions are equal requests.
    pub(crate) requests_paired: bool,
    /// Requests in flight at once.
    pub(crate) concurrency: usize,
    /// How often everything is drawn again.
    pub(crate) resamples: usize,
}

/// What is drawn again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drawn {
    /// Blocks of consecutive requests within the runs that there are.
    Requests,
    /// First repeats, then blocks of requests within each.
    Repeats,
}

/// A difference on the scale on which it is judged.
pub(crate) type Scaled<'a> = &'a dyn Fn(f64, f64) -> f64;

/// The difference between the arms' means over repeats, as often as `design` says, with everything
/// drawn again: the circular block bootstrap of Politis and Romano, "A Circular Block-Resampling
/// Procedure for Stationary Data" (1992), below one of repeats, as Davison and Hinkley, "Bootstrap
/// Methods and Their Application" (1997), section 3.8, draw from levels.
pub(crate) fn differences(a: &[Series], b: &[Series], design: Design, drawn: Drawn, scaled: Scaled<'_>) -> Vec<f64> {
    let mut random = SplitMix(SEED);
    let mut buffer = Vec::new();
    let (mut runs_a, mut runs_b) = (Vec::new(), Vec::new());
    (0..design.resamples)
        .map(|_| {
            let together = design.repeats_paired && a.len() == b.len();
            runs(a.len(), drawn, &mut random, &mut runs_a);
            if together {
                runs_b.clone_from(&runs_a);
            } else {
                runs(b.len(), drawn, &mut random, &mut runs_b);
            }
            // one draw of requests for all runs that hold the same ones, so that their mix cancels
            let shared = a.first().map(|first| Picks::draw(first, design, &mut random));
            let mut mean = |arm: &[Series], runs: &[usize]| {
                let values = runs.iter().filter_map(|run| arm.get(*run)).map(|series| match &shared {
                    Some(picks) if picks.fits(series, a, design) => series.value_of(&picks.0, &mut buffer),
                    _ => series.value_of(&Picks::draw(series, design, &mut random).0, &mut buffer),
                });
                let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
                sum / real(count)
            };
            let (mean_a, mean_b) = (mean(a, &runs_a), mean(b, &runs_b));
            scaled(mean_a, mean_b)
        })
        .collect()
}

fn runs(count: usize, drawn: Drawn, random: &mut SplitMix, into: &mut Vec<usize>) {
    into.clear();
    into.extend((0..count).map(|run| match drawn {
        Drawn::Requests => run,
        Drawn::Repeats => random.below(count),
    }));
}

/// Positions of drawn units.
struct Picks(Vec<usize>);

impl Picks {
    fn draw(series: &Series, design: Design, random: &mut SplitMix) -> Self {
        let units = series.units();
        // a batch holds consecutive requests already
        let block = match series {
            Series::Values(..) => block(units, design.concurrency),
            Series::Batches(_) | Series::Whole(_) => 1,
        };
        let mut picks = Vec::with_capacity(units + block);
        while picks.len() < units {
            let start = random.below(units);
            picks.extend((start..start + block).map(|place| place % units));
        }
        picks.truncate(units);
        Self(picks)
    }

    fn fits(&self, series: &Series, a: &[Series], design: Design) -> bool {
        design.requests_paired
            && series.units() == self.0.len()
            && a.first().is_some_and(|first| first.is_aligned(series))
    }
}

/// Requests of a block: the cube root of their number (Hall, Horowitz and Jing, "On Blocking Rules for
/// the Bootstrap with Dependent Data", 1995), at least those that are in flight together, and never so
/// many that there are fewer than four blocks.
pub(crate) fn block(units: usize, concurrency: usize) -> usize {
    let mut root = 1;
    while (root + 1) * (root + 1) * (root + 1) <= units {
        root += 1;
    }
    root.max(concurrency).min(units / 4).max(1)
}

#[cfg(test)]
mod tests {
    use super::super::series::Stat;
    use super::*;

    fn design(requests_paired: bool) -> Design {
        Design { repeats_paired: true, requests_paired, concurrency: 1, resamples: 400 }
    }

    fn arm(repeats: usize, of: impl Fn(usize, usize) -> f64) -> Vec<Series> {
        (0..repeats)
            .map(|repeat| Series::Values((0..40).map(|index| (index, of(repeat, index))).collect(), Stat::Mean))
            .collect()
    }

    fn spread(values: &[f64]) -> f64 {
        let mean = values.iter().sum::<f64>() / real(values.len());
        (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / real(values.len())).sqrt()
    }

    #[test]
    fn a_block_holds_what_is_in_flight_together_and_leaves_four_blocks() {
        assert_eq!(
            [(10, 1), (32, 8), (40, 1), (1000, 4), (3, 8), (1, 1)].map(|(n, c)| block(n, c)),
            [2, 8, 3, 10, 1, 1]
        );
    }

    #[test]
    fn a_mix_of_cheap_and_dear_requests_cancels_when_they_are_paired() {
        let dear = |_, index: usize| if index.is_multiple_of(4) { 40.0 } else { 2.0 };
        let (a, b) = (arm(1, dear), arm(1, |repeat, index| 1.5 * dear(repeat, index)));
        let log = |a: f64, b: f64| (b / a).ln();
        let paired = differences(&a, &b, design(true), Drawn::Requests, &log);
        assert!(paired.iter().all(|d| (d - 1.5_f64.ln()).abs() < 1e-9));
        assert!(spread(&differences(&a, &b, design(false), Drawn::Requests, &log)) > 0.05);
    }

    #[test]
    fn drawing_repeats_shows_a_spread_between_runs_that_requests_do_not() {
        let (a, b) = (arm(5, |_, _| 10.0), arm(5, |repeat, _| 10.0 + real(repeat)));
        let minus = |a: f64, b: f64| b - a;
        assert!(spread(&differences(&a, &b, design(true), Drawn::Requests, &minus)) < 1e-12);
        // sqrt of the population variance 2 over 5 repeats
        let between = spread(&differences(&a, &b, design(true), Drawn::Repeats, &minus));
        assert!((between - 0.4_f64.sqrt()).abs() < 0.08, "{between}");
    }

    #[test]
    fn the_same_records_give_the_same_draws() {
        let (a, b) = (arm(3, |r, i| real(r * i + 1)), arm(3, |r, i| real(r + i + 1)));
        let minus = |a: f64, b: f64| b - a;
        let draw = || differences(&a, &b, design(true), Drawn::Repeats, &minus);
        assert_eq!(draw(), draw());
    }
}
