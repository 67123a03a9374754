//! Every task, from flags alone, against the embedded simulator, which decodes what it is given.

use serde_json::Value;

use super::{bench, code, json, printed, talk};
use crate::support::Sandbox;

const TASKS: &[(&str, &str, &str)] = &[
    ("t2i", "/v1/chat/completions", "image"),
    ("i2i", "/v1/images/edits", "image"),
    ("ti2i", "/v1/images/edits", "image"),
    ("it2i", "/v1/images/edits", "image"),
    ("t2v", "/v1/videos", "video"),
    ("i2v", "/v1/videos", "video"),
    ("ti2v", "/v1/videos", "video"),
    ("v2v", "/v1/videos", "video"),
];

fn simulated(task: &str, more: &[&str]) -> (Sandbox, std::process::Output) {
    let sandbox = Sandbox::new();
    let common = ["--task", task, "--dataset", "random", "--simulate", "--speed", "200", "--num-prompts", "2"];
    let shape = ["--width", "128", "--height", "64", "--num-inference-steps", "2", "--output-file", "figures.json"];
    let output = bench(&sandbox, &[&common[..], &shape, more].concat());
    (sandbox, output)
}

#[test]
fn every_task_runs_in_simulation_from_flags_alone() {
    for &(task, path, medium) in TASKS {
        let frames: &[&str] = if medium == "video" { &["--num-frames", "9", "--fps", "8"] } else { &[] };
        let (sandbox, output) = simulated(task, frames);
        assert_eq!(code(&output), 0, "{task}: {}", talk(&output));
        let figures = json(&sandbox.path().join("figures.json"));
        assert_eq!((&figures["completed_requests"], &figures["failed_requests"]), (&2.into(), &0.into()), "{task}");
        assert_eq!((figures["task"].as_str(), figures["endpoint"].as_str()), (Some(task), Some(path)));
        assert_eq!((&figures["simulated"], &figures["speed"]), (&Value::Bool(true), &200.0.into()), "{task}");
        assert!(printed(&output).contains("200x speed, not a measurement"), "{task}: {}", printed(&output));
        let results = json(&sandbox.path().join(format!("results/bench-{task}-random/latest/results.json")));
        let outputs = if medium == "video" { "video_frames" } else { "images" };
        let expected: u64 = if medium == "video" { 18 } else { 2 };
        assert_eq!(results["runs"][0][outputs], expected, "{task}");
    }
}

#[test]
fn chat_and_generations_do_text_to_image_and_chat_edits_too() {
    for (task, endpoint) in [("t2i", "openai"), ("t2i", "vllm-omni"), ("ti2i", "/v1/chat/completions")] {
        let (_sandbox, output) = simulated(task, &["--endpoint", endpoint, "--num-input-images", "2"]);
        assert_eq!(code(&output), 0, "{task} {endpoint}: {}", talk(&output));
    }
}
