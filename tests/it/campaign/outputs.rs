//! What a campaign leaves behind, refuses, and tells by its exit code.

use std::time::Duration;

use super::setup::{
    Bench, Broken, QWEN, SCENARIO, code, contents, free_url, json, read, signal, talk, until, with_url,
};

#[test]
fn a_simulated_run_leaves_the_documented_files() {
    let bench = Bench::new(SCENARIO);
    let output = bench.run(&["--simulate", "--speed", "500"]);
    assert_eq!(code(&output), 0, "{}", talk(&output));
    let names: Vec<String> = contents(&bench.latest()).iter().map(|(path, _)| path.display().to_string()).collect();
    let mut expected: Vec<String> =
        ["client.json", "plan.json", "results.csv", "results.json", "results.md"].map(str::to_owned).to_vec();
    expected.extend(["environment.json", "telemetry.jsonl"].map(|file| format!("servers/v-1/{file}")));
    for run in ["c1", "c2", "c3"] {
        for file in ["records.jsonl", "request.json", "run.json", "summary.json", "warmup.jsonl"] {
            expected.push(format!("runs/v/A/{run}/{file}"));
        }
    }
    let charts = ["latency-A", "pareto-A", "throughput-A"].map(str::to_owned).into_iter();
    let of_runs =
        ["c1", "c2", "c3"].map(|run| ["distribution", "telemetry", "timeline"].map(|kind| format!("{kind}-v_A_{run}")));
    expected.extend(charts.chain(of_runs.concat()).map(|chart| format!("results-charts/{chart}.svg")));
    expected.sort();
    assert_eq!(names, expected);
    let results = bench.results();
    assert_eq!(results["simulated"], true);
    assert_eq!(results["speed"], 500.0);
    assert_eq!(results["runs"].as_array().unwrap().len(), 3);
    for run in results["runs"].as_array().unwrap() {
        assert_eq!((&run["requests"], &run["completed"]), (&4.into(), &4.into()));
    }
    for text in [String::from_utf8_lossy(&output.stdout).into_owned(), read(&bench.latest().join("results.md"))] {
        assert!(text.contains("simulated"), "{text}");
    }
    let manifest = json(&bench.latest().join("runs/v/A/c1/run.json"));
    assert_eq!((&manifest["state"], &manifest["simulated"]), (&"complete".into(), &true.into()));
    assert!(manifest["started_at"].is_string() && manifest["ended_at"].is_string());
}

#[test]
fn a_second_interrupt_does_not_wait() {
    let bench = Bench::new(SCENARIO);
    let child = bench.spawn(&["--simulate", "--speed", "0.01"]);
    until("the run", || bench.state("v/A/c1"));
    signal(&child, rustix::process::Signal::INT);
    std::thread::sleep(Duration::from_millis(100));
    signal(&child, rustix::process::Signal::TERM);
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{}", talk(&output));
}

/// Case C13: requests cut by the client's own limit are named and never pass for a result.
#[test]
fn a_run_whose_requests_its_own_limit_cut_is_told_by_the_exit_code() {
    let limit = "[warmup]\nrequests = 0\n\n[endpoint]\ntimeout = { request = '10ms' }\n\n[traffic]";
    let bench = Bench::new(&SCENARIO.replace("[traffic]", limit));
    let output = bench.run(&["--simulate", "--only", "v/A/c1"]);
    assert_eq!(code(&output), 3, "{}", talk(&output));
    assert!(talk(&output).contains("no reply within 10ms"), "{}", talk(&output));
    let run = &bench.results()["runs"][0];
    assert_eq!([&run["completed"], &run["failed"], &run["censored"]], [0, 0, 4]);
    assert_eq!(run["warnings"][0]["kind"], "censoring");
}

#[test]
fn a_server_that_fails_every_request_gives_nulls_and_its_own_words() {
    let server = Broken::start(QWEN);
    let bench = Bench::new(&with_url(&server.url).replace("[traffic]", "[warmup]\nrequests = 0\n\n[traffic]"));
    let output = bench.run(&[]);
    assert_eq!(code(&output), 3, "{}", talk(&output));
    assert!(talk(&output).contains("out of memory on GPU 0"), "{}", talk(&output));
    let run = &bench.results()["runs"][0];
    assert_eq!((&run["completed"], &run["failed"]), (&0.into(), &4.into()));
    assert!(run["latency_s"]["mean"].is_null() && run["latency_s"]["p99"].is_null());
    assert_eq!(run["errors"][0]["message"], "out of memory on GPU 0");
}

