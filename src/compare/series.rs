//! One quantity of one run, in units that can be drawn again: the values of its requests, the
//! batches of its rate, or the bare number where a run has only that.

use crate::summarize::real;

/// What is made of a run's values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Stat {
    /// Arithmetic mean.
    Mean,
    /// The quantile of this share.
    Quantile(f64),
}

/// One quantity of one run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Series {
    /// Request index and value, by index, and what is made of them; never empty.
    Values(Vec<(usize, f64)>, Stat),
    /// Amount and seconds of consecutive batches; their rate is the run's. Never empty, time above 0.
    Batches(Vec<(f64, f64)>),
    /// A number of the run as a whole.
    Whole(f64),
}

impl Series {
    /// The run's number.
    pub(crate) fn value(&self) -> f64 {
        match self {
            Self::Values(values, stat) => {
                stat_of(*stat, &mut values.iter().map(|(_, value)| *value).collect::<Vec<_>>())
            }
            Self::Batches(batches) => rate(batches.iter().copied()),
            Self::Whole(value) => *value,
        }
    }

    /// Units that can be drawn again.
    pub(crate) fn units(&self) -> usize {
        match self {
            Self::Values(values, _) => values.len(),
            Self::Batches(batches) => batches.len(),
            Self::Whole(_) => 1,
        }
    }

    /// The number that these units give, by position; positions past the end count as the last.
    pub(crate) fn value_of(&self, picks: &[usize], buffer: &mut Vec<f64>) -> f64 {
        match self {
            Self::Values(values, stat) => {
                buffer.clear();
                buffer.extend(picks.iter().filter_map(|pick| values.get(*pick).map(|(_, value)| *value)));
                stat_of(*stat, buffer)
            }
            Self::Batches(batches) => rate(picks.iter().filter_map(|pick| batches.get(*pick).copied())),
            Self::Whole(value) => *value,
        }
    }

    /// Whether the units of two runs belong together one by one.
    pub(crate) fn is_aligned(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Values(here, _), Self::Values(there, _)) => {
                here.len() == there.len() && here.iter().zip(there).all(|(a, b)| a.0 == b.0)
            }
            (Self::Batches(here), Self::Batches(there)) => here.len() == there.len(),
            (Self::Whole(_), Self::Whole(_)) => true,
            _ => false,
        }
    }
}

/// Mean or quantile; the values are put into another order. 0 of no values, which do not occur.
pub(crate) fn stat_of(stat: Stat, values: &mut [f64]) -> f64 {
    match stat {
        _ if values.is_empty() => 0.0,
        Stat::Mean => values.iter().sum::<f64>() / real(values.len()),
        Stat::Quantile(share) => quantile(share, values),
    }
}

/// Linear interpolation between the nearest ranks, as everywhere; by selection instead of sorting,
/// because resampling asks for it thousands of times.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank is between 0 and a length")]
fn quantile(share: f64, values: &mut [f64]) -> f64 {
    let rank = share.clamp(0.0, 1.0) * real(values.len() - 1);
    let (_, low, above) = values.select_nth_unstable_by(rank as usize, f64::total_cmp);
    let next = above.iter().copied().reduce(f64::min).unwrap_or(*low);
    *low + (next - *low) * rank.fract()
}

fn rate(batches: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (amount, seconds) = batches.fold((0.0, 0.0), |sum, batch| (sum.0 + batch.0, sum.1 + batch.1));
    if seconds > 0.0 { amount / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::summarize::Sample;

    proptest! {
        #[test]
        fn a_selected_quantile_is_that_of_the_sorted_sample(
            mut values in prop::collection::vec(-1e6..1e6f64, 1..200), share in 0.0..=1.0f64
        ) {
            let wanted = Sample::new(values.clone()).unwrap().quantile(share);
            let found = stat_of(Stat::Quantile(share), &mut values);
            prop_assert!((found - wanted).abs() <= 1e-9 * wanted.abs().max(1.0), "{found} {wanted}");
        }

        #[test]
        fn all_units_once_give_the_runs_own_number(values in prop::collection::vec(0.1..1e3f64, 1..60)) {
            let picks: Vec<usize> = (0..values.len()).collect();
            let indexed: Vec<(usize, f64)> = values.iter().copied().enumerate().collect();
            let batches: Vec<(f64, f64)> = values.iter().map(|seconds| (4.0, *seconds)).collect();
            for series in [
                Series::Values(indexed.clone(), Stat::Mean),
                Series::Values(indexed, Stat::Quantile(0.9)),
                Series::Batches(batches),
            ] {
                let again = series.value_of(&picks, &mut Vec::new());
                prop_assert!((again - series.value()).abs() <= 1e-9 * again.abs(), "{series:?}");
            }
        }
    }
}
