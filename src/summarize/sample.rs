//! A checked, sorted sample and its order-free statistics.
//!
//! In: finite observations. Out: mean, standard deviation, quantiles. A sample is never empty and
//! never holds NaN, so nothing here can fail or invent a zero.

use super::types::{Distribution, Mean99, Memory, StageTime, Tail};

/// Why a list of numbers is not a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SampleError {
    /// There is nothing in it.
    #[error("a sample needs at least one observation")]
    Empty,
    /// One of them is NaN or infinite.
    #[error("an observation is not a finite number")]
    NotFinite,
}

/// At least one finite observation, in ascending order.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample(Vec<f64>);

impl Sample {
    /// Sorts the observations; empty lists and numbers that are not finite are refused.
    pub fn new(mut values: Vec<f64>) -> Result<Self, SampleError> {
        if values.is_empty() {
            return Err(SampleError::Empty);
        }
        if !values.iter().all(|value| value.is_finite()) {
            return Err(SampleError::NotFinite);
        }
        values.sort_by(f64::total_cmp);
        Ok(Self(values))
    }

    /// The finite ones among the observations; `None` when there are none.
    pub(crate) fn of_finite(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        Self::new(values.into_iter().filter(|value| value.is_finite()).collect()).ok()
    }

    /// The observations, ascending.
    pub fn sorted(&self) -> &[f64] {
        &self.0
    }

    /// How many there are, at least 1.
    pub fn n(&self) -> usize {
        self.0.len()
    }

    /// Arithmetic mean; rounding does not take it out of the sample's range.
    pub fn mean(&self) -> f64 {
        (self.0.iter().sum::<f64>() / real(self.n())).clamp(self.min(), self.max())
    }

    /// Population standard deviation (division by n), numpy's default.
    pub fn std(&self) -> f64 {
        let mean = self.mean();
        (self.0.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / real(self.n())).sqrt()
    }

    /// Smallest observation.
    pub fn min(&self) -> f64 {
        self.at(0)
    }

    /// Largest observation.
    pub fn max(&self) -> f64 {
        self.at(self.n() - 1)
    }

    /// The quantile of share `q` in 0..=1 by linear interpolation between the two nearest ranks:
    /// type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages" (1996), numpy's default.
    pub fn quantile(&self, q: f64) -> f64 {
        let rank = q.clamp(0.0, 1.0) * real(self.n() - 1);
        let below = floor(rank);
        let (low, high) = (self.at(below), self.at(below + 1));
        // the clamp keeps quantiles of rising shares in order whatever the rounding
        (low + (high - low) * (rank - real(below))).clamp(low, high)
    }

    /// Mean, spread, quantiles and ends.
    pub fn distribution(&self) -> Distribution {
        Distribution {
            mean: Some(self.mean()),
            std: Some(self.std()),
            min: Some(self.min()),
            p50: Some(self.quantile(0.5)),
            p90: Some(self.quantile(0.9)),
            p95: Some(self.quantile(0.95)),
            p99: Some(self.quantile(0.99)),
            max: Some(self.max()),
            at_least: None,
        }
    }

    pub(crate) fn mean99(&self) -> Mean99 {
        Mean99 {
            n: self.n() as u64,
            mean: self.mean(),
            std: self.std(),
            p50: self.quantile(0.5),
            p90: self.quantile(0.9),
            p95: self.quantile(0.95),
            p99: self.quantile(0.99),
        }
    }

    pub(crate) fn memory(&self) -> Memory {
        Memory {
            n: self.n() as u64,
            max: self.max(),
            mean: self.mean(),
            median: self.quantile(0.5),
            p90: self.quantile(0.9),
            p95: self.quantile(0.95),
            p99: self.quantile(0.99),
        }
    }

    pub(crate) fn stage(&self) -> StageTime {
        StageTime { n: self.n() as u64, mean: self.mean(), p50: self.quantile(0.5), p99: self.quantile(0.99) }
    }

    pub(crate) fn tail(&self) -> Tail {
        Tail { p50: self.quantile(0.5), p99: self.quantile(0.99), max: self.max() }
    }

    /// The observation at a rank from 0; ranks past the end mean the last.
    pub(crate) fn at(&self, rank: usize) -> f64 {
        self.0.get(rank).or(self.0.last()).copied().unwrap_or_default()
    }
}

/// A count as a number for arithmetic.
#[expect(clippy::cast_precision_loss, reason = "counts of requests, pixels and microseconds are below 2^53")]
pub(crate) fn real(count: usize) -> f64 {
    count as f64
}

