//! 95 % intervals within one run: of a quantile by order statistics, of the mean by Student's t, BCa
//! bootstrap or the normal approximation. Requests of one run share a server, so these say nothing
//! about another run.

use statrs::distribution::{Binomial, ContinuousCDF, Discrete, Normal, StudentsT};

use super::sample::{Sample, real, real_u64};

/// Coverage of every interval here.
pub(crate) const COVERAGE: f64 = 0.95;
/// From this many observations on the mean's interval is a BCa bootstrap; below, resamples are too
/// coarse and Student's t serves.
pub(crate) const BOOTSTRAP_FROM: usize = 20;
/// Above this many the bootstrap agrees with the normal approximation to a fraction of a percent.
pub(crate) const NORMAL_ABOVE: usize = 5_000;
/// Resamples; the ends move by about 2 % of the interval's width from seed to seed.
const RESAMPLES: usize = 2_000;
/// Seed of the resampling; the same records always give the same interval.
const SEED: u64 = 0x006F_6D6E_6962_656E;

/// The distribution-free interval of the quantile of share `q`: the fewest neighbouring order
/// statistics `x(l) ..= x(u)` with P(l ≤ B < u) ≥ 95 % for B ~ Binomial(n, q), and of those the ones
/// with most coverage (Hahn and Meeker, "Statistical Intervals", 1991, section 5.2).
///
/// `None` when even the smallest and largest observation together cover less, which is below n = 6
/// for the median, 29 for P90, 59 for P95 and 299 for P99.
pub fn quantile_interval(sample: &Sample, q: f64) -> Option<[f64; 2]> {
    let (low, high) = ranks(sample.n() as u64, q)?;
    Some([sample.at(low - 1), sample.at(high - 1)])
}

/// Whether the quantile of share `q` of `n` observations has an interval.
pub fn is_supported(n: u64, q: f64) -> bool {
    let n = real_u64(n);
    1.0 - q.powf(n) - (1.0 - q).powf(n) >= COVERAGE
}

/// Ranks from 1 of the interval's ends.
///
/// B's probabilities rise to the mode and fall after it, so growing from the mode towards the
/// likelier neighbour gives the shortest range; 0 and n are outside what order statistics can say.
fn ranks(n: u64, q: f64) -> Option<(usize, usize)> {
    if n < 2 || !is_supported(n, q) {
        return None;
    }
    let binomial = Binomial::new(q, n).ok()?;
    let ratio = q / (1.0 - q);
    let up = |k: u64, p: f64| p * ratio * real_u64(n - k) / real_u64(k + 1);
    let down = |k: u64, p: f64| p / ratio * real_u64(k) / real_u64(n - k + 1);
    let mode = whole(q * real_u64(n + 1)).clamp(1, n - 1);
    let mut mass = binomial.pmf(mode);
    let (mut first, mut last) = (mode, mode);
    let (mut below, mut above) = (down(mode, mass), up(mode, mass));
    while mass < COVERAGE {
        let take_below = first > 1 && (below >= above || last == n - 1);
        if take_below {
            first -= 1;
            mass += below;
            below = down(first, below);
        } else if last < n - 1 {
            last += 1;
            mass += above;
            above = up(last, above);
        } else {
            return None;
        }
    }
    Some((usize::try_from(first).ok()?, usize::try_from(last + 1).ok()?))
}

/// The interval of the mean: Student's t below n = 20, BCa bootstrap to 5,000, the normal
/// approximation above. `None` below n = 2.
pub fn mean_interval(sample: &Sample) -> Option<[f64; 2]> {
    match sample.n() {
        0 | 1 => None,
        _ if sample.min() >= sample.max() => Some([sample.mean(); 2]),
        n if n < BOOTSTRAP_FROM => t_interval(sample),
        n if n > NORMAL_ABOVE => Some(around(sample, normal_quantile(f64::midpoint(1.0, COVERAGE)))),
        _ => Some(bca_interval(sample, RESAMPLES, SEED)),
    }
}

