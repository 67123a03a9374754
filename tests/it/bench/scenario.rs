//! The scenario that flags stand for: what it says, and that `run` does the same with it.

use super::bodies::{body, fixture, sorted};
use super::{Recorder, answer, bench, code, printed, talk};
use crate::support::Sandbox;
use crate::support::fake::Answer;

fn scenario(flags: &[&str]) -> String {
    let output = bench(&Sandbox::new(), &[flags, &["--print-scenario"]].concat());
    assert_eq!(code(&output), 0, "{}", talk(&output));
    printed(&output)
}

#[test]
fn run_of_the_printed_scenario_sends_the_same_requests() {
    for name in ["t2i_generations", "t2i_chat", "ti2i_edits", "t2v_videos"] {
        let (flags, path, wanted) = fixture(name);
        let (sandbox, server) = (Sandbox::new(), Recorder::start());
        let mut flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        flags.extend(["--base-url", &server.fake.url, "--warmup-requests", "0", "--print-scenario"]);
        let output = bench(&sandbox, &flags);
        assert_eq!(code(&output), 0, "{}", talk(&output));
        assert_eq!(server.asked().len(), 0, "printing sends nothing");
        fs_err::write(sandbox.path().join("same.toml"), &output.stdout).unwrap();
        let output = sandbox.omni_bench(&["run", "same.toml"]);
        assert_eq!(code(&output), 0, "{name}: {}", talk(&output));
        assert_eq!(sorted(server.fake.calls("POST", &path).iter().map(body).collect()), wanted, "{name}");
    }
}

#[test]
fn bench_and_run_of_its_scenario_are_one_workload() {
    let flags = ["--dataset", "random", "--task", "t2i", "--num-prompts", "2", "--width", "64", "--height", "64"];
    let sandbox = Sandbox::new();
    let output = bench(&sandbox, &[&flags[..], &["--simulate", "--speed", "200"]].concat());
    assert_eq!(code(&output), 0, "{}", talk(&output));
    fs_err::write(sandbox.path().join("same.toml"), scenario(&flags)).unwrap();
    let output = sandbox.omni_bench(&["run", "same.toml", "--simulate", "--speed", "200", "--out", "again"]);
    assert_eq!(code(&output), 0, "{}", talk(&output));
    let key = |folder: &str| {
        let results = super::json(&sandbox.path().join(folder).join("bench-t2i-random/latest/results.json"));
        results["runs"][0]["key"].clone()
    };
    assert_eq!(key("results"), key("again"));
}

#[test]
fn every_flag_has_its_place_in_the_scenario() {
    let config = r#"[{"width":512,"height":512,"prompt":"a \"red\" cube","weight":0.2},{"width":256,"height":256}]"#;
    let text = scenario(&[
        "--host",
        "::1",
        "--port",
        "9",
        "--model",
        "m",
        "--task",
        "ti2v",
        "--dataset",
        "random",
        "--num-prompts",
        "7",
        "--max-concurrency",
        "3",
        "--request-rate",
        "0.5",
        "--warmup-requests",
        "4",
        "--warmup-concurrency",
        "9",
        "--warmup-num-inference-steps",
        "5",
        "--width",
        "64",
        "--height",
        "32",
        "--num-frames",
        "9",
        "--fps",
        "7.5",
        "--num-inference-steps",
        "6",
        "--seed",
        "0",
        "--slo",
        "--slo-scale",
        "2.5",
        "--enable-negative-prompt",
        "--random-request-config",
        config,
        "--random-request-seed",
        "9223372036854775808",
        "--num-input-images",
        "2",
        "--extra-body",
        r#"{"flow_shift":5,"lora":{"name":"x","scale":0.5}}"#,
        "--video-job-timeout",
        "1800",
    ]);
    insta::assert_snapshot!(text);
}

#[test]
fn the_defaults_are_those_of_the_python_client() {
    let sandbox = Sandbox::new();
    let output = bench(&sandbox, &["--print-scenario"]);
    assert_eq!(code(&output), 0, "{}", talk(&output));
    insta::assert_snapshot!(printed(&output));
    // the data is not here, and where it comes from is said before anything is fetched
    insta::assert_snapshot!(talk(&output));
    assert!(fs_err::read_dir(sandbox.path()).unwrap().next().is_none(), "printing leaves nothing behind");
}

#[test]
fn datasets_are_files_or_downloads_that_are_named() {
    let text = scenario(&["--task", "t2i", "--dataset", "custom", "--dataset-path", "rows.jsonl"]);
    assert!(text.contains("[datasets.custom]\nsource = \"custom\"\n"), "{text}");
    assert!(text.contains("path = \"rows.jsonl\"") && text.contains("on_short = \"cycle\""), "{text}");
    let text = scenario(&["--task", "t2i", "--dataset", "vbench", "--dataset-path", "prompts.txt"]);
    assert!(text.contains("path = \"prompts.txt\"") && !text.contains("url = \"https"), "{text}");
    for (task, file) in [("t2v", "cogvideox_trace.txt"), ("t2i", "sd3_trace.txt")] {
        let text = scenario(&["--task", task, "--dataset", "trace"]);
        assert!(text.contains(&format!("url = \"hf:asukaqaqzz/Dit_Trace/{file}\"")), "{text}");
        assert!(text.contains("allow_download = true"), "{text}");
    }
}

