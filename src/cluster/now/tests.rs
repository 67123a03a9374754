//! What is made of manifests, marks and answers.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::cluster::{ProgramError, Submission, SubmittedArray};
use crate::record::{Claim, MANIFEST_FORMAT, ServerFacts, SlurmFacts};

fn file() -> ClusterFile {
    let element = |variant: &str| Element {
        variants: vec![variant.to_owned()],
        gpus: 2,
        runs: vec![format!("{variant}/A/c1")],
        only: vec![format!("{variant}/**")],
        estimate_s: None,
        limit_min: None,
    };
    let elements = ["a", "b", "c"].map(element).to_vec();
    let arrays = vec![SubmittedArray { job_id: 12, elements }];
    let submission = Submission { at: String::new(), arrays, merge: Some(13), refused: None };
    ClusterFile { format: 1, token: "t".to_owned(), submissions: vec![submission] }
}

fn plan() -> Plan {
    let run = |variant: &str| {
        json!({
            "id": format!("{variant}/A/c1"), "key": "k", "workload_key": "w", "config_key": "c", "variant": variant,
            "dataset": "A", "traffic": {"requests": 1, "max_concurrency": 1, "request_rate": "inf",
            "arrivals": {"process": "closed"}, "seed": 42}, "point": {"size": null, "num_inference_steps": null,
            "num_frames": null}, "warmup": {"requests": 1, "concurrency": 1, "num_inference_steps": null,
            "num_frames": null, "matched": true}, "repeat": 1, "gpus": 2, "estimate_s": null,
        })
    };
    serde_json::from_value(json!({
        "format": 1, "tool_version": "0.1.0", "scenario": "s", "title": "S", "description": null, "tags": [],
        "plan_hash": "h", "model": "m", "task": "t2i", "simulated": false, "speed": 1.0, "simulator_profile": null,
        "simulator_noise": 0.0, "environment": {}, "server": null, "variants": [], "datasets": {}, "varying": [],
        "repeats": 1, "order": "interleaved", "runs": [run("a"), run("b"), run("c")], "steps": [], "starts": 0,
        "slo": null, "allow_failures": 0, "compare": null, "page": null,
    }))
    .unwrap()
}

fn manifest(state: RunState, task: u32, ended: bool, reason: Option<&str>) -> RunManifest {
    let slurm = SlurmFacts {
        job_id: 14 + task,
        array_job_id: Some(12),
        array_task: Some(task),
        node: Some("n1".to_owned()),
        cuda_visible_devices: Some("2,3".to_owned()),
    };
    RunManifest {
        format: MANIFEST_FORMAT,
        id: String::new(),
        key: "k".to_owned(),
        plan_hash: "h".to_owned(),
        state,
        reason: reason.map(str::to_owned),
        attempt: 1,
        claim: Claim { host: "n1".to_owned(), pid: 7, at: String::new() },
        started_at: None,
        ended_at: ended.then(|| "2026-11-30T16:19:00Z".to_owned()),
        server: ServerFacts { slurm: Some(slurm), ..ServerFacts::default() },
        model: "m".to_owned(),
        simulated: false,
        speed: 1.0,
        client: None,
    }
}

fn told(state: JobState) -> Told {
    Told { state, reason: None, exit: None, node: Some("n1".to_owned()) }
}

/// State and reason of the three runs.
fn states(
    slurm: &[(u32, Told)],
    manifests: &[(&str, RunManifest)],
    marks: &[(u32, ElementMark)],
    error: Option<ProgramError>,
) -> Vec<(String, String)> {
    let key = |task: &u32| JobKey { job: 12, task: Some(*task) };
    let jobs = slurm.iter().map(|(task, told)| (key(task), told.clone())).collect();
    let known = Known { jobs, sources: vec!["squeue"], error };
    let marks: BTreeMap<JobKey, ElementMark> = marks.iter().map(|(task, mark)| (key(task), mark.clone())).collect();
    let manifest = |id: &str| manifests.iter().find(|(run, _)| *run == id).map(|(_, manifest)| manifest.clone());
    let now = now(&plan(), &file(), &known, &marks, &manifest, "r".to_owned());
    now.runs.into_iter().map(|run| (run.state, run.reason.unwrap_or_default())).collect()
}

