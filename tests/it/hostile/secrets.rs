//! A key is in no file and no word of the tool, wherever a server repeats it and however it is encoded.

use std::process::{Command, Output};

use base64_simd::STANDARD;
use serde_json::json;

use super::setup::{Bench, IMAGES, said};
use crate::endpoint::PNG_4X3;
use crate::support::fake::{Answer, Fake, Seen};

const KEY: &str = "sk-live/7Zq+aB3dEf9=hIjK";
const VARIABLE: &str = "OMNI_TEST_KEY";

/// What gives the key away.
fn traces() -> Vec<(&'static str, String)> {
    let percent = percent_encoding::utf8_percent_encode(KEY, percent_encoding::NON_ALPHANUMERIC).to_string();
    let base64 = STANDARD.encode_to_string(KEY);
    let basic = STANDARD.encode_to_string(format!("user:{KEY}"));
    let bearer = STANDARD.encode_to_string(format!("Bearer {KEY}"));
    // what of an encoded text the key alone decides
    let inner = |text: &str, from: usize| text.get(from..text.len() - 8).unwrap().to_owned();
    vec![
        ("as it is", KEY.to_owned()),
        ("its beginning", KEY.get(..12).unwrap().to_owned()),
        ("percent-encoded", percent.to_ascii_lowercase()),
        ("base64", inner(&base64, 8)),
        ("base64 behind a user name", inner(&basic, 12)),
        ("base64 behind its scheme", inner(&bearer, 12)),
        ("with escaped slashes", KEY.replace('/', "\\/")),
    ]
}

fn assert_hidden(place: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let lower = text.to_ascii_lowercase();
    for (how, trace) in traces() {
        let found = if how == "percent-encoded" { lower.contains(&trace) } else { text.contains(&trace) };
        assert!(!found, "{place} holds the key, {how}:\n{text}");
    }
}

/// The key in every form, in words.
fn echo() -> String {
    let percent = percent_encoding::utf8_percent_encode(KEY, percent_encoding::NON_ALPHANUMERIC);
    let (base64, basic) = (STANDARD.encode_to_string(KEY), STANDARD.encode_to_string(format!("user:{KEY}")));
    format!("Bearer {KEY} / {percent} / {base64} / Basic {basic}")
}

/// Fails the first request and answers the others, with the key wherever a server has words of its own.
fn image_server(seen: &Seen) -> Answer {
    let words = |answer: Answer| answer.header("x-request-id", KEY).header("x-echo", &format!("Bearer {KEY}"));
    words(match seen.path.as_str() {
        "/health" => Answer::json(200, json!({ "key": KEY }).to_string()),
        "/v1/models" => {
            Answer::json(200, json!({ "data": [{ "id": "Qwen/Qwen-Image" }, { "id": echo() }] }).to_string())
        }
        "/version" => Answer::json(200, json!({ "version": "0.1", KEY: echo() }).to_string()),
        _ if seen.nth == 1 => Answer::json(401, json!({ "error": { "message": echo(), "type": KEY } }).to_string()),
        // so long that the message is cut within the key
        _ if seen.nth == 2 => Answer::bytes(500, "text/plain", format!("{}{KEY}", "x".repeat(485))),
        _ if seen.nth == 3 => Answer::bytes(200, "text/plain", echo()),
        _ => {
            let item = json!({ "b64_json": PNG_4X3, "revised_prompt": echo() });
            let stages = json!({ KEY: 1.5, format!("{KEY}_gen_ms"): 20 });
            Answer::json(200, json!({ "data": [item], "stage_durations": stages, "user": echo() }).to_string())
        }
    })
}

/// Creates one job that fails with the key in its error, and then ones whose id is the key.
fn video_server(seen: &Seen) -> Answer {
    let base = "/v1/videos";
    match (seen.method.as_str(), seen.path.as_str()) {
        (_, "/health" | "/version") => Answer::json(200, "{}"),
        (_, "/v1/models") => Answer::json(200, json!({ "data": [{ "id": "Wan-AI/Wan2.2" }] }).to_string()),
        ("POST", _) if seen.nth == 1 => Answer::json(200, json!({ "id": "job-1", "status": "queued" }).to_string()),
        ("POST", _) => Answer::json(200, json!({ "id": KEY, "status": "queued" }).to_string()),
        ("GET", path) if path == format!("{base}/job-1") => {
            let error = json!({ "message": echo(), "code": KEY });
            Answer::json(200, json!({ "id": "job-1", "status": "failed", "error": error }).to_string())
        }
        ("GET", _) if seen.nth == 1 => Answer::json(200, json!({ "id": KEY, "status": KEY }).to_string()),
        ("GET", _) => Answer::json(500, json!({ "detail": [{ "loc": [KEY], "msg": echo() }] }).to_string()),
        _ => Answer::json(404, json!({ "detail": echo() }).to_string()),
    }
}

fn keyed(bench: &Bench, arguments: &[&str]) -> Output {
    let mut command: Command = bench.command(arguments);
    command.env(VARIABLE, KEY).env("RUST_LOG", "trace").output().unwrap()
}