#[test]
fn a_trace_is_replayed_at_its_time_stamps_when_it_has_them_and_no_rate_is_given() {
    let sandbox = Sandbox::new();
    let stamped = "Request(prompt='a', width=64, height=64, timestamp=0.0)\nRequest(prompt='b', timestamp=0.5)\n";
    fs_err::write(sandbox.path().join("stamped.txt"), stamped).unwrap();
    fs_err::write(sandbox.path().join("plain.txt"), "Request(prompt='a')\nRequest(prompt='b')\n").unwrap();
    let print = |more: &[&str]| {
        let flags = ["--task", "t2i", "--dataset", "trace", "--print-scenario", "--width", "32", "--height", "48"];
        let output = bench(&sandbox, &[&flags[..], more].concat());
        assert_eq!(code(&output), 0, "{}", talk(&output));
        printed(&output)
    };
    let text = print(&["--dataset-path", "stamped.txt"]);
    assert!(text.contains("arrival = \"trace\"") && !text.contains("request_rate"), "{text}");
    assert!(text.contains("override = { width = 32, height = 48 }"), "{text}");
    let text = print(&["--dataset-path", "plain.txt, stamped.txt"]);
    assert!(text.contains("request_rate = \"inf\"") && !text.contains("arrival ="), "{text}");
    assert!(text.contains("path = [\"plain.txt\", \"stamped.txt\"]"), "{text}");
    let text = print(&["--dataset-path", "stamped.txt", "--request-rate", "2"]);
    assert!(text.contains("request_rate = 2.0") && !text.contains("arrival ="), "{text}");

    let flags = ["--task", "t2i", "--dataset", "trace", "--dataset-path", "stamped.txt", "--simulate"];
    let output = bench(&sandbox, &flags);
    assert_eq!(code(&output), 0, "{}", talk(&output));
    assert!(printed(&output).contains("Successful requests:                     2/2"), "{}", printed(&output));
    let results = super::json(&sandbox.path().join("results/bench-t2i-trace/latest/results.json"));
    assert_eq!(results["runs"][0]["headline"], "response_time");
}

#[test]
fn the_trace_of_the_python_client_is_fetched_from_its_repository_and_naming_it_is_consent() {
    let server = Recorder::scripted(|seen| match seen.path.as_str() {
        "/datasets/asukaqaqzz/Dit_Trace/resolve/main/sd3_trace.txt" => Answer::bytes(
            200,
            "text/plain",
            "Request(prompt='a', width=64, height=64, timestamp=0.0)\nRequest(prompt='b', timestamp=0.25)\n",
        ),
        _ => answer(seen),
    });
    let sandbox = Sandbox::new();
    let flags = ["bench", "--task", "t2i", "--dataset", "trace", "--base-url", &server.fake.url];
    let run = |more: &[&str]| {
        let mut command = sandbox.command(&[&flags[..], more].concat());
        let output = command.env("HF_ENDPOINT", &server.fake.url).env("OMNI_BENCH_CACHE", "cache").output().unwrap();
        assert_eq!(code(&output), 0, "{}", talk(&output));
        output
    };
    let told = talk(&run(&["--warmup-requests", "0"]));
    let address = format!("{}/datasets/asukaqaqzz/Dit_Trace/resolve/main/sd3_trace.txt", server.fake.url);
    assert!(told.starts_with(&format!("dataset `trace` is downloaded from {address}")), "{told}");
    assert_eq!(server.asked().len(), 2);
    let results = super::json(&sandbox.path().join("results/bench-t2i-trace/latest/results.json"));
    assert_eq!(results["runs"][0]["headline"], "response_time", "its time stamps are its arrivals");
    let text = printed(&run(&["--print-scenario"]));
    assert!(text.contains("arrival = \"trace\"") && text.contains("hf:asukaqaqzz/Dit_Trace/sd3_trace.txt"), "{text}");
    assert_eq!(server.fake.calls("GET", "/datasets/").len(), 1, "the second time it is in the cache");
}

#[test]
fn prompt_lists_and_rows_of_files_are_sent_and_start_again_when_they_end() {
    let server = Recorder::start();
    let sandbox = Sandbox::new();
    fs_err::write(sandbox.path().join("prompts.txt"), "a cat\na dog\n").unwrap();
    let rows =
        "{\"prompt\": \"a cat\", \"num_inference_steps\": 7}\n{\"prompt\": \"a dog\", \"guidance_scale\": 2.0}\n";
    fs_err::write(sandbox.path().join("rows.jsonl"), rows).unwrap();
    let sent = |dataset: &str, path: &str| -> Vec<serde_json::Value> {
        let before = server.asked().len();
        let flags = ["--task", "t2i", "--dataset", dataset, "--dataset-path", path, "--base-url", &server.fake.url];
        let output = bench(&sandbox, &[&flags[..], &["--num-prompts", "3", "--warmup-requests", "0"]].concat());
        assert_eq!(code(&output), 0, "{}", talk(&output));
        server.asked()[before..].iter().map(|seen| serde_json::from_slice(&seen.body).unwrap()).collect()
    };
    let prompts = |sent: &[serde_json::Value]| -> Vec<String> {
        sent.iter().map(|body| body["messages"][0]["content"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(prompts(&sent("vbench", "prompts.txt")), ["a cat", "a dog", "a cat"]);
    let bodies = sent("custom", "rows.jsonl");
    assert_eq!(prompts(&bodies), ["a cat", "a dog", "a cat"]);
    let extra: Vec<&serde_json::Value> = bodies.iter().map(|body| &body["extra_body"]).collect();
    assert_eq!(*extra[0], serde_json::json!({ "num_inference_steps": 7 }));
    assert_eq!(*extra[1], serde_json::json!({ "num_inference_steps": 50, "guidance_scale": 2.0 }));
}
