//! `omni-bench plan` as it is typed.

use serde_json::Value;

use super::{DATASET_A, DATASET_C, HEAD};
use crate::support::Sandbox;

fn plan(more: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let sandbox = Sandbox::new();
    let text = format!("{HEAD}{DATASET_A}{DATASET_C}{more}");
    fs_err::write(sandbox.path().join("scenario.toml"), text).unwrap();
    let output = sandbox.omni_bench(&[&["plan", "scenario.toml"], arguments].concat());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_table_says_what_would_happen_and_what_it_costs() {
    let (code, out, err) = plan("[matrix]\nmax_concurrency = [1, 4]\n", &["--simulate"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 7, "{out}");
    let columns = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(columns(lines[0]), ["run", "traffic", "requests", "warm-ups", "GPUs", "estimate"]);
    assert!(lines[2].trim_start().starts_with("default/A/c4"), "{out}");
    assert!(lines[2].contains("closed loop, at most 4 in flight"), "{out}");
    let last = lines[6];
    assert!(last.starts_with("4 runs, 1 simulator start, about "), "{last}");
    assert!(last.contains(" at 20× speed, ") && last.ends_with(" GPU-hours"), "{last}");
}

#[test]
fn json_has_the_keys_that_programs_rely_on() {
    let (code, out, _) = plan("[traffic]\nrequest_rate = 2\n", &["--format", "json", "--only", "*/C/*"]);
    assert_eq!(code, Some(0));
    let plan: Value = serde_json::from_str(&out).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&plan), ["format", "scenario", "plan_hash", "starts", "limits", "runs", "datasets"]);
    let runs = plan["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1);
    for key in [
        "id",
        "key",
        "workload_key",
        "config_key",
        "variant",
        "dataset",
        "requests",
        "repeat",
        "gpus",
        "warmup_requests",
    ] {
        assert!(!runs[0][key].is_null(), "{key}");
    }
    assert_eq!(runs[0]["id"], "default/C/open");
    assert_eq!((&runs[0]["max_concurrency"], &runs[0]["request_rate"]), (&Value::Null, &Value::from(2.0)));
    assert_eq!(plan["starts"], 0);
    let (_, out, _) = plan_closed();
    assert_eq!(out["runs"][0]["request_rate"], "inf");
    assert_eq!(out["runs"][0]["max_concurrency"], 1);
}

fn plan_closed() -> (Option<i32>, Value, String) {
    let (code, out, err) = plan("", &["--format", "json", "--simulate"]);
    (code, serde_json::from_str(&out).unwrap(), err)
}

#[test]
fn every_problem_is_shown_at_its_place_and_nothing_is_planned() {
    let more =
        "[datasets.B]\nsource = 'trace'\npath = 'none.txt'\n[traffic]\nrepeats = 0\n[matrix]\ndataset = ['A', 'D']\n";
    let (code, out, err) = plan(more, &[]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    for part in
        ["there is no file", "every run is carried out at least once", "there is no dataset `D`", "scenario.toml:"]
    {
        assert!(err.contains(part), "{part}\n{err}");
    }
    let (code, _, err) = plan("", &["--only", "default/B/*"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("`--only default/B/*` matches no run") && err.contains("default/A/c1"), "{err}");
    let (code, _, err) = plan("[simulator]\nprofile = 'nonsense'\n", &["--simulate"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("no simulator profile is called `nonsense`"), "{err}");
}

#[test]
fn the_command_lines_repeats_and_speed_win_over_the_scenarios() {
    let more = "[traffic]\nrepeats = 3\n[simulator]\nspeed = 5\n";
    let (_, out, _) = plan(more, &["--simulate", "--repeats", "1"]);
    assert!(out.contains("2 runs,") && out.contains("at 5× speed"), "{out}");
    let (_, out, _) = plan(more, &["--simulate", "--speed", "100"]);
    assert!(out.contains("6 runs,") && out.contains("at 100× speed"), "{out}");
    let (code, _, err) = plan(more, &["--simulate", "--speed", "0"]);
    assert_eq!(code, Some(2), "{err}");
}
