//! Numbers against numbers: direction, tolerance, edges, repeats.

use omni_bench::gate::{BaselineMetric, Limit, Rules, Trend, VerdictKind, gate};
use omni_bench::report::verdict_markdown;

use super::{baseline, entry, figure, judged, measured, rules};

const QPS: &str = "throughput_per_s";
const LATENCY: &str = "latency_s.mean";
const MEMORY: &str = "peak_memory_mb.max";

#[track_caller]
fn is(name: &str, base: f64, value: f64, tolerance: f64, wanted: VerdictKind) {
    let found = judged(name, base, &[value], tolerance);
    assert_eq!(found.verdict, wanted, "{name}: {value} against {base} at {tolerance}: {found:?}");
}

#[test]
fn a_tolerance_has_the_direction_of_its_metric() {
    use VerdictKind::{Pass, Regression};
    is(QPS, 100.0, 90.0, 0.1, Pass);
    is(QPS, 100.0, 89.0, 0.1, Regression);
    is(QPS, 100.0, 150.0, 0.1, Pass);
    is(LATENCY, 10.0, 11.0, 0.1, Pass);
    is(LATENCY, 10.0, 11.1, 0.1, Regression);
    is(LATENCY, 10.0, 5.0, 0.1, Pass);
    is(MEMORY, 100.0, 110.0, 0.1, Pass);
    is(QPS, 100.0, 99.9, 0.0, Regression);
    is(QPS, 100.0, 100.0, 0.0, Pass);
}

#[test]
fn what_binary_fractions_cannot_hold_does_not_fail() {
    // 0.07 × 0.9 is 0.06300000000000001 in binary
    is(QPS, 0.07, 0.063, 0.1, VerdictKind::Pass);
    is(QPS, 0.07, 0.0629, 0.1, VerdictKind::Regression);
    is(LATENCY, 0.1 + 0.2, 0.3 * 1.1, 0.1, VerdictKind::Pass);
}

#[test]
fn real_moves_are_told_with_their_sign_and_size() {
    for (name, value, base, change) in [
        (LATENCY, 3100.7181, 2395.3, 29.45),
        (QPS, 0.3225, 0.4175, -22.75),
        (LATENCY, 6654.5, 5929.3, 12.23),
        (LATENCY, 17845.5487, 10194.4, 75.05),
        (QPS, 0.4799, 0.8159, -41.18),
        (LATENCY, 16309.0, 9656.0, 68.90),
    ] {
        let found = judged(name, base, &[value], 0.1);
        assert_eq!(found.verdict, VerdictKind::Regression, "{name} {value}");
        assert_eq!(found.direction, Some(Trend::Worse));
        assert!((100.0 * found.change.unwrap() - change).abs() < 0.005, "{name} {value}: {:?}", found.change);
    }
}

#[test]
fn the_sign_of_a_gap_is_that_of_the_change_and_the_word_that_of_the_metric() {
    let told = |name: &str| {
        let baseline = baseline(vec![entry(&[(name, figure(name, 10.0))])]);
        verdict_markdown(&gate(&[measured(name, &[12.0])], Some(&baseline), &rules(name, 0.1)))
    };
    assert!(told(LATENCY).contains("| +20.0 % (worse) | regression |"), "{}", told(LATENCY));
    assert!(told(QPS).contains("| +20.0 % (better) | pass |"), "{}", told(QPS));
}

#[test]
fn a_baseline_of_nine_tenths_of_what_was_measured_makes_an_unchanged_run_look_worse() {
    // why baselines hold what was measured and the tolerance stands apart
    let found = judged(MEMORY, 54219.6, &[60226.048], 0.1);
    assert_eq!(found.verdict, VerdictKind::Regression);
    assert!((100.0 * found.change.unwrap() - 11.08).abs() < 0.005, "{:?}", found.change);
    assert_eq!(judged(MEMORY, 60244.0, &[60226.048], 0.1).verdict, VerdictKind::Pass);
}

#[test]
fn both_tolerances_must_be_exceeded() {
    let verdict = |value: f64, relative: f64, absolute: f64| {
        let mut rules = Rules::default();
        rules.gate(LATENCY, Some(relative), Some(absolute)).unwrap();
        let baseline = baseline(vec![entry(&[(LATENCY, figure(LATENCY, 0.01))])]);
        gate(&[measured(LATENCY, &[value])], Some(&baseline), &rules).verdict
    };
    assert_eq!(verdict(0.015, 0.1, 0.02), VerdictKind::Pass, "+50 %, but only 5 ms");
    assert_eq!(verdict(0.031, 0.1, 0.02), VerdictKind::Regression);
    assert_eq!(verdict(0.031, 3.0, 0.02), VerdictKind::Pass);
}

#[test]
fn repeats_that_scatter_across_the_tolerance_are_no_regression_and_say_so() {
    let found = judged(LATENCY, 10.0, &[10.2, 10.0, 10.3], 0.01);
    assert_eq!(found.verdict, VerdictKind::Pass);
    assert!((100.0 * found.change.unwrap() - 1.67).abs() < 0.005);
    assert_eq!(found.note.as_deref(), Some("beyond the tolerance, but within the scatter of the repeats"));
    assert!(found.low.unwrap() < 10.1 && found.high.unwrap() > 10.1);
}

#[test]
fn repeats_do_not_keep_a_gate_from_firing() {
    // every repeat is beyond: two repeats give an interval that reaches nearly everywhere
    assert_eq!(judged(LATENCY, 10.0, &[11.8, 12.2], 0.1).verdict, VerdictKind::Regression);
    // one of many is within by chance, the mean is certain
    let many = [12.0, 11.9, 12.1, 10.9, 12.0, 12.1, 11.8, 12.2, 12.0, 11.9];
    assert_eq!(judged(LATENCY, 10.0, &many, 0.1).verdict, VerdictKind::Regression);
    assert_eq!(judged(QPS, 10.0, &[8.1, 7.9, 8.0], 0.1).verdict, VerdictKind::Regression);
}

#[test]
fn a_single_run_within_the_range_of_the_baselines_repeats_is_no_regression() {
    let verdict = |value: f64| {
        let known = BaselineMetric { range: Some([9.0, 11.4]), ..figure(LATENCY, 10.0) };
        let baseline = baseline(vec![entry(&[(LATENCY, known)])]);
        gate(&[measured(LATENCY, &[value])], Some(&baseline), &rules(LATENCY, 0.1)).verdict
    };
    assert_eq!(verdict(11.3), VerdictKind::Pass);
    assert_eq!(verdict(11.5), VerdictKind::Regression);
}

#[test]
fn limits_need_no_baseline_and_hold_for_every_repeat() {
    let verdict = |name: &str, limit: f64, values: &[f64]| {
        let mut rules = Rules::default();
        rules.limit(name, Limit::Number(limit)).unwrap();
        gate(&[measured(name, values)], None, &rules).verdict
    };
    assert_eq!(verdict("latency_s.p99", 36.0, &[36.0]), VerdictKind::Pass);
    assert_eq!(verdict("latency_s.p99", 36.0, &[30.0, 36.1]), VerdictKind::Regression);
    assert_eq!(verdict("failed", 0.0, &[0.0]), VerdictKind::Pass);
    assert_eq!(verdict("failed", 0.0, &[1.0]), VerdictKind::Regression);
    assert_eq!(verdict("throughput_per_s", 2.0, &[2.0, 3.0]), VerdictKind::Pass);
    assert_eq!(verdict("throughput_per_s", 2.0, &[1.9]), VerdictKind::Regression);
}
