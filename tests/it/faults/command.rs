//! Faults by scenario and by flag, and how results with faults are labelled.

use serde_json::Value;

use crate::support::{Sandbox, Served};

const SCENARIO: &str = r#"
name = "faulty"

[model]
id = "Qwen/Qwen-Image"
task = "t2i"

[[variants]]
name = "v"

[datasets.A]
source = "random"
profiles = [{ width = 64, height = 64, num_inference_steps = 1 }]

[traffic]
requests = 10
allow_failures = 10

[warmup]
requests = 0
"#;

fn with(faults: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    fs_err::write(sandbox.path().join("faulty.toml"), format!("{SCENARIO}\n{faults}")).unwrap();
    sandbox
}

/// Standard output and error of a command, and its exit code.
fn ran(sandbox: &Sandbox, arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = sandbox.omni_bench(arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

fn json(sandbox: &Sandbox, path: &str) -> Value {
    serde_json::from_slice(&fs_err::read(sandbox.path().join("results/faulty/latest").join(path)).unwrap()).unwrap()
}

#[test]
fn a_simulated_run_meets_the_faults_of_its_scenario_and_says_so_everywhere() {
    let sandbox = with(
        "[simulator.faults]\nserver_error = { at = [2, 5] }\nwrong_size = { at = [7] }\nduplicate = { at = [8, 9] }",
    );
    let (_, errors, code) = ran(&sandbox, &["run", "faulty.toml", "--simulate", "--no-progress"]);
    assert_eq!(code, Some(0), "{errors}");
    let run = json(&sandbox, "results.json")["runs"][0].clone();
    assert_eq!([&run["completed"], &run["failed"]], [8, 2], "{run}");
    assert_eq!(run["validity"], "suspect");
    let warnings = run["warnings"].as_array().unwrap();
    let told = warnings.iter().find(|warning| warning["kind"] == "faults_injected").unwrap();
    let text = told["text"].as_str().unwrap();
    assert!(
        text.contains("(server_error, wrong_size, duplicate)") && text.contains("no figure is a measurement"),
        "{text}"
    );
    assert!(warnings.iter().any(|warning| warning["kind"] == "duplicate_outputs"), "{warnings:?}");
    let classes: Vec<&str> = run["errors"].as_array().unwrap().iter().filter_map(|e| e["class"].as_str()).collect();
    assert!(classes.iter().all(|class| *class == "http_status"), "{classes:?}");
    let latest = sandbox.path().join("results/faulty/latest");
    let tables = fs_err::read_to_string(latest.join("results.md")).unwrap();
    assert!(tables.contains("(20× speed, faults injected), not a measurement"), "{tables}");
    let plan = json(&sandbox, "plan.json");
    assert_eq!(plan["simulator_faults"][0], serde_json::json!({ "kind": "server_error", "rate": 0.0, "at": [2, 5] }));
}

#[test]
fn a_simulator_started_by_hand_tells_its_faults_and_results_are_labelled_too() {
    let server = Served::simulator(&["--speed", "50", "--fault", "client-error", "--fault", "stall=0"]);
    let sandbox = with(&format!("[endpoint]\nurl = \"{}\"\npath = \"/v1/images/generations\"", server.url()));
    let (_, errors, code) = ran(&sandbox, &["run", "faulty.toml", "--no-progress"]);
    assert_eq!(code, Some(3), "nothing succeeded: {errors}");
    let manifest = json(&sandbox, "runs/v/A/c1/run.json");
    assert_eq!(manifest["server"]["version"]["faults"], serde_json::json!({ "client_error": 1.0, "stall": 0.0 }));
    let run = json(&sandbox, "results.json")["runs"][0].clone();
    assert_eq!(run["failed"], 10, "{run}");
    let kinds: Vec<&Value> = run["warnings"].as_array().unwrap().iter().map(|warning| &warning["kind"]).collect();
    assert!(kinds.contains(&&Value::from("faults_injected")), "{kinds:?}");
}

#[test]
fn a_plan_without_faults_has_no_word_of_them_and_the_chaos_mix_is_resolved() {
    let plan = |faults: &str| {
        let sandbox = with(faults);
        let (_, errors, code) =
            ran(&sandbox, &["run", "faulty.toml", "--simulate", "--no-progress", "--speed", "1000"]);
        assert!(matches!(code, Some(0 | 3)), "{errors}");
        json(&sandbox, "plan.json")
    };
    assert_eq!(plan("").get("simulator_faults"), None);
    let chaos = plan("[simulator.faults]\nchaos = 0.5\nstall = 0\ndrip = 0");
    let rules = chaos["simulator_faults"].as_array().unwrap();
    let rate = |name: &str| rules.iter().find(|rule| rule["kind"] == name).and_then(|rule| rule["rate"].as_f64());
    assert_eq!(rules.len(), omni_bench::catalog::FaultKind::ALL.len());
    assert_eq!([rate("server_error"), rate("stall")], [Some(0.003), Some(0.0)]);
}

#[test]
fn faults_that_cannot_be_are_refused_at_their_line() {
    for (faults, wanted) in [
        ("[simulator.faults]\nstal = 0.1", "unknown key `stal`\n"),
        ("[simulator.faults]\nstall = 1.5", "a rate is a number from 0 to 1, not `1.5`"),
        ("[simulator.faults]\nstall = 0.7\nreset = 0.7", "add up to 1.4, which is more than 1"),
        ("[simulator.faults]\nchaos = -1", "`-1` is not a number of at least 0"),
        ("[simulator.faults]\nstall = 'often'", "expected a share of the requests from 0 to 1"),
        ("[simulator.faults]\nstall = { rat = 0.1 }", "did you mean `rate`?"),
    ] {
        let (_, errors, code) = ran(&with(faults), &["validate", "faulty.toml"]);
        assert_eq!(code, Some(2), "{faults}: {errors}");
        assert!(format!("{errors}\n").contains(wanted), "{faults}: {errors}");
        assert!(errors.contains("faulty.toml:"), "{faults}: {errors}");
    }
    let (_, errors, _) = ran(&with("[simulator.faults]\nstal = 0.1"), &["validate", "faulty.toml"]);
    assert!(errors.contains("did you mean `stall`?"), "{errors}");
}

#[test]
fn flags_that_name_no_fault_are_refused_with_the_nearest() {
    let sandbox = Sandbox::new();
    for (flag, wanted) in [
        ("stal", "no fault is called `stal`; did you mean `stall`?"),
        ("zzz", "no fault is called `zzz`; there are refused, reset,"),
        ("stall=often", "a rate is a number from 0 to 1, not `often`"),
        ("stall=2", "fault `stall`: a rate is a number from 0 to 1, not `2`"),
    ] {
        let (_, errors, code) = ran(&sandbox, &["simulate", "--port", "0", "--fault", flag]);
        assert_eq!(code, Some(2), "{errors}");
        assert!(errors.contains(wanted), "{flag}: {errors}");
    }
}

#[test]
fn explain_shows_where_a_fault_comes_from() {
    let sandbox = with("[simulator]\nfaults = { stall = 0.1 }");
    let (text, errors, code) = ran(&sandbox, &["explain", "faulty.toml", "--set", "simulator.faults.reset=0.25"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(text.contains("simulator.faults.stall") && text.contains("simulator.faults.reset"), "{text}");
}
