//! What the help says, and command lines that make no sense.

use super::{Recorder, bench, code, printed, talk};
use crate::support::Sandbox;

#[test]
fn the_help_has_every_flag_of_the_python_client_with_its_default() {
    let help = printed(&bench(&Sandbox::new(), &["--help"]));
    for (flag, default) in [
        ("--base-url", ""),
        ("--host", "[default: localhost]"),
        ("--port", "[default: 8091]"),
        ("--model", "[default: default]"),
        ("--endpoint", "[default: follows the task: videos, edits, chat for t2i]"),
        ("--backend", ""),
        ("--dataset", "[default: vbench]"),
        ("--dataset-path", ""),
        ("--task", "[default: t2v]"),
        ("--num-prompts", "[default: 10]"),
        ("--max-concurrency", "[default: 1]"),
        ("--request-rate", "[default: inf]"),
        ("--warmup-requests", "[default: 1]"),
        ("--warmup-num-inference-steps", "[default: 2]"),
        ("--warmup-concurrency", "[default: 1]"),
        ("--width", ""),
        ("--height", ""),
        ("--num-frames", ""),
        ("--fps", ""),
        ("--num-inference-steps", "[default: 50]"),
        ("--seed", "[default: none is sent]"),
        ("--slo", ""),
        ("--slo-scale", "[default: 3]"),
        ("--save-dir", ""),
        ("--output-file", ""),
        ("--enable-negative-prompt", ""),
        ("--random-request-config", ""),
        ("--random-request-seed", "[default: 42]"),
        ("--extra-body", ""),
        ("--num-input-images", "[default: 1]"),
        ("--bot-task", "[default: think]"),
        ("--return-stage-metrics", ""),
        ("--video-job-timeout", "[default: 900]"),
        ("--disable-tqdm", ""),
    ] {
        let section = help.split("\n  ").position(|line| {
            let line = line.trim_start();
            line == flag || line.starts_with(&format!("{flag} "))
        });
        let section = section.unwrap_or_else(|| panic!("{flag} is not in the help"));
        let text: Vec<&str> =
            help.split("\n  ").skip(section + 1).take_while(|line| !line.trim().starts_with("--")).collect();
        let text = text.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(default), "{flag}: {text}");
    }
}

#[test]
fn the_long_help_says_how_the_python_client_was_different() {
    let help = printed(&bench(&Sandbox::new(), &["--help"]));
    let (_, differences) = help.split_once("Where this differs").expect("the list of differences");
    for word in [
        "a 200 without a readable picture",
        "censored",
        "DELETE",
        "warm-up",
        "calibration",
        "Poisson",
        "time stamps",
        "--extra-body",
        "--width, --height",
        "a placeholder list",
        "null",
        "15 min",
        "exit code",
    ] {
        assert!(differences.contains(word), "`{word}` is not told");
    }
    assert!(!printed(&bench(&Sandbox::new(), &["-h"])).contains("Where this differs"));
}

