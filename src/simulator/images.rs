//! `/v1/images/generations` and `/v1/images/edits`.

use std::sync::Arc;

use axum::extract::{FromRequest, Request, State};
use axum::response::Response;
use bytes::Bytes;
use http::{StatusCode, header};
use serde_json::{Map, Value, json};

use super::cost::Shape;
use super::fields::{self, Fields};
use super::form::Form;
use super::medium::{Medium, content_type, format_asked, format_name};
use super::reference::{check_pictures, from_url};
use super::reply::{Refusal, blank, bytes_reply, filled_reply};
use super::state::{App, Made};
use super::zip;
use crate::media::{ImageFormat, ImageInfo};

/// Most pixels of one request; a real server has a limit of its own (`max-generated-image-size`).
const MAX_PIXELS: u64 = 8192 * 8192;
/// WebP knows no longer side.
const MAX_SIDE: u32 = 16_383;
/// Most pictures of one request where the endpoint itself sets no bound.
const MAX_COUNT: u32 = 1000;
/// Most reference pictures of one request.
const MAX_REFERENCES: usize = 16;
const SYSTEM_PROMPTS: [&str; 6] =
    ["dynamic", "en_vanilla", "en_recaption", "en_think_recaption", "en_unified", "custom"];

/// Reads a JSON object.
///
/// # Errors
/// 400 for another content type or for something that is no JSON object.
pub(crate) async fn json_object(request: Request) -> Result<Map<String, Value>, Refusal> {
    let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = content_type.and_then(|text| text.split(';').next()).map(str::trim);
    if !media_type.is_some_and(|text| text.eq_ignore_ascii_case("application/json")) {
        return Err(Refusal::bad("Unsupported Media Type: Only 'application/json' is allowed"));
    }
    let body =
        Bytes::from_request(request, &()).await.map_err(|error| Refusal::new(error.status(), error.body_text()))?;
    match serde_json::from_slice(&body) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(Refusal::bad("body: Input should be a valid dictionary or object")),
        Err(error) => Err(Refusal::bad(format!("JSON decode error: {error}"))),
    }
}

/// Refuses what would not fit the simulator's memory.
pub(crate) fn check_area(width: u32, height: u32, count: u32) -> Result<(), Refusal> {
    let pixels = u64::from(width) * u64::from(height) * u64::from(count.max(1));
    if width > MAX_SIDE || height > MAX_SIDE || count > MAX_COUNT || pixels > MAX_PIXELS {
        return Err(Refusal::field(
            "size",
            format!("size: {count} of {width}x{height} exceed the maximum generated image size"),
        ));
    }
    Ok(())
}

/// `POST /v1/images/generations`.
pub(crate) async fn generate(State(app): State<Arc<App>>, request: Request) -> Result<Response, Refusal> {
    let fields = Fields::new(json_object(request).await?);
    let arrival_s = app.now_s();
    fields.required("prompt")?;
    app.check_model(&fields)?;
    let count = fields.count("n", 1..=10)?.unwrap_or(1);
    let size_text = fields.text("size")?;
    let (width, height) = match size_text {
        None => app.profile.defaults.image,
        Some(text) => fields::size(text)
            .filter(|(width, height)| *width > 0 && *height > 0)
            .ok_or_else(|| Refusal::field("size", format!("size: '{text}' is not WIDTHxHEIGHT, like 1024x1024")))?,
    };
    let as_file = match fields.text("response_format")? {
        None | Some("b64_json") => false,
        Some("file") => true,
        Some(other) => {
            let message = format!("response_format: '{other}' is not supported; use 'b64_json' or 'file'");
            return Err(Refusal::field("response_format", message));
        }
    };
    let steps = fields.count("num_inference_steps", 1..=200)?.unwrap_or(app.profile.defaults.image_steps);
    check_generation_extras(&fields)?;
    check_area(width, height, count)?;
    let seed = fields.integer("seed", i64::MIN..=i64::MAX)?;
    let format = format_asked(fields.text("output_format")?);
    let shape = Shape { width, height, steps, frames: 1, outputs: count, references: 0 };
    let medium = Medium::Pictures { format, width, height, count, text: !as_file };
    let made = app.make(arrival_s, shape, medium, seed).await?;
    if as_file {
        return Ok(file_reply(format, made.media));
    }
    let metrics = json!({"stage_durations": made.stage_durations(), "peak_memory_mb": made.peak_memory_mb});
    Ok(pictures_reply(format, &json!(size_text), &metrics, made))
}

