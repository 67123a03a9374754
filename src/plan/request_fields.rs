//! Request fields against the endpoint's list: a field that the server would ignore, or read as
//! something else, changes what is measured without anybody noticing.

use indexmap::IndexMap;
use serde_json::Value;

use super::unbuilt;
use crate::catalog::{Api, FieldKind, field, fields, is_known_field};
use crate::diagnostic::{KeyPath, Problem, nearest};
use crate::workload::brief;

/// Fields that omni-bench sets itself.
const OWN_FIELDS: [(&str, &str); 3] = [
    ("model", "the model is `model.id`"),
    ("messages", "messages are made from the prompt"),
    ("stream", "streaming is `endpoint.stream`"),
];

/// Fields that a dataset may carry and that are not sent as they are.
const DATASET_FIELDS: [&str; 4] = ["slo_ms", "num_outputs_per_prompt", "size", "prompt"];

/// Fields whose type is already checked when they are read.
const TYPED_FIELDS: [&str; 8] =
    ["width", "height", "num_inference_steps", "num_frames", "fps", "negative_prompt", "n", "seed"];

/// Checks a table of fields as written; `at` is the table's place.
pub(super) fn check(
    api: Api,
    allow_unknown: bool,
    at: &KeyPath,
    table: &IndexMap<String, Value>,
    problems: &mut Vec<Problem>,
) {
    for (key, value) in table {
        let problem = one(api, allow_unknown, &at.key(key), key, value);
        // several variants use the same dataset
        problems.extend(problem.filter(|problem| !problems.contains(problem)));
    }
}

/// What is wrong with one field, if anything.
pub(super) fn one(api: Api, allow_unknown: bool, at: &KeyPath, key: &str, value: &Value) -> Option<Problem> {
    if value.is_null() || DATASET_FIELDS.contains(&key) {
        return None;
    }
    if let Some(problem) = unbuilt::request_field(at, key) {
        return Some(problem);
    }
    if let Some((_, hint)) = OWN_FIELDS.iter().find(|(own, _)| *own == key) {
        return Some(Problem::key(at.clone(), format!("`{key}` cannot be set as a request field")).hint(*hint));
    }
    if key == "response_format" && value.as_str() != Some("b64_json") {
        let message = format!("`response_format = \"{}\"` would leave nothing to check in the reply", brief(value));
        return Some(Problem::value(at.clone(), message).hint("write `b64_json`, or leave it out"));
    }
    if !is_known_field(api, key) {
        return (!allow_unknown).then(|| ignored(api, at, key));
    }
    let kind = field(api, key).filter(|_| !TYPED_FIELDS.contains(&key))?.kind;
    let fits = match kind {
        FieldKind::Any => true,
        // a form sends numbers as text anyway
        FieldKind::Text => value.is_string() || (api.is_multipart() && value.is_number()),
        FieldKind::Integer => value.is_u64() || value.is_i64() || value.as_f64().is_some_and(|f| f.fract() == 0.0),
        FieldKind::Number => value.is_number(),
        FieldKind::Boolean => value.is_boolean(),
        FieldKind::Object => value.is_object() || value.as_str().is_some_and(is_object_text),
    };
    (!fits).then(|| {
        let message = format!("`{key}` is {} on `{api}`, not `{}`", kind_name(kind), brief(value));
        Problem::value(at.clone(), message)
    })
}

/// The problem of a field that the endpoint does not read.
pub(super) fn ignored(api: Api, at: &KeyPath, key: &str) -> Problem {
    let known = fields(api).iter().map(|spec| spec.name).chain(["width", "height", "n"]);
    let place = match api {
        Api::Chat => Some("extra_args"),
        Api::Generations | Api::Videos => Some("extra_params"),
        Api::Edits => None,
    };
    let hint = match (nearest(key, known), place) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, Some(place)) if !matches!(key, "num_frames" | "fps") => {
            format!("put fields of the model under `{place}`, or set `endpoint.allow_unknown = true`")
        }
        (None, _) => "set `endpoint.allow_unknown = true` for a server that reads it".to_owned(),
    };
    Problem::key(at.clone(), format!("`{api}` ignores the field `{key}`")).hint(hint)
}

fn is_object_text(text: &str) -> bool {
    serde_json::from_str::<serde_json::Map<String, Value>>(text).is_ok()
}

const fn kind_name(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Text => "text",
        FieldKind::Integer => "a whole number",
        FieldKind::Number => "a number",
        FieldKind::Boolean => "true or false",
        FieldKind::Object => "a table",
        FieldKind::Any => "any value",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(api: Api, table: Value) -> Vec<Problem> {
        let mut problems = Vec::new();
        let table: IndexMap<String, Value> = serde_json::from_value(table).unwrap();
        check(api, false, &"endpoint.extra_body".into(), &table, &mut problems);
        problems
    }

    #[test]
    fn the_real_cosmos_entries_send_three_fields_that_no_one_reads() {
        let extra = json!({
            "guidance_scale": 6.0, "flow_shift": 10.0, "max_sequence_length": 4096, "guardrails": false,
            "condition_frame_indexes_vision": [0, 1]
        });
        let problems = found(Api::Videos, extra);
        let keys: Vec<String> = problems.iter().map(|problem| problem.path.to_string()).collect();
        assert_eq!(
            keys,
            ["max_sequence_length", "guardrails", "condition_frame_indexes_vision"]
                .map(|key| format!("endpoint.extra_body.{key}"))
        );
        assert_eq!(
            problems[1].hint.as_deref(),
            Some("put fields of the model under `extra_params`, or set `endpoint.allow_unknown = true`")
        );
        let moved = json!({
            "guidance_scale": 6.0, "extra_params": { "max_sequence_length": 4096, "guardrails": false }
        });
        assert_eq!(found(Api::Videos, moved), []);
        assert_eq!(found(Api::Videos, json!({ "extra_params": "{\"a\": 1}" })), []);
    }

    #[test]
    fn mistyped_fields_offer_the_nearest_one() {
        let problems = found(Api::Generations, json!({ "hieght": 512 }));
        assert_eq!(problems[0].message, "`/v1/images/generations` ignores the field `hieght`");
        assert_eq!(problems[0].hint.as_deref(), Some("did you mean `height`?"));
    }

    #[test]
    fn wrong_kinds_and_fields_with_a_home_of_their_own_are_told() {
        let problems = found(
            Api::Generations,
            json!({
                "guidance_scale": "high", "lora": [1], "layers": 2.5, "vae_use_tiling": "yes", "model": "m",
                "response_format": "url", "num_frames": 33, "guardrails": null
            }),
        );
        let told: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!(
            told,
            [
                "`guidance_scale` is a number on `/v1/images/generations`, not `high`",
                "`lora` is a table on `/v1/images/generations`, not `[1]`",
                "`layers` is a whole number on `/v1/images/generations`, not `2.5`",
                "`vae_use_tiling` is true or false on `/v1/images/generations`, not `yes`",
                "`model` cannot be set as a request field",
                "`response_format = \"url\"` would leave nothing to check in the reply",
                "`/v1/images/generations` ignores the field `num_frames`",
            ]
        );
    }

    #[test]
    fn references_are_refused_by_name_and_streaming_is_a_setting() {
        let problems = found(Api::Videos, json!({ "image_reference": { "image_url": "http://x" } }));
        assert_eq!(problems[0].message, "`image_reference` is not available in this version");
        let problems = found(Api::Edits, json!({ "stream": true }));
        assert_eq!(problems[0].message, "`stream` cannot be set as a request field");
        assert_eq!(problems[0].hint.as_deref(), Some("streaming is `endpoint.stream`"));
    }
}