#[test]
fn a_warm_up_that_fails_stops_the_run_with_the_servers_words() {
    let server = Broken::start(QWEN);
    let bench = Bench::new(&with_url(&server.url));
    let output = bench.run(&[]);
    assert_eq!(code(&output), 3, "{}", talk(&output));
    let results = bench.results();
    assert!(results["runs"].as_array().unwrap().is_empty());
    assert_eq!(results["not_run"].as_array().unwrap().len(), 3);
    assert!(results["not_run"][0]["reason"].as_str().unwrap().contains("out of memory on GPU 0"), "{results}");
    assert_eq!(bench.state("v/A/c1").as_deref(), Some("failed"));
}

#[test]
fn a_server_with_another_model_is_refused_before_any_load() {
    let server = Broken::start(r#"{"data":[{"id":"other/model"}]}"#);
    let bench = Bench::new(&with_url(&server.url));
    let output = bench.run(&[]);
    assert_eq!(code(&output), 3, "{}", talk(&output));
    let text = talk(&output);
    assert_eq!(text.matches("does not serve `Qwen/Qwen-Image`; it serves `other/model`").count(), 1, "{text}");
    assert!(!bench.latest().join("runs/v").exists());
}

#[test]
fn an_unreachable_server_is_one_clear_error_and_no_row() {
    let url = free_url();
    let bench = Bench::new(&with_url(&url));
    let output = bench.run(&["--set", "endpoint.ready.timeout=300ms"]);
    assert_eq!(code(&output), 3, "{}", talk(&output));
    let text = talk(&output);
    assert!(
        text.contains(&url) && text.contains("connection refused") && text.contains("endpoint.ready.timeout"),
        "{text}"
    );
    assert_eq!(text.matches("was not ready after").count(), 1, "{text}");
    let results = bench.results();
    assert!(results["runs"].as_array().unwrap().is_empty());
    assert_eq!(results["not_run"].as_array().unwrap().len(), 3);
}

#[test]
fn a_folder_that_cannot_be_written_is_named_before_anything_is_sent() {
    let bench = Bench::new(SCENARIO);
    fs_err::write(bench.path("file"), "").unwrap();
    let output = bench.run(&["--simulate", "--out", "file/results"]);
    assert_eq!(code(&output), 5, "{}", talk(&output));
    assert!(talk(&output).contains("file/results"), "{}", talk(&output));
    assert!(output.stdout.is_empty());
}

#[test]
fn a_key_is_never_written_and_an_unset_header_is_an_error() {
    let server = Broken::start(QWEN);
    let endpoint = format!(
        "url = \"{}\"\napi_key_env = \"SMALL_KEY\"\nheaders = {{ X-Team = \"SMALL_TEAM\" }}\n\n[[variants]]",
        server.url
    );
    let bench = Bench::new(&SCENARIO.replace("[[variants]]", &format!("[endpoint]\n{endpoint}")));
    let unset = bench.command(&[]).env_remove("SMALL_TEAM").output().unwrap();
    assert_eq!(code(&unset), 2, "{}", talk(&unset));
    assert!(talk(&unset).contains("`SMALL_TEAM`"), "{}", talk(&unset));

    let output =
        bench.command(&[]).env("SMALL_KEY", "sk-hidden-1").env("SMALL_TEAM", "team-hidden-2").output().unwrap();
    assert_eq!(code(&output), 3, "{}", talk(&output));
    let mut texts: Vec<Vec<u8>> = contents(&bench.latest()).into_iter().map(|(_, bytes)| bytes).collect();
    texts.extend([output.stdout, output.stderr]);
    for text in texts {
        assert!(!String::from_utf8_lossy(&text).contains("hidden"));
    }

    let keyless = bench.command(&[]).env_remove("SMALL_KEY").env("SMALL_TEAM", "t").output().unwrap();
    assert!(talk(&keyless).contains("`SMALL_KEY` is not set"), "{}", talk(&keyless));
}

#[test]
fn the_first_request_is_kept_as_the_server_got_it() {
    let server = Broken::start(QWEN);
    let bench = Bench::new(&with_url(&server.url).replace("[traffic]", "[warmup]\nrequests = 0\n\n[traffic]"));
    assert_eq!(code(&bench.run(&["--only", "v/A/c1"])), 3);
    let request = json(&bench.latest().join("runs/v/A/c1/request.json"));
    let got = server.got.lock().unwrap();
    assert_eq!(got.len(), 4);
    assert_eq!(got[0], format!("{} {}", request["path"].as_str().unwrap(), request["body"].as_str().unwrap()));
}
