//! What `bench` prints and writes: the sections and keys of the Python client.

use serde_json::Value;

use super::{Recorder, answer, bench, clip, code, json, picture, printed, talk};
use crate::support::Sandbox;
use crate::support::fake::Answer;

/// The keys that the Python client writes, in its order, and those that some command lines add.
const KEYS: [&str; 20] = [
    "duration",
    "completed_requests",
    "failed_requests",
    "request_errors",
    "throughput_qps",
    "latency_mean",
    "latency_median",
    "latency_p99",
    "latency_p95",
    "latency_p50",
    "peak_memory_mb_max",
    "peak_memory_mb_mean",
    "peak_memory_mb_median",
    "stage_durations_mean",
    "stage_durations_p50",
    "stage_durations_p99",
    "endpoint",
    "model",
    "dataset",
    "task",
];

fn keys(figures: &Value) -> Vec<&str> {
    figures.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Numbers that depend on the clock do not belong into a snapshot.
fn sections(output: &std::process::Output) -> String {
    let text = printed(output);
    let timed = ["Benchmark duration", "Request throughput", "Latency "];
    let lines = text.lines().map(|line| match line.split_once(':') {
        Some((label, value)) if timed.iter().any(|start| label.starts_with(start)) => {
            let shown = if value.trim().parse::<f64>().is_ok() { "[time]" } else { value.trim() };
            format!("{label}: {shown}")
        }
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_sections_stand_in_the_order_of_the_python_client() {
    let (sandbox, server) = (Sandbox::new(), Recorder::start());
    let flags = ["--task", "t2i", "--dataset", "random", "--model", "Qwen/Qwen-Image", "--base-url", &server.fake.url];
    let output = bench(
        &sandbox,
        &[&flags[..], &["--num-prompts", "4", "--max-concurrency", "2", "--slo", "--slo-scale", "1000"]].concat(),
    );
    assert_eq!(code(&output), 0, "{}", talk(&output));
    insta::assert_snapshot!(sections(&output));
}

#[test]
fn failures_are_counted_and_the_first_ten_shown() {
    let server = Recorder::scripted(|seen| match seen.method.as_str() {
        "POST" => Answer::json(500, r#"{"error":{"message":"out of memory on GPU 0","code":500}}"#),
        _ => answer(seen),
    });
    let sandbox = Sandbox::new();
    let flags = ["--task", "t2i", "--dataset", "random", "--base-url", &server.fake.url, "--num-prompts", "12"];
    let output =
        bench(&sandbox, &[&flags[..], &["--warmup-requests", "0", "--output-file", "new/figures.json"]].concat());
    assert_eq!(code(&output), 3, "{}", talk(&output));
    insta::assert_snapshot!(sections(&output));
    let figures = json(&sandbox.path().join("new/figures.json"));
    assert_eq!((&figures["completed_requests"], &figures["failed_requests"]), (&0.into(), &12.into()));
    let errors = figures["request_errors"].as_array().unwrap();
    assert_eq!(errors.len(), 12);
    assert_eq!(errors[11]["request_id"], "req-0012");
    assert_eq!(errors[11]["error"], "HTTP 500: out of memory on GPU 0");
    // the client wrote zeros here
    for key in ["latency_mean", "latency_median", "latency_p50", "latency_p95", "latency_p99", "peak_memory_mb_max"] {
        assert_eq!(figures[key], Value::Null, "{key}");
    }
}

#[test]
fn a_failed_warm_up_stops_the_run_and_the_file_says_so() {
    let server = Recorder::scripted(|seen| match seen.method.as_str() {
        "POST" => Answer::json(200, r#"{"created":1,"data":[]}"#),
        _ => answer(seen),
    });
    let sandbox = Sandbox::new();
    fs_err::write(sandbox.path().join("figures.json"), r#"{"throughput_qps": 5.0}"#).unwrap();
    let flags = ["--task", "t2i", "--dataset", "random", "--endpoint", "openai", "--base-url", &server.fake.url];
    let output = bench(&sandbox, &[&flags[..], &["--output-file", "figures.json"]].concat());
    assert_eq!(code(&output), 3, "{}", talk(&output));
    assert!(printed(&output).contains("Nothing was measured: warmup failed"), "{}", printed(&output));
    let figures = json(&sandbox.path().join("figures.json"));
    assert_eq!((&figures["throughput_qps"], &figures["completed_requests"]), (&Value::Null, &0.into()));
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn the_output_file_has_exactly_the_keys_of_the_python_client() {
    let (sandbox, server) = (Sandbox::new(), Recorder::start());
    let write = |more: &[&str]| {
        let flags = ["--dataset", "random", "--num-prompts", "2", "--base-url", &server.fake.url];
        let output = bench(&sandbox, &[&flags[..], &["--output-file", "figures.json"], more].concat());
        assert_eq!(code(&output), 0, "{}", talk(&output));
        json(&sandbox.path().join("figures.json"))
    };
    let figures = write(&["--task", "t2i"]);
    assert_eq!(keys(&figures), KEYS);
    assert_eq!(figures["model"], "default");
    assert_eq!(figures["peak_memory_mb_max"], 1000.0);
    // seconds, but milliseconds where the name says so, as the server tells them
    assert_eq!(figures["stage_durations_mean"]["diffuse"], 0.5);
    assert_eq!(figures["stage_durations_p99"]["stage_0_gen_ms"], 700.0);

    let figures = write(&["--task", "i2i", "--slo", "--slo-scale", "2"]);
    let (slo, end) =
        (["slo_attainment_rate", "slo_met_success", "slo_scale"], ["endpoint", "model", "dataset", "task", "bot_task"]);
    assert_eq!(keys(&figures), [&KEYS[..16], &slo, &end].concat());
    assert_eq!((&figures["slo_scale"], &figures["bot_task"]), (&2.0.into(), &"think".into()));

    let figures = write(&["--task", "t2v", "--video-job-timeout", "60"]);
    assert_eq!(keys(&figures), [&KEYS[..], &["video_job_timeout"]].concat());
    assert_eq!(figures["video_job_timeout"], 60.0);
}

#[test]
fn media_are_saved_under_the_names_of_the_python_client() {
    let (sandbox, server) = (Sandbox::new(), Recorder::start());
    for (task, folder, names, content) in [
        ("t2i", "pictures", ["req_0000_00.png", "req_0001_00.png"], picture()),
        ("t2v", "videos", ["req_0000.mp4", "req_0001.mp4"], clip()),
    ] {
        let flags = ["--dataset", "random", "--task", task, "--num-prompts", "2", "--base-url", &server.fake.url];
        let output = bench(&sandbox, &[&flags[..], &["--save-dir", folder]].concat());
        assert_eq!(code(&output), 0, "{}", talk(&output));
        let folder = sandbox.path().join(folder);
        let mut found: Vec<_> = fs_err::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        found.sort();
        assert_eq!(found, names);
        assert_eq!(fs_err::read(folder.join(names[1])).unwrap(), content);
    }
}

#[test]
fn results_go_to_a_folder_as_with_run() {
    let (sandbox, server) = (Sandbox::new(), Recorder::start());
    let flags = ["--dataset", "random", "--task", "t2i", "--num-prompts", "2", "--base-url", &server.fake.url];
    let output = bench(&sandbox, &[&flags[..], &["--out", "elsewhere"]].concat());
    assert_eq!(code(&output), 0, "{}", talk(&output));
    let folder = sandbox.path().join("elsewhere/bench-t2i-random/latest");
    for name in ["plan.json", "results.json", "results.csv", "results.md", "runs/default/random/c1/records.jsonl"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
    assert_eq!(json(&folder.join("results.json"))["scenario"], "bench-t2i-random");
    let output = bench(&sandbox, &[&flags[..], &["--output-file", "elsewhere"]].concat());
    assert_eq!(code(&output), 5, "a folder is no file: {}", talk(&output));
}
