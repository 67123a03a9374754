//! `/v1/chat/completions` for pictures.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::cost::Shape;
use super::fields::{self, Fields};
use super::images::{check_area, json_object};
use super::medium::{Medium, format_name};
use super::random;
use super::reference::{check_inputs, check_pictures, from_data_url};
use super::reply::{Refusal, blank, filled_reply};
use super::state::{App, Made};
use crate::media::ImageFormat;

/// Keys a model takes at the root or under `extra_body`, but not in both.
const DIFFUSION_KEYS: [&str; 27] = [
    "height",
    "width",
    "num_outputs_per_prompt",
    "seed",
    "quality",
    "num_inference_steps",
    "guidance_scale",
    "guidance_scale_2",
    "true_cfg_scale",
    "cfg_scale",
    "num_frames",
    "layers",
    "resolution",
    "size",
    "negative_prompt",
    "lora",
    "modalities",
    "generator_device",
    "strength",
    "bot_task",
    "use_system_prompt",
    "sys_type",
    "system_prompt",
    "return_stage_metrics",
    "fps",
    "flow_shift",
    "extra_args",
];

/// `POST /v1/chat/completions`. The model's name is not compared, and `stream` is answered in one piece.
pub(crate) async fn complete(State(app): State<Arc<App>>, request: Request) -> Result<Response, Refusal> {
    let mut root = json_object(request).await?;
    let arrival_s = app.now_s();
    let (prompt, pictures) = read_messages(root.get("messages"))?;
    let fields = diffusion_fields(&mut root)?;
    let (width, height) = asked_size(&fields, app.profile.defaults.image)?;
    let count = engine_number(&fields, "num_outputs_per_prompt", 1)?;
    let steps = engine_number(&fields, "num_inference_steps", app.profile.defaults.image_steps)?;
    let frames = engine_number(&fields, "num_frames", 1)?;
    let seed = fields.value("seed").and_then(fields::whole);
    check_area(width, height, count)?;
    check_inputs(&app, pictures.len(), 0)?;
    let references = u32::try_from(pictures.len()).unwrap_or(u32::MAX);
    check_pictures(&app, pictures, false).await?;
    let shape = Shape { width, height, steps, frames, outputs: count, references };
    // frames do not fit a message: such a request runs and returns no picture
    let made_count = if frames > 1 { 0 } else { count };
    let medium = Medium::Pictures { format: ImageFormat::Png, width, height, count: made_count, text: true };
    let made = app.make(arrival_s, shape, medium, seed).await?;
    Ok(message(&app, &prompt, made))
}

fn message(app: &App, prompt: &str, made: Made) -> Response {
    let item = |index| {
        let url = format!("data:image/{};base64,{}", format_name(ImageFormat::Png), blank(index));
        json!({
            "type": "image_url", "image_url": {"url": url},
            "stage_durations": made.stage_durations().unwrap_or_else(|| json!({})),
            "peak_memory_mb": made.peak_memory_mb,
        })
    };
    let content = if made.media.is_empty() {
        json!("Generation completed, but it returned no images.")
    } else {
        (0..made.media.len()).map(item).collect()
    };
    let prompt_tokens = prompt.split_whitespace().count();
    let made_at = jiff::Timestamp::now();
    let created = made_at.as_second();
    let id = random::mix(made_at.as_nanosecond().unsigned_abs().try_into().unwrap_or(u64::MAX));
    let body = json!({
        "id": format!("chatcmpl-{id:016x}"), "object": "chat.completion", "created": created,
        "model": app.settings.model,
        "choices": [{
            "index": 0, "message": {"role": "assistant", "content": content},
            "logprobs": null, "finish_reason": "stop", "stop_reason": null,
        }],
        "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": 1, "total_tokens": prompt_tokens + 1},
        "metrics": null,
    });
    filled_reply(&body, made.media)
}

/// The text and the pictures of the last user message. Pictures behind other URLs than data URLs are passed
/// over, as the real server does.
fn read_messages(messages: Option<&Value>) -> Result<(String, Vec<Bytes>), Refusal> {
    let Some(Value::Array(messages)) = messages else {
        return Err(Refusal::field("messages", "messages: Field required"));
    };
    let user = messages.iter().rev().find(|message| message.get("role").and_then(Value::as_str) == Some("user"));
    let parts = match user.and_then(|message| message.get("content")) {
        Some(Value::String(text)) => return Ok((text.clone(), Vec::new())),
        Some(Value::Array(parts)) => parts,
        _ => return Err(Refusal::bad("No text prompt found in messages")),
    };
    let (mut texts, mut pictures) = (Vec::new(), Vec::new());
    for part in parts {
        match part.get("type").and_then(Value::as_str) {
            Some("text") => texts.extend(part.get("text").and_then(Value::as_str)),
            Some("image_url") => {
                let url = part.pointer("/image_url/url").and_then(Value::as_str).unwrap_or_default();
                if url.starts_with("data:image") {
                    pictures.extend(from_data_url(url)?);
                }
            }
            _ => {}
        }
    }
    if texts.is_empty() {
        return Err(Refusal::bad("No text prompt found in messages"));
    }
    Ok((texts.join("\n"), pictures))
}

/// The diffusion keys of the root and of `extra_body` as one.
fn diffusion_fields(root: &mut Map<String, Value>) -> Result<Fields, Refusal> {
    let mut nested = match root.remove("extra_body") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(nested)) => nested,
        Some(_) => return Err(Refusal::field("extra_body", "extra_body: Input should be a valid dictionary")),
    };
    for key in DIFFUSION_KEYS {
        if let Some(value) = root.remove(key) {
            if nested.contains_key(key) {
                return Err(Refusal::field(key, format!("'{key}' was provided more than once")));
            }
            nested.insert(key.to_owned(), value);
        }
    }
    Ok(Fields::new(nested))
}

/// Height and width win over `size`; a size that cannot be read is passed over.
fn asked_size(fields: &Fields, default: (u32, u32)) -> Result<(u32, u32), Refusal> {
    let written = fields.value("size").and_then(Value::as_str).and_then(fields::size);
    let (width, height) = written.filter(|(width, height)| *width > 0 && *height > 0).unwrap_or(default);
    Ok((engine_number(fields, "width", width)?, engine_number(fields, "height", height)?))
}

/// A number the engine gets unchecked: it fails on text and on what is not above 0.
fn engine_number(fields: &Fields, name: &str, default: u32) -> Result<u32, Refusal> {
    match fields.value(name) {
        None => Ok(default),
        Some(value) => value
            .as_u64()
            .and_then(|number| u32::try_from(number).ok())
            .filter(|number| *number > 0)
            .ok_or_else(|| Refusal::internal(format!("the engine cannot take {name} = {value}"))),
    }
}
