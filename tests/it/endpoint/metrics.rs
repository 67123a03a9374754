//! Cases C38 and C39: where stage times and memory live.

use std::collections::BTreeMap;

use omni_bench::catalog::{Api, Task};
use omni_bench::endpoint::{JobReader, Judge, Reply, Verdict};
use serde_json::{Value, json};

use super::video::clip;
use super::{PNG_1X1, judge, ok_reply, request, wire};

fn images(extra: &Value, item: &Value) -> Verdict {
    let mut item = item.clone();
    item["b64_json"] = json!(PNG_1X1);
    let mut root = extra.clone();
    root["data"] = json!([item]);
    judge(&wire(Api::Generations, Task::T2i), &request(Task::T2i), &root.to_string())
}

fn chat(extra: &Value, item: &Value) -> Verdict {
    let mut item = item.clone();
    item["image_url"] = json!({"url": format!("data:image/png;base64,{PNG_1X1}")});
    let mut root = extra.clone();
    root["choices"] = json!([{"message": {"content": [item]}}]);
    judge(&wire(Api::Chat, Task::T2i), &request(Task::T2i), &root.to_string())
}

fn told(verdict: &Verdict) -> (Option<f64>, Option<f64>) {
    assert_eq!(verdict.error, None);
    (verdict.peak_memory_mb, verdict.generation_ms)
}

