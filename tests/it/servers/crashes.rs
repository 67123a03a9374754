//! Servers that end by themselves, and a tool that is killed.

use std::time::Instant;

#[cfg(target_os = "linux")]
use super::bench::processes_in;
use super::bench::{Bench, SIMULATE, code, talk, until};

/// A script whose server for `first` dies with status 7 as soon as five requests have their records,
/// once; every other server goes on.
fn dies_after_five(matrix: &str) -> String {
    let records = "results/small/latest/runs/first/A/c1/records.jsonl";
    let script = format!(
        r"if [ $2 = second ] || [ -e died ]; then exec {SIMULATE} $1; fi
{SIMULATE} $1 & until [ -f {records} ] && [ $(wc -l < {records}) -ge 5 ]; do sleep 0.02; done
touch died; echo out of memory on GPU 0; kill -9 $!; exit 7"
    );
    super::bench::scripted(&script, 400, matrix) + "\n[matrix]\nmax_concurrency = [1, 2]\n"
}

#[test]
fn a_server_that_dies_is_started_anew_and_the_matrix_is_finished() {
    let bench = Bench::new(&dies_after_five("restart = 'on_crash'"));
    let output = bench.run(&[]);
    let text = talk(&output);
    assert_eq!(code(&output), 3, "{text}");
    let (runs, missing) = bench.runs();
    assert_eq!((runs.len(), missing.len()), (4, 0), "{runs:?} {missing:?}");

    let run = bench.json("runs/first/A/c1/run.json");
    let why = "the server ended by itself (exit status: 7)";
    assert_eq!((run["state"].as_str(), run["reason"].as_str()), (Some("failed"), Some(why)));
    let records = bench.read("runs/first/A/c1/records.jsonl");
    assert_eq!(records.lines().count(), 400, "every request has its record");
    let summary = &bench.json("results.json")["runs"][0];
    let count = |key: &str| summary[key].as_u64().unwrap();
    println!(
        "first/A/c1: {} completed, {} failed, {} not sent",
        count("completed"),
        count("failed"),
        count("cancelled")
    );
    assert!(count("completed") >= 5 && count("cancelled") > 0, "{summary}");
    for id in ["first/A/c2", "second/A/c1", "second/A/c2"] {
        assert_eq!(bench.json(&format!("runs/{id}/run.json"))["state"], "complete", "{id}");
    }
    assert!(bench.latest().join("servers/first-2/environment.json").is_file());
    assert!(text.contains(&format!("`first/A/c1` failed: {why}; the end of `")), "{text}");
    assert!(text.contains("  out of memory on GPU 0"), "{text}");
    assert!(text.contains("the server of `first` is started anew in 1 s (1 of 3)"), "{text}");
    assert!(bench.read("results.md").contains(why), "the report names it");
    assert!(summary["warnings"].to_string().contains(why), "{summary}");
}

#[test]
fn without_a_restart_the_variants_other_runs_are_left_out_and_the_others_go_on() {
    let bench = Bench::new(&dies_after_five(""));
    let output = bench.run(&[]);
    assert_eq!(code(&output), 3, "{}", talk(&output));
    let (runs, missing) = bench.runs();
    assert_eq!(runs, ["first/A/c1", "second/A/c1", "second/A/c2"]);
    assert_eq!(missing, [("first/A/c2".to_owned(), "the server ended by itself (exit status: 7)".to_owned())]);
    let failed = bench.json("results.json")["runs"][0]["failed"].as_u64().unwrap();
    println!("{failed} of 400 requests met the dead server");
    assert!(failed < 200, "{failed} requests were sent to a server that was gone");
    assert!(!bench.latest().join("servers/first-2").exists());
}

