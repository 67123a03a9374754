//! `report` in the formats that are more than tables, through the binary.

use std::collections::BTreeSet;
use std::process::Output;

use serde_json::Value;

use crate::support::Sandbox;

const SCENARIO: &str = r#"
name = "ab"
[model]
id = "Qwen/Qwen-Image"
task = "t2i"
[[variants]]
name = "one"
[[variants]]
name = "two"
[datasets.A]
source = "random"
profiles = [{ width = 64, height = 64, num_inference_steps = 2 }]
[traffic]
requests = 3
[compare]
baseline = "one"
"#;

const LATEST: &str = "results/ab/latest";

fn simulated() -> Sandbox {
    let sandbox = Sandbox::new();
    fs_err::write(sandbox.path().join("ab.toml"), SCENARIO).unwrap();
    let ran = sandbox.omni_bench(&["run", "ab.toml", "--simulate", "--speed", "500", "-q"]);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    sandbox
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn report(sandbox: &Sandbox, code: i32, words: &[&str]) -> (String, String) {
    let output = sandbox.omni_bench(&[&["report"], words].concat());
    assert_eq!(output.status.code(), Some(code), "{}", err(&output));
    (String::from_utf8_lossy(&output.stdout).into_owned(), err(&output))
}

#[test]
fn the_html_report_has_runs_charts_comparison_and_on_demand_the_trend() {
    let sandbox = simulated();
    let (page, _) = report(&sandbox, 0, &[LATEST, "--format", "html"]);
    assert!(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"), "{page}");
    for piece in ["simulated (500× speed), not a measurement", "one/A/c1", "two/A/c1", "<svg", "id=\"comparison\""] {
        assert!(page.contains(piece), "no `{piece}`");
    }
    assert!(!page.contains("id=\"trend\""));
    let again = report(&sandbox, 0, &[LATEST, "--format", "html"]).0;
    assert_eq!(again, page, "the same results give the same bytes");

    let (_, told) = report(&sandbox, 5, &[LATEST, "--format", "html", "--history", "past.sqlite"]);
    assert!(told.contains("past.sqlite"), "{told}");
    let added = sandbox.omni_bench(&["history", "add", LATEST, "--db", "past.sqlite", "--allow", "simulated"]);
    assert_eq!(added.status.code(), Some(0), "{}", err(&added));
    let (page, _) = report(&sandbox, 0, &[LATEST, "--format", "html", "--history", "past.sqlite"]);
    let trend = page.split("id=\"trend\"").nth(1).expect("there is a trend");
    assert!(trend.contains("<svg") && trend.contains("Throughput"), "{trend}");

    let (page, _) = report(&sandbox, 0, &[LATEST, "--format", "html", "--where", "variant=two"]);
    let page = page.replace("&#x2f;", "/");
    let runs = page.split("id=\"runs\"").nth(1).and_then(|rest| rest.split("</section>").next()).unwrap();
    assert!(runs.contains("two/A/c1") && !runs.contains("one/A/c1"), "{runs}");
}

#[test]
fn formats_of_whole_runs_refuse_what_is_for_tables() {
    let sandbox = simulated();
    for format in ["html", "openmetrics", "github-action-benchmark"] {
        let (_, told) = report(&sandbox, 2, &[LATEST, "--format", format, "--columns", "id"]);
        assert!(told.contains("--columns"), "{told}");
    }
    let ran = sandbox.omni_bench(&["run", "ab.toml", "--simulate", "--speed", "500", "-q", "--out", "more"]);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    let (_, told) = report(&sandbox, 2, &[LATEST, "more/ab/latest", "--format", "html"]);
    assert!(told.contains("one results folder"), "{told}");
}

#[test]
fn other_programs_get_their_formats() {
    let sandbox = simulated();
    let (text, _) = report(&sandbox, 0, &[LATEST, "--format", "openmetrics"]);
    assert!(text.contains("omni_bench_latency_mean_seconds{") && text.ends_with("# EOF\n"), "{text}");
    let names = |better: &str| -> BTreeSet<String> {
        let (text, _) = report(&sandbox, 0, &[LATEST, "--format", "github-action-benchmark", "--better", better]);
        let values: Vec<Value> = serde_json::from_str(&text).unwrap();
        values.iter().map(|value| value["name"].as_str().unwrap().to_owned()).collect()
    };
    let (smaller, bigger) = (names("smaller"), names("bigger"));
    assert!(smaller.iter().any(|name| name.contains("Mean Latency") || name.contains("latency")), "{smaller:?}");
    assert!(bigger.iter().any(|name| name.to_lowercase().contains("throughput")), "{bigger:?}");
    assert!(smaller.is_disjoint(&bigger), "a metric has one direction");
}
