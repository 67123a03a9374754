//! Open files: raised to what the connections need, or refused before anything is sent.

#![cfg(unix)]

use std::process::{Command, Output};

use super::setup::{Bench, IMAGES, said};

/// Runs the scenario in a process that may open so many files: at first, and at most.
fn limited(bench: &Bench, soft: u32, hard: u32, arguments: &str) -> Output {
    let binary = env!("CARGO_BIN_EXE_omni-bench");
    let script = format!("ulimit -Sn {soft} && ulimit -Hn {hard} && exec {binary} {arguments}");
    let mut command = Command::new("sh");
    command.current_dir(bench.path("")).args(["-c", &script]).output().unwrap()
}

#[test]
fn the_limit_is_raised_as_far_as_the_connections_need_and_no_file_is_missing() {
    let scenario =
        IMAGES.replace("requests = 2", "requests = 120").replace("max_concurrency = 1", "max_concurrency = 120");
    let bench = Bench::new(&scenario.replace("\nurl = \"URL\"", ""));
    let output = limited(&bench, 40, 1000, "run small.toml --simulate --speed 50");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

#[test]
fn a_plan_that_needs_more_files_than_the_system_allows_is_refused_with_the_number_before_anything_is_written() {
    let scenario =
        IMAGES.replace("requests = 2", "requests = 500").replace("max_concurrency = 1", "max_concurrency = 500");
    let bench = Bench::new(&scenario.replace("URL", "http://127.0.0.1:9"));
    let output = limited(&bench, 40, 300, "run small.toml");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    let text = said(&output);
    assert!(text.contains("needs 564 open files at once (limit `open_files`)"), "{text}");
    assert!(text.contains("may open 300") && text.contains("ulimit -n 564"), "{text}");
    assert!(text.contains("`traffic.max_concurrency`"), "{text}");
    assert!(!bench.path("results").exists());
}