/// Fields that are checked and change nothing.
fn check_generation_extras(fields: &Fields) -> Result<(), Refusal> {
    fields.count("layers", 2..=10)?;
    for scale in ["guidance_scale", "true_cfg_scale"] {
        fields.number(scale, 0.0..=20.0)?;
    }
    fields.number("flow_shift", f64::MIN..=f64::MAX)?;
    for object in ["extra_params", "lora"] {
        fields.object(object)?;
    }
    for text in ["user", "negative_prompt", "system_prompt", "generator_device", "bot_task"] {
        fields.text(text)?;
    }
    for switch in ["vae_use_slicing", "vae_use_tiling"] {
        fields.switch(switch)?;
    }
    match fields.text("use_system_prompt")? {
        Some(other) if !SYSTEM_PROMPTS.contains(&other) => {
            let message = format!("use_system_prompt: Input should be one of {}", SYSTEM_PROMPTS.join(", "));
            Err(Refusal::field("use_system_prompt", message))
        }
        _ => Ok(()),
    }
}

/// One picture as it is, several as a ZIP archive.
fn file_reply(format: ImageFormat, mut media: Vec<Bytes>) -> Response {
    if media.len() == 1
        && let Some(picture) = media.pop()
    {
        return bytes_reply(content_type(format), picture);
    }
    let name = |(index, picture): (usize, Bytes)| (format!("image_{index}.{}", format_name(format)), picture);
    bytes_reply("application/zip", zip::stored(media.into_iter().enumerate().map(name)))
}

fn pictures_reply(format: ImageFormat, size: &Value, metrics: &Value, made: Made) -> Response {
    let data: Vec<Value> = (0..made.media.len())
        .map(|index| json!({"b64_json": blank(index), "url": null, "revised_prompt": null}))
        .collect();
    let body = json!({
        "created": jiff::Timestamp::now().as_second(), "data": data, "output_format": format_name(format),
        "size": size, "cot_output": null, "metrics": metrics,
    });
    filled_reply(&body, made.media)
}

/// `POST /v1/images/edits`.
pub(crate) async fn edit(State(app): State<Arc<App>>, request: Request) -> Result<Response, Refusal> {
    let form = Form::read(request, false).await?;
    let arrival_s = app.now_s();
    let fields = &form.fields;
    fields.required("prompt")?;
    app.check_model(fields)?;
    let references = edit_references(&form)?;
    let count = fields.integer("n", i64::MIN..=i64::MAX)?.unwrap_or(1);
    let count = u32::try_from(count.max(0)).unwrap_or(u32::MAX);
    check_edit_extras(fields)?;
    let target = Target::asked(fields)?;
    let steps = match fields.integer("num_inference_steps", i64::MIN..=i64::MAX)? {
        None => app.profile.defaults.image_steps,
        // the endpoint bounds nothing; the engine fails on a number it cannot take
        Some(steps) => u32::try_from(steps)
            .ok()
            .filter(|steps| *steps > 0)
            .ok_or_else(|| Refusal::internal(format!("the engine cannot take {steps} inference steps")))?,
    };
    let seed = fields.integer("seed", i64::MIN..=i64::MAX)?;
    let format = format_asked(fields.text("output_format")?);
    let given = u32::try_from(references.len()).unwrap_or(u32::MAX);
    let first = check_pictures(&app, references, !matches!(target, Target::Size(..))).await?;
    let (width, height) = target.resolve(first.as_ref()).unwrap_or(app.profile.defaults.image);
    check_area(width, height, count)?;
    let shape = Shape { width, height, steps, frames: 1, outputs: count, references: given };
    let medium = Medium::Pictures { format, width, height, count, text: true };
    let made = app.make(arrival_s, shape, medium, seed).await?;
    Ok(pictures_reply(format, &json!(format!("{width}x{height}")), &Value::Null, made))
}

