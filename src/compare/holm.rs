//! Several tests at once: p-values that keep the chance of any false alarm at the level of one.

use crate::summarize::real;

/// Holm's adjustment, "A Simple Sequentially Rejective Multiple Test Procedure" (1979): the k-th
/// smallest of m p-values is multiplied by m − k + 1, made to rise, and cut at 1. `None` stays so and
/// counts as no test.
pub(crate) fn holm(tests: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut sorted: Vec<(f64, usize)> = tests.iter().zip(0..).filter_map(|(p, place)| Some(((*p)?, place))).collect();
    sorted.sort_by(|left, right| left.0.total_cmp(&right.0));
    let mut adjusted = vec![None; tests.len()];
    let mut least: f64 = 0.0;
    for (step, (p, place)) in sorted.iter().enumerate() {
        least = least.max((p * real(sorted.len() - step)).min(1.0));
        if let Some(here) = adjusted.get_mut(*place) {
            *here = Some(least);
        }
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_example_of_three_tests_comes_out() {
        let adjusted = holm(&[Some(0.01), None, Some(0.04), Some(0.03)]);
        let wanted = [Some(0.03), None, Some(0.06), Some(0.06)];
        for (found, wanted) in adjusted.iter().zip(wanted) {
            assert!(found.zip(wanted).is_none_or(|(found, wanted)| (found - wanted).abs() < 1e-12), "{adjusted:?}");
            assert_eq!(found.is_some(), wanted.is_some());
        }
    }

    proptest! {
        #[test]
        fn adjusting_only_raises_keeps_the_order_and_stays_within_1(tests in prop::collection::vec(0.0..=1.0f64, 1..12)) {
            let given: Vec<Option<f64>> = tests.iter().copied().map(Some).collect();
            let adjusted: Vec<f64> = holm(&given).into_iter().flatten().collect();
            prop_assert_eq!(adjusted.len(), tests.len());
            for (p, adjusted_p) in tests.iter().zip(&adjusted) {
                prop_assert!(p <= adjusted_p && *adjusted_p <= 1.0);
                for (other, adjusted_other) in tests.iter().zip(&adjusted) {
                    prop_assert!(p > other || adjusted_p <= adjusted_other);
                }
            }
        }
    }
}