/// Runs the scenario and everything that reads its results; neither words nor files may tell the key.
async fn assert_nothing_tells(bench: Bench, least_exit: i32) -> Bench {
    let commands: &[&[&str]] = &[
        &["-v", "-v", "run", "small.toml", "--save-media"],
        &["explain", "small.toml"],
        &["plan", "small.toml", "--format", "json"],
        &["report", "results/small/latest"],
        &["report", "results/small/latest", "--format", "markdown"],
        &["report", "results/small/latest", "--format", "csv"],
        &["report", "results/small/latest", "--format", "json"],
        &["report", "results/small/latest", "--format", "html", "-o", "report.html"],
        &["report", "results/small/latest", "--format", "openmetrics"],
        &["report", "results/small/latest", "--format", "github-action-benchmark"],
        &["dashboard", "small.toml"],
        &["history", "add", "results/small/latest"],
        &["-v", "-v", "run", "small.toml", "--resume", "results/small/latest"],
    ];
    tokio::task::spawn_blocking(move || {
        for arguments in commands {
            let output = keyed(&bench, arguments);
            assert_hidden(&format!("{arguments:?}"), &output.stdout);
            assert_hidden(&format!("{arguments:?}"), &output.stderr);
            if arguments.contains(&"run") {
                assert_eq!(output.status.code(), Some(least_exit), "{}", said(&output));
            }
        }
        let files = bench.files();
        assert!(files.len() > 8, "{files:?}");
        for (path, bytes) in files {
            assert_hidden(&path.display().to_string(), &bytes);
            assert_hidden("a file's name", path.to_string_lossy().as_bytes());
        }
        bench
    })
    .await
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_an_image_server_repeats_everywhere_is_in_no_file_and_no_word() {
    let server = Fake::start(image_server).await;
    let scenario = IMAGES
        .replace("URL", &server.url)
        .replace("requests = 2", "requests = 5")
        .replace("[[variants]]", &format!("api_key_env = \"{VARIABLE}\"\n\n[[variants]]"));
    let scenario = format!("{scenario}\n[dashboard]\npage = \"page.md\"\n");
    let bench = assert_nothing_tells(Bench::new(&scenario), 3).await;
    let sent = server.calls("POST", "/v1/images/generations");
    assert!(sent.iter().all(|seen| seen.header("authorization") == Some(&format!("Bearer {KEY}"))));
    let records = fs_err::read_to_string(bench.latest().join("runs/v/A/c1/records.jsonl"))
        .or_else(|_| first_records(&bench))
        .unwrap();
    assert!(records.contains("[hidden]") && records.contains("[hidden]_gen_ms"), "{records}");
    let environment = bench.files().into_iter().find(|(path, _)| path.ends_with("environment.json")).unwrap().1;
    assert!(String::from_utf8_lossy(&environment).contains("[hidden]"));
}

fn first_records(bench: &Bench) -> std::io::Result<String> {
    let found = bench.files().into_iter().find(|(path, _)| path.ends_with("records.jsonl"));
    found.map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned()).ok_or(std::io::ErrorKind::NotFound.into())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_the_ids_states_and_errors_of_jobs_is_in_no_file_and_no_word() {
    let server = Fake::start(video_server).await;
    let scenario = IMAGES
        .replace("URL", &server.url)
        .replace("Qwen/Qwen-Image", "Wan-AI/Wan2.2")
        .replace("\"t2i\"", "\"t2v\"")
        .replace("/v1/images/generations", "/v1/videos")
        .replace("num_inference_steps = 2", "num_inference_steps = 2, num_frames = 5, fps = 8")
        .replace(
            "[[variants]]",
            "headers = { x-api-key = \"OMNI_TEST_KEY\" }\npoll = { first = \"5ms\", max = \"5ms\" }\n\n[[variants]]",
        );
    let bench = assert_nothing_tells(Bench::new(&scenario), 3).await;
    assert!(server.calls("POST", "/v1/videos").iter().all(|seen| seen.header("x-api-key") == Some(KEY)));
    let records = first_records(&bench).unwrap();
    assert!(records.contains("\"job_id\":\"[hidden]\""), "{records}");
    assert!(records.contains("`poll_errors`"), "{records}");
}

/// A started server sees no key that the scenario does not hand on, and its log shows none that it does.
#[test]
fn a_started_server_gets_the_key_by_name_only_and_its_log_hides_it() {
    let binary = env!("CARGO_BIN_EXE_omni-bench");
    let script = "echo withheld ${OMNI_TEST_KEY:-nothing}; printf 'key %s' \\\"${HANDED%????????}\\\"; sleep 0.1; \
                  printf '%s\\\\n' \\\"${HANDED#????????????????}\\\"; printf %s \\\"$HANDED\\\" | base64; env; cat /proc/$$/cmdline; \
                  exec \\\"$0\\\" simulate --port {{ port }} --speed 100";
    let scenario = IMAGES
        .replace("url = \"URL\"\n", "")
        .replace("[[variants]]", &format!("api_key_env = \"{VARIABLE}\"\n\n[server]\ncommand = [\"sh\", \"-c\", \"{script}\", \"{binary}\"]\nENV\n\n[[variants]]"));
    for (env, handed) in [("env = { HANDED = \"${OMNI_TEST_KEY}\" }", true), ("", false)] {
        let bench = Bench::new(&scenario.replace("ENV", env));
        let output = keyed(&bench, &["-v", "-v", "run", "small.toml"]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert_hidden("its words", said(&output).as_bytes());
        for (path, bytes) in bench.files() {
            assert_hidden(&path.display().to_string(), &bytes);
        }
        let log = fs_err::read_to_string(bench.latest().join("servers/v-1/server.log")).unwrap();
        assert!(log.contains("withheld nothing") && log.contains("listening on"), "{log}");
        assert_eq!(log.contains("key [hidden]") && log.contains("HANDED=[hidden]"), handed, "{log}");
    }
}

#[test]
fn a_key_that_is_written_down_is_refused_where_it_would_be_stored_or_listed() {
    let server = "[server]\ncommand = [\"vllm\", \"serve\"COMMAND]\nENV\n\n[[variants]]\nname = \"v\"\nSERVE";
    let scenario = IMAGES.replace("url = \"URL\"\n", "").replace("[[variants]]\nname = \"v\"\n", server);
    let filled = |command: &str, env: &str, serve: &str| {
        scenario.replace("COMMAND", command).replace("ENV", env).replace("SERVE", serve)
    };
    let cases = [
        (filled(", \"--api-key\", \"sk-live-1\"", "", ""), "server.command[2]"),
        (filled(", \"--api-key=sk-live-1\"", "", ""), "server.command[2]"),
        (filled("", "env = { VLLM_API_KEY = \"sk-live-1\" }", ""), "server.env.VLLM_API_KEY"),
        (filled("", "", "serve_args = { api-key = \"sk-live-1\" }"), "variants[0].serve_args.api-key"),
    ];
    for (text, place) in cases {
        let bench = Bench::new(&text);
        for command in ["validate", "plan", "run"] {
            let output = bench.run(&[command, "small.toml"]);
            assert_eq!(output.status.code(), Some(2), "{text}\n{}", said(&output));
            let line = text.lines().position(|line| line.contains("sk-live-1")).unwrap() + 1;
            assert!(said(&output).contains(&format!("small.toml:{line}:")), "{place}: {}", said(&output));
            assert!(said(&output).contains("[server].env"), "{}", said(&output));
        }
        assert!(!bench.path("results").exists());
    }
    let fine = filled("", "env = { VLLM_API_KEY = \"${OMNI_TEST_KEY}\", TOKENIZERS_PARALLELISM = \"false\" }", "");
    let output = Bench::new(&fine).run(&["validate", "small.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

#[test]
fn a_url_with_a_user_or_a_key_is_refused_wherever_one_can_be_typed_and_never_repeated() {
    let url = "http://me:sk-live-1@127.0.0.1:9";
    let plain = IMAGES.replace("URL", "http://127.0.0.1:9");
    let download = "[datasets.A]\nsource = \"trace\"\nurl = \"http://me:sk-live-1@127.0.0.1:9/trace.txt\"\nallow_download = true\n";
    let random =
        "[datasets.A]\nsource = \"random\"\nprofiles = [{ width = 64, height = 64, num_inference_steps = 2 }]\n";
    let texts = [
        IMAGES.replace("URL", url),
        plain.replace("[[variants]]", &format!("proxy = \"{url}\"\n\n[[variants]]")),
        plain.replace("name = \"v\"", &format!("name = \"v\"\nendpoint = {{ url = \"{url}\" }}")),
        plain.replace(random, download),
    ];
    for text in texts {
        let bench = Bench::new(&text);
        for command in ["validate", "plan", "run", "explain"] {
            let output = bench.run(&["-v", "-v", command, "small.toml"]);
            assert!(!said(&output).contains("sk-live-1"), "{command}: {}", said(&output));
            assert_eq!(output.status.code(), Some(2), "{command}: {}\n{text}", said(&output));
        }
    }
    let bench = Bench::new(&plain);
    let set = format!("endpoint.url={url}");
    let typed: [&[&str]; 3] = [
        &["run", "small.toml", "--set", &set],
        &["plan", "small.toml", "--set", &format!("endpoint.proxy={url}")],
        &["bench", "--base-url", url, "--model", "m", "--num-prompts", "1", "--dataset", "random"],
    ];
    for arguments in typed {
        let output = bench.run(arguments);
        assert!(!said(&output).contains("sk-live-1"), "{}", said(&output));
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", said(&output));
    }
    let by_environment = bench.command(&["run", "small.toml"]).env("OMNI_BENCH__ENDPOINT__URL", url).output().unwrap();
    assert_eq!(by_environment.status.code(), Some(2), "{}", said(&by_environment));
    assert!(!said(&by_environment).contains("sk-live-1"), "{}", said(&by_environment));
}
