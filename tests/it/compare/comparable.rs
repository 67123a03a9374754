//! Which arms may be compared: what differs is listed and refused, censored and invalid runs never compare.

use omni_bench::compare::{Arm, CompareError, CompareSettings, Comparison, DifferenceKind, compare};
use omni_bench::report::comparison_markdown;
use serde_json::{Value, json};

use super::build::{arm, cut, fail, in_turn, plan, point, repeat};

fn allowing(keys: &[&str]) -> CompareSettings {
    let allow = keys.iter().map(|key| (*key).to_owned()).collect();
    CompareSettings { allow, resamples: 50, ..CompareSettings::default() }
}

/// An arm with these facts, of a variant of that name.
fn facts(variant: &str, conditions: &[(&str, Value)], configuration: &[(&str, Value)]) -> Arm {
    let plan = plan(4, 1, "");
    let mut made = point(&plan, vec![repeat(&plan, 1, 0, in_turn(&[1.0; 4]))]);
    variant.clone_into(&mut made.variant);
    let owned = |facts: &[(&str, Value)]| facts.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect();
    made.fingerprint.conditions = owned(conditions);
    made.fingerprint.configuration = owned(configuration);
    arm(variant, made)
}

fn compared(a: &Arm, b: &Arm, keys: &[&str]) -> Comparison {
    compare(a, b, &allowing(keys)).unwrap()
}

#[test]
fn c80_what_differs_is_listed_and_refused_until_each_key_is_allowed() {
    let of = |gpu: &str, steps: u32, dataset: &str, requests: u32| {
        let conditions = [
            ("gpu", json!(gpu)),
            ("num_inference_steps", json!(steps)),
            ("dataset", json!(dataset)),
            ("requests", json!(requests)),
            ("model", json!("m")),
        ];
        facts("v", &conditions, &[])
    };
    let (a, b) = (of("H800", 20, "d0", 10), of("H100", 25, "d1", 16));
    let refused = compared(&a, &b, &[]);
    assert!(!refused.comparable && refused.runs.is_empty());
    assert_eq!(refused.differing, ["gpu", "num_inference_steps", "dataset", "requests"]);
    let some = compared(&a, &b, &["gpu", "dataset"]);
    assert_eq!(
        (some.comparable, some.differing.as_slice()),
        (false, &["num_inference_steps".to_owned(), "requests".to_owned()][..])
    );
    let all = compared(&a, &b, &["gpu", "num_inference_steps", "dataset", "requests"]);
    assert!(all.comparable && all.differing.is_empty() && all.runs.len() == 1);
    let text = comparison_markdown(&all, None);
    assert!(text.contains("allowed to differ") && text.contains("| gpu | H800 | H100 |"), "{text}");
}

#[test]
fn c80_arms_that_lost_other_shares_of_their_requests_are_refused() {
    let plan = plan(16, 1, "allow_failures = 16\n");
    let of = |failed: usize| {
        let mut records = in_turn(&[1.0; 16]);
        records.iter_mut().take(failed).for_each(fail);
        arm("v", point(&plan, vec![repeat(&plan, 1, 0, records)]))
    };
    let refused = compared(&of(0), &of(11), &[]);
    assert_eq!(refused.differing, ["error_rate"]);
    assert_eq!(refused.differences[0].candidate, json!(0.6875));
    assert!(compared(&of(0), &of(11), &["error_rate"]).comparable);
    assert!(compared(&of(3), &of(3), &[]).comparable);
}

#[test]
fn what_nobody_knows_is_equal_with_a_note_and_what_one_knows_differs() {
    let (known, unknown) = (facts("v", &[("gpu", json!("H100"))], &[]), facts("v", &[("gpu", Value::Null)], &[]));
    let both = compared(&unknown, &unknown, &[]);
    assert!(both.comparable);
    assert!(both.notes.iter().any(|note| note.contains("unknown of both arms") && note.contains("gpu")), "{both:?}");
    assert_eq!(compared(&known, &unknown, &[]).differing, ["gpu"]);
}

#[test]
fn configurations_of_two_variants_may_differ_and_those_of_one_may_not() {
    let of = |variant: &str, slots: u32| facts(variant, &[], &[("serve_args.max-num-seqs", json!(slots))]);
    let two = compared(&of("seqs-1", 1), &of("seqs-8", 8), &[]);
    assert!(two.comparable);
    assert_eq!(two.differences[0].kind, DifferenceKind::Configuration);
    let one = compared(&of("seqs", 1), &of("seqs", 8), &[]);
    assert_eq!((one.comparable, one.differing), (false, vec!["serve_args.max-num-seqs".to_owned()]));
}

#[test]
fn censored_and_invalid_runs_never_compare_whatever_is_allowed() {
    let plan = plan(4, 1, "allow_failures = 4\n");
    let of = |spoil: fn(&mut omni_bench::record::Record), count: usize| {
        let mut records = in_turn(&[1.0; 4]);
        records.iter_mut().take(count).for_each(spoil);
        arm("v", point(&plan, vec![repeat(&plan, 1, 0, records)]))
    };
    let whole = of(fail, 0);
    let censored = compared(&whole, &of(cut, 1), &["error_rate"]);
    assert!(!censored.comparable && censored.runs.is_empty());
    assert!(censored.excluded[0].reason.contains("1 of 4 requests were cut"), "{:?}", censored.excluded);
    let invalid = compared(&whole, &of(fail, 4), &["error_rate"]);
    assert!(!invalid.comparable && invalid.excluded[0].reason.contains("invalid"), "{:?}", invalid.excluded);
}

#[test]
fn a_key_that_does_not_exist_and_a_metric_that_does_not_are_errors() {
    let a = facts("v", &[("gpu", json!("H100"))], &[]);
    let error = compare(&a, &a, &allowing(&["gpus"])).unwrap_err();
    assert!(matches!(error, CompareError::UnknownKey { .. }) && error.to_string().contains("gpu"), "{error}");
    let settings = CompareSettings { metrics: Some(vec!["latency.p99".to_owned()]), ..CompareSettings::default() };
    assert!(compare(&a, &a, &settings).unwrap_err().to_string().contains("`latency.p99`"));
}

#[test]
fn points_are_paired_by_what_was_asked_and_the_lonely_are_named() {
    let plan = plan(4, 1, "");
    let at = |place: &str, key: &str| {
        let mut made = point(&plan, vec![repeat(&plan, 1, 0, in_turn(&[1.0; 4]))]);
        (made.id, made.place, made.workload_key) = (format!("v/{place}"), place.to_owned(), key.to_owned());
        made
    };
    let a = Arm { name: "A".to_owned(), points: vec![at("A/c1", "1"), at("A/c2", "2"), at("A/c4", "4")] };
    let b = Arm { name: "B".to_owned(), points: vec![at("A/c8", "8"), at("A/c2", "x"), at("B/c1", "1")] };
    let comparison = compared(&a, &b, &[]);
    let pairs: Vec<(&str, &str)> = comparison.runs.iter().map(|r| (r.id.as_str(), r.candidate_id.as_str())).collect();
    assert_eq!(pairs, [("v/A/c1", "v/B/c1"), ("v/A/c2", "v/A/c2")]);
    assert_eq!(comparison.unpaired, ["v/A/c4 (A)", "v/A/c8 (B)"]);
    // of the second pair only the place is the same, so its requests are two samples
    assert_eq!(comparison.runs.iter().map(|run| run.paired).collect::<Vec<_>>(), [true, false]);
}