/// The interval of the mean over classes of requests that differ: of one class as [`mean_interval`], of
/// several by each class's own spread, with Student's t of the degrees of freedom of Welch and
/// Satterthwaite. `None` when a class has a single observation, which has no spread.
pub fn stratified_mean_interval(strata: &[Sample]) -> Option<[f64; 2]> {
    if let [only] = strata {
        return mean_interval(only);
    }
    let n = strata.iter().map(|stratum| real(stratum.n())).sum::<f64>();
    let mean = strata.iter().map(|stratum| stratum.mean() * real(stratum.n())).sum::<f64>() / n;
    let (mut variance, mut spread) = (0.0, 0.0);
    for stratum in strata {
        let free = real(stratum.n()) - 1.0;
        if free < 1.0 {
            return None;
        }
        // (share of the class)² × s² / n of the class, where s² = n of the class × σ² / free
        let part = (real(stratum.n()) / n * stratum.std()).powi(2) / free;
        variance += part;
        spread += part.powi(2) / free;
    }
    if strata.is_empty() {
        return None;
    }
    if variance <= 0.0 {
        return Some([mean; 2]);
    }
    let t = StudentsT::new(0.0, 1.0, variance.powi(2) / spread).ok()?;
    let reach = t.inverse_cdf(f64::midpoint(1.0, COVERAGE)) * variance.sqrt();
    Some([mean - reach, mean + reach])
}

fn t_interval(sample: &Sample) -> Option<[f64; 2]> {
    let t = StudentsT::new(0.0, 1.0, real(sample.n() - 1)).ok()?;
    Some(around(sample, t.inverse_cdf(f64::midpoint(1.0, COVERAGE))))
}

/// Mean ± factor × standard error, with the sample standard deviation (division by n − 1).
fn around(sample: &Sample, factor: f64) -> [f64; 2] {
    let error = sample.std() / (real(sample.n()) - 1.0).sqrt();
    [sample.mean() - factor * error, sample.mean() + factor * error]
}

/// Bias-corrected and accelerated bootstrap of the mean: Efron, "Better Bootstrap Confidence
/// Intervals" (1987); ties count half, as scipy does.
fn bca_interval(sample: &Sample, resamples: usize, seed: u64) -> [f64; 2] {
    let mean = sample.mean();
    let mut random = SplitMix(seed);
    let mut means: Vec<f64> = (0..resamples)
        .map(|_| (0..sample.n()).map(|_| sample.at(random.below(sample.n()))).sum::<f64>() / real(sample.n()))
        .collect();
    means.sort_by(f64::total_cmp);
    let below = means.partition_point(|value| *value < mean);
    let up_to = means.partition_point(|value| *value <= mean);
    let bias = normal_quantile(f64::midpoint(real(below), real(up_to)) / real(resamples));
    let Ok(means) = Sample::new(means) else { return [mean; 2] };
    bca_shares(bias, acceleration(sample)).map(|share| means.quantile(share))
}

/// The acceleration of the mean, by the jackknife, whose deviations are those of the observations over
/// n − 1, which cancels.
fn acceleration(sample: &Sample) -> f64 {
    let mean = sample.mean();
    let moment = |power: i32| sample.sorted().iter().map(|value| (value - mean).powi(power)).sum::<f64>();
    moment(3) / (6.0 * moment(2).powf(1.5))
}

/// Which shares of the resampled means are the ends: the nominal ones, moved by bias and acceleration.
fn bca_shares(bias: f64, acceleration: f64) -> [f64; 2] {
    [f64::midpoint(0.0, 1.0 - COVERAGE), f64::midpoint(1.0, COVERAGE)].map(|share| {
        let shifted = bias + normal_quantile(share);
        standard_normal().cdf(bias + shifted / (1.0 - acceleration * shifted))
    })
}

fn standard_normal() -> Normal {
    Normal::standard()
}