#[test]
fn memory_and_stage_times_are_found_in_every_place() {
    let facts = json!({"stage_durations": {"stage_0_gen_ms": 12.5}, "peak_memory_mb": 100.0});
    let wanted = (Some(100.0), Some(12.5));
    let none = json!({});
    assert_eq!(told(&images(&json!({"metrics": facts}), &none)), wanted, "a");
    assert_eq!(told(&images(&none, &facts)), wanted, "b");
    assert_eq!(told(&chat(&none, &facts)), wanted, "c");
    assert_eq!(told(&chat(&json!({"metrics": facts}), &none)), wanted, "d");
    assert_eq!(told(&images(&facts, &none)), wanted, "top level");

    let mut job = facts.clone();
    (job["id"], job["status"]) = (json!("v"), json!("completed"));
    let mut reader = JobReader::new(&ok_reply("application/json"));
    reader.feed(job.to_string().as_bytes());
    let job = reader.finish().unwrap();
    assert_eq!((job.peak_memory_mb, job.stage_ms["stage_0_gen_ms"]), (Some(100.0), 12.5), "e");

    let headers = [("x-stage-durations", r#"{"stage_0_gen_ms":12.5}"#), ("x-peak-memory-mb", "100.000")];
    let headers: BTreeMap<_, _> = headers.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let reply = Reply { headers, ..ok_reply("video/mp4") };
    let mut sync = Judge::content(&wire(Api::Videos, Task::T2v), &request(Task::T2v), None, &reply, None);
    sync.feed(&clip());
    assert_eq!(told(&sync.finish()), wanted, "f");

    assert_eq!(told(&images(&json!({"usage": {"peak_memory_mb": 100.0}}), &none)).0, Some(100.0), "g");
}

#[test]
fn a_conflict_is_settled_by_the_request_for_stages_and_the_maximum_for_memory() {
    let item = json!({"stage_durations": {"stage_0_gen_ms": 99.0}, "peak_memory_mb": 120.0});
    let top = json!({"stage_durations": {"stage_0_gen_ms": 12.5}, "peak_memory_mb": 100.0});
    assert_eq!(told(&images(&top, &item)), (Some(120.0), Some(12.5)));
}

#[test]
fn what_is_not_measured_is_absent() {
    let memory = |value: Value| images(&json!({"metrics": {"peak_memory_mb": value}}), &json!({})).peak_memory_mb;
    let read: Vec<Option<f64>> =
        [json!(1000.0), json!(null), json!(0.0), json!("1200"), json!(1100)].into_iter().map(memory).collect();
    assert_eq!(read, [Some(1000.0), None, None, None, Some(1100.0)]);
    assert_eq!(told(&images(&json!({"metrics": null}), &json!({}))), (None, None));
}

#[test]
fn stage_times_are_milliseconds_whatever_the_server_counts_in() {
    let stages = json!({"queue_wait_ms": 3.5, "diffuse": 1.25, "vae.decode": 0, "stage_0_gen_ms": 7, "stage_1_gen_ms": 9.5,
        "text": "x", "none": null, "negative": -1});
    let verdict = images(&json!({"metrics": {"stage_durations": stages}}), &json!({}));
    let wanted = [
        ("diffuse", 1250.0),
        ("queue_wait_ms", 3.5),
        ("stage_0_gen_ms", 7.0),
        ("stage_1_gen_ms", 9.5),
        ("vae.decode", 0.0),
    ];
    assert_eq!(verdict.stage_ms, wanted.into_iter().map(|(name, ms)| (name.to_owned(), ms)).collect());
    assert_eq!(verdict.generation_ms, Some(9.5));
}

/// What a multi-stage server tells through chat when `return_stage_metrics` is set.
fn multi_stage() -> Value {
    json!({"stage_metrics": {
        "0": {"stage_id": 0, "stage_name": "ar", "final_output_type": "text", "num_tokens_out": 90, "stage_gen_time_ms": 800.0},
        "1": {"stage_id": 1, "stage_name": "dit", "final_output_type": "image", "stage_gen_time_ms": 2731.96,
              "denoise_step_latency_ms": 136.598, "output_unit_type": "image", "output_unit_count": 4,
              "image_pixels": 4_194_304, "postprocess_time_ms": 3.0},
    }, "stage_id": 1, "final_output_type": "image", "stage_durations": null, "peak_memory_mb": 58832})
}

#[test]
fn stage_metrics_stand_in_where_no_durations_are_told() {
    let verdict = chat(&json!({"metrics": multi_stage()}), &json!({}));
    assert_eq!(told(&verdict), (Some(58832.0), Some(2731.96)), "the stage that makes the picture");
    let wanted = [("stage_0_gen_ms", 800.0), ("stage_1_denoise_step_latency_ms", 136.598), ("stage_1_gen_ms", 2731.96)];
    assert_eq!(verdict.stage_ms, wanted.into_iter().map(|(name, ms)| (name.to_owned(), ms)).collect());
    assert_eq!(verdict.outputs.len(), 1, "outputs are counted from the bytes, not from `output_unit_count`");
    assert_eq!(verdict.flags, []);
}

#[test]
fn durations_win_over_stage_metrics() {
    let mut metrics = multi_stage();
    metrics["stage_durations"] = json!({"stage_1_gen_ms": 12.5});
    let top = chat(&json!({"metrics": metrics}), &json!({}));
    let item = chat(&json!({"metrics": multi_stage()}), &json!({"stage_durations": {"stage_1_gen_ms": 12.5}}));
    for verdict in [top, item] {
        assert_eq!(verdict.generation_ms, Some(12.5));
        assert_eq!((verdict.stage_ms["stage_1_gen_ms"], verdict.stage_ms.get("stage_0_gen_ms")), (12.5, None));
        assert_eq!(verdict.stage_ms.get("stage_1_denoise_step_latency_ms"), Some(&136.598), "durations do not tell it");
    }
}

#[test]
fn several_picture_stages_add_up_and_without_one_the_longest_counts() {
    let stage = |kind: &str, ms: f64| json!({"output_unit_type": kind, "stage_gen_time_ms": ms});
    let generation = |stages: Value| chat(&json!({"metrics": {"stage_metrics": stages}}), &json!({})).generation_ms;
    assert_eq!(generation(json!([stage("token", 5000.0), stage("image", 100.0), stage("image", 50.0)])), Some(150.0));
    assert_eq!(generation(json!({"a": stage("token", 30.0), "b": stage("latent", 70.0)})), Some(70.0));
    assert_eq!(generation(json!({"a": {"stage_gen_time_ms": 0.0}, "b": null})), None);
    assert_eq!(generation(json!("none")), None);
}
