//! Rank tests: whether one arm tends to be above the other, whatever the shape of the distribution.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::summarize::real;

/// Pairs up to which the signed-rank distribution is counted out.
const EXACT_PAIRS: usize = 50;
/// Observations per arm up to which the distribution of U is counted out.
const EXACT_PER_ARM: usize = 20;

/// Which rank test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RankTestName {
    /// Wilcoxon's signed-rank test of pairs.
    WilcoxonSignedRank,
    /// The Mann–Whitney U test of two samples.
    MannWhitney,
}

/// What a rank test says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankTest {
    /// Which test.
    pub test: RankTestName,
    /// Pairs that differ, or observations of both arms.
    pub n: u64,
    /// Two-sided p-value.
    pub p: f64,
    /// The smallest p-value that so few observations can give.
    pub least_p: f64,
    /// Whether the distribution was counted out instead of approximated by the normal one.
    pub exact: bool,
}

/// Wilcoxon's signed-rank test of differences: Wilcoxon, "Individual Comparisons by Ranking Methods"
/// (1945). Pairs without a difference are left out. Exact up to 50 pairs without ties or such pairs,
/// else by the normal approximation with corrections for ties and continuity.
pub fn signed_rank(differences: &[f64]) -> RankTest {
    let nonzero: Vec<f64> = differences.iter().copied().filter(|difference| difference.abs() > 0.0).collect();
    let n = nonzero.len();
    let sizes: Vec<f64> = nonzero.iter().map(|difference| difference.abs()).collect();
    let ranked = Ranked::of(&sizes);
    let positive: f64 = nonzero.iter().zip(&ranked.ranks).filter(|(d, _)| **d > 0.0).map(|(_, rank)| rank).sum();
    let exact = n <= EXACT_PAIRS && n == differences.len() && ranked.ties <= 0.0;
    let count = real(n);
    let p = if n == 0 {
        1.0
    } else if exact {
        let ways = signed_rank_ways(n);
        two_sided(&ways, positive)
    } else {
        let middle = count * (count + 1.0) / 4.0;
        let variance = count * (count + 1.0) * (2.0 * count + 1.0) / 24.0 - ranked.ties / 48.0;
        approximate((positive - middle).abs(), variance)
    };
    let least_p = (2.0 * (-count).exp2()).min(1.0);
    RankTest { test: RankTestName::WilcoxonSignedRank, n: n as u64, p, least_p, exact }
}

/// The Mann–Whitney U test: Mann and Whitney, "On a Test of Whether one of Two Random Variables is
/// Stochastically Larger than the Other" (1947). Exact up to 20 observations per arm without ties,
/// else by the normal approximation with corrections for ties and continuity.
pub fn mann_whitney(a: &[f64], b: &[f64]) -> RankTest {
    let [size_a, size_b] = [a, b].map(|arm| real(arm.len()));
    let both: Vec<f64> = a.iter().chain(b).copied().collect();
    let ranked = Ranked::of(&both);
    let first: f64 = ranked.ranks.iter().take(a.len()).sum();
    let statistic = first - size_a * (size_a + 1.0) / 2.0;
    let exact = a.len().max(b.len()) <= EXACT_PER_ARM && ranked.ties <= 0.0;
    let p = if a.is_empty() || b.is_empty() {
        1.0
    } else if exact {
        two_sided(&u_ways(a.len(), b.len()), statistic)
    } else {
        let (pairs, total) = (size_a * size_b, size_a + size_b);
        let variance = pairs / 12.0 * ((total + 1.0) - ranked.ties / (total * (total - 1.0)));
        approximate((statistic - pairs / 2.0).abs(), variance)
    };
    let least_p = (2.0 / choose(both.len(), a.len())).min(1.0);
    RankTest { test: RankTestName::MannWhitney, n: both.len() as u64, p, least_p, exact }
}

/// Two-sided p-value of a distance from the middle, with half a step of continuity.
fn approximate(distance: f64, variance: f64) -> f64 {
    if variance <= 0.0 {
        return 1.0;
    }
    let z = (distance - 0.5).max(0.0) / variance.sqrt();
    (2.0 * Normal::standard().sf(z)).min(1.0)
}

/// Mid-ranks from 1, and the sum of t³ − t over groups of t equal values.
struct Ranked {
    ranks: Vec<f64>,
    ties: f64,
}

impl Ranked {
    fn of(values: &[f64]) -> Self {
        // −0 is 0
        let mut sorted: Vec<(f64, usize)> = values.iter().map(|value| value + 0.0).zip(0..).collect();
        sorted.sort_by(|left, right| left.0.total_cmp(&right.0));
        let mut placed: Vec<(usize, f64)> = Vec::with_capacity(values.len());
        let mut ties = 0.0;
        for group in sorted.chunk_by(|left, right| left.0.total_cmp(&right.0).is_eq()) {
            let size = real(group.len());
            let rank = real(placed.len()) + f64::midpoint(size, 1.0);
            ties += size.powi(3) - size;
            placed.extend(group.iter().map(|(_, place)| (*place, rank)));
        }
        placed.sort_by_key(|(place, _)| *place);
        Self { ranks: placed.into_iter().map(|(_, rank)| rank).collect(), ties }
    }
}