fn words(states: &[(String, String)]) -> Vec<&str> {
    states.iter().map(|(state, _)| state.as_str()).collect()
}

#[test]
fn a_run_is_what_its_folder_says_and_else_what_its_element_is() {
    let slurm = [(0, told(JobState::Running)), (1, told(JobState::Running)), (2, told(JobState::Pending))];
    let manifests = [
        ("a/A/c1", manifest(RunState::Complete, 0, true, None)),
        ("b/A/c1", manifest(RunState::Running, 1, false, None)),
    ];
    assert_eq!(words(&states(&slurm, &manifests, &[], None)), ["complete", "running", "pending"]);
    assert_eq!(words(&states(&slurm, &[], &[], None)), ["waiting", "waiting", "pending"]);
}

#[test]
fn a_run_whose_element_died_says_how() {
    let slurm = [(0, told(JobState::Cancelled)), (1, told(JobState::Timeout)), (2, told(JobState::NodeFail))];
    let interrupted = [("a/A/c1", manifest(RunState::Interrupted, 0, true, Some("stopped by the user")))];
    let found = states(&slurm, &interrupted, &[], None);
    assert_eq!(words(&found), ["cancelled", "timeout", "node_fail"]);
    assert_eq!(found[0].1, "its Slurm element 12_0 was cancelled");
    assert_eq!(found[1].1, "its Slurm element 12_1 reached its time limit");
    let lost = [("a/A/c1", manifest(RunState::Failed, 0, true, Some("the server ended (signal: 15)\nits log")))];
    let both = "its Slurm element 12_0 was cancelled; before that: the server ended (signal: 15)";
    assert_eq!(states(&slurm, &lost, &[], None)[0], ("cancelled".to_owned(), both.to_owned()));
    let told = [("a/A/c1", manifest(RunState::Failed, 0, false, Some(both)))];
    assert_eq!(states(&slurm, &told, &[], None)[0], ("cancelled".to_owned(), both.to_owned()));
    let abandoned = [("a/A/c1", manifest(RunState::Failed, 0, false, Some("its Slurm element 12_0 was cancelled")))];
    assert_eq!(states(&slurm, &abandoned, &[], None), found, "the same after the results were put together");
}

#[test]
fn a_run_that_failed_by_itself_keeps_its_own_reason() {
    let slurm = [(0, told(JobState::Failed))];
    let failed = [("a/A/c1", manifest(RunState::Failed, 0, true, Some("the warm-up failed")))];
    assert_eq!(states(&slurm, &failed, &[], None)[0], ("failed".to_owned(), "the warm-up failed".to_owned()));
}

#[test]
fn what_slurm_has_forgotten_is_known_from_what_the_element_said() {
    let mark = |exit, told| ElementMark {
        slurm: manifest(RunState::Running, 0, false, None).server.slurm,
        exit,
        told,
        ..ElementMark::default()
    };
    let kept = Told { state: JobState::Timeout, reason: None, exit: None, node: None };
    let found = states(&[], &[], &[(0, mark(Some(3), None)), (1, mark(None, Some(kept)))], None);
    assert_eq!(words(&found), ["failed", "timeout", "lost"]);
    assert!(found[0].1.contains("exit code 3; see `cluster/12_0.log`"), "{found:?}");
}

#[test]
fn a_node_that_does_not_see_the_folder_is_known_by_its_exit_code() {
    let unseen = Told { exit: Some(UNSEEN), ..told(JobState::Failed) };
    let found = states(&[(0, unseen), (1, told(JobState::Failed))], &[], &[], None);
    assert!(found[0].1.contains("its node does not see the results folder"), "{found:?}");
    assert!(found[1].1.contains("does its node see the folder?"), "{found:?}");
}

#[test]
fn without_an_answer_nothing_is_made_up() {
    let error = ProgramError::Answer { program: "squeue".to_owned(), message: "none".to_owned() };
    let complete = [("a/A/c1", manifest(RunState::Complete, 0, true, None))];
    assert_eq!(words(&states(&[], &complete, &[], Some(error))), ["complete", "unknown", "unknown"]);
}
