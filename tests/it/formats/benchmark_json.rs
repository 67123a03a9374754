//! JSON for github-action-benchmark.

use omni_bench::catalog::{Direction, Validity, metric};
use omni_bench::report::{Better, github_action_benchmark};
use omni_bench::summarize::Results;
use serde_json::Value;

use super::{STORED, measured};

fn values(results: &[&Results], better: Better) -> Vec<Value> {
    let text = github_action_benchmark(results.iter().copied(), better).unwrap();
    assert!(text.ends_with("]\n"), "{text}");
    serde_json::from_str(&text).unwrap()
}

fn named<'a>(values: &'a [Value], name: &str) -> &'a Value {
    let found: Vec<&Value> = values.iter().filter(|value| value["name"] == name).collect();
    assert_eq!(found.len(), 1, "{name} in {values:?}");
    found[0]
}

#[test]
fn each_value_has_the_fields_of_the_tool_and_a_name_of_its_own() {
    for better in [Better::Smaller, Better::Bigger] {
        let values = values(&[&measured()], better);
        let mut names: Vec<&str> = values.iter().map(|value| value["name"].as_str().unwrap()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), values.len());
        for value in &values {
            let fields: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
            assert!(
                fields == ["name", "unit", "value", "extra"] || fields == ["name", "unit", "value", "range", "extra"]
            );
            assert!(value["value"].is_number() && !value["unit"].as_str().unwrap().is_empty(), "{value}");
            assert!(value["range"].is_null() || value["range"].is_string(), "{value}");
        }
    }
}

#[test]
fn a_file_holds_the_metrics_of_its_direction_only() {
    let directions = [(Better::Smaller, Direction::LowerIsBetter), (Better::Bigger, Direction::HigherIsBetter)];
    for (better, direction) in directions {
        let values = values(&[&measured()], better);
        for value in &values {
            let path = value["extra"].as_str().unwrap().lines().next().unwrap();
            assert_eq!(metric(path).unwrap().direction, direction, "{path}");
        }
        assert!(values.len() > 2, "{values:?}");
    }
}

#[test]
fn a_value_says_what_a_reader_must_know() {
    let values = values(&[&measured()], Better::Smaller);
    let mean = named(&values, "small base/A/c1: Mean Latency");
    assert_eq!((&mean["value"], &mean["unit"], &mean["range"]), (&2.0.into(), &"s".into(), &"1.5 to 2.5".into()));
    let extra = mean["extra"].as_str().unwrap();
    assert!(extra.contains("n = 4") && extra.contains("\nvalid\n") && extra.contains("key "), "{extra}");
    let tail = named(&values, "small base/A/c1: P99 Latency");
    assert!(tail["range"].is_null() && tail["extra"].as_str().unwrap().contains("too few requests"), "{tail}");
    let doubtful = named(&values, "small base/A/c1.r2: Mean Latency")["extra"].as_str().unwrap();
    assert!(doubtful.contains("\nsuspect\n2 requests are few\n"), "{doubtful}");
    assert_eq!(named(&values, "small base/A/c1: Failed")["unit"], "count");
}

#[test]
fn what_was_not_measured_or_is_not_finite_has_no_value() {
    let mut results = measured();
    results.runs[0].latency_s.p50 = None;
    results.runs[0].latency_s.mean = Some(f64::NAN);
    let values = values(&[&results], Better::Smaller);
    for name in ["P50 Latency", "Mean Latency", "Mean RTF"] {
        assert!(!values.iter().any(|value| value["name"] == format!("small base/A/c1: {name}")), "{name}");
    }
    named(&values, "small base/A/c1.r2: P50 Latency");
}

#[test]
fn no_alarm_rests_on_an_invalid_run() {
    let mut results = measured();
    results.runs[0].validity = Validity::Invalid;
    let values = values(&[&results], Better::Smaller);
    assert!(values.iter().all(|value| value["name"].as_str().unwrap().contains("c1.r2")), "{values:?}");
}

#[test]
fn simulated_figures_have_charts_of_their_own() {
    let both = values(&[&measured(), &STORED], Better::Bigger);
    named(&both, "small base/A/c1: Throughput");
    let simulated = named(&both, "small base/A/c1 (simulated): Throughput");
    assert!(simulated["extra"].as_str().unwrap().contains("not a measurement"), "{simulated}");
}

#[test]
fn the_same_run_of_two_results_is_told_apart_and_no_results_are_an_empty_list() {
    let both = values(&[&measured(), &measured()], Better::Bigger);
    named(&both, "small base/A/c1: Throughput");
    named(&both, "small base/A/c1 #2: Throughput");
    assert!(values(&[], Better::Smaller).is_empty());
}