/// In how many ways signs give each sum of positive ranks.
fn signed_rank_ways(n: usize) -> Vec<f64> {
    let mut ways = vec![0.0; n * (n + 1) / 2 + 1];
    if let Some(none) = ways.first_mut() {
        *none = 1.0;
    }
    for rank in 1..=n {
        add_shifted(&mut ways, rank);
    }
    ways
}

/// Adds to every sum the ways of the sum that is smaller by `rank`.
fn add_shifted(ways: &mut [f64], rank: usize) {
    for sum in (rank..ways.len()).rev() {
        let below = ways.get(sum - rank).copied().unwrap_or_default();
        if let Some(here) = ways.get_mut(sum) {
            *here += below;
        }
    }
}

/// In how many ways n of n + m ranks give each U: subsets by size and sum, less the smallest sum.
fn u_ways(n: usize, m: usize) -> Vec<f64> {
    let most = n * m;
    // ways[k][u]: k ranks were taken, with a sum of u above the smallest that k ranks can have
    let mut ways = vec![vec![0.0; most + 1]; n + 1];
    if let Some(none) = ways.first_mut().and_then(|sums| sums.first_mut()) {
        *none = 1.0;
    }
    for rank in 1..=n + m {
        for taken in (1..=n.min(rank)).rev() {
            // the taken-th smallest rank of a subset is at least `taken`
            let extra = rank - taken;
            let Ok([fewer, more]) = ways.get_disjoint_mut([taken - 1, taken]) else { continue };
            for (sum, count) in fewer.iter().enumerate() {
                if let Some(here) = more.get_mut(sum + extra) {
                    *here += count;
                }
            }
        }
    }
    ways.pop().unwrap_or_default()
}

/// Twice the smaller tail, the value itself counted in both.
fn two_sided(ways: &[f64], value: f64) -> f64 {
    let all: f64 = ways.iter().sum();
    let tail = |keep: &dyn Fn(f64) -> bool| {
        let kept = ways.iter().enumerate().filter(|(sum, _)| keep(real(*sum)));
        kept.map(|(_, count)| count).sum::<f64>() / all
    };
    let (below, above) = (tail(&|sum| sum <= value + 0.25), tail(&|sum| sum >= value - 0.25));
    (2.0 * below.min(above)).min(1.0)
}

/// The binomial coefficient; `k` is at most `n`.
fn choose(n: usize, k: usize) -> f64 {
    let k = k.min(n.saturating_sub(k));
    (1..=k).map(|i| real(n - k + i) / real(i)).product()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn binomial_coefficients_are_those_of_pascal() {
        for (n, k, wanted) in [(0, 0, 1.0), (5, 0, 1.0), (5, 5, 1.0), (5, 2, 10.0), (10, 5, 252.0), (12, 9, 220.0)] {
            assert!((choose(n, k) - wanted).abs() < 1e-9, "{n} {k}: {}", choose(n, k));
        }
    }

    #[test]
    fn five_pairs_cannot_be_significant_and_six_can() {
        let five = signed_rank(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!((five.p - 0.0625).abs() < 1e-12 && (five.least_p - 0.0625).abs() < 1e-12 && five.exact);
        assert!((signed_rank(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).p - 0.03125).abs() < 1e-12);
    }

    #[test]
    fn pairs_without_a_difference_say_nothing() {
        let none = signed_rank(&[0.0; 8]);
        assert!(none.n == 0 && none.p >= 1.0);
        assert!(mann_whitney(&[2.0; 5], &[2.0; 5]).p >= 1.0);
    }

    proptest! {
        #[test]
        fn swapping_the_arms_changes_no_p(
            a in prop::collection::vec(0.1..10.0f64, 1..60), b in prop::collection::vec(0.1..10.0f64, 1..60)
        ) {
            let there = mann_whitney(&a, &b);
            let back = mann_whitney(&b, &a);
            prop_assert!((there.p - back.p).abs() < 1e-9, "{there:?} {back:?}");
            let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b.ln() - a.ln()).collect();
            let turned: Vec<f64> = differences.iter().map(|difference| -difference).collect();
            prop_assert!((signed_rank(&differences).p - signed_rank(&turned).p).abs() < 1e-9);
            for test in [there, signed_rank(&differences)] {
                prop_assert!((0.0..=1.0).contains(&test.p) && (!test.exact || test.p >= test.least_p * (1.0 - 1e-9)), "{test:?}");
            }
        }

        #[test]
        fn a_common_factor_changes_no_p(values in prop::collection::vec((0.1..10.0f64, 0.1..10.0f64), 1..40)) {
            let of = |factor: f64| {
                let differences: Vec<f64> = values.iter().map(|(a, b)| factor * (b - a)).collect();
                signed_rank(&differences).p
            };
            prop_assert!((of(1.0) - of(4.0)).abs() < 1e-12);
        }
    }
}
