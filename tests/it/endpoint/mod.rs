//! Tests of endpoint: what goes on the wire, and what a reply is worth.
#![cfg(test)] // so that the lints see that helpers are test code too

mod encode;
mod job;
mod judge;
mod metrics;
mod properties;
mod references;
mod stream;
mod video;

use std::sync::Arc;

use base64_simd::STANDARD;
use bytes::Bytes;
use omni_bench::catalog::{Api, Spelling, Task};
use omni_bench::endpoint::{Judge, Reply, Verdict, Wire};
use omni_bench::workload::{Reference, Request, Shape};
use serde_json::Value;

pub(crate) const PNG_1X1: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mOoBwAAgQCAfhwpxwAAAABJRU5ErkJggg==";
pub(crate) const PNG_4X3: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAAAAACRn/EaAAAADklEQVR42mOoBwIGOAEALLUF9RKX40QAAAAASUVORK5CYII=";
pub(crate) const PNG_64X48: &str = "iVBORw0KGgoAAAANSUhEUgAAAEAAAAAwCAAAAACEICPDAAAAJUlEQVR42u3MQREAAAwCIJtb3RD77SAA6VEEAoFAIBAIBALB12AMd/RMfhbwEQAAAABJRU5ErkJggg==";

pub(crate) fn wire(api: Api, task: Task) -> Wire {
    Wire {
        api,
        task,
        model: "Qwen/Qwen-Image".to_owned(),
        extra_body: indexmap::IndexMap::new(),
        bot_task: None,
        return_stage_metrics: false,
        stream: false,
        spelling: Spelling::Plain,
        sync_video: false,
        check_media: true,
        keep_pictures: false,
        max_reply: 64 << 20,
    }
}

pub(crate) fn request(task: Task) -> Request {
    Request {
        index: 0,
        row: 0,
        request_id: "req-0001".to_owned(),
        task,
        shape: Shape::default(),
        prompt: "a cat".to_owned(),
        negative_prompt: None,
        n: None,
        seed: None,
        fields: indexmap::IndexMap::new(),
        images: Vec::new(),
        videos: Vec::new(),
        slo_ms: None,
        timestamp_s: None,
    }
}

pub(crate) fn sized(task: Task, width: u32, height: u32) -> Request {
    let shape = Shape { width: Some(width), height: Some(height), ..Shape::default() };
    Request { shape, ..request(task) }
}

pub(crate) fn with_fields(mut request: Request, fields: &Value) -> Request {
    for (name, value) in fields.as_object().expect("an object") {
        request.fields.insert(name.clone(), value.clone());
    }
    request
}

pub(crate) fn file(name: &str, base64: &str) -> Reference {
    let bytes = Bytes::from(STANDARD.decode_to_vec(base64).expect("base64"));
    Reference::Bytes { bytes, mime: Arc::from("image/png"), file_name: Arc::from(name) }
}

pub(crate) fn ok_reply(content_type: &str) -> Reply {
    Reply { status: 200, content_type: Some(content_type.to_owned()), ..Reply::default() }
}

/// The verdict on a JSON reply of status 200.
pub(crate) fn judge(wire: &Wire, request: &Request, body: &str) -> Verdict {
    let mut judge = Judge::reply(wire, request, &ok_reply("application/json"), None);
    judge.feed(body.as_bytes());
    judge.finish()
}

/// The message of the verdict's error.
pub(crate) fn message(verdict: &Verdict) -> &str {
    &verdict.error.as_ref().expect("a failure").message
}
