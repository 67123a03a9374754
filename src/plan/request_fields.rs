//! Request fields against the endpoint's list: a field that the server would ignore, or read as
//! something else, changes what is measured without anybody noticing.

use indexmap::IndexMap;
use serde_json::Value;

use crate::catalog::{Api, FieldKind, advice, field, fields, is_known_field};
use crate::diagnostic::{KeyPath, Problem, nearest};
use crate::workload::{LARGEST_TEXT_PART, brief, check_link, is_media_column};

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

/// Checks the fields of a profile, whose media were read with the data.
pub(super) fn check_profile(
    api: Api,
    allow_unknown: bool,
    at: &KeyPath,
    fields: &IndexMap<String, Value>,
    problems: &mut Vec<Problem>,
) {
    let fields = fields.iter().filter(|(key, _)| !is_media_column(key));
    let fields = fields.map(|(key, value)| (key.clone(), value.clone())).collect();
    check(api, allow_unknown, at, &fields, problems);
}

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
    if key == "size" && value.as_str() == Some("auto") && api != Api::Edits {
        let message = format!("`size = \"auto\"` means nothing to `{api}`");
        return Some(Problem::value(at.clone(), message).hint("leave the size out for the server's own"));
    }
    if value.is_null() || DATASET_FIELDS.contains(&key) {
        return None;
    }
    if is_media_column(key) && field(api, key).is_none_or(|_| key.starts_with("input_reference")) {
        let message = format!("`{key}` names media, which only rows and profiles can do");
        return Some(Problem::key(at.clone(), message).hint("name it in `profiles` or in the rows of a file"));
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
    if let Some(nested) = value.as_object().filter(|_| api == Api::Chat && key == "extra_body") {
        return nested.iter().find_map(|(key, value)| one(api, allow_unknown, &at.key(key), key, value));
    }
    let wrong = |message: String| Some(Problem::value(at.clone(), message));
    if let Err(message) = check_link(key, value) {
        return wrong(message);
    }
    let length = value.as_str().map_or_else(|| value.to_string().len(), str::len);
    if api.is_multipart() && length > LARGEST_TEXT_PART {
        return wrong(format!("`{key}` has {length} bytes, and servers refuse form fields above {LARGEST_TEXT_PART}"));
    }
    let kind = field(api, key).filter(|_| !TYPED_FIELDS.contains(&key))?.kind;
    if fits(api, kind, value) {
        return None;
    }
    wrong(format!("`{key}` is {} on `{api}`, not `{}`", kind_name(kind), brief(value)))
}

/// Whether a value is what the endpoint reads in its field. A form sends everything as text.
fn fits(api: Api, kind: FieldKind, value: &Value) -> bool {
    let is_form = api.is_multipart();
    match kind {
        FieldKind::Any => true,
        FieldKind::Text => value.is_string() || (is_form && value.is_number()),
        FieldKind::Integer => match value {
            Value::String(text) => is_form && text.parse::<i64>().is_ok(),
            _ => value.is_u64() || value.is_i64() || value.as_f64().is_some_and(|f| f.fract() == 0.0),
        },
        FieldKind::Number => match value {
            Value::String(text) => is_form && text.parse::<f64>().is_ok_and(f64::is_finite),
            _ => value.is_number(),
        },
        FieldKind::Boolean => value.is_boolean() || (is_form && matches!(value.as_str(), Some("true" | "false"))),
        FieldKind::Object => value.is_object() || (is_form && value.as_str().is_some_and(is_object_text)),
        FieldKind::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
    }
}

/// The problem of a field that the endpoint does not read.
pub(super) fn ignored(api: Api, at: &KeyPath, key: &str) -> Problem {
    let known = fields(api).iter().map(|spec| spec.name).chain(["width", "height", "n"]);
    let place = match api {
        Api::Chat => Some("extra_args"),
        Api::Generations | Api::Videos => Some("extra_params"),
        Api::Edits => None,
    };
    let hint = match (advice(api, key), nearest(key, known), place) {
        (Some(advice), ..) => advice.to_owned(),
        (None, Some(near), _) => format!("did you mean `{near}`?"),
        (None, None, Some(place)) => {
            format!("put fields of the model under `{place}`, or set `endpoint.allow_unknown = true`")
        }
        (None, None, None) => "set `endpoint.allow_unknown = true` for a server that reads it".to_owned(),
    };
    Problem::key(at.clone(), format!("`{api}` ignores the field `{key}`")).hint(hint)
}

fn is_object_text(text: &str) -> bool {
    serde_json::from_str::<serde_json::Map<String, Value>>(text).is_ok()
}

