//! What a video form asks for.

use bytes::Bytes;
use http::Request;
use serde_json::Value;

use super::cost::{Defaults, Shape};
use super::fields::{self, Fields};
use super::form::Form;
use super::medium::Medium;
use super::reference::{check_inputs, check_pictures, check_videos, is_video, listed};
use super::reply::Refusal;
use super::state::App;

/// Frames per second when a request says none.
const DEFAULT_FPS: u32 = 24;
/// Bounds that keep the encoder within memory.
const MAX_PIXELS: u64 = 1 << 25;
const MAX_FRAMES: u32 = 100_000;

/// A checked request for a video.
#[derive(Debug, Clone)]
pub(crate) struct VideoAsk {
    pub(crate) prompt: String,
    /// The `size` text, echoed.
    pub(crate) size: Option<String>,
    /// The `seconds` text, echoed; it is not the real length.
    pub(crate) seconds: String,
    pub(crate) quality: String,
    pub(crate) shape: Shape,
    pub(crate) medium: Medium,
    pub(crate) seed: Option<i64>,
    /// When the form was read, in modelled seconds.
    pub(crate) arrival_s: f64,
}

impl VideoAsk {
    /// Reads and checks a form.
    ///
    /// # Errors
    /// 400 for a field out of bounds, references that exclude each other, or one that cannot be decoded.
    pub(crate) async fn read(app: &App, request: Request<axum::body::Body>) -> Result<Self, Refusal> {
        let form = Form::read(request, true).await?;
        let arrival_s = app.now_s();
        let fields = &form.fields;
        let prompt = fields.required("prompt")?.to_owned();
        app.check_model(fields)?;
        check_extras(fields)?;
        let size = fields.text("size")?.map(str::to_owned);
        let (shape, fps, frames) = asked_shape(fields, size.as_deref(), app.profile.defaults)?;
        let (pictures, videos) = references(&form)?;
        check_inputs(app, pictures.len(), videos.len())?;
        check_videos(app, videos).await?;
        check_pictures(app, pictures, false).await?;
        Ok(Self {
            prompt,
            size,
            seconds: fields.text("seconds")?.unwrap_or("4").to_owned(),
            quality: fields.text("quality")?.unwrap_or("default").to_owned(),
            shape,
            medium: Medium::Video { width: shape.width, height: shape.height, frames, fps },
            seed: fields.integer("seed", i64::MIN..=i64::MAX)?,
            arrival_s,
        })
    }
}

/// The shape that is denoised, and the rate and number of frames that are written: interpolation adds frames
/// without denoising them.
fn asked_shape(fields: &Fields, size: Option<&str>, defaults: Defaults) -> Result<(Shape, u32, u32), Refusal> {
    let sides = |name| fields.count(name, 1..=u32::MAX);
    let (wide, high) = (sides("width")?, sides("height")?);
    let (width, height) = match size {
        // 0 passes here and fails in the engine
        Some(text) => fields::size(text)
            .ok_or_else(|| Refusal::field("size", format!("size: '{text}' should match pattern '^\\d+x\\d+$'")))?,
        None => (wide.unwrap_or(defaults.video.0), high.unwrap_or(defaults.video.1)),
    };
    let fps = fields.count("fps", 1..=1000)?.unwrap_or(DEFAULT_FPS);
    let seconds = asked_seconds(fields)?;
    let frames = match (fields.count("num_frames", 1..=MAX_FRAMES)?, seconds) {
        (Some(frames), _) => frames,
        (None, Some(seconds)) => seconds.saturating_mul(fps),
        (None, None) => defaults.frames,
    };
    let doublings = fields.count("frame_interpolation_exp", 1..=6)?.unwrap_or(1);
    let factor = if fields.switch("enable_frame_interpolation")? { 1 << doublings } else { 1 };
    let written = (frames - 1).saturating_mul(factor).saturating_add(1);
    if u64::from(width) * u64::from(height) > MAX_PIXELS || written > MAX_FRAMES {
        return Err(Refusal::field("size", format!("{width}x{height} with {written} frames is too large")));
    }
    let steps = fields.count("num_inference_steps", 1..=200)?.unwrap_or(defaults.video_steps);
    let outputs = fields.count("num_outputs_per_prompt", 1..=10)?.unwrap_or(1);
    Ok((Shape { width, height, steps, frames, outputs, references: 0 }, fps * factor, written))
}

fn asked_seconds(fields: &Fields) -> Result<Option<u32>, Refusal> {
    let Some(text) = fields.text("seconds")? else { return Ok(None) };
    let plain = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<u32>() {
        Ok(seconds) if plain => Ok(Some(seconds)),
        _ => Err(Refusal::field("seconds", format!("seconds: '{text}' should match pattern '^[1-9]\\d*$'"))),
    }
}

/// Fields that are checked and change nothing.
fn check_extras(fields: &Fields) -> Result<(), Refusal> {
    fields.number("start_time_seconds", 0.0..=f64::MAX)?;
    for above_zero in ["sound_duration", "frame_interpolation_scale"] {
        fields.number(above_zero, f64::MIN_POSITIVE..=f64::MAX)?;
    }
    for number in ["guidance_scale", "guidance_scale_2", "boundary_ratio", "flow_shift", "true_cfg_scale"] {
        fields.number(number, f64::MIN..=f64::MAX)?;
    }
    fields.switch("generate_sound")?;
    match fields.text("quality")? {
        None | Some("lossless" | "high") => {}
        Some(other) => {
            return Err(Refusal::field("quality", format!("quality: Input should be lossless or high, not '{other}'")));
        }
    }
    for object in ["lora", "extra_params"] {
        fields.object_text(object)?;
    }
    Ok(())
}

/// Collects the reference pictures and videos and refuses combinations that exclude each other. Uploaded videos
/// are told by their first box, sound is taken as it is.
fn references(form: &Form) -> Result<(Vec<Bytes>, Vec<Bytes>), Refusal> {
    let one = form.files("input_reference");
    let several = form.files("input_references");
    let json = |name: &str| form.fields.json_text(name).map(|value| value.filter(|value| !value.is_null()));
    let (image, video, audio) = (json("image_reference")?, json("video_reference")?, json("audio_reference")?);
    if !several.is_empty() && (!one.is_empty() || image.is_some() || video.is_some() || audio.is_some()) {
        return Err(Refusal::bad("input_references cannot be combined with other references"));
    }
    if !one.is_empty() && (image.is_some() || video.is_some()) {
        return Err(Refusal::bad("input_reference cannot be combined with image_reference or video_reference"));
    }
    if one.len() > 1 {
        return Err(Refusal::bad("input_reference takes one file; use input_references for several"));
    }
    let value = |value: Option<Value>| value.unwrap_or(Value::Null);
    let linked_videos = listed("video_reference", &value(video), "video_url")?;
    let linked_pictures = listed("image_reference", &value(image), "image_url")?;
    listed("audio_reference", &value(audio), "audio_url")?;
    let (uploaded_videos, uploaded_pictures): (Vec<_>, Vec<_>) =
        one.into_iter().chain(several).partition(|bytes| is_video(bytes));
    Ok((
        uploaded_pictures.into_iter().chain(linked_pictures).collect(),
        uploaded_videos.into_iter().chain(linked_videos).collect(),
    ))
}