/// Files and URLs add up, files first; the plain name hides the one with brackets.
fn edit_references(form: &Form) -> Result<Vec<Bytes>, Refusal> {
    let mut files = form.files("image");
    if files.is_empty() {
        files = form.files("image[]");
    }
    let mut urls = form.texts("url");
    if urls.is_empty() {
        urls = form.texts("url[]");
    }
    for url in urls {
        files.push(from_url(url)?);
    }
    match files.len() {
        0 => Err(Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "Field 'image' or 'url' is required")),
        1..=MAX_REFERENCES => Ok(files),
        many => Err(Refusal::bad(format!("{many} input images are too many; at most {MAX_REFERENCES} are supported"))),
    }
}

fn check_edit_extras(fields: &Fields) -> Result<(), Refusal> {
    match fields.text("response_format")? {
        None | Some("b64_json") => {}
        Some(other) => {
            return Err(Refusal::bad(format!("response_format '{other}' is not supported; use 'b64_json'")));
        }
    }
    if fields.switch("stream")? {
        return Err(Refusal::bad("stream=true needs a pipeline of more than one stage"));
    }
    fields.integer("output_compression", 0..=100)?;
    fields.count("layers", 2..=10)?;
    fields.object_text("lora")?;
    for number in ["guidance_scale", "guidance_scale_2", "true_cfg_scale", "strength"] {
        fields.number(number, f64::MIN..=f64::MAX)?;
    }
    fields.switch("return_stage_metrics").map(|_| ())
}

/// What decides the size of an edited picture.
enum Target {
    Size(u32, u32),
    /// As large as the first reference.
    Auto,
    /// The first reference's proportions on an area of this side squared.
    Resolution(u32),
}

impl Target {
    fn asked(fields: &Fields) -> Result<Self, Refusal> {
        let size = fields.text("size")?.filter(|text| *text != "auto");
        let resolution = match fields.integer("resolution", i64::MIN..=i64::MAX)? {
            None => None,
            Some(640) => Some(640),
            Some(1024) => Some(1024),
            Some(other) => return Err(Refusal::bad(format!("resolution must be 640 or 1024, not {other}"))),
        };
        match (size, resolution) {
            (Some(_), Some(_)) => Err(Refusal::bad("resolution cannot be combined with a size")),
            (Some(text), None) => fields::size(text)
                .filter(|(width, height)| *width > 0 && *height > 0)
                .map(|(width, height)| Self::Size(width, height))
                .ok_or_else(|| Refusal::bad(format!("size '{text}' is neither 'auto' nor WIDTHxHEIGHT"))),
            (None, Some(root)) => Ok(Self::Resolution(root)),
            (None, None) => Ok(Self::Auto),
        }
    }

    fn resolve(&self, first: Option<&ImageInfo>) -> Option<(u32, u32)> {
        match *self {
            Self::Size(width, height) => Some((width, height)),
            Self::Auto => first.map(|info| (info.width, info.height)),
            Self::Resolution(side) => first.map(|info| {
                let stretch = (f64::from(info.width) / f64::from(info.height.max(1))).sqrt();
                (in_tiles(f64::from(side) * stretch), in_tiles(f64::from(side) / stretch))
            }),
        }
    }
}

/// The nearest multiple of 32 from 32 up, as the latent grid wants.
fn in_tiles(side: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded on both sides")]
    let tiles = (side / 32.0).round().clamp(1.0, 1024.0) as u32;
    tiles * 32
}