fn kind_name(kind: FieldKind) -> String {
    match kind {
        FieldKind::Text => "text".to_owned(),
        FieldKind::Integer => "a whole number".to_owned(),
        FieldKind::Number => "a number".to_owned(),
        FieldKind::Boolean => "true or false".to_owned(),
        FieldKind::Object => "a table".to_owned(),
        FieldKind::OneOf(words) => format!("one of `{}`", words.join("`, `")),
        FieldKind::Any => "any value".to_owned(),
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
    fn fields_that_the_endpoint_calls_otherwise_are_told_by_their_name() {
        let hint = |api, key: &str| found(api, json!({ key: "x" }))[0].hint.clone().unwrap();
        assert_eq!(hint(Api::Edits, "use_system_prompt"), "the field is `sys_type` on this endpoint");
        assert_eq!(hint(Api::Generations, "sys_type"), "the field is `use_system_prompt` on this endpoint");
        assert_eq!(hint(Api::Videos, "extra_args"), "the field is `extra_params` on this endpoint");
        assert_eq!(hint(Api::Generations, "fps"), "pictures have none; videos are made by `/v1/videos`");
        assert_eq!(hint(Api::Edits, "extra_params"), "the endpoint has no place for fields of the model");
        let nested = "only chat reads it; put its fields in its place, or in `endpoint.extra_body`";
        assert_eq!(hint(Api::Generations, "extra_body"), nested);
        assert_eq!(
            hint(Api::Videos, "bot_task").split_once(',').unwrap().0,
            "put fields of the model under `extra_params`"
        );
    }

    #[test]
    fn the_fields_of_each_endpoint_pass() {
        let all = [
            (
                Api::Generations,
                json!({ "bot_task": "think", "system_prompt": "s", "use_system_prompt": "en_vanilla",
                "negative_prompt": "n", "lora": { "name": "a", "scale": 0.5 }, "extra_params": { "a": [1] },
                "output_format": "webp", "flow_shift": 3, "layers": 4, "vae_use_tiling": true }),
            ),
            (
                Api::Edits,
                json!({ "bot_task": "think", "system_prompt": "s", "sys_type": "t", "size": "auto",
                "return_stage_metrics": true, "lora": { "name": "a" }, "resolution": "640", "strength": 0.5,
                "output_compression": 90, "background": "auto", "guidance_scale_2": "1.5" }),
            ),
            (
                Api::Chat,
                json!({ "bot_task": "think", "system_prompt": "s", "sys_type": "t", "use_system_prompt": "any",
                "return_stage_metrics": true, "extra_args": { "a": 1 }, "fps": 7.5, "cfg_scale": 2, "quality": "hd",
                "extra_body": { "seed": 1, "lora": { "name": "a" } } }),
            ),
            (
                Api::Videos,
                json!({ "seconds": "4", "fps": 23.976, "aspect_ratio": "16:9", "short_edge": 480,
                "quality": "high", "lora": "{\"name\": \"a\"}", "generate_sound": "true", "boundary_ratio": 0.9,
                "frame_interpolation_exp": 1, "extra_params": "{\"task\":\"t2va\",\"duration\":8.7}" }),
            ),
        ];
        for (api, fields) in all {
            assert_eq!(found(api, fields), [], "{api}");
        }
    }

    #[test]
    fn values_that_a_server_would_read_as_something_else_are_refused() {
        let told = |api, fields| found(api, fields).remove(0).message;
        assert_eq!(
            told(Api::Generations, json!({ "output_format": "tiff" })),
            "`output_format` is one of `png`, `jpeg`, `jpg`, `webp` on `/v1/images/generations`, not `tiff`"
        );
        let auto = "`size = \"auto\"` means nothing to `/v1/chat/completions`";
        assert_eq!(told(Api::Chat, json!({ "size": "auto" })), auto);
        let text = "`extra_params` is a table on `/v1/images/generations`, not `{\"a\": 1}`";
        assert_eq!(told(Api::Generations, json!({ "extra_params": "{\"a\": 1}" })), text);
        let nested = told(Api::Chat, json!({ "extra_body": { "guardrails": false } }));
        assert_eq!(nested, "`/v1/chat/completions` ignores the field `guardrails`");
        let long = json!({ "user": "x".repeat(LARGEST_TEXT_PART + 1) });
        assert_eq!(told(Api::Videos, long), "`user` has 1048577 bytes, and servers refuse form fields above 1048576");
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
    fn link_fields_are_checked_and_files_have_no_place_among_the_fields() {
        let told = |api, fields| {
            found(api, fields).into_iter().map(|problem| (problem.message, problem.hint)).collect::<Vec<_>>()
        };
        assert_eq!(told(Api::Videos, json!({ "image_reference": { "image_url": "http://x" } })), []);
        assert_eq!(told(Api::Videos, json!({ "audio_reference": "{\"audio_url\": \"http://x\"}" })), []);
        let file_id = told(Api::Videos, json!({ "video_reference": { "file_id": "f" } }));
        assert!(file_id[0].0.starts_with("`video_reference` must be {\"video_url\": \"…\"}"), "{file_id:?}");
        assert!(file_id[0].0.ends_with("servers do not know `file_id`"), "{file_id:?}");
        let hint = Some("name it in `profiles` or in the rows of a file".to_owned());
        for key in ["input_reference", "image_path", "video_paths"] {
            let message = format!("`{key}` names media, which only rows and profiles can do");
            assert_eq!(told(Api::Videos, json!({ key: "ref.png" })), [(message, hint.clone())]);
        }
        let elsewhere = told(Api::Edits, json!({ "image_reference": { "image_url": "http://x" } }));
        assert_eq!(elsewhere[0].0, "`image_reference` names media, which only rows and profiles can do");
    }

    #[test]
    fn streaming_is_a_setting() {
        let problems = found(Api::Edits, json!({ "stream": true }));
        assert_eq!(problems[0].message, "`stream` cannot be set as a request field");
        assert_eq!(problems[0].hint.as_deref(), Some("streaming is `endpoint.stream`"));
    }
}
