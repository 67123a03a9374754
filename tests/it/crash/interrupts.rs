//! Ctrl-C and SIGTERM in every phase.

use std::process::{Child, Command, Output};

use rustix::process::Signal;

use super::setup::{Bench, IMAGES, VIDEO_MODEL, at, call, code, journal, json, signal, talk, until, videos};
use crate::support::Served;

const STOPPING: &str = "stopping: no new requests";

/// Signals once, and waits for the end.
fn interrupted(child: Child, with: Signal) -> Output {
    signal(&child, with);
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{}", talk(&output));
    assert!(talk(&output).contains(STOPPING), "{}", talk(&output));
    output
}

#[test]
fn a_stop_while_the_client_measures_itself_completes_no_run() {
    let bench = Bench::new(IMAGES);
    let child = bench.run(&["--simulate"]).spawn().unwrap();
    let probe = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with(".client-probe"))
    };
    until("the probe", || std::fs::read_dir(bench.latest()).ok()?.any(probe).then_some(()));
    interrupted(child, Signal::INT);
    assert!(!std::fs::read_dir(bench.latest()).unwrap().any(probe), "the probe leaves nothing behind");
    let results = json(&bench.latest().join("results.json"));
    let (runs, not_run) = (results["runs"].as_array().unwrap(), results["not_run"].as_array().unwrap());
    // a machine that is busy may have got to the first run
    assert!(runs.len() <= 1 && runs.iter().all(|run| run["completed"].as_u64() < Some(30)), "{results}");
    assert_eq!(runs.len() + not_run.len(), 3, "{results}");
}

#[test]
fn a_stop_while_a_server_starts_ends_the_server_too() {
    let server = "[server]\ncommand = [\"sh\", \"-c\", \"sleep 1000\"]\n\n[[variants]]";
    let bench = Bench::new(&IMAGES.replace("[[variants]]", server));
    let child = bench.run(&[]).spawn().unwrap();
    until("the server", || bench.latest().join("servers/v-1/server.log").exists().then_some(()));
    interrupted(child, Signal::TERM);
    bench.until_deserted();
    let results = json(&bench.latest().join("results.json"));
    assert_eq!(results["not_run"][0]["reason"], "stopped by the user while its server started");
}

#[test]
fn a_stop_in_the_warm_up_is_written_into_the_run() {
    let bench = Bench::new(IMAGES);
    let mut child = bench.run(&["--simulate", "--speed", "0.01"]).spawn().unwrap();
    bench.until_state(&mut child, "v/A/c1", "running");
    interrupted(child, Signal::INT);
    let manifest = bench.manifest("v/A/c1").unwrap();
    assert_eq!((&manifest["state"], &manifest["reason"]), (&"interrupted".into(), &"stopped by the user".into()));
    assert!(manifest["started_at"].is_null(), "{manifest}");
}

#[test]
fn a_stop_in_a_run_deletes_its_jobs_and_a_resume_completes_it() {
    let server = Served::simulator(&["--model", VIDEO_MODEL, "--speed", "4"]);
    let bench = Bench::new(&at(&videos(), server.url()).replace("[1, 2, 3]", "[4]").replace("= 30", "= 6"));
    let scenario = fs_err::read_to_string(bench.path("small.toml")).unwrap();
    let quick = scenario.replace("[traffic]", "[warmup]\nrequests = 0\n\n[traffic]");
    fs_err::write(bench.path("small.toml"), quick).unwrap();
    let child = bench.run(&[]).spawn().unwrap();
    let jobs = bench.latest().join("runs/v/A/c4/jobs.jsonl");
    until("four jobs", || (jobs.exists() && journal(&jobs).0.len() >= 4).then_some(()));
    interrupted(child, Signal::TERM);
    let (lines, _) = journal(&jobs);
    let ids = |live: bool| {
        let lines = lines.iter().filter(|line| line["live"] == live);
        let mut ids: Vec<&str> = lines.map(|line| line["job_id"].as_str().unwrap()).collect();
        ids.sort_unstable();
        ids
    };
    assert!(ids(true).len() >= 4 && ids(true) == ids(false), "{lines:?}");
    for id in ids(true) {
        assert_eq!(call(server.url(), "GET", &format!("/v1/videos/{id}")).0, 404);
    }
    assert_eq!(bench.state("v/A/c4").as_deref(), Some("interrupted"));
    let (records, _) = journal(&bench.latest().join("runs/v/A/c4/records.jsonl"));
    assert_eq!(records.len(), 6, "requests that were stopped or never sent are on record");

    let resumed = bench.run(&["--resume", "results/small/latest"]).output().unwrap();
    assert_eq!(code(&resumed), 0, "{}", talk(&resumed));
    assert!(talk(&resumed).contains("c4.attempt-1"), "{}", talk(&resumed));
    assert_eq!(bench.manifest("v/A/c4").unwrap()["attempt"], 2);
}

