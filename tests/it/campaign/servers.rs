//! Servers that are started, by the tool or by hand, and how they end.

use std::process::{Command, Stdio};
use std::time::Duration;

use super::setup::{BINARY, Bench, code, free_url, json, read, refuses, signal, talk, until, with_server};

#[test]
fn started_servers_follow_one_another_and_are_gone_afterwards() {
    let bench = Bench::new(&with_server(""));
    let output = bench.run(&[]);
    assert_eq!(code(&output), 0, "{}", talk(&output));
    let environment = |variant: &str| json(&bench.latest().join(format!("servers/{variant}-1/environment.json")));
    let (first, second) = (environment("first"), environment("second"));
    assert!(first["ready_at"].as_str().unwrap() < second["ready_at"].as_str().unwrap());
    for server in [&first, &second] {
        assert!(refuses(server["url"].as_str().unwrap()));
    }
    let words = second["command"].as_array().unwrap();
    assert!(words.iter().any(|word| word == "--max-num-seqs") && words.iter().any(|word| word == "--step-execution"));
    assert!(read(&bench.latest().join("servers/first-1/server.log")).contains("listening on"));
    assert_eq!(bench.results()["simulated"], true);
    assert_eq!(bench.results()["speed"], 100.0);
}

#[test]
fn a_server_that_cannot_start_costs_its_own_runs_only() {
    let script = "test {{ variant }} = first && { echo no such GPU; exit 9; }; exec \\\"$0\\\" simulate --port {{ port }} --speed 100";
    let scenario = with_server("");
    let command = scenario.lines().find(|line| line.starts_with("command")).unwrap();
    let scenario = scenario.replace(command, &format!("command = [\"sh\", \"-c\", \"{script}\", \"{BINARY}\"]"));
    let bench = Bench::new(&scenario);
    let output = bench.run(&[]);
    assert_eq!(code(&output), 3, "{}", talk(&output));
    assert!(talk(&output).contains("no such GPU") && talk(&output).contains("exit status: 9"), "{}", talk(&output));
    let results = bench.results();
    assert_eq!(results["runs"][0]["id"], "second/A/c1");
    assert_eq!(results["not_run"][0]["id"], "first/A/c1");
    assert!(results["not_run"][0]["reason"].as_str().unwrap().contains("no such GPU"));

    let fast = bench.run(&["--fail-fast"]);
    assert_eq!(code(&fast), 3);
    assert!(bench.results()["runs"].as_array().unwrap().is_empty());
}

#[test]
fn killing_the_tool_leaves_no_server() {
    let bench = Bench::new(&with_server("").replace("requests = 4", "requests = 100000"));
    let mut child = bench.spawn(&[]);
    let path = bench.latest().join("servers/first-1/environment.json");
    until("the server", || path.is_file().then_some(()));
    let url = json(&path)["url"].as_str().unwrap().to_owned();
    assert!(!refuses(&url));
    child.kill().unwrap();
    child.wait().unwrap();
    until("the server's end", || refuses(&url).then_some(()));
}

#[test]
fn an_interrupt_keeps_the_records_stops_the_server_and_ends_with_130() {
    let bench = Bench::new(&with_server("").replace("requests = 4", "requests = 100000"));
    let child = bench.spawn(&[]);
    let records = bench.latest().join("runs/first/A/c1/records.jsonl");
    until("a record", || fs_err::read(&records).ok().filter(|bytes| !bytes.is_empty()));
    signal(&child, rustix::process::Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{}", talk(&output));
    assert_eq!(bench.state("first/A/c1").as_deref(), Some("interrupted"));
    let results = bench.results();
    let run = &results["runs"][0];
    let count = |key: &str| run[key].as_u64().unwrap();
    assert!(count("completed") > 0 && count("cancelled") > 0);
    assert_eq!(count("completed") + count("failed") + count("censored") + count("cancelled"), 100_000);
    assert_eq!(results["not_run"][0]["id"], "second/A/c1");
    let environment = json(&bench.latest().join("servers/first-1/environment.json"));
    assert!(refuses(environment["url"].as_str().unwrap()));
}

#[test]
fn a_server_started_by_hand_is_asked_for_and_waited_for() {
    let url = free_url();
    let server =
        with_server("mode = \"manual\"").replace("[server]", &format!("[endpoint]\nurl = \"{url}\"\n\n[server]"));
    let bench = Bench::new(&server);
    let tool = bench.spawn(&["--only", "second/**"]);
    let port = url.rsplit(':').next().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let mut simulator = Command::new(BINARY)
        .args(["simulate", "--speed", "100", "--port", port])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = tool.wait_with_output().unwrap();
    simulator.kill().unwrap();
    simulator.wait().unwrap();
    assert_eq!(code(&output), 0, "{}", talk(&output));
    let text = talk(&output);
    assert!(text.contains(&format!("simulate --port {port} --speed 100 --max-num-seqs 2 --step-execution")), "{text}");
    assert!(text.contains("stop it"), "{text}");
}
