//! A disk that is full, a folder that cannot be written, a folder that goes away.

use std::process::{Command, Stdio};

use super::setup::{BINARY, Bench, IMAGES, code, journal, json, talk, until};

#[test]
fn a_full_disk_is_a_clear_error_and_everything_recorded_stays_readable() {
    let bench = Bench::new(IMAGES);
    // writes beyond 12 KB of a file fail as they do on a full disk, in the middle of a line
    let limited = "trap '' XFSZ; ulimit -f 24; exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", limited, "sh", BINARY, "run", "small.toml", "--simulate", "--speed", "500"]);
    command.current_dir(bench.path("")).stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = talk(&output);
    assert_eq!(code(&output), 5, "{text}");
    assert!(text.contains("v/A/c1/records.jsonl`: File too large") && text.contains("--resume "), "{text}");
    let run = bench.latest().join("runs/v/A/c1");
    let (records, skipped) = journal(&run.join("records.jsonl"));
    assert!(records.len() >= 5 && skipped == 1, "{} records, {skipped} skipped", records.len());
    assert!(records.iter().all(|record| record["status"] == "ok"));
    let manifest = json(&run.join("run.json"));
    assert_eq!(manifest["state"], "failed");
    assert!(manifest["reason"].as_str().unwrap().contains("File too large"), "{manifest}");

    let report = bench.command(&["report", "results/small/latest", "--format", "json"]).output().unwrap();
    assert_eq!(code(&report), 0, "{}", talk(&report));
    let results: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(results["runs"][0]["completed"], records.len());

    let resumed = bench.run(&["--simulate", "--speed", "500", "--resume", "results/small/latest"]).output().unwrap();
    assert_eq!(code(&resumed), 0, "{}", talk(&resumed));
    assert_eq!(json(&bench.latest().join("results.json"))["runs"].as_array().unwrap().len(), 3);
    assert_eq!(journal(&bench.latest().join("runs/v/A/c1.attempt-1/records.jsonl")), (records, skipped));
}

#[test]
fn a_folder_that_cannot_be_written_is_named_and_nothing_is_sent() {
    let bench = Bench::new(IMAGES);
    // not even root makes folders there
    let output = bench.run(&["--simulate", "--out", "/sys/omni-bench"]).output().unwrap();
    assert_eq!(code(&output), 5, "{}", talk(&output));
    assert!(talk(&output).contains("`/sys/omni-bench"), "{}", talk(&output));
    assert!(output.stdout.is_empty());
}

#[test]
fn a_folder_that_is_removed_under_a_run_ends_it_with_a_clear_error() {
    let bench = Bench::new(&IMAGES.replace("requests = 30", "requests = 100000"));
    let child = bench.run(&["--simulate", "--speed", "20"]).spawn().unwrap();
    let records = bench.latest().join("runs/v/A/c1/records.jsonl");
    until("a record", || (records.exists() && !journal(&records).0.is_empty()).then_some(()));
    // in one step, as the tool goes on making files in it
    fs_err::rename(bench.path("results"), bench.path("removed")).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = talk(&output);
    assert_eq!(code(&output), 5, "{text}");
    assert!(text.contains("runs/v/A/c1` was removed while its run was at work"), "{text}");
    assert!(!text.contains("--resume"), "{text}");
    assert!(!bench.path("results").exists(), "what was removed is not made again");
}
