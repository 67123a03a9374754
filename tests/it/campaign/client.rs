//! The client probe through the built binary: a slowed client turns a run suspect, an untouched one
//! does not.

use std::process::Output;

use serde_json::Value;

use super::setup::{Bench, SCENARIO, code, json, talk};

/// Half a second per request on the wall, which leaves a busy machine's noise far below every threshold.
const SPEED: [&str; 3] = ["--simulate", "--speed", "1"];

/// One run of two requests, by a client slowed by the test hook.
fn bench(slowed_ms: Option<&str>) -> (Bench, Output) {
    let scenario = SCENARIO.replace("[1, 2, 3]", "[1]").replace("requests = 4", "requests = 2");
    let bench = Bench::new(&scenario);
    let mut command = bench.command(&SPEED);
    command.env_remove("OMNI_BENCH_TEST_SLOW_CLIENT_MS");
    command.envs(slowed_ms.map(|ms| ("OMNI_BENCH_TEST_SLOW_CLIENT_MS", ms)));
    let output = command.output().unwrap();
    assert_eq!(code(&output), 0, "{}", talk(&output));
    (bench, output)
}

fn kinds(run: &Value) -> Vec<&str> {
    run["warnings"].as_array().unwrap().iter().map(|warning| warning["kind"].as_str().unwrap()).collect()
}

#[test]
fn an_untouched_client_is_measured_and_leaves_the_run_valid() {
    let (bench, output) = bench(None);
    let run = bench.results()["runs"][0].clone();
    assert_eq!((&run["validity"], &run["client"]["could_be_bottleneck"]), (&"valid".into(), &false.into()), "{run:#}");
    let probe = json(&bench.latest().join("client.json"));
    assert_eq!(probe["format"], 1);
    for figure in ["added_latency_ms", "timer_error_ms"] {
        let (p50, p99) = (probe[figure]["p50"].as_f64().unwrap(), probe[figure]["p99"].as_f64().unwrap());
        assert!(0.0 < p50 && p50 <= p99, "{probe:#}");
        assert_eq!(run["client"][figure], probe[figure]);
    }
    assert!(probe["max_rate_per_s"].as_f64().unwrap() > 20.0, "{probe:#}");
    assert_eq!(json(&bench.latest().join("runs/v/A/c1/run.json"))["client"], probe);
    assert!(String::from_utf8_lossy(&output.stdout).contains("\nclient: takes "));
}

#[test]
fn a_slowed_client_turns_the_run_suspect() {
    let (bench, output) = bench(Some("80"));
    let run = bench.results()["runs"][0].clone();
    assert_eq!((&run["validity"], &run["client"]["could_be_bottleneck"]), (&"suspect".into(), &true.into()), "{run:#}");
    assert!(kinds(&run).contains(&"client_bound"), "{run:#}");
    assert!(run["client"]["added_latency_ms"]["p50"].as_f64().unwrap() >= 80.0, "{run:#}");
    assert!(run["client"]["max_rate_per_s"].as_f64().unwrap() < 1000.0, "{run:#}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("the client's own "));
}

#[test]
fn runs_keep_the_figures_of_the_client_that_carried_them_out() {
    let (bench, _) = bench(None);
    let before = json(&bench.latest().join("client.json"));
    let resume = ["--resume", "results/small/latest"];
    let resumed = bench.run(&[&SPEED[..], &resume].concat());
    assert_eq!(code(&resumed), 0, "{}", talk(&resumed));
    assert_eq!(json(&bench.latest().join("client.json")), before, "nothing was left to run, so nothing is measured");

    let manifest = bench.latest().join("runs/v/A/c1/run.json");
    let text = fs_err::read_to_string(&manifest).unwrap().replace("\"complete\"", "\"interrupted\"");
    fs_err::write(&manifest, text).unwrap();
    let resumed = bench.run(&[&SPEED[..], &resume].concat());
    assert_eq!(code(&resumed), 0, "{}", talk(&resumed));
    let after = json(&bench.latest().join("client.json"));
    assert_ne!(after["measured_at"], before["measured_at"]);
    assert_eq!(json(&manifest)["client"], after);
    assert_eq!(json(&bench.latest().join("runs/v/A/c1.attempt-1/run.json"))["client"], before);
    let hidden: Vec<_> = fs_err::read_dir(bench.latest()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(hidden.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{hidden:?}");
}
