//! `baseline` and `gate` as they are typed, with every exit code.

use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::Sandbox;

const SCENARIO: &str = r#"
name = "gated"
[model]
id = "Qwen/Qwen-Image"
task = "t2i"
[environment]
gpu = "H100"
[datasets.A]
profiles = [{ width = 512, height = 512, num_inference_steps = 20 }]
[traffic]
requests = 4
[matrix]
max_concurrency = [1, 2]
[simulator]
speed = 200
[gate]
baseline = "base.json"
metrics = { "latency_s.mean" = { tolerance = 0.2 } }
limits = { "latency_s.max" = "10m", failed = 0 }
"#;

/// A folder with results and a baseline made of them.
struct Gated(Sandbox);

impl Gated {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        fs_err::write(sandbox.path().join("scenario.toml"), SCENARIO).unwrap();
        let run = sandbox.omni_bench(&["run", "scenario.toml", "--simulate", "-q"]);
        assert!(run.status.success(), "{}", text(&run.stderr));
        let made = sandbox.omni_bench(&["baseline", "results/gated/latest", "-o", "base.json"]);
        assert!(made.status.success(), "{}", text(&made.stderr));
        Self(sandbox)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Changes the baseline.
    fn change(&self, change: impl Fn(&mut Value)) {
        let mut base: Value = serde_json::from_slice(&fs_err::read(self.file("base.json")).unwrap()).unwrap();
        for entry in base["entries"].as_array_mut().unwrap() {
            change(entry);
        }
        fs_err::write(self.file("base.json"), base.to_string()).unwrap();
    }

    fn gate(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let output: Output = self.0.omni_bench(&[&["gate", "results/gated/latest"], arguments].concat());
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const BASE: [&str; 2] = ["--baseline", "base.json"];

#[test]
fn results_pass_against_themselves_and_the_verdict_lists_every_metric() {
    let gated = Gated::new();
    let (code, out, err) = gated.gate(&[&BASE[..], &["--format", "json"]].concat());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let verdict: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&verdict["format"], &verdict["verdict"], &verdict["simulated"]),
        (&json!(1), &json!("pass"), &json!(true))
    );
    let metrics = verdict["metrics"].as_array().unwrap();
    for name in ["throughput_per_s", "latency_s.mean", "peak_memory_mb.max"] {
        assert_eq!(metrics.iter().filter(|metric| metric["metric"] == name).count(), 2, "{name}: {out}");
    }
    let is_response = |metric: &Value| metric["metric"].as_str().unwrap().starts_with("response_time_s");
    assert!(!metrics.iter().any(is_response), "a closed loop has no headline of its own for it: {out}");
    for metric in metrics {
        assert_eq!(metric["verdict"], "pass", "{metric}");
        assert!(metric["limit"].is_number() && metric["value"] == metric["baseline"], "{metric}");
    }
    let (code, out, _) = gated.gate(&BASE);
    assert_eq!(code, Some(0));
    assert!(out.contains("pass (simulated, not a measurement)") && out.contains("2 runs: 2 pass"), "{out}");
}

#[test]
fn a_regression_ends_with_1_and_names_the_metric() {
    let gated = Gated::new();
    gated.change(|entry| {
        let figure = &mut entry["metrics"]["latency_s.mean"]["value"];
        *figure = (figure.as_f64().unwrap() / 1.25).into();
    });
    let (code, out, _) = gated.gate(&[&BASE[..], &["--format", "markdown"]].concat());
    assert_eq!(code, Some(1));
    assert!(out.contains("Mean Latency (s)") && out.contains("+25.0 % (worse) | regression |"), "{out}");
    assert_eq!(gated.gate(&[&BASE[..], &["--tolerance", "0.3"]].concat()).0, Some(0));
    assert_eq!(gated.gate(&["--scenario", "scenario.toml"]).0, Some(1), "its tolerance is 20 %");
}

#[test]
fn what_cannot_be_compared_ends_with_4_unless_it_is_allowed() {
    let gated = Gated::new();
    gated.change(|entry| entry["hardware"] = "H200".into());
    let (code, out, _) = gated.gate(&BASE);
    assert_eq!(code, Some(4));
    assert!(out.contains("not comparable: differing from the baseline: `gpu`"), "{out}");
    assert!(out.contains("`gpu` differs: H200 in the baseline, H100 here"), "{out}");
    assert_eq!(gated.gate(&[&BASE[..], &["--allow", "gpu"]].concat()).0, Some(0));
    assert_eq!(gated.gate(&[&BASE[..], &["--allow-no-baseline"]].concat()).0, Some(4), "there is a baseline");
    let (code, _, err) = gated.gate(&[&BASE[..], &["--allow", "gqu"]].concat());
    assert_eq!((code, err.contains("did you mean `gpu`?")), (Some(2), true), "{err}");
}

#[test]
fn no_baseline_ends_with_4_or_0_where_the_user_says_so_and_is_told_either_way() {
    let gated = Gated::new();
    gated.change(|entry| (entry["id"], entry["key"]) = ("x".into(), format!("{}x", entry["key"]).into()));
    let (code, out, _) = gated.gate(&BASE);
    assert_eq!((code, out.contains("2 runs: 2 no baseline")), (Some(4), true), "{out}");
    let (code, out, _) = gated.gate(&[&BASE[..], &["--allow-no-baseline", "--format", "json"]].concat());
    let verdict: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &verdict["verdict"]), (Some(0), &json!("no_baseline")), "it is no pass");
}

