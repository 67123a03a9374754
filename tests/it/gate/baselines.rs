//! Broken baselines, and gates that would never fire: none of them is a pass.

use omni_bench::catalog::Unit;
use omni_bench::gate::{Baseline, BaselineEntry, BaselineMetric, Limit, Rules, VerdictKind, gate};
use serde_json::json;

use super::{against, baseline, entry, figure, judged, measured, rules, summary};

const LATENCY: &str = "latency_s.mean";

#[test]
fn zero_nan_infinite_negative_and_missing_values_are_no_baseline() {
    for value in [0.0, f64::NAN, f64::INFINITY, -1.0] {
        let found = judged(LATENCY, value, &[10.0], 0.1);
        assert_eq!(found.verdict, VerdictKind::NoBaseline, "{value}");
        assert_eq!((found.change, found.limit), (None, None), "nothing is divided by {value}");
    }
    let null = BaselineMetric::absent(Unit::Seconds, Some("`latency_mean` is null".into()));
    let verdict = against(&measured(LATENCY, &[10.0]), entry(&[(LATENCY, null)]), &[]);
    assert_eq!(verdict.verdict, VerdictKind::NoBaseline);
    assert_eq!(verdict.metrics[0].note.as_deref(), Some("`latency_mean` is null"));
    // the values are written into the struct, past what a file can hold
    let nan = BaselineMetric { value: Some(f64::NAN), ..figure(LATENCY, 1.0) };
    assert_eq!(against(&measured(LATENCY, &[10.0]), entry(&[(LATENCY, nan)]), &[]).verdict, VerdictKind::NoBaseline);
}

#[test]
fn a_metric_that_the_rules_name_and_the_baseline_lacks_is_no_baseline() {
    let known = baseline(vec![entry(&[("throughput_per_s", figure("throughput_per_s", 1.0))])]);
    let verdict = gate(&[measured(LATENCY, &[10.0])], Some(&known), &rules(LATENCY, 0.1));
    assert_eq!(verdict.verdict, VerdictKind::NoBaseline);
    assert_eq!(verdict.metrics[0].note.as_deref(), Some("the baseline does not have it"));
    assert_eq!(against(&measured(LATENCY, &[10.0]), entry(&[]), &[]).verdict, VerdictKind::NoBaseline);
}

#[test]
fn a_run_of_which_the_baseline_has_no_entry_has_no_baseline() {
    let mut other = measured(LATENCY, &[10.0]);
    (other.id, other.key) = ("v/B/c1".into(), "other".into());
    let verdict = against(&other, entry(&[(LATENCY, figure(LATENCY, 10.0))]), &[]);
    assert_eq!(verdict.verdict, VerdictKind::NoBaseline);
    assert_eq!(verdict.runs[0].reason.as_deref(), Some("the baseline has no entry for this run"));
    assert_eq!(verdict.notes, ["in the baseline only: v/A/c1"]);
}

#[test]
fn a_metric_that_the_run_did_not_measure_is_not_comparable() {
    let point = measured("throughput_per_s", &[1.0]);
    let verdict = against(&point, entry(&[(LATENCY, figure(LATENCY, 10.0))]), &[]);
    assert_eq!(verdict.verdict, VerdictKind::NotComparable);
    assert_eq!(verdict.metrics[0].note.as_deref(), Some("the run did not measure it"));
    let mut limited = Rules::default();
    limited.limit("slo.attainment", Limit::Number(0.99)).unwrap();
    assert_eq!(gate(&[point], None, &limited).verdict, VerdictKind::NotComparable);
}

#[test]
fn a_run_that_failed_is_neither_a_pass_nor_a_regression() {
    let mut crashed = measured(LATENCY, &[]);
    crashed.fault = Some("`v/A/c1` has no numbers: the server died".into());
    let known = entry(&[(LATENCY, figure(LATENCY, 10.0))]);
    let verdict = against(&crashed, known.clone(), &[]);
    assert_eq!(verdict.verdict, VerdictKind::RunFailed);
    assert!(verdict.metrics.is_empty(), "no zeros stand for what was not measured");
    let both = gate(&[measured(LATENCY, &[99.0]), crashed], Some(&baseline(vec![known])), &Rules::default());
    assert_eq!(both.verdict, VerdictKind::RunFailed);
    assert_eq!(both.runs[0].verdict, VerdictKind::Regression);
    assert_eq!(gate(&[], Some(&baseline(vec![])), &Rules::default()).verdict, VerdictKind::RunFailed);
}

#[test]
fn censored_and_invalid_runs_never_compare() {
    let known = entry(&[(LATENCY, figure(LATENCY, 10.0))]);
    let mut point = measured(LATENCY, &[10.0]);
    point.repeats[0].censored = 1;
    let verdict = against(&point, known.clone(), &[]);
    assert_eq!(verdict.verdict, VerdictKind::NotComparable);
    assert!(verdict.runs[0].reason.as_deref().unwrap().contains("1 of 10 requests were cut"));
    let mut point = measured(LATENCY, &[10.0]);
    point.repeats = vec![summary(&json!({ "latency_s": { "mean": 10.0 }, "validity": "invalid" }))];
    assert_eq!(against(&point, known, &[]).verdict, VerdictKind::NotComparable);
    assert!(BaselineEntry::of(&point).is_err(), "nor can they be a baseline");
}

#[test]
fn a_baseline_holds_what_was_measured_with_n_and_spread() {
    let entry = BaselineEntry::of(&measured(LATENCY, &[9.0, 10.0, 11.0])).unwrap();
    assert_eq!(entry.metrics.keys().collect::<Vec<_>>(), [LATENCY]);
    let figure = &entry.metrics[LATENCY];
    assert_eq!((figure.value, figure.n, figure.range), (Some(10.0), Some(10), Some([9.0, 11.0])));
    // Student's t with 2 degrees of freedom: 4.3027 × 1/√3
    assert!((figure.high.unwrap() - 12.484).abs() < 0.001, "{:?}", figure.high);
    assert_eq!((entry.repeats, entry.n), (Some(3), 10));
    let single = BaselineEntry::of(&measured(LATENCY, &[9.0])).unwrap();
    assert_eq!((single.metrics[LATENCY].low, single.metrics[LATENCY].range), (None, None));
}

#[test]
fn a_percentile_of_too_few_requests_is_no_baseline() {
    let percentiles = |supported: bool| {
        let mut point = measured("latency_s.p99", &[10.0]);
        let n = if supported { 299 } else { 10 };
        let p99 = json!({ "n": n, "supported": supported, "low": null, "high": null });
        point.repeats = vec![summary(&json!({ "latency_s": { "p99": 10.0 }, "percentiles": { "p99": p99 } }))];
        BaselineEntry::of(&point).unwrap().metrics
    };
    assert!(percentiles(true).contains_key("latency_s.p99"));
    assert!(percentiles(false).is_empty());
}

#[test]
fn a_file_of_a_flat_baseline_is_refused_with_its_place() {
    let text = "{\n \"H100\": {\"latency_mean\": 2.5}\n}";
    let error = Baseline::parse(text).unwrap_err().to_string();
    assert!(error.starts_with("line 2, column 7: unknown field `H100`"), "{error}");
}