/// The standard normal's quantile, kept finite at the ends.
fn normal_quantile(share: f64) -> f64 {
    standard_normal().inverse_cdf(share.clamp(1e-9, 1.0 - 1e-9))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank is between 0 and n")]
fn whole(rank: f64) -> u64 {
    rank as u64
}

/// `SplitMix64`: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (2014).
pub(crate) struct SplitMix(pub(crate) u64);

impl SplitMix {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`; the bias of the multiplication is below 2^-50 for any real sample.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let scaled = (u128::from(self.next()) * bound as u128) >> 64;
        usize::try_from(scaled).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn acceleration_and_ends_are_those_of_a_jackknife_with_scipy() {
        #[derive(serde::Deserialize)]
        struct Fixture {
            bca: Vec<Corrected>,
        }
        #[derive(serde::Deserialize)]
        struct Corrected {
            values: Vec<f64>,
            acceleration: f64,
            bias: f64,
            shares: [f64; 2],
        }
        let fixture: Fixture = serde_json::from_str(include_str!("../../tests/fixtures/stats.json")).unwrap();
        assert!(fixture.bca.len() >= 3);
        for Corrected { values, acceleration: wanted, bias, shares } in fixture.bca {
            let found = acceleration(&Sample::new(values).unwrap());
            assert!((found - wanted).abs() <= 1e-9 * wanted.abs(), "{found} is not {wanted}");
            for (end, share) in bca_shares(bias, found).into_iter().zip(shares) {
                assert!((end - share).abs() < 1e-9, "{end} is not {share}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_quantile_lies_in_its_interval_and_that_within_the_ends(
            values in prop::collection::vec(0.0..1e6f64, 1..400), q in 0.05..0.95f64
        ) {
            let sample = Sample::new(values).unwrap();
            let interval = quantile_interval(&sample, q);
            prop_assert_eq!(interval.is_some(), sample.n() > 1 && is_supported(sample.n() as u64, q));
            if let Some([low, high]) = interval {
                prop_assert!(sample.min() <= low && low <= high && high <= sample.max(), "{} {}", low, high);
                let value = sample.quantile(q);
                prop_assert!(low <= value && value <= high, "{} {} {}", low, value, high);
            }
        }

        #[test]
        fn a_mean_lies_in_its_interval_and_that_moves_and_scales_with_the_sample(
            values in prop::collection::vec(1.0..1e3f64, 2..60)
        ) {
            let sample = Sample::new(values.clone()).unwrap();
            let [low, high] = mean_interval(&sample).unwrap();
            prop_assert!(low <= sample.mean() && sample.mean() <= high, "{} {} {}", low, sample.mean(), high);
            let moved = Sample::new(values.iter().map(|value| 2.0 * value + 64.0).collect()).unwrap();
            for (end, of_moved) in [low, high].into_iter().zip(mean_interval(&moved).unwrap()) {
                prop_assert!((2.0 * end + 64.0 - of_moved).abs() <= 1e-6 * of_moved.abs(), "{} {}", end, of_moved);
            }
        }
    }

    #[test]
    fn a_percentile_is_supported_from_the_count_at_which_its_interval_exists() {
        for (q, n) in [(0.5, 6), (0.9, 29), (0.95, 59), (0.99, 299)] {
            assert!(!is_supported(n - 1, q) && is_supported(n, q), "{q} at {n}");
            assert!(ranks(n - 1, q).is_none() && ranks(n, q).is_some(), "{q} at {n}");
        }
    }

    #[test]
    fn at_the_least_count_the_interval_is_the_whole_range() {
        let six = Sample::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert_eq!(quantile_interval(&six, 0.5), Some([1.0, 6.0]));
    }

    #[test]
    fn the_interval_is_the_shortest_that_covers() {
        // every shorter range of ranks is tried
        for (n, q) in [(6_u64, 0.5), (20, 0.5), (40, 0.9), (100, 0.9), (100, 0.95), (400, 0.99)] {
            let binomial = Binomial::new(q, n).unwrap();
            let covers = |low: u64, high: u64| (low..high).map(|k| binomial.pmf(k)).sum::<f64>() >= COVERAGE;
            let (low, high) = ranks(n, q).unwrap();
            let width = (high - low) as u64;
            assert!(covers(low as u64, high as u64), "{n} {q}");
            assert!(!(1..=n - width + 1).any(|first| covers(first, first + width - 1)), "{n} {q}");
        }
    }

    #[test]
    fn a_constant_sample_has_an_interval_without_width_and_one_request_has_none() {
        assert_eq!(mean_interval(&Sample::new(vec![2.5; 30]).unwrap()), Some([2.5, 2.5]));
        assert_eq!(mean_interval(&Sample::new(vec![2.5]).unwrap()), None);
    }

    #[test]
    fn a_million_observations_have_a_narrow_interval_quickly() {
        let many = Sample::new((0..1_000_000).map(f64::from).collect()).unwrap();
        let [low, high] = quantile_interval(&many, 0.99).unwrap();
        assert!(low < 990_000.0 && high > 990_000.0 && high - low < 1_000.0, "{low} {high}");
    }
}
