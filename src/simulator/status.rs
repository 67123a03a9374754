//! The routes that say how the server is.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use serde_json::json;

use super::reply::{bytes_reply, json_reply};
use super::state::App;

pub(crate) async fn health() -> Response {
    json_reply(StatusCode::OK, &json!({"status": "healthy"}))
}

pub(crate) async fn version(State(app): State<Arc<App>>) -> Response {
    let version = concat!(env!("CARGO_PKG_VERSION"), "+simulator");
    let mut body = json!({"version": version, "simulated": true, "speed": app.settings.speed});
    if let (Some(faults), Some(fields)) = (app.faults.told(), body.as_object_mut()) {
        fields.insert("faults".into(), faults);
    }
    json_reply(StatusCode::OK, &body)
}

pub(crate) async fn models(State(app): State<Arc<App>>) -> Response {
    let id = &app.settings.model;
    let model = json!({
        "id": id, "object": "model", "created": app.started_at, "owned_by": "vllm-omni", "root": id,
        "parent": null, "max_model_len": null, "permission": [],
    });
    json_reply(StatusCode::OK, &json!({"object": "list", "data": [model]}))
}

/// Prometheus text; times are modelled seconds.
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Response {
    let (running, waiting) = app.load();
    let tally = app.tally();
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let (succeeded, failed) = (count(&tally.succeeded), count(&tally.failed));
    let mut lines = Vec::new();
    let mut family = |name: &str, kind: &str, help: &str, samples: &[(&str, f64)]| {
        let model = app.settings.model.replace('\\', "\\\\").replace('"', "\\\"");
        lines.push(format!("# HELP vllm_omni:{name} {help}\n# TYPE vllm_omni:{name} {kind}\n"));
        for (suffix, value) in samples {
            lines.push(format!("vllm_omni:{name}{suffix}{{model_name=\"{model}\"}} {value}\n"));
        }
    };
    family("num_requests_running", "gauge", "Requests being served.", &[("", wide(running as u64))]);
    family("num_requests_waiting", "gauge", "Requests waiting.", &[("", wide(waiting as u64))]);
    family("requests_success_total", "counter", "Requests that succeeded.", &[("", wide(succeeded))]);
    family("requests_failed_total", "counter", "Requests that failed.", &[("", wide(failed))]);
    let latency = [("_sum", wide(count(&tally.latency_us)) / 1e6), ("_count", wide(succeeded))];
    family("e2e_request_latency_s", "summary", "Seconds from arrival to the end.", &latency);
    let denoising = [("_sum", wide(count(&tally.denoising_us)) / 1e6), ("_count", wide(succeeded))];
    family("diffusion_exec_s", "summary", "Seconds of denoising.", &denoising);
    bytes_reply("text/plain; version=0.0.4; charset=utf-8", Bytes::from(lines.concat()))
}

fn wide(count: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a counter far below 2^53")]
    let value = count as f64;
    value
}
