//! A long run through the chaos mix, with client and server in processes of their own.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Sandbox, Served};

const REQUESTS: u64 = 20_000;
/// Longest that the soak may take on a busy machine; a run that hangs is a failure.
const PATIENCE: Duration = Duration::from_mins(10);

fn scenario(url: &str) -> String {
    format!(
        r#"
name = "soak"

[model]
id = "Qwen/Qwen-Image"
task = "t2i"

[endpoint]
url = "{url}"
path = "/v1/images/generations"
timeout = {{ connect = "10s", request = "60s" }}
max_reply = "1MB"

[[variants]]
name = "v"

[datasets.A]
source = "random"
profiles = [{{ width = 64, height = 64, num_inference_steps = 1 }}]

[traffic]
requests = {REQUESTS}
max_concurrency = 64
allow_failures = {REQUESTS}

[warmup]
requests = 0
"#
    )
}

/// Resident memory of a process in pages; `None` once it has ended.
fn resident(pid: u32) -> Option<u64> {
    let text = fs_err::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

fn is_running(results: &Path) -> bool {
    let manifest = fs_err::read(results.join("latest/runs/v/A/c64/run.json")).ok();
    let manifest = manifest.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    manifest.is_some_and(|manifest| manifest["state"] == "running")
}

/// Samples the client's memory while it drives the run; the summary at the end is another matter.
fn watch(client: &mut Child, results: &Path) -> Vec<u64> {
    let start = Instant::now();
    let mut samples = Vec::new();
    while client.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            client.kill().unwrap();
            client.wait().unwrap();
            panic!("the soak has not ended within {PATIENCE:?}");
        }
        if is_running(results) {
            samples.extend(resident(client.id()));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    samples
}

fn median(samples: &[u64]) -> u64 {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    sorted[sorted.len() / 2]
}

#[test]
#[cfg(target_os = "linux")]
fn a_soak_of_20_000_requests_under_chaos_ends_with_every_request_accounted_for_and_flat_memory() {
    let server = Served::simulator(&["--null", "--chaos", "--speed", "100"]);
    let sandbox = Sandbox::new();
    fs_err::write(sandbox.path().join("soak.toml"), scenario(server.url())).unwrap();
    let start = Instant::now();
    let mut client = sandbox
        .command(&["run", "soak.toml", "--no-progress"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let results = sandbox.path().join("results/soak");
    let samples = watch(&mut client, &results);
    let output = client.wait_with_output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{talk}");

    let stored = fs_err::read(results.join("latest/results.json")).unwrap();
    let run = serde_json::from_slice::<Value>(&stored).unwrap()["runs"][0].clone();
    let count = |key: &str| run[key].as_u64().unwrap();
    let (completed, failed, censored, cancelled) =
        (count("completed"), count("failed"), count("censored"), count("cancelled"));
    assert_eq!(completed + failed + censored + cancelled, REQUESTS);
    assert_eq!(cancelled, 0);
    assert!(failed > 0 && censored > 0 && completed > REQUESTS / 2, "{completed} {failed} {censored}");

    let journal = fs_err::read_to_string(results.join("latest/runs/v/A/c64/records.jsonl")).unwrap();
    let mut unclassed = 0;
    let mut classes = std::collections::BTreeMap::new();
    for line in journal.lines() {
        let Ok(record) = serde_json::from_str::<Value>(line) else { continue };
        if record["status"] != "ok" {
            let class = record["error"]["class"].as_str().unwrap_or_default().to_owned();
            let message = record["error"]["message"].as_str().unwrap_or_default();
            unclassed += u64::from(class.is_empty() || message.trim().is_empty());
            *classes.entry(class).or_insert(0_u64) += 1;
        }
    }
    assert_eq!(unclassed, 0);
    assert_eq!(classes.values().sum::<u64>(), failed + censored, "every failure has its record");

    assert!(samples.len() >= 16, "{} samples of the memory", samples.len());
    let quarter = samples.len() / 4;
    let (second, last) = (median(&samples[quarter..2 * quarter]), median(&samples[3 * quarter..]));
    println!(
        "soak: {REQUESTS} requests in {:.1?}: {completed} completed, {failed} failed, {censored} censored; {classes:?}; \
         resident pages: second quarter {second}, last quarter {last}",
        start.elapsed()
    );
    assert!(last * 10 <= second * 11 && last * 10 >= second * 9, "memory is flat: {second} → {last} pages");
}
