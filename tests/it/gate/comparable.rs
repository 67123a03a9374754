//! Runs that differ in more than they should are refused, key by key, unless each is allowed.

use omni_bench::gate::{BaselineEntry, Measured, Rules, VerdictKind, gate};
use serde_json::{Value, json};

use super::{against, baseline, entry, figure, measured};

const LATENCY: &str = "latency_s.mean";

fn known() -> BaselineEntry {
    entry(&[(LATENCY, figure(LATENCY, 10.0))])
}

/// A point and its baseline that differ in one fact.
fn differing(key: &str, theirs: Value, ours: Value) -> (Measured, BaselineEntry) {
    let (mut point, mut known) = (measured(LATENCY, &[10.0]), known());
    for (facts, value) in [(&mut point.facts, ours), (&mut known.fingerprint, theirs)] {
        facts.insert("task".into(), json!("t2i"));
        if !value.is_null() {
            facts.insert(key.into(), value);
        }
    }
    (point, known)
}

#[test]
fn a_run_on_other_hardware_is_refused_by_name() {
    let mut point = measured(LATENCY, &[10.0]);
    point.hardware = Some("NVIDIA H800".into());
    let verdict = against(&point, known(), &[]);
    assert_eq!(verdict.verdict, VerdictKind::NotComparable);
    assert_eq!(verdict.runs[0].reason.as_deref(), Some("differing from the baseline: `gpu`"));
    let difference = &verdict.runs[0].differences[0];
    assert_eq!((&difference.baseline, &difference.value), (&json!("H100"), &json!("NVIDIA H800")));
    assert!(verdict.metrics.is_empty());
    let allowed = against(&point, known(), &["gpu"]);
    assert_eq!(allowed.verdict, VerdictKind::Pass);
    assert!(allowed.runs[0].differences[0].allowed, "what was allowed is still told");
    point.hardware = None;
    assert_eq!(against(&point, known(), &[]).verdict, VerdictKind::NotComparable, "unknown is not H100");
    let mut nameless = known();
    nameless.hardware = None;
    let verdict = against(&point, nameless, &[]);
    assert_eq!((verdict.verdict, verdict.runs[0].notes.len()), (VerdictKind::Pass, 1), "unknown equals unknown");
}

#[test]
fn the_entry_of_the_runs_own_hardware_is_chosen() {
    let mut other = entry(&[(LATENCY, figure(LATENCY, 1.0))]);
    other.hardware = Some("H200".into());
    let verdict = gate(&[measured(LATENCY, &[10.0])], Some(&baseline(vec![other, known()])), &Rules::default());
    assert_eq!((verdict.verdict, verdict.metrics[0].baseline), (VerdictKind::Pass, Some(10.0)));
}

#[test]
fn facts_of_the_workload_that_differ_are_listed_and_allowed_one_by_one() {
    for (key, theirs, ours) in [
        ("num_inference_steps", json!(20), json!(50)),
        ("dataset", json!("aa"), json!("bb")),
        ("requests", json!(10), json!(20)),
        ("serve_args.max-num-seqs", json!(1), json!(8)),
        ("serve_args.enforce-eager", Value::Null, json!(true)),
        ("parallel.cfg", json!(2), Value::Null),
    ] {
        let (mut point, known) = differing(key, theirs, ours);
        point.key = "another".into();
        let verdict = against(&point, known.clone(), &[]);
        assert_eq!(verdict.verdict, VerdictKind::NotComparable, "{key}");
        assert_eq!(verdict.runs[0].reason.as_deref(), Some(format!("differing from the baseline: `{key}`").as_str()));
        assert_eq!(against(&point, known.clone(), &["gpu"]).verdict, VerdictKind::NotComparable);
        assert_eq!(against(&point, known, &[key]).verdict, VerdictKind::Pass, "{key}");
    }
}

#[test]
fn an_error_rate_that_differs_leaves_other_requests_to_compare() {
    let (point, known) = differing("error_rate", json!(0.0), json!(11.0 / 16.0));
    let verdict = against(&point, known.clone(), &[]);
    assert_eq!(verdict.runs[0].reason.as_deref(), Some("differing from the baseline: `error_rate`"));
    assert_eq!(against(&point, known, &["error_rate"]).verdict, VerdictKind::Pass);
    let (point, known) = differing("error_rate", json!(0.0), json!(0.005));
    assert_eq!(against(&point, known, &[]).verdict, VerdictKind::Pass);
}

#[test]
fn keys_that_differ_without_a_fact_are_told_as_workload_and_configuration() {
    // an imported baseline has no facts
    let mut point = measured(LATENCY, &[10.0]);
    (point.key, point.workload_key) = ("another".into(), "another".into());
    let verdict = against(&point, known(), &[]);
    assert_eq!(verdict.runs[0].reason.as_deref(), Some("differing from the baseline: `workload`"));
    point.config_key = "another".into();
    let verdict = against(&point, known(), &["workload"]);
    assert_eq!(verdict.runs[0].reason.as_deref(), Some("differing from the baseline: `configuration`"));
}

#[test]
fn a_server_that_is_newer_than_its_baseline_is_what_a_gate_is_for() {
    let (point, known) = differing("server.version", json!("0.20"), json!("0.21"));
    let verdict = against(&point, known, &[]);
    assert_eq!(verdict.verdict, VerdictKind::Pass);
    assert_eq!(verdict.runs[0].notes, ["`server.version` changed from \"0.20\" to \"0.21\""]);
}

#[test]
fn simulated_figures_and_measured_ones_are_not_comparable() {
    let mut point = measured(LATENCY, &[10.0]);
    point.simulated = true;
    let verdict = against(&point, known(), &[]);
    assert_eq!(verdict.runs[0].reason.as_deref(), Some("differing from the baseline: `simulated`"));
    assert_eq!((against(&point, known(), &["simulated"]).verdict, verdict.simulated), (VerdictKind::Pass, true));
}
