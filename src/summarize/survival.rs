//! Quantiles when some times are only known to be longer than a limit (Kaplan–Meier).

use super::sample::{Sample, real};
use super::types::Distribution;

/// One time and whether it ended (`true`) or was cut (`false`).
pub(crate) type Observation = (f64, bool);

/// The product-limit estimate of Kaplan and Meier, "Nonparametric Estimation from Incomplete
/// Observations" (1958): (time, share of requests that take longer) after each time that ended; of
/// equal times those that ended come first.
pub(crate) fn survival(observations: &[Observation]) -> Vec<(f64, f64)> {
    let mut sorted: Vec<Observation> = observations.iter().copied().filter(|(time, _)| time.is_finite()).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let mut at_risk = sorted.len();
    let mut share = 1.0;
    let mut steps = Vec::new();
    for group in sorted.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let ended = group.iter().filter(|(_, ended)| *ended).count();
        if ended > 0 {
            share *= 1.0 - real(ended) / real(at_risk);
            steps.extend(group.first().map(|(time, _)| (*time, share)));
        }
        at_risk -= group.len();
    }
    steps
}

/// The first time at which at most `1 - q` of the requests take longer; `None` when the estimate
/// never falls that low, because what is longer was cut.
pub(crate) fn quantile(steps: &[(f64, f64)], q: f64) -> Option<f64> {
    // the estimate is a product of rounded factors
    steps.iter().find(|(_, longer)| *longer <= 1.0 - q + 1e-12).map(|(time, _)| *time)
}

/// Quantiles by Kaplan–Meier; mean, deviation and ends over the requests that ended, which are the
/// fast ones, so the true mean is higher. `at_least` is the longest time seen: a quantile that is
/// null lies above it.
pub(crate) fn distribution(ended: &Sample, cut: &[f64]) -> Distribution {
    let observations: Vec<Observation> =
        ended.sorted().iter().map(|time| (*time, true)).chain(cut.iter().map(|time| (*time, false))).collect();
    let steps = survival(&observations);
    Distribution {
        p50: quantile(&steps, 0.5),
        p90: quantile(&steps, 0.9),
        p95: quantile(&steps, 0.95),
        p99: quantile(&steps, 0.99),
        at_least: Some(cut.iter().copied().fold(ended.max(), f64::max)),
        ..ended.distribution()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_curve_falls_within_0_and_1_and_cuts_only_raise_it(
            observations in prop::collection::vec((0.0..1e3f64, any::<bool>()), 1..80)
        ) {
            let steps = survival(&observations);
            let ordered = steps.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1);
            prop_assert!(ordered && steps.iter().all(|(_, share)| (0.0..=1.0).contains(share)), "{steps:?}");
            // as if every cut request had ended when it was cut
            let ended: Vec<Observation> = observations.iter().map(|(time, _)| (*time, true)).collect();
            let (all, n) = (survival(&ended), real(ended.len()));
            for (place, (time, share)) in all.iter().enumerate() {
                let longer = real(ended.iter().filter(|(other, _)| other > time).count());
                prop_assert!((share - longer / n).abs() < 1e-9, "{place}");
                let estimate = steps.iter().rfind(|(at, _)| at <= time).map_or(1.0, |(_, share)| *share);
                prop_assert!(estimate >= share - 1e-9, "{estimate} {share}");
            }
        }

        #[test]
        fn quantiles_of_rising_shares_rise_until_they_are_out_of_reach(
            ended in prop::collection::vec(0.0..1e3f64, 1..60), cut in prop::collection::vec(0.0..1e3f64, 1..20)
        ) {
            let d = distribution(&Sample::new(ended).unwrap(), &cut);
            let reached: Vec<f64> = [d.p50, d.p90, d.p95, d.p99].into_iter().map_while(|p| p).collect();
            prop_assert!(reached.windows(2).all(|pair| pair[0] <= pair[1]), "{d:?}");
            let beyond = [d.p50, d.p90, d.p95, d.p99].into_iter().skip(reached.len()).all(|p| p.is_none());
            prop_assert!(beyond && reached.iter().all(|p| *p <= d.at_least.unwrap()), "{d:?}");
        }
    }

    #[test]
    fn a_cut_request_lowers_the_risk_set_and_not_the_curve() {
        // by hand: 6 at risk, 1 ends → 5/6; one cut at 2; 4 at risk, 1 ends → 5/6 · 3/4; 3 at risk, 1 ends → · 2/3
        let observations = [(1.0, true), (2.0, false), (3.0, true), (4.0, true), (5.0, false), (6.0, false)];
        let steps = survival(&observations);
        let times: Vec<f64> = steps.iter().map(|step| step.0).collect();
        assert_eq!(times, [1.0, 3.0, 4.0]);
        for (step, share) in steps.iter().zip([5.0 / 6.0, 0.625, 5.0 / 12.0]) {
            assert!((step.1 - share).abs() < 1e-12, "{steps:?}");
        }
    }

    #[test]
    fn a_quantile_beyond_the_last_end_is_not_reached() {
        let ended = Sample::new(vec![10.0, 12.0, 14.0]).unwrap();
        let estimate = distribution(&ended, &[900.0]);
        assert_eq!((estimate.p50, estimate.p90, estimate.p99), (Some(12.0), None, None));
        assert_eq!(estimate.at_least, Some(900.0));
        assert_eq!(estimate.mean, Some(12.0));
    }

    #[test]
    fn without_cuts_the_estimate_is_the_inverse_of_the_empirical_distribution() {
        let observations: Vec<Observation> = (1..=10).map(|time| (f64::from(time), true)).collect();
        let steps = survival(&observations);
        assert_eq!(quantile(&steps, 0.5), Some(5.0));
        assert_eq!(quantile(&steps, 0.9), Some(9.0));
        assert_eq!(quantile(&steps, 0.99), Some(10.0));
    }

    #[test]
    fn of_equal_times_the_end_comes_before_the_cut() {
        let steps = survival(&[(1.0, false), (1.0, true)]);
        assert_eq!(steps, [(1.0, 0.5)]);
    }

    #[test]
    fn the_estimate_is_that_of_scipy() {
        #[derive(serde::Deserialize)]
        struct Fixture {
            censored: Censored,
        }
        #[derive(serde::Deserialize)]
        struct Censored {
            observed: Vec<f64>,
            ended: Vec<bool>,
            survival: Vec<(f64, f64)>,
        }
        let fixture: Fixture = serde_json::from_str(include_str!("../../tests/fixtures/stats.json")).unwrap();
        let Censored { observed, ended, survival: expected } = fixture.censored;
        let steps = survival(&observed.into_iter().zip(ended).collect::<Vec<_>>());
        assert_eq!(steps.len(), expected.len());
        for (step, (time, share)) in steps.iter().zip(expected) {
            assert!((step.0 - time).abs() < 1e-12 && (step.1 - share).abs() < 1e-12, "{step:?} {time} {share}");
        }
    }
}
