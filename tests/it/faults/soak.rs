//! Long runs through the chaos mix, with client and server in processes of their own.

#![cfg(target_os = "linux")] // memory is read from /proc

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Sandbox, Served, figure};

/// Longest that a soak may take on a busy machine; a run that hangs is a failure.
const PATIENCE: Duration = Duration::from_mins(10);

/// A run of tiny pictures or videos at 64 in flight. Limits are modelled time: at a hundredfold speed they cut what
/// would never end soon.
fn scenario(url: &str, requests: u64, task: &str, path: &str, shape: &str) -> String {
    format!(
        r#"
name = "soak"

[model]
id = "Qwen/Qwen-Image"
task = "{task}"

[endpoint]
url = "{url}"
path = "{path}"
timeout = {{ connect = "10s", request = "120s", job = "120s" }}
max_reply = "1MB"

[[variants]]
name = "v"

[datasets.A]
source = "random"
profiles = [{{ width = 64, height = 64, num_inference_steps = 1{shape} }}]

[traffic]
requests = {requests}
max_concurrency = 64
allow_failures = {requests}

[warmup]
requests = 0
"#
    )
}

/// What a soak came to.
struct Soaked {
    completed: u64,
    failed: u64,
    censored: u64,
    classes: BTreeMap<String, u64>,
    /// Resident pages of the client while it drove the run, in order.
    memory: Vec<u64>,
    took: Duration,
}

/// Runs to the end, and checks that every request is accounted for and every failure is classed.
fn soak(requests: u64, task: &str, path: &str, shape: &str) -> Soaked {
    let server = Served::simulator(&["--null", "--chaos", "--speed", "100"]);
    let sandbox = Sandbox::new();
    let text = scenario(server.url(), requests, task, path, shape);
    fs_err::write(sandbox.path().join("soak.toml"), text).unwrap();
    let start = Instant::now();
    let mut command = sandbox.command(&["run", "soak.toml", "--no-progress"]);
    let mut client = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let run = sandbox.path().join("results/soak/latest/runs/v/A/c64");
    let memory = watch(&mut client, &run.join("run.json"));
    let output = client.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let took = start.elapsed();

    let stored = fs_err::read(sandbox.path().join("results/soak/latest/results.json")).unwrap();
    let summary = serde_json::from_slice::<Value>(&stored).unwrap()["runs"][0].clone();
    let count = |key: &str| summary[key].as_u64().unwrap();
    let [completed, failed, censored, cancelled] = ["completed", "failed", "censored", "cancelled"].map(count);
    assert_eq!(completed + failed + censored + cancelled, requests);
    assert_eq!(cancelled, 0);
    let classes = classes(&run.join("records.jsonl"));
    assert_eq!(classes.values().sum::<u64>(), failed + censored, "every failure has its record: {classes:?}");
    Soaked { completed, failed, censored, classes, memory, took }
}

/// Requests that did not succeed by class; each has one, and words.
fn classes(journal: &Path) -> BTreeMap<String, u64> {
    let mut classes = BTreeMap::new();
    for line in fs_err::read_to_string(journal).unwrap().lines() {
        let Ok(record) = serde_json::from_str::<Value>(line) else { continue };
        let Some(error) = record.get("error").filter(|error| error.is_object()) else { continue };
        let text = |key: &str| error[key].as_str().unwrap_or_default().trim().to_owned();
        assert!(!text("class").is_empty() && !text("message").is_empty(), "{record}");
        *classes.entry(text("class")).or_insert(0) += 1;
    }
    classes
}

/// Samples the client's memory while it drives the run; its start and the summary at the end are another matter.
fn watch(client: &mut Child, manifest: &Path) -> Vec<u64> {
    let start = Instant::now();
    let mut samples = Vec::new();
    while client.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            client.kill().unwrap();
            client.wait().unwrap();
            panic!("the soak has not ended within {PATIENCE:?}");
        }
        let state = fs_err::read(manifest).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        if state.is_some_and(|manifest| manifest["state"] == "running") {
            samples.extend(resident(client.id()));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    samples
}

/// Resident memory of a process in pages; `None` once it has ended.
fn resident(pid: u32) -> Option<u64> {
    let text = fs_err::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

fn median(samples: &[u64]) -> u64 {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    sorted[sorted.len() / 2]
}

#[test]
fn a_soak_of_20_000_requests_under_chaos_ends_with_every_request_accounted_for_and_flat_memory() {
    let Soaked { completed, failed, censored, classes, memory, took } =
        soak(20_000, "t2i", "/v1/images/generations", "");
    assert!(failed > 0 && censored > 0 && completed > 10_000, "{completed} {failed} {censored}");
    assert!(memory.len() >= 16, "{} samples of the memory", memory.len());
    let quarter = memory.len() / 4;
    let (second, last) = (median(&memory[quarter..2 * quarter]), median(&memory[3 * quarter..]));
    figure(&format!(
        "soak: 20000 requests in {took:.1?}: {completed} completed, {failed} failed, {censored} censored; {classes:?}; \
         resident pages: second quarter {second}, last quarter {last}"
    ));
    assert!(last * 10 <= second * 11 && last * 10 >= second * 9, "memory is flat: {second} → {last} pages");
}

#[test]
fn a_soak_of_2_000_video_jobs_under_chaos_ends_with_every_request_accounted_for() {
    let shape = ", num_frames = 2, fps = 8";
    let Soaked { completed, failed, censored, classes, took, .. } = soak(2_000, "t2v", "/v1/videos", shape);
    assert!(failed > 0 && completed > 1_000, "{completed} {failed} {censored}");
    figure(&format!(
        "soak: 2000 video jobs in {took:.1?}: {completed} completed, {failed} failed, {censored} censored; {classes:?}"
    ));
}
