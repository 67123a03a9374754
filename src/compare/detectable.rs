//! How small a difference a plan could see, from a spread that was measured or modelled: two-sided at 5 %,
//! seen in 80 of 100 cases, for one metric.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, Normal};

use super::arm::Point;
use super::measure::{Basis, REPEATS_FOR_A_CLAIM};
use super::student;
use crate::record::Record;
use crate::summarize::{COVERAGE, real, real_u64, seconds};

/// Chance of seeing a difference that is there.
pub const POWER: f64 = 0.8;
/// Repeats and requests beyond which a design is not looked for.
const MOST_REPEATS: u64 = 1_000;
const MOST_REQUESTS: u64 = 10_000_000;

/// How much latencies of one configuration scatter, relative to themselves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseLevel {
    /// Standard deviation of equal requests within a run.
    pub within: f64,
    /// Standard deviation between runs, beyond what their requests explain; `None` when unknown.
    pub between: Option<f64>,
}

/// The smallest difference that a design shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detectable {
    /// Relative change.
    pub effect: f64,
    /// How far such a finding would reach.
    pub basis: Basis,
}

/// The spread of a point's mean latencies: of the logarithms, by request and repeat. With several repeats
/// the requests' residuals after both effects, and what repeats differ by beyond them; with one the spread
/// within classes. `None` below two requests of a class.
pub fn noise(point: &Point) -> Option<NoiseLevel> {
    let runs: Vec<BTreeMap<usize, f64>> = point
        .repeats
        .iter()
        .map(|repeat| {
            let time = |record: &Record| repeat.headline_s(record).filter(|time| *time > 0.0).map(f64::ln);
            repeat.successes(None).filter_map(|record| Some((record.index, time(record)?))).collect()
        })
        .collect();
    let first = runs.first()?;
    let common: Vec<usize> =
        first.keys().copied().filter(|index| runs.iter().all(|run| run.contains_key(index))).collect();
    if runs.len() < 2 {
        return Some(NoiseLevel { within: within_classes(point)?, between: None });
    }
    if common.len() < 2 {
        return None;
    }
    let (requests, repeats) = (real(common.len()), real(runs.len()));
    let value = |run: &BTreeMap<usize, f64>, index: &usize| run.get(index).copied().unwrap_or_default();
    let of_run: Vec<f64> =
        runs.iter().map(|run| common.iter().map(|index| value(run, index)).sum::<f64>() / requests).collect();
    let all = of_run.iter().sum::<f64>() / repeats;
    let mut squares = 0.0;
    for index in &common {
        let of_request = runs.iter().map(|run| value(run, index)).sum::<f64>() / repeats;
        squares += runs
            .iter()
            .zip(&of_run)
            .map(|(run, mean)| (value(run, index) - of_request - mean + all).powi(2))
            .sum::<f64>();
    }
    let within = squares / ((requests - 1.0) * (repeats - 1.0));
    let means = of_run.iter().map(|mean| (mean - all).powi(2)).sum::<f64>() / (repeats - 1.0);
    let between = (means - within / requests).max(0.0);
    Some(NoiseLevel { within: within.sqrt(), between: Some(between.sqrt()) })
}

fn within_classes(point: &Point) -> Option<f64> {
    let repeat = point.repeats.first()?;
    let mut classes: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for record in repeat.successes(None) {
        let time = record.latency_us.map(seconds).filter(|time| *time > 0.0);
        classes.entry(&record.class).or_default().extend(time.map(f64::ln));
    }
    let (mut squares, mut free) = (0.0, 0.0);
    for times in classes.values() {
        let mean = times.iter().sum::<f64>() / real(times.len().max(1));
        squares += times.iter().map(|time| (time - mean).powi(2)).sum::<f64>();
        free += real(times.len()) - 1.0;
    }
    (free > 0.0).then(|| (squares / free).sqrt())
}

/// The smallest relative change between two arms that so many requests and repeats each would show:
/// (t of 97.5 % + t of 80 %) × the standard error of the difference, over repeats from five on, else within
/// the runs by the normal distribution. `None` without a repeat or a request.
pub fn detectable(noise: NoiseLevel, requests: u64, repeats: u64) -> Option<Detectable> {
    if requests == 0 || repeats == 0 {
        return None;
    }
    let of_requests = noise.within.powi(2) / real_u64(requests);
    let claims = repeats >= REPEATS_FOR_A_CLAIM as u64;
    let of_run = of_requests + noise.between.filter(|_| claims).unwrap_or_default().powi(2);
    let error = (2.0 * of_run / real_u64(repeats)).sqrt();
    let ends = [f64::midpoint(1.0, COVERAGE), POWER];
    let (factor, basis) = if claims {
        let free = real_u64(repeats) - 1.0;
        (student::quantile(ends[0], free)? + student::quantile(ends[1], free)?, Basis::AcrossRepeats)
    } else {
        (ends.map(|share| Normal::standard().inverse_cdf(share)).iter().sum(), Basis::WithinThisRun)
    };
    Some(Detectable { effect: (factor * error).exp_m1(), basis })
}

/// The fewest repeats, at least five, with which so many requests show the effect; `None` beyond 1,000.
pub fn repeats_for(noise: NoiseLevel, requests: u64, effect: f64) -> Option<u64> {
    fewest(REPEATS_FOR_A_CLAIM as u64, MOST_REPEATS, |repeats| detectable(noise, requests, repeats), effect)
}

/// The fewest requests with which so many repeats show the effect; `None` beyond ten million, which is when
/// runs differ too much among themselves.
pub fn requests_for(noise: NoiseLevel, repeats: u64, effect: f64) -> Option<u64> {
    fewest(2, MOST_REQUESTS, |requests| detectable(noise, requests, repeats), effect)
}

/// The smallest number that is enough; more is always better.
fn fewest(from: u64, to: u64, of: impl Fn(u64) -> Option<Detectable>, effect: f64) -> Option<u64> {
    let enough = |number: u64| of(number).is_some_and(|found| found.effect <= effect);
    let (mut low, mut high) = (from, to);
    if !enough(high) {
        return None;
    }
    while low < high {
        let middle = low.midpoint(high);
        if enough(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOISE: NoiseLevel = NoiseLevel { within: 0.05, between: Some(0.02) };

    #[test]
    fn a_spread_between_runs_cannot_be_bought_off_with_requests() {
        assert_eq!(requests_for(NOISE, 5, 0.02), None);
        let repeats = repeats_for(NOISE, 40, 0.02).unwrap();
        assert!(detectable(NOISE, 40, repeats).unwrap().effect <= 0.02);
        assert!(detectable(NOISE, 40, repeats - 1).unwrap().effect > 0.02);
    }

    #[test]
    fn fewer_than_five_repeats_promise_nothing_beyond_their_runs() {
        let found = detectable(NOISE, 40, 4).unwrap();
        assert_eq!(found.basis, Basis::WithinThisRun);
        // 2.8016 × 0.05 × √(2 / 160)
        assert!((found.effect - (2.801_585 * 0.05 * (2.0_f64 / 160.0).sqrt()).exp_m1()).abs() < 1e-6);
        assert_eq!(detectable(NOISE, 40, 5).unwrap().basis, Basis::AcrossRepeats);
    }

    proptest! {
        #[test]
        fn more_of_anything_shows_more(requests in 2u64..2000, repeats in 5u64..60) {
            let effect = |requests, repeats| detectable(NOISE, requests, repeats).unwrap().effect;
            prop_assert!(effect(requests + 1, repeats) <= effect(requests, repeats));
            prop_assert!(effect(requests, repeats + 1) <= effect(requests, repeats));
        }
    }
}
