//! Which profile each request of a random dataset uses.

use super::PyRandom;
use super::seed::derive_seed;
use crate::scenario::model::Sampling;

/// Positions of the drawn profiles, one per request. Weights are finite, not negative, not all zero.
pub(super) fn draw(weights: &[f64], sampling: Sampling, seed: u64, count: usize) -> Vec<usize> {
    match sampling {
        Sampling::Weighted => weighted(weights, seed, count),
        Sampling::Stratified => stratified(weights, seed, count),
    }
}

/// Equal to `random.Random(seed).choices(profiles, weights=weights, k=count)`.
fn weighted(weights: &[f64], seed: u64, count: usize) -> Vec<usize> {
    let mut sum = 0.0;
    let cumulative: Vec<f64> = weights
        .iter()
        .map(|weight| {
            sum += weight;
            sum
        })
        .collect();
    PyRandom::new(seed).choices(&cumulative, count)
}

/// Each profile as often as its share says (largest remainder, earlier profiles first on a tie), in
/// a shuffled order (Fisher–Yates).
fn stratified(weights: &[f64], seed: u64, count: usize) -> Vec<usize> {
    let mut drawn: Vec<usize> = shares(weights, count)
        .into_iter()
        .enumerate()
        .flat_map(|(position, share)| std::iter::repeat_n(position, share))
        .collect();
    let mut random = PyRandom::new(derive_seed(seed, "stratified order"));
    for last in (1..drawn.len()).rev() {
        drawn.swap(last, random.below(last + 1));
    }
    drawn
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "quotas are in 0..=count")]
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn shares(weights: &[f64], count: usize) -> Vec<usize> {
    let total: f64 = weights.iter().sum();
    let quotas: Vec<f64> = weights
        .iter()
        .map(|weight| {
            let quota = weight / total * count as f64;
            // 0.15 / 1 × 20 must be 3 and not the float below it
            if (quota - quota.round()).abs() < 1e-9 { quota.round() } else { quota }
        })
        .collect();
    let mut shares: Vec<usize> = quotas.iter().map(|quota| quota.floor() as usize).collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|a, b| {
        let rest = |i: &usize| quotas.get(*i).map_or(0.0, |quota| quota.fract());
        rest(b).total_cmp(&rest(a))
    });
    let missing = count.saturating_sub(shares.iter().sum());
    for position in order.into_iter().take(missing) {
        if let Some(share) = shares.get_mut(position) {
            *share += 1;
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DATASET_C: [f64; 4] = [0.15, 0.25, 0.45, 0.15];

    fn counts(drawn: &[usize], profiles: usize) -> Vec<usize> {
        (0..profiles).map(|profile| drawn.iter().filter(|d| **d == profile).count()).collect()
    }

    #[test]
    fn dataset_c_of_seed_42_is_the_dashboards_mix() {
        let drawn = draw(&DATASET_C, Sampling::Weighted, 42, 10);
        assert_eq!(counts(&drawn, 4), [3, 2, 4, 1]);
    }

    #[test]
    fn weighted_counts_stay_within_four_sigma_and_follow_the_seed() {
        let drawn = draw(&DATASET_C, Sampling::Weighted, 42, 1000);
        for (count, (mean, sigma)) in
            counts(&drawn, 4).into_iter().zip([(150.0, 11.3), (250.0, 13.7), (450.0, 15.7), (150.0, 11.3)])
        {
            assert!((f64::from(u32::try_from(count).unwrap()) - mean).abs() < 4.0 * sigma, "{count} of {mean}");
        }
        assert_eq!(drawn, draw(&DATASET_C, Sampling::Weighted, 42, 1000));
        assert_ne!(drawn, draw(&DATASET_C, Sampling::Weighted, 43, 1000));
        let doubled = DATASET_C.map(|weight| weight * 2.0);
        assert_eq!(drawn, draw(&doubled, Sampling::Weighted, 42, 1000), "weights are relative");
    }

    #[test]
    fn stratified_shares_are_exact() {
        assert_eq!(counts(&draw(&DATASET_C, Sampling::Stratified, 42, 20), 4), [3, 5, 9, 3]);
        assert_eq!(counts(&draw(&DATASET_C, Sampling::Stratified, 42, 10), 4), [2, 3, 4, 1]);
        assert_ne!(draw(&DATASET_C, Sampling::Stratified, 1, 20), draw(&DATASET_C, Sampling::Stratified, 2, 20));
    }

    proptest! {
        #[test]
        fn stratified_draws_exactly_as_many_as_asked(
            weights in prop::collection::vec(0.01_f64..10.0, 1..8), count in 0_usize..300, seed: u64,
        ) {
            let drawn = draw(&weights, Sampling::Stratified, seed, count);
            prop_assert_eq!(drawn.len(), count);
            let total: f64 = weights.iter().sum();
            for (share, weight) in counts(&drawn, weights.len()).into_iter().zip(&weights) {
                let quota = weight / total * f64::from(u32::try_from(count).unwrap());
                prop_assert!((f64::from(u32::try_from(share).unwrap()) - quota).abs() <= 1.0 + 1e-6);
            }
        }
    }
}
