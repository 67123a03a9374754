//! Completing an earlier results folder.

use serde_json::Value;

use super::setup::{Bench, SCENARIO, code, contents, json, signal, status, talk, until, with_server, with_url};
use crate::support::Served;

#[test]
fn a_killed_campaign_is_completed_and_what_was_complete_is_not_touched() {
    let slow = SCENARIO.replace("requests = 4", "requests = 12");
    let bench = Bench::new(&slow);
    let arguments = ["--simulate", "--speed", "5"];
    let mut child = bench.spawn(&arguments);
    until("the second run", || bench.state("v/A/c2").filter(|state| state == "running"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(bench.state("v/A/c1").as_deref(), Some("complete"));
    let folder = fs_err::canonicalize(bench.latest()).unwrap();
    let before = contents(&folder.join("runs/v/A/c1"));
    let half = contents(&folder.join("runs/v/A/c2"));

    let folder_text = folder.display().to_string();
    let other = bench.run(&["--simulate", "--speed", "5", "--resume", &folder_text, "--set", "traffic.seed=7"]);
    assert_eq!(code(&other), 2, "{}", talk(&other));
    assert!(
        talk(&other).contains("another plan") && talk(&other).contains("traffic.seed` (42 there, 7 now)"),
        "{}",
        talk(&other)
    );

    let resumed = bench.run(&["--simulate", "--speed", "5", "--resume", &folder_text]);
    assert_eq!(code(&resumed), 0, "{}", talk(&resumed));
    assert_eq!(contents(&folder.join("runs/v/A/c1")), before);
    assert_eq!(contents(&folder.join("runs/v/A/c2.attempt-1")), half);
    assert_eq!(json(&folder.join("runs/v/A/c2/run.json"))["attempt"], 2);
    assert!(talk(&resumed).contains("c2.attempt-1"), "{}", talk(&resumed));
    assert_eq!(bench.results()["runs"].as_array().unwrap().len(), 3);

    let again = contents(&folder.join("runs"));
    let idle = bench.run(&["--simulate", "--speed", "5", "--resume", &folder_text]);
    assert_eq!(code(&idle), 0, "{}", talk(&idle));
    assert_eq!(contents(&folder.join("runs")), again);
}

#[test]
fn a_resume_may_add_other_runs_of_the_same_scenario() {
    let bench = Bench::new(&with_server(""));
    let first = bench.run(&["--only", "first/**"]);
    assert_eq!(code(&first), 0, "{}", talk(&first));
    let folder = fs_err::canonicalize(bench.latest()).unwrap();
    let before = contents(&folder.join("runs/first"));
    let second = bench.run(&["--only", "second/**", "--resume", "results/small/latest"]);
    assert_eq!(code(&second), 0, "{}", talk(&second));
    assert_eq!(contents(&folder.join("runs/first")), before);
    let results = bench.results();
    assert_eq!((&results["runs"][0]["id"], &results["runs"][1]["id"]), (&"first/A/c1".into(), &"second/A/c1".into()));
    assert_eq!(json(&folder.join("plan.json"))["runs"].as_array().unwrap().len(), 2);
    assert!(!folder.join("servers/first-2").exists());
}

#[test]
fn a_resume_deletes_the_jobs_that_a_killed_campaign_left_on_the_server() {
    let server = Served::simulator(&["--model", "Wan-AI/Wan2.2-T2V-A14B-Diffusers", "--speed", "0.05"]);
    let video = with_url(server.url())
        .replace("Qwen/Qwen-Image", "Wan-AI/Wan2.2-T2V-A14B-Diffusers")
        .replace("t2i", "t2v")
        .replace("num_inference_steps = 2", "num_inference_steps = 2, num_frames = 9, fps = 8");
    let bench = Bench::new(&video);
    let mut child = bench.spawn(&[]);
    let jobs = bench.latest().join("runs/v/A/c1/jobs.jsonl");
    let line = until("a job", || fs_err::read_to_string(&jobs).ok().filter(|text| text.ends_with('\n')));
    child.kill().unwrap();
    child.wait().unwrap();
    let job: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    let path = format!("/v1/videos/{}", job["job_id"].as_str().unwrap());
    assert_eq!(status(server.url(), &path), 200);

    let child = bench.spawn(&["--resume", "results/small/latest"]);
    until("the end of the job", || (status(server.url(), &path) == 404).then_some(()));
    let kept = bench.latest().join("runs/v/A/c1.attempt-1/jobs.jsonl");
    until("the run's turn", || kept.is_file().then_some(()));
    signal(&child, rustix::process::Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{}", talk(&output));
    assert!(kept.is_file());
}
