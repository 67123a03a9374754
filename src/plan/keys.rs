//! The hashes of a plan. Each names what it covers in a versioned prefix; URL, labels, polling and
//! repeat are in none of the keys.

use std::io::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use super::serve::Layout;
use super::types::{EndpointPlan, Plan, Point, TrafficPlan, WarmupPlan};
use crate::catalog::Task;
use crate::workload::short_hash;

/// What every run of a dataset against an endpoint asks for: model, task, endpoint, the fields of
/// every request and the dataset's own hash.
pub(super) fn request_base(model: &str, task: Task, endpoint: &EndpointPlan, dataset_hash: &str) -> String {
    short_hash(
        "omni-bench requests v1",
        &json!({
            "model": model,
            "task": task,
            "path": endpoint.api.path(),
            "fields": endpoint.extra_body,
            "bot_task": endpoint.bot_task,
            "return_stage_metrics": endpoint.return_stage_metrics,
            "stream": endpoint.stream,
            "sync_video": endpoint.sync_video,
            "dataset": dataset_hash,
        }),
    )
}

/// What is asked: the requests, how they arrive, and what warms the server up.
pub(super) fn workload_key(base: &str, traffic: &TrafficPlan, point: Point, warmup: &WarmupPlan) -> String {
    short_hash(
        "omni-bench workload v1",
        &json!({
            "requests": base,
            "traffic": value(traffic),
            "point": value(&point),
            "warmup": [
                json!(warmup.requests),
                json!(warmup.concurrency),
                json!(warmup.num_inference_steps),
                json!(warmup.num_frames),
            ],
        }),
    )
}

/// Who answers: the layout, the serve arguments and the GPUs. An argument or switch that is off makes
/// no flag, and so does not count; how a list is written counts where it is not the usual way.
pub(super) fn config_key(layout: &Layout) -> String {
    let Layout { parallel, serve_args, serve_lists, gpus } = layout;
    let on = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
    let parallel: Value = match value(parallel) {
        Value::Object(map) => map.into_iter().filter(|(_, value)| on(value)).collect(),
        other => other,
    };
    let serve_args: serde_json::Map<String, Value> =
        serve_args.iter().filter(|(_, value)| on(value)).map(|(key, value)| (key.clone(), value.clone())).collect();
    let mut who = json!({ "parallel": parallel, "serve_args": serve_args, "gpus": gpus });
    if let (false, Some(who)) = (serve_lists.is_empty(), who.as_object_mut()) {
        who.insert("serve_lists".into(), value(serve_lists));
    }
    short_hash("omni-bench configuration v1", &who)
}

/// What is asked and who answers.
pub(super) fn run_key(workload: &str, config: &str) -> String {
    short_hash("omni-bench run v1", &json!([workload, config]))
}

/// The hash of a whole plan, 64 hex digits. Estimates are left out: they are no part of what is done.
/// `None` when the plan cannot be written as JSON.
pub(super) fn plan_hash(plan: &Plan) -> Option<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"omni-bench plan v1\n");
    let mut out = std::io::BufWriter::with_capacity(1 << 16, &mut hasher);
    serde_json::to_writer(&mut out, plan).ok()?;
    out.flush().ok()?;
    drop(out);
    Some(hasher.finalize().to_hex().to_string())
}

fn value(part: &impl Serialize) -> Value {
    // plain data always has a JSON form
    serde_json::to_value(part).unwrap_or_default()
}
