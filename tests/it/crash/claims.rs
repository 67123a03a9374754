//! Two tools on one results folder, and claims of tools that are gone.

use std::process::Child;

use super::setup::{Bench, IMAGES, at, code, journal, json, signal, talk};
use crate::support::Served;

const RUNS: [&str; 3] = ["v/A/c1", "v/A/c2", "v/A/c3"];

#[test]
fn two_tools_on_one_folder_share_its_runs_and_never_one_run() {
    let server = Served::simulator(&["--model", "Qwen/Qwen-Image", "--speed", "8"]);
    let bench = Bench::new(&at(IMAGES, server.url()));
    let mut first = bench.run(&[]).spawn().unwrap();
    bench.until_state(&mut first, "v/A/c1", "running");
    let claim = bench.manifest("v/A/c1").unwrap()["claim"].clone();
    assert_eq!(claim["pid"], first.id());
    assert!(claim["host"].is_string() && claim["at"].is_string(), "{claim}");
    let second = bench.run(&["--resume", "results/small/latest"]).spawn().unwrap();
    let (second_pid, second) = (second.id(), second.wait_with_output().unwrap());
    let (first_pid, first) = (first.id(), first.wait_with_output().unwrap());
    // whoever ends before the other leaves a run to it
    let codes = [code(&first), code(&second)];
    assert!(codes.contains(&0) && codes.iter().all(|code| [0, 3].contains(code)), "{}{}", talk(&first), talk(&second));
    for run in RUNS {
        let manifest = bench.manifest(run).unwrap();
        assert_eq!((&manifest["state"], &manifest["attempt"]), (&"complete".into(), &1.into()), "{manifest}");
        let by = manifest["claim"]["pid"].as_u64().unwrap();
        assert!([first_pid, second_pid].map(u64::from).contains(&by), "{manifest}");
        let (records, skipped) = journal(&bench.latest().join("runs").join(run).join("records.jsonl"));
        let mut indices: Vec<u64> = records.iter().map(|record| record["index"].as_u64().unwrap()).collect();
        indices.sort_unstable();
        assert_eq!((indices, skipped), ((0..30).collect(), 0), "each request of {run} once");
        assert!(!bench.latest().join("runs").join(run).join("heartbeat").exists());
    }
}

/// A campaign killed in its first run.
fn killed() -> (Bench, Child) {
    let bench = Bench::new(&IMAGES.replace("requests = 30", "requests = 100000"));
    let mut child = bench.run(&["--simulate", "--speed", "20"]).spawn().unwrap();
    bench.until_state(&mut child, "v/A/c1", "running");
    child.kill().unwrap();
    child.wait().unwrap();
    (bench, child)
}

#[test]
fn a_claim_of_another_host_is_watched_before_it_is_taken_over() {
    let (bench, _) = killed();
    let path = bench.latest().join("runs/v/A/c1/run.json");
    let mut manifest = json(&path);
    manifest["claim"]["host"] = "another-node".into();
    fs_err::write(&path, manifest.to_string()).unwrap();
    let before = fs_err::read(&path).unwrap();

    let mut child = bench.run(&["--simulate", "--speed", "20", "--resume", "results/small/latest"]).spawn().unwrap();
    let mut told = String::new();
    let mut lines = std::io::BufReader::new(child.stderr.take().unwrap());
    while !told.contains("sign of life") {
        assert_ne!(std::io::BufRead::read_line(&mut lines, &mut told).unwrap(), 0, "{told}");
    }
    let pid = &manifest["claim"]["pid"];
    assert!(told.contains(&format!("`v/A/c1` is claimed by process {pid} on `another-node`")), "{told}");
    signal(&child, rustix::process::Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(fs_err::read(&path).unwrap(), before, "it is still the other's");
    assert!(!bench.latest().join("runs/v/A/c1.attempt-1").exists());
}

#[test]
fn a_claim_of_a_dead_process_of_this_host_is_taken_over_at_once() {
    let (bench, dead) = killed();
    let mut child = bench.run(&["--simulate", "--speed", "20", "--resume", "results/small/latest"]).spawn().unwrap();
    super::setup::until("the second attempt", || bench.manifest("v/A/c1").filter(|found| found["attempt"] == 2));
    assert_eq!(bench.manifest("v/A/c1").unwrap()["claim"]["pid"], child.id());
    super::setup::until("its warm-up", || bench.latest().join("runs/v/A/c1/warmup.jsonl").exists().then_some(()));
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(talk(&output).contains("c1.attempt-1"), "{}", talk(&output));
    assert_eq!(json(&bench.latest().join("runs/v/A/c1.attempt-1/run.json"))["claim"]["pid"], dead.id());
}