/// The same for counts of 64 bits.
#[expect(clippy::cast_precision_loss, reason = "counts of requests, pixels and microseconds are below 2^53")]
pub(crate) fn real_u64(count: u64) -> f64 {
    count as f64
}

/// Microseconds as seconds.
pub(crate) fn seconds(us: u64) -> f64 {
    real_u64(us) / 1e6
}

/// The whole part of a rank.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank is between 0 and a length")]
fn floor(rank: f64) -> usize {
    rank as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values.to_vec()).unwrap()
    }

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() <= 1e-9 * right.abs().max(1.0)
    }

    #[test]
    fn three_latencies_have_the_quantiles_and_the_population_deviation_of_numpy() {
        let three = sample(&[9.0, 2.0, 2.5]).distribution();
        assert_eq!((three.mean, three.p50), (Some(4.5), Some(2.5)));
        assert!(close(three.p95.unwrap(), 8.35) && close(three.p99.unwrap(), 8.87));
        assert!((three.std.unwrap() - 3.1885).abs() < 5e-5);
    }

    #[test]
    fn one_to_ten_has_the_percentiles_of_numpy() {
        let ten = Sample::new((1..=10).map(f64::from).collect()).unwrap();
        for (share, value) in [(0.5, 5.5), (0.9, 9.1), (0.95, 9.55), (0.99, 9.91)] {
            assert!(close(ten.quantile(share), value), "{share}: {}", ten.quantile(share));
        }
    }

    #[test]
    fn one_observation_is_every_percentile() {
        let one = sample(&[2.2087]).distribution();
        assert_eq!([one.mean, one.min, one.p50, one.p90, one.p95, one.p99, one.max], [Some(2.2087); 7]);
        assert_eq!(one.std, Some(0.0));
    }

    #[test]
    fn published_memory_figures_come_out() {
        let memory = sample(&[46750.0, 46790.0, 46960.0]).memory();
        assert!(close(memory.mean, 46_833.333_333_333_336) && close(memory.p99, 46956.6));
        assert_eq!((memory.median, memory.max, memory.n), (46790.0, 46960.0, 3));
    }

    #[test]
    fn nothing_and_nan_are_not_samples() {
        assert_eq!(Sample::new(vec![]), Err(SampleError::Empty));
        assert_eq!(Sample::new(vec![1.0, f64::NAN]), Err(SampleError::NotFinite));
        assert_eq!(Sample::new(vec![f64::INFINITY]), Err(SampleError::NotFinite));
    }

    proptest! {
        #[test]
        fn equal_observations_have_that_mean_and_no_deviation(value in -1e12..1e12f64, n in 1usize..50) {
            let equal = Sample::new(vec![value; n]).unwrap();
            prop_assert_eq!((equal.mean(), equal.std()), (value, 0.0));
        }

        #[test]
        fn the_mean_is_within_the_ends_and_moves_with_the_sample(values in prop::collection::vec(0.0..1e6f64, 1..200)) {
            let here = Sample::new(values.clone()).unwrap();
            prop_assert!(here.min() <= here.mean() && here.mean() <= here.max());
            let moved = Sample::new(values.iter().map(|value| value + 512.0).collect()).unwrap();
            prop_assert!(close(moved.mean(), here.mean() + 512.0));
            prop_assert!((moved.std() - here.std()).abs() <= 1e-6 * here.std().max(1.0));
        }

        #[test]
        fn quantiles_are_ordered_and_within_the_ends(values in prop::collection::vec(-1e12..1e12f64, 1..200)) {
            let d = Sample::new(values).unwrap().distribution();
            let ordered = [d.min, d.p50, d.p90, d.p95, d.p99, d.max].map(Option::unwrap);
            prop_assert!(ordered.windows(2).all(|pair| pair[0] <= pair[1]), "{ordered:?}");
        }

        #[test]
        fn input_order_changes_no_bit(values in prop::collection::vec(0.0..1e6f64, 1..100)) {
            let mut reversed = values.clone();
            reversed.reverse();
            prop_assert_eq!(Sample::new(values).unwrap().distribution(), Sample::new(reversed).unwrap().distribution());
        }

        #[test]
        fn nan_is_refused_wherever_it_stands(mut values in prop::collection::vec(0.0..1e6f64, 0..20), at in 0usize..20) {
            values.insert(at.min(values.len()), f64::NAN);
            prop_assert_eq!(Sample::new(values), Err(SampleError::NotFinite));
        }
    }
}
