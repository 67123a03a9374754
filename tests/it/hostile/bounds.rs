//! Bounds: the plan states them, and what goes beyond one is told with its name.

use std::sync::Arc;

use serde_json::{Value, json};

use super::setup::{Bench, IMAGES, said};
use crate::endpoint::PNG_4X3;
use crate::support::fake::{Answer, Fake, Seen};

fn stored(bench: &Bench) -> Value {
    serde_json::from_slice(&fs_err::read(bench.latest().join("plan.json")).unwrap()).unwrap()
}

#[test]
fn a_plan_states_its_limits_and_its_hash_does_not_depend_on_them() {
    let bench = Bench::new(&IMAGES.replace("url = \"URL\"\n", "max_reply = \"3MB\"\n"));
    let output = bench.run(&["plan", "small.toml", "--simulate", "--format", "json"]);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let limits = &told["limits"];
    assert_eq!(limits["max_reply"], "3MB");
    assert_eq!(limits["max_header"], "64KiB");
    assert_eq!(limits["nesting"], json!({ "reply": 64, "scenario": 64, "trace": 32, "json": 127 }));
    assert_eq!(limits["line_length"], json!({ "dataset": "64MiB", "journal": "16MiB" }));
    assert_eq!(
        (&limits["redirects"], &limits["poll_errors"], &limits["runs"]),
        (&json!(3), &json!(5), &json!(100_000))
    );
    assert_eq!(limits["open_files"], 66, "64 anyway and both ends of one connection");
    assert_eq!(limits["memory_per_request"], "65MiB");
    assert!(said(&bench.run(&["explain", "small.toml"])).contains("endpoint.max_reply"));

    let output = bench.run(&["run", "small.toml", "--simulate", "--speed", "50"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let mut plan = stored(&bench);
    assert_eq!(plan["limits"], *limits);
    // a folder of an older version, which stated none, can be completed
    plan.as_object_mut().unwrap().remove("limits");
    fs_err::write(bench.latest().join("plan.json"), serde_json::to_vec(&plan).unwrap()).unwrap();
    let output = bench.run(&["run", "small.toml", "--simulate", "--speed", "50", "--resume", "results/small/latest"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("complete already"), "{}", said(&output));
}

/// One request that this answers; gives its error.
async fn error(answer: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> String {
    let answer = Arc::new(answer);
    let server = Fake::start(move |seen| match seen.path.as_str() {
        "/health" | "/version" => Answer::json(200, "{}"),
        "/v1/models" => Answer::json(200, json!({ "data": [{ "id": "Qwen/Qwen-Image" }] }).to_string()),
        _ => answer(seen),
    })
    .await;
    let scenario = IMAGES.replace("URL", &server.url).replace("requests = 2", "requests = 1");
    let bench = Bench::new(&scenario.replace("[[variants]]", "max_reply = \"100KB\"\n\n[[variants]]"));
    tokio::task::spawn_blocking(move || {
        let output = bench.run(&["run", "small.toml"]);
        assert_eq!(output.status.code(), Some(3), "{}", said(&output));
        let results = fs_err::read(bench.latest().join("results.json")).unwrap();
        let results: Value = serde_json::from_slice(&results).unwrap();
        let error = &results["runs"][0]["errors"][0];
        format!("{}: {}", error["class"].as_str().unwrap(), error["message"].as_str().unwrap())
    })
    .await
    .unwrap()
}

fn picture() -> Answer {
    Answer::json(200, json!({ "data": [{ "b64_json": PNG_4X3 }] }).to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_beyond_a_bound_fails_its_request_and_the_error_names_the_bound() {
    let error_of_long = error(|_| Answer::json(200, "[".to_owned() + &"1,".repeat(100_000) + "1]")).await;
    assert!(error_of_long.contains("limit of 100000 bytes (`endpoint.max_reply`)"), "{error_of_long}");

    let deep = error(|_| Answer::json(200, format!("{}{}", "[".repeat(70), "]".repeat(70)))).await;
    assert!(deep.contains("64 levels (limit `nesting.reply`)"), "{deep}");

    let large = error(|_| picture().header("x-large", &"x".repeat(100 << 10))).await;
    assert!(large.starts_with("invalid_response: ") && large.contains("64 KiB (limit `max_header`)"), "{large}");

    let larger = error(|_| picture().header("x-large", &"x".repeat(600 << 10))).await;
    assert!(larger.contains("limits `max_headers`, `max_header`"), "{larger}");

    let many = error(|_| (0..150).fold(picture(), |answer, n| answer.header(&format!("x-{n}"), "1"))).await;
    assert!(many.contains("more than 100 headers"), "{many}");

    let around = error(|seen| {
        let mut answer = Answer::json(307, "{}");
        answer = answer.header("location", &format!("/v1/images/generations?{}", seen.path.len()));
        answer
    })
    .await;
    assert!(around.contains("more than 3 redirects (limit `redirects`)"), "{around}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_to_another_origin_is_not_followed_and_gets_no_key() {
    let other = Fake::start(|_| picture()).await;
    let (url, other_url) = (other.url.clone(), other.url.clone());
    let told =
        error(move |_| Answer::json(307, "{}").header("location", &format!("{url}/v1/images/generations"))).await;
    assert!(told.contains(&format!("another origin, `{other_url}`")), "{told}");
    assert!(other.seen().is_empty());
}

#[test]
fn a_row_that_is_too_deep_or_too_long_is_left_out_with_the_name_of_the_bound() {
    let random = "source = \"random\"\nprofiles = [{ width = 64, height = 64, num_inference_steps = 2 }]\n";
    let trace = IMAGES
        .replace("url = \"URL\"\n", "")
        .replace(random, "source = \"trace\"\npath = \"rows.jsonl\"\ndefaults = { width = 64, height = 64, num_inference_steps = 2 }\n")
        .replace("requests = 2", "requests = 1");
    let bench = Bench::new(&trace);
    let deep = format!("{{\"prompt\":\"p\",\"x\":{}{}}}", "[".repeat(200), "]".repeat(200));
    let long = format!("{{\"prompt\":\"{}\"}}", "x".repeat((64 << 20) + 1));
    fs_err::write(bench.path("rows.jsonl"), format!("{{\"prompt\":\"p\"}}\n{deep}\n{long}\n")).unwrap();
    let text = said(&bench.run(&["plan", "small.toml", "--simulate"]));
    assert!(text.contains("limit `nesting.json`"), "{text}");
    assert!(text.contains("limit `line_length.dataset`"), "{text}");
    assert!(text.len() < 10_000, "the row itself is not repeated");
}

#[test]
fn a_scenario_that_is_too_deep_or_too_long_is_refused_with_the_name_of_the_bound() {
    let deep = format!("{}\nx = {}{}\n", IMAGES, "[".repeat(80), "]".repeat(80));
    let text = said(&Bench::new(&deep).run(&["validate", "small.toml"]));
    assert!(text.contains("limit `nesting.scenario`"), "{text}");
    let long = format!("{IMAGES}\n# {}\n", "x".repeat(1 << 20));
    let text = said(&Bench::new(&long).run(&["validate", "small.toml"]));
    assert!(text.contains("limit `scenario_bytes`"), "{text}");
}
