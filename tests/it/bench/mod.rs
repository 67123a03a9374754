//! Tests of `bench`: the flags of the serving benchmark that people have scripts for.

#![cfg(test)] // the lints that spare tests then spare their helpers too

mod bodies;
mod figures;
mod flags;
mod scenario;
mod tasks;

use std::process::Output;

use base64_simd::STANDARD;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::support::fake::{Answer, Fake, Seen};
use crate::support::{Sandbox, repository};

/// A server that keeps what arrives and answers with a picture or a clip.
struct Recorder {
    fake: Fake,
    _runtime: Runtime,
}

impl Recorder {
    fn start() -> Self {
        Self::scripted(answer)
    }

    fn scripted(script: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let fake = runtime.block_on(Fake::start(script));
        Self { fake, _runtime: runtime }
    }

    /// The requests that ask for media, in order of arrival.
    fn asked(&self) -> Vec<Seen> {
        self.fake.calls("POST", "/v1/")
    }
}

/// A 64×48 picture.
fn picture() -> Vec<u8> {
    STANDARD.decode_to_vec(crate::endpoint::PNG_64X48).unwrap()
}

fn clip() -> Vec<u8> {
    fs_err::read(repository().join("tests/fixtures/clip_64x64_33f_24fps.mp4")).unwrap()
}

fn answer(seen: &Seen) -> Answer {
    let picture = crate::endpoint::PNG_64X48;
    match (seen.method.as_str(), seen.path.as_str()) {
        ("POST", "/v1/chat/completions") => Answer::json(
            200,
            format!(
                r#"{{"choices":[{{"message":{{"role":"assistant","content":[{{"type":"image_url","image_url":
                {{"url":"data:image/png;base64,{picture}"}},"stage_durations":{{"diffuse":0.5,"stage_0_gen_ms":700.0}},
                "peak_memory_mb":1000.0}}]}}}}],"metrics":null}}"#
            ),
        ),
        ("POST", "/v1/videos") => Answer::json(200, r#"{"id":"video_gen_1","object":"video","status":"completed"}"#),
        ("POST", _) => Answer::json(200, format!(r#"{{"created":1,"data":[{{"b64_json":"{picture}"}}]}}"#)),
        ("DELETE", _) => Answer::json(200, r#"{"id":"video_gen_1","deleted":true,"object":"video.deleted"}"#),
        ("GET", path) if path.ends_with("/content") => Answer::bytes(200, "video/mp4", clip()),
        ("GET", path) if path.starts_with("/v1/videos/") => {
            Answer::json(200, r#"{"id":"video_gen_1","object":"video","status":"completed"}"#)
        }
        ("GET", "/health") => Answer::json(200, r#"{"status":"healthy"}"#),
        _ => Answer::json(404, r#"{"detail":"Not Found"}"#),
    }
}

fn bench(sandbox: &Sandbox, flags: &[&str]) -> Output {
    sandbox.omni_bench(&[&["bench"], flags].concat())
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("{}", talk(output)))
}

fn talk(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn json(path: &std::path::Path) -> Value {
    serde_json::from_slice(&fs_err::read(path).unwrap()).unwrap()
}
