//! `omni-bench export`: results become the records that the nightly tools read.

#![cfg(test)] // the lints that spare tests then spare their helpers too

use serde_json::{Value, json};

use crate::support::Sandbox;

const SCENARIO: &str = r#"
name = "nightly"
[model]
id = "Qwen/Qwen-Image"
task = "t2i"
[endpoint]
path = "/v1/images/generations"
[environment]
gpu = "NVIDIA H200"
[[variants]]
name = "plain"
serve_args = { enable-diffusion-pipeline-profiler = true }
[[variants]]
name = "usp2"
parallel = { ulysses = 2, cfg = 2 }
serve_args = { vae-use-tiling = true, enable-cpu-offload = false, cache-backend = "cache_dit", enforce-eager = true }
[datasets.A]
negative_prompt = true
profiles = [{ width = 512, height = 512, num_inference_steps = 20 }]
[datasets.C]
profiles = [
  { width = 512, height = 512, num_inference_steps = 20, weight = 0.5 },
  { width = 768, height = 768, num_inference_steps = 30, weight = 0.5 },
]
[traffic]
requests = 6
[matrix]
variant = ["plain", "usp2", "usp2"]
dataset = ["A", "A", "C"]
zip = [["variant", "dataset"]]
[simulator]
speed = 200
"#;

/// Runs the scenario and exports it; the name of the file and its records.
fn exported() -> (String, Vec<Value>) {
    let sandbox = Sandbox::new();
    fs_err::write(sandbox.path().join("scenario.toml"), SCENARIO).unwrap();
    let run = sandbox.omni_bench(&["run", "scenario.toml", "--simulate", "-q"]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let export = sandbox.omni_bench(&["export", "vllm-omni", "results/nightly/latest", "-o", "out"]);
    assert!(export.status.success(), "{}", String::from_utf8_lossy(&export.stderr));
    let files: Vec<_> = fs_err::read_dir(sandbox.path().join("out")).unwrap().map(Result::unwrap).collect();
    assert_eq!(files.len(), 1);
    let text = fs_err::read_to_string(files[0].path()).unwrap();
    (files[0].file_name().to_string_lossy().into_owned(), serde_json::from_str(&text).unwrap())
}

#[test]
fn records_have_the_keys_names_and_units_that_the_nightly_tools_read() {
    let (name, records) = exported();
    let stamp =
        name.strip_prefix("diffusion_result_nightly_H200_simulated_").and_then(|rest| rest.strip_suffix(".json"));
    let shape: String =
        stamp.unwrap_or_else(|| panic!("{name}")).chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
    assert_eq!(shape, "99999999-999999");
    assert_eq!(records.len(), 3);
    let keys: Vec<&str> = records[0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys[..41],
        [
            "test_name",
            "endpoint",
            "timestamp",
            "server_params",
            "benchmark_params",
            "baseline",
            "result",
            "log_file",
            "Model",
            "Framework",
            "API Endpoint",
            "Hardware",
            "Deployment",
            "Task",
            "Dataset",
            "resolution",
            "Parallelism",
            "max_concurrency",
            "Cache",
            "Quantization",
            "offload",
            "compile",
            "Attn_backend",
            "num_inference_steps",
            "completed",
            "failed",
            "throughput_qps",
            "latency_mean",
            "latency_median",
            "latency_p50",
            "latency_p95",
            "latency_p99",
            "peak_memory_mb_max",
            "peak_memory_mb_mean",
            "peak_memory_mb_median",
            "stage_durations_mean",
            "stage_durations_p50",
            "stage_durations_p99",
            "commit_sha",
            "build_id",
            "build_url"
        ]
    );
    let plain = &records[0];
    assert_eq!(plain["result"]["completed_requests"], 6);
    assert_eq!((&plain["completed"], &plain["failed"]), (&json!(6), &json!(0)));
    assert_eq!(plain["latency_mean"], plain["result"]["latency_mean"]);
    assert_eq!(plain["latency_median"], plain["latency_p50"]);
    assert_eq!((&plain["commit_sha"], &plain["log_file"]), (&Value::Null, &Value::Null), "unknown is null");
    assert_eq!(plain["Framework"], "omni-bench simulator");
    let stages = plain["stage_durations_mean"].as_object().unwrap();
    let diffuse = stages["diffuse"].as_f64().unwrap();
    let latency = plain["latency_mean"].as_f64().unwrap();
    assert!(diffuse > 0.0 && diffuse < latency, "seconds like the latency: {diffuse} of {latency}");
    assert_eq!(plain["benchmark_params"]["num-prompts"], 6);
    assert_eq!(plain["benchmark_params"]["enable-negative-prompt"], true);
    assert_eq!(plain["server_params"]["model"], "Qwen/Qwen-Image");
}

#[test]
fn columns_tell_what_ran_where_the_old_ones_did_not() {
    let (_, records) = exported();
    let column = |key: &str| records.iter().map(|record| record[key].clone()).collect::<Vec<_>>();
    // the tools group by this name alone
    assert_eq!(column("test_name"), ["plain", "usp2/A/c1", "usp2/C/c1"]);
    assert_eq!(column("resolution"), ["512x512", "512x512", "mixed(2 shapes)"]);
    assert_eq!(column("num_inference_steps"), [json!(20), json!(20), Value::Null]);
    assert_eq!(
        column("Parallelism"),
        [
            "none",
            "ulysses-degree=2,cfg-parallel-size=2,vae-use-tiling=True",
            "ulysses-degree=2,cfg-parallel-size=2,vae-use-tiling=True"
        ]
    );
    assert_eq!(column("offload"), ["disabled"; 3], "false is not enabled");
    assert_eq!(column("Cache"), ["disabled", "cache_dit", "cache_dit"]);
    assert_eq!(column("compile"), ["enabled", "disabled", "disabled"]);
    assert_eq!(column("Hardware"), ["H200"; 3]);
}

#[test]
fn a_run_that_failed_has_no_record_of_zeros() {
    let sandbox = Sandbox::new();
    let scenario = "name = 'gone'\n[model]\nid = 'm'\ntask = 't2i'\n[endpoint]\nurl = 'http://127.0.0.1:9'\n\
                    ready = { timeout = '100ms' }\n[datasets.A]\nprofiles = [{ width = 64, height = 64 }]\n";
    fs_err::write(sandbox.path().join("scenario.toml"), scenario).unwrap();
    assert_eq!(sandbox.omni_bench(&["run", "scenario.toml", "-q"]).status.code(), Some(3));
    let export = sandbox.omni_bench(&["export", "vllm-omni", "results/gone/latest", "-o", "out"]);
    let err = String::from_utf8_lossy(&export.stderr).into_owned();
    assert_eq!(export.status.code(), Some(5), "{err}");
    assert!(err.contains("has no numbers and no record") && err.contains("no run with numbers"), "{err}");
    assert!(!sandbox.path().join("out").exists());
}