/// A campaign whose last phase waits for the scenario's page, which is a pipe that no one writes to.
fn at_the_page() -> (Bench, Child) {
    let bench = Bench::new(&IMAGES.replace("[matrix]", "[dashboard]\npage = \"page.md\"\n\n[matrix]"));
    assert!(Command::new("mkfifo").arg(bench.path("page.md")).status().unwrap().success());
    let child = bench.run(&["--simulate", "--speed", "500"]).spawn().unwrap();
    until("the last table", || bench.latest().join("results.md").exists().then_some(()));
    (bench, child)
}

#[test]
fn a_stop_while_the_report_is_written_leaves_it_whole() {
    let (bench, child) = at_the_page();
    signal(&child, Signal::INT);
    // the pipe's other end comes and goes, which is an empty page
    drop(fs_err::OpenOptions::new().write(true).open(bench.path("page.md")).unwrap());
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{}", talk(&output));
    assert!(talk(&output).contains(STOPPING), "{}", talk(&output));
    assert!(bench.latest().join("page.md").is_file(), "{}", talk(&output));
    assert_eq!(json(&bench.latest().join("results.json"))["runs"].as_array().unwrap().len(), 3);
}

#[test]
fn the_second_signal_does_not_wait_for_a_report_that_hangs() {
    let (bench, child) = at_the_page();
    signal(&child, Signal::INT);
    // the kernel makes one of two equal signals that come close
    std::thread::sleep(std::time::Duration::from_millis(300));
    signal(&child, Signal::TERM);
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{}", talk(&output));
    assert!(!bench.latest().join("page.md").exists());
    assert_eq!(bench.state("v/A/c3").as_deref(), Some("complete"));
}

#[test]
fn a_stop_of_bench_ends_with_130() {
    let bench = Bench::new(IMAGES);
    let words = [
        "bench",
        "--simulate",
        "--speed",
        "0.01",
        "--model",
        "Qwen/Qwen-Image",
        "--task",
        "t2i",
        "--dataset",
        "random",
    ];
    let child = bench.command(&words).spawn().unwrap();
    until("its run", || {
        let found = Command::new("find").arg(bench.path("")).args(["-name", "run.json"]).output().unwrap();
        (!found.stdout.is_empty()).then_some(())
    });
    interrupted(child, Signal::INT);
}

#[test]
fn a_stop_in_a_confirmation_starts_no_other() {
    let gate = "[gate]\nlimits = { \"latency_s.mean\" = \"1ms\" }\n\n[matrix]";
    let bench = Bench::new(&IMAGES.replace("[matrix]", gate).replace("[1, 2, 3]", "[1]"));
    let child = bench.run(&["--simulate", "--speed", "100", "--gate", "--confirm", "3"]).spawn().unwrap();
    until("the confirmation", || bench.latest().join("confirm-1").exists().then_some(()));
    interrupted(child, Signal::INT);
    assert!(!bench.latest().join("confirm-2").exists());
}
