//! The gate: results against a baseline, direction by direction, and never a pass that was not earned.

#![cfg(test)] // the lints that spare tests then spare their helpers too

mod baselines;
mod command;
mod comparable;
mod confirm;
mod numbers;
mod run;

use indexmap::IndexMap;
use omni_bench::catalog::metric;
use omni_bench::gate::{
    BASELINE_FORMAT, Baseline, BaselineEntry, BaselineMetric, BaselineSource, Measured, MetricVerdict, Rules, Verdict,
    gate,
};
use omni_bench::summarize::Summary;
use serde_json::{Value, json};

/// A summary with these numbers over those of a run of 10 successes.
fn summary(numbers: &Value) -> Summary {
    let mut all = json!({
        "id": "v/A/c1", "key": "k", "workload_key": "w", "config_key": "c", "variant": "v", "dataset": "A",
        "max_concurrency": 1, "request_rate": "inf", "repeat": 1, "gpus": 1, "simulated": false, "speed": 1.0,
        "headline": "latency", "requests": 10, "completed": 10, "failed": 0, "censored": 0, "cancelled": 0,
        "throughput_comparable": true, "latency_s": {}, "response_time_s": {}, "queue_s": {}, "percentiles": {},
        "kaplan_meier": false, "peak_concurrency": 1, "stage_ms": {}, "classes": {}, "validity": "valid",
        "warnings": [], "errors": [],
    });
    for (key, value) in numbers.as_object().unwrap() {
        all[key] = value.clone();
    }
    serde_json::from_value(all).unwrap()
}

/// A metric as it stands in a summary.
fn number(name: &str, value: f64) -> Value {
    match name.split_once('.') {
        Some(("peak_memory_mb", _)) => {
            let memory: IndexMap<&str, Value> = ["max", "mean", "median", "p90", "p95", "p99"]
                .into_iter()
                .map(|key| (key, json!(value)))
                .chain([("n", json!(10))])
                .collect();
            json!({ "peak_memory_mb": memory })
        }
        Some((head, last)) => json!({ head: { last: value } }),
        None if name == "failed" => json!({ name: value.round().to_string().parse::<u64>().unwrap() }),
        None => json!({ name: value }),
    }
}

/// A point whose repeats have these values of a metric.
fn measured(name: &str, values: &[f64]) -> Measured {
    Measured {
        id: "v/A/c1".into(),
        key: "k".into(),
        workload_key: "w".into(),
        config_key: "c".into(),
        hardware: Some("NVIDIA H100 80GB HBM3".into()),
        simulated: false,
        facts: IndexMap::new(),
        repeats: values.iter().map(|value| summary(&number(name, *value))).collect(),
        fault: None,
    }
}

fn entry(metrics: &[(&str, BaselineMetric)]) -> BaselineEntry {
    BaselineEntry {
        id: "v/A/c1".into(),
        key: "k".into(),
        workload_key: "w".into(),
        config_key: "c".into(),
        hardware: Some("H100".into()),
        simulated: false,
        n: 10,
        repeats: Some(1),
        metrics: metrics.iter().map(|(name, figure)| ((*name).to_owned(), figure.clone())).collect(),
        fingerprint: IndexMap::new(),
    }
}

fn baseline(entries: Vec<BaselineEntry>) -> Baseline {
    let source = BaselineSource { kind: "results".into(), name: "base".into(), scenario: "s".into() };
    Baseline { format: BASELINE_FORMAT, tool_version: "0.1.0".into(), source, entries }
}

fn figure(name: &str, value: f64) -> BaselineMetric {
    BaselineMetric::of(value, metric(name).unwrap().unit)
}

/// Rules that gate one metric at a relative tolerance.
fn rules(name: &str, tolerance: f64) -> Rules {
    let mut rules = Rules::default();
    rules.gate(name, Some(tolerance), None).unwrap();
    rules
}

/// The verdict on values of one metric against one baseline value.
fn judged(name: &str, base: f64, values: &[f64], tolerance: f64) -> MetricVerdict {
    let baseline = baseline(vec![entry(&[(name, figure(name, base))])]);
    let verdict = gate(&[measured(name, values)], Some(&baseline), &rules(name, tolerance));
    let [only] = verdict.metrics.as_slice() else { panic!("{verdict:#?}") };
    assert_eq!(only.verdict, verdict.verdict, "the verdict is that of its only metric");
    only.clone()
}

/// The verdict on a point against a baseline of one metric.
fn against(point: &Measured, entry: BaselineEntry, allow: &[&str]) -> Verdict {
    let mut rules = Rules::default();
    rules.allow = allow.iter().map(|key| (*key).to_owned()).collect();
    gate(std::slice::from_ref(point), Some(&baseline(vec![entry])), &rules)
}