#[test]
fn command_lines_that_make_no_sense_end_with_2_before_anything_is_sent() {
    let server = Recorder::start();
    for (flags, told) in [
        (
            &["--random-request-config", "[{\"width\": 5,]"][..],
            "`--random-request-config` is not JSON (line 1, column 14)",
        ),
        (&["--random-request-config", "{\"width\": 5}"], "`--random-request-config` is not a list of objects (line 1)"),
        (&["--random-request-config", "[1]"], "`--random-request-config` is not a list of objects (line 1, column 2)"),
        (&["--random-request-config", "[]"], "`--random-request-config` is an empty list"),
        (&["--random-request-config", "[{\"weight\":\"a\"}]"], "the weight `\"a\"`, which is not a number"),
        (&["--random-request-config", "[{\"weight\":-1}]"], "weight `-1` is not a number of at least 0"),
        (&["--random-request-config", "[{\"width\":5,\"lora\":{\"a\":null}}]"], "has a null inside `{\"a\":null}`"),
        (&["--extra-body", "{\n\"seed\" 1}"], "`--extra-body` is not JSON (line 2, column 8)"),
        (&["--extra-body", "[1]"], "`--extra-body` is not an object of request fields (line 1)"),
        (&["--extra-body", "{\"seed\":1}", "--seed", "2"], "`--seed` and `--extra-body` contradict each other"),
        (&["--extra-body", "{\"size\":\"8x8\"}", "--width", "9", "--height", "9"], "`size` is \"9x9\" in one"),
        (&["--width", "512"], "--height"),
        (&["--height", "512"], "--width"),
        (&["--seed", "-1"], "`-1` is not a whole number of at least 0"),
        (&["--num-prompts", "-3"], "`-3` is not a whole number of at least 1"),
        (&["--num-prompts", "0"], "`0` is not a whole number of at least 1"),
        (&["--max-concurrency", "0"], "0 is not in 1.."),
        (&["--num-frames", "-1"], "-1 is not in 1.."),
        (&["--warmup-requests", "-1"], "-1 is not in 0.."),
        (&["--fps", "-1"], "`-1` is not a number above 0"),
        (&["--slo", "--slo-scale", "0"], "`0` is not a number above 0"),
        (&["--request-rate", "-2"], "`-2` is not a rate"),
        (&["--request-rate", "nan"], "`nan` is not a rate"),
        (&["--video-job-timeout", "0"], "`0` is not a number above 0"),
        (
            &["--endpoint", "openai", "--backend", "vllm-omni"],
            "`--endpoint` names `/v1/images/generations` and `--backend`",
        ),
        (&["--endpoint", "/v1/images"], "`--endpoint /v1/images` is not an endpoint"),
        (&["--endpoint", "v1/videos"], "`/v1/videos` cannot do `--task t2i`"),
        (&["--endpoint", "/v1/images/edits"], "`/v1/images/edits` cannot do `--task t2i`"),
        (&["--dataset", "custom"], "`--dataset custom` needs `--dataset-path`"),
        (&["--dataset", "vbench", "--task", "i2v"], "`--dataset vbench --task i2v` needs `--dataset-path`"),
        (&["--dataset", "sharegpt"], "invalid value 'sharegpt'"),
        (&["--task", "t2a"], "invalid value 't2a'"),
        (&["--speed", "5"], "--simulate"),
        (&["--base-url", "http://localhost:8091/v1"], "the server's address has the path `/v1`"),
    ] {
        let mut line = vec!["--task", "t2i", "--dataset", "random", "--base-url", server.fake.url.as_str()];
        for flag in flags.iter().filter(|flag| flag.starts_with("--")) {
            if let Some(at) = line.iter().position(|given| given == flag) {
                line.drain(at..at + 2);
            }
        }
        line.extend(flags);
        let output = bench(&Sandbox::new(), &line);
        assert_eq!(code(&output), 2, "{flags:?}: {}", talk(&output));
        assert!(talk(&output).contains(told), "{flags:?}: {}", talk(&output));
    }
    assert_eq!(server.asked().len(), 0);
}

#[test]
fn flags_without_effect_are_told_and_do_not_stop_anything() {
    let server = Recorder::start();
    let flags = ["--task", "t2i", "--dataset", "random", "--endpoint", "openai", "--base-url", &server.fake.url];
    let idle =
        ["--num-frames", "5", "--fps", "8", "--bot-task", "think", "--return-stage-metrics", "--num-prompts", "1"];
    let unknown = ["--extra-body", r#"{"guardrails":false,"prompt_2":null}"#];
    let output = bench(&Sandbox::new(), &[&flags[..], &idle, &unknown].concat());
    assert_eq!(code(&output), 0, "{}", talk(&output));
    for told in [
        "`/v1/images/generations` has no place for `num_frames`; it is not sent",
        "`/v1/images/generations` has no place for `fps`; it is not sent",
        "`--bot-task` has no effect",
        "`--return-stage-metrics` has no effect",
        "is not known to read `guardrails` of `--extra-body`; it is sent all the same",
    ] {
        assert!(talk(&output).contains(told), "{told}: {}", talk(&output));
    }
    let sent: serde_json::Value = serde_json::from_slice(&server.asked()[0].body).unwrap();
    assert_eq!(sent["guardrails"], false);
    assert_eq!((sent.get("num_frames"), sent.get("fps"), sent.get("prompt_2")), (None, None, None));
}

#[test]
fn a_field_of_the_extra_body_replaces_a_default_that_nobody_typed() {
    let server = Recorder::start();
    let flags = ["--task", "t2i", "--dataset", "random", "--base-url", &server.fake.url, "--num-prompts", "1"];
    let extra = ["--enable-negative-prompt", "--extra-body", r#"{"num_inference_steps":4,"negative_prompt":"dark"}"#];
    let output = bench(&Sandbox::new(), &[&flags[..], &extra, &["--warmup-requests", "0"]].concat());
    assert_eq!(code(&output), 0, "{}", talk(&output));
    let sent: serde_json::Value = serde_json::from_slice(&server.asked()[0].body).unwrap();
    let fields = serde_json::json!({ "num_inference_steps": 4, "negative_prompt": "dark" });
    assert_eq!(sent["extra_body"], fields);
}
