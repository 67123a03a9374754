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

/// Prometheus text with the families of vLLM-Omni; times are modelled seconds. The gauges are the
/// scheduler's: a request is in them from when the engine has it until it is made.
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Response {
    let (running, waiting) = app.load();
    let tally = app.tally();
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let (succeeded, failed) = (count(&tally.succeeded), count(&tally.failed));
    let model = app.settings.model.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let mut lines = Vec::new();
    let mut family = |name: &str, kind: &str, help: &str, samples: &[(&str, f64)]| {
        lines.push(format!("# HELP vllm_omni:{name} {help}\n# TYPE vllm_omni:{name} {kind}\n"));
        for (suffix, value) in samples {
            lines.push(format!("vllm_omni:{name}{suffix}{{model_name=\"{model}\"}} {value}\n"));
        }
    };
    family("num_requests_running", "gauge", "Requests being served.", &[("", wide(running))]);
    family("num_requests_waiting", "gauge", "Requests waiting.", &[("", wide(waiting))]);
    family("requests_success_total", "counter", "Requests that succeeded.", &[("", wide(succeeded))]);
    family("requests_failed_total", "counter", "Requests that failed.", &[("", wide(failed))]);
    let times = [
        ("e2e_request_latency_s", "Seconds from arrival to the end.", &tally.latency_us),
        ("diffusion_preprocess_s", "Seconds of encoding the prompt.", &tally.encoding_us),
        ("diffusion_exec_s", "Seconds of denoising.", &tally.denoising_us),
        ("diffusion_exec_per_step_s", "Seconds of a denoising step, by request.", &tally.step_us),
        ("diffusion_postprocess_s", "Seconds of decoding.", &tally.decoding_us),
    ];
    for (name, help, sum_us) in times {
        let samples = [("_sum", wide(count(sum_us)) / 1e6), ("_count", wide(succeeded))];
        family(name, "summary", help, &samples);
    }
    bytes_reply("text/plain; version=0.0.4; charset=utf-8", Bytes::from(lines.concat()))
}

fn wide(count: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a counter far below 2^53")]
    let value = count as f64;
    value
}