#[test]
fn a_server_that_keeps_dying_is_given_up() {
    let script = format!(
        r"if [ $2 = second ]; then exec {SIMULATE} $1; fi
if [ -e died ]; then echo GPU is lost; exit 8; fi
touch died; {SIMULATE} $1 & until [ -f results/small/latest/runs/first/A/c1/records.jsonl ]; do sleep 0.02; done
kill -9 $!; exit 7"
    );
    let scenario =
        super::bench::scripted(&script, 100, "restart = 'on_crash'") + "\n[matrix]\nmax_concurrency = [1, 2]\n";
    let bench = Bench::new(&scenario);
    let output = bench.run(&[]);
    let text = talk(&output);
    assert_eq!(code(&output), 3, "{text}");
    let (runs, missing) = bench.runs();
    assert!(runs.ends_with(&["second/A/c1".to_owned(), "second/A/c2".to_owned()]), "{runs:?}");
    let (id, why) = missing.last().unwrap();
    assert_eq!(id, "first/A/c2");
    assert!(why.starts_with("it was started anew 3 times, which is the most; the last time: "), "{why}");
    assert!(why.contains("exit status: 8") && why.contains("GPU is lost"), "{why}");
    let folder = bench.latest().join("servers");
    assert!(folder.join("first-4").is_dir() && !folder.join("first-5").exists());
}

#[test]
fn every_repeat_gets_a_server_of_its_own_when_asked_for() {
    let script = format!("exec {SIMULATE} $1");
    let scenario =
        super::bench::scripted(&script, 2, "restart = 'per_repeat'").replace("[traffic]", "[traffic]\nrepeats = 2");
    let bench = Bench::new(&scenario);
    let output = bench.run(&[]);
    assert_eq!(code(&output), 0, "{}", talk(&output));
    let server =
        |run: &str| bench.json(&format!("runs/{run}/run.json"))["server"]["folder"].as_str().unwrap().to_owned();
    assert_eq!((server("first/A/c1").as_str(), server("first/A/c1.r2").as_str()), ("first-1", "first-2"));
    for variant in ["first", "second"] {
        for number in [1, 2] {
            assert!(bench.read(&format!("servers/{variant}-{number}/server.log")).contains("listening on"));
        }
    }
}

/// Helpers that obey nothing: one in the server's group, one with a session of its own, one that was
/// handed to init, and one with a session that cleared its environment.
#[cfg(target_os = "linux")]
const HELPERS: &str = r"trap '' TERM; sleep 3001 & setsid sleep 3002 & (setsid sleep 3003 &) ; setsid env -i sleep 3004 &
";

#[test]
#[cfg(target_os = "linux")]
fn killing_the_tool_leaves_no_server_and_no_helper_of_it() {
    let bench = Bench::scripted(&format!("{HELPERS}trap - TERM; exec {SIMULATE} $1"), 100_000, "stop_grace = '1m'");
    // the key is there twice
    let scenario = fs_err::read_to_string(bench.path("small.toml")).unwrap().replace("stop_grace = \"10s\"\n", "");
    fs_err::write(bench.path("small.toml"), scenario).unwrap();
    let folder = bench.0.path();
    let mut tool = bench.spawn();
    let records = bench.latest().join("runs/first/A/c1/records.jsonl");
    until("a record", || fs_err::read(&records).ok().filter(|bytes| !bytes.is_empty()));
    let before = processes_in(folder);
    for helper in ["3001", "3002", "3003", "3004", "simulate"] {
        assert!(before.iter().any(|words| words.contains(helper)), "{helper} in {before:?}");
    }
    tool.kill().unwrap();
    tool.wait().unwrap();
    let killed = Instant::now();
    until("the end of the server and its helpers", || processes_in(folder).is_empty().then_some(()));
    println!("{} processes were gone {:.1} s after the kill", before.len(), killed.elapsed().as_secs_f64());
}

#[test]
#[cfg(target_os = "linux")]
fn a_campaign_that_ends_leaves_no_helper_of_its_servers() {
    let bench = Bench::scripted(&format!("{HELPERS}trap - TERM; exec {SIMULATE} $1"), 4, "");
    let output = bench.run(&[]);
    assert_eq!(code(&output), 0, "{}", talk(&output));
    assert_eq!(processes_in(bench.0.path()), Vec::<String>::new());
    assert_eq!(bench.runs().0, ["first/A/c1", "second/A/c1"]);
}