#[test]
fn a_run_that_failed_ends_with_3_and_cannot_become_a_baseline() {
    let gated = Gated::new();
    let scenario = SCENARIO.replace(
        "[environment]",
        "[endpoint]\nurl = \"http://127.0.0.1:9\"\nready = { timeout = \"100ms\" }\n[environment]",
    );
    fs_err::write(gated.file("scenario.toml"), scenario).unwrap();
    let run = gated.0.omni_bench(&["run", "scenario.toml", "-q"]);
    assert_eq!(run.status.code(), Some(3));
    let (code, out, _) = gated.gate(&BASE);
    assert_eq!(code, Some(3));
    assert!(out.contains("run failed: `default/A/c1") && out.contains("has no numbers"), "{out}");
    let made = gated.0.omni_bench(&["baseline", "results/gated/latest", "-o", "none.json"]);
    assert_eq!((made.status.code(), gated.file("none.json").exists()), (Some(3), false));
}

#[test]
fn limits_of_the_scenario_hold_without_a_baseline() {
    let gated = Gated::new();
    let limited = SCENARIO.replace("baseline = \"base.json\"\n", "").replace("\"10m\"", "\"1ms\"");
    fs_err::write(gated.file("limits.toml"), limited).unwrap();
    let (code, out, _) = gated.gate(&["--scenario", "limits.toml", "--format", "json"]);
    let verdict: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &verdict["verdict"]), (Some(1), &json!("regression")));
    let (code, _, err) = gated.gate(&[]);
    assert_eq!((code, err.contains("--baseline")), (Some(2), true), "{err}");
}

#[test]
fn junit_has_a_suite_per_run_and_escapes_what_it_quotes() {
    let gated = Gated::new();
    gated.change(|entry| {
        entry["metrics"]["latency_s.mean"]["value"] = Value::Null;
        entry["metrics"]["latency_s.mean"]["note"] = "<lost> & \"gone\"".into();
    });
    let (code, out, _) = gated.gate(&[&BASE[..], &["--format", "junit"]].concat());
    assert_eq!(code, Some(4));
    assert!(out.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites "), "{out}");
    assert_eq!(out.matches("<testsuite ").count(), 2);
    assert!(out.contains("errors=\"2\"") && out.contains("failures=\"0\""), "{out}");
    assert!(out.contains("&lt;lost&gt; &amp; &quot;gone&quot;"), "{out}");
    let mut open = Vec::new();
    for tag in out.split('<').skip(2) {
        let (tag, _) = tag.split_once('>').unwrap();
        let name = tag.split_whitespace().next().unwrap().to_owned();
        match (name.strip_prefix('/'), tag.ends_with('/')) {
            (Some(name), _) => assert_eq!(open.pop().as_deref(), Some(name)),
            (None, false) => open.push(name),
            (None, true) => {}
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_broken_baseline_or_rule_is_a_usage_error_with_its_place() {
    let gated = Gated::new();
    fs_err::write(gated.file("base.json"), "{\n  \"format\": 1,\n").unwrap();
    let (code, _, err) = gated.gate(&BASE);
    assert_eq!((code, err.contains("`base.json`: line 3, column 0")), (Some(2), true), "{err}");
    let (code, _, err) = gated.gate(&["--baseline", "gone.json"]);
    assert_eq!((code, err.contains("gone.json")), (Some(2), true), "{err}");
    let wrong = SCENARIO.replace("latency_s.mean", "latency_s.meen").replace("failed = 0", "duration_s = 3");
    fs_err::write(gated.file("scenario.toml"), wrong).unwrap();
    let validated = gated.0.omni_bench(&["validate", "scenario.toml"]);
    let err = text(&validated.stderr);
    assert_eq!(validated.status.code(), Some(2));
    assert!(
        err.contains("there is no metric `latency_s.meen`") && err.contains("did you mean `latency_s.mean`?"),
        "{err}"
    );
    assert!(err.contains("no direction of `duration_s` is better") && err.contains("scenario.toml:19:50"), "{err}");
}

#[test]
fn an_imported_baseline_gates_the_runs_of_its_scenario() {
    let sandbox = Sandbox::new();
    let fixture = crate::support::repository().join("tests/fixtures/vllm_omni/perf_bagel.json");
    fs_err::copy(fixture, sandbox.path().join("perf_bagel.json")).unwrap();
    assert!(sandbox.omni_bench(&["import", "vllm-omni-perf", "perf_bagel.json"]).status.success());
    let run = sandbox.omni_bench(&["run", "perf_bagel.toml", "--simulate", "--speed", "500", "-q"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let gate = |more: &[&str]| {
        let output = sandbox
            .omni_bench(&[&["gate", "results/perf_bagel/latest", "--scenario", "perf_bagel.toml"], more].concat());
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, out, err) = gate(&[]);
    assert_eq!(code, Some(4), "{out}{err}");
    assert!(out.contains("`simulated` differs: false in the baseline, true here"), "{out}");
    let (code, out, _) = gate(&["--allow", "simulated", "--format", "json"]);
    assert!(matches!(code, Some(0 | 1)), "{out}");
    let verdict: Value = serde_json::from_str(&out).unwrap();
    let known: Vec<(&Value, &Value)> =
        verdict["metrics"].as_array().unwrap().iter().map(|metric| (&metric["metric"], &metric["baseline"])).collect();
    assert_eq!(
        known,
        [
            (&json!("throughput_per_s"), &json!(0.495)),
            (&json!("latency_s.mean"), &json!(2.0238)),
            (&json!("peak_memory_mb.max"), &json!(29393.4286)),
            (&json!("peak_memory_mb.mean"), &json!(29392.7143)),
        ]
    );
}
