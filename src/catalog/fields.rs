//! Which request fields each endpoint reads. A field that is not here is ignored by the server
//! without notice, so the planner refuses it unless the scenario says `allow_unknown`.

use super::Api;

/// Columns of rows and keys of profiles that name reference media.
pub const REFERENCE_COLUMNS: [&str; 9] = [
    "image_path",
    "image_paths",
    "video_path",
    "video_paths",
    "input_reference",
    "input_references",
    "image_reference",
    "video_reference",
    "audio_reference",
];

/// The shape of a field's value on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// Free text.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A JSON object; in a multipart form it travels as JSON text.
    Object,
    /// One of these words; servers take another word silently as something else, or refuse it.
    OneOf(&'static [&'static str]),
    /// Any JSON value.
    Any,
}

/// One field of one endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldSpec {
    /// The name on the wire.
    pub name: &'static str,
    /// The shape of its value.
    pub kind: FieldKind,
}

const fn f(name: &'static str, kind: FieldKind) -> FieldSpec {
    FieldSpec { name, kind }
}

use FieldKind::{Any, Boolean, Integer, Number, Object, OneOf, Text};

/// An unknown format gives JPEG without a word.
const FORMATS: FieldKind = OneOf(&["png", "jpeg", "jpg", "webp"]);
const SYSTEM_PROMPTS: FieldKind =
    OneOf(&["dynamic", "en_vanilla", "en_recaption", "en_think_recaption", "en_unified", "custom"]);

const GENERATIONS: &[FieldSpec] = &[
    f("prompt", Text),
    f("model", Text),
    f("n", Integer),
    f("size", Text),
    f("response_format", Text),
    f("user", Text),
    f("layers", Integer),
    f("negative_prompt", Text),
    f("system_prompt", Text),
    f("use_system_prompt", SYSTEM_PROMPTS),
    f("num_inference_steps", Integer),
    f("guidance_scale", Number),
    f("true_cfg_scale", Number),
    f("flow_shift", Number),
    f("extra_params", Object),
    f("seed", Integer),
    f("generator_device", Text),
    f("lora", Object),
    f("vae_use_slicing", Boolean),
    f("vae_use_tiling", Boolean),
    f("output_format", FORMATS),
    f("bot_task", Text),
];

const EDITS: &[FieldSpec] = &[
    f("prompt", Text),
    f("model", Text),
    f("n", Integer),
    f("size", Text),
    f("response_format", Text),
    f("output_format", FORMATS),
    f("background", Text),
    f("output_compression", Integer),
    f("stream", Boolean),
    f("user", Text),
    f("negative_prompt", Text),
    f("num_inference_steps", Integer),
    f("guidance_scale", Number),
    f("guidance_scale_2", Number),
    f("strength", Number),
    f("true_cfg_scale", Number),
    f("seed", Integer),
    f("generator_device", Text),
    f("lora", Object),
    f("layers", Integer),
    f("resolution", Integer),
    f("bot_task", Text),
    f("sys_type", Text),
    f("system_prompt", Text),
    f("return_stage_metrics", Boolean),
];

const CHAT: &[FieldSpec] = &[
    f("prompt", Text),
    f("model", Text),
    f("messages", Any),
    f("extra_body", Object),
    f("height", Integer),
    f("width", Integer),
    f("num_outputs_per_prompt", Integer),
    f("seed", Integer),
    f("quality", Text),
    f("num_inference_steps", Integer),
    f("guidance_scale", Number),
    f("guidance_scale_2", Number),
    f("true_cfg_scale", Number),
    f("cfg_scale", Number),
    f("num_frames", Integer),
    f("layers", Integer),
    f("resolution", Integer),
    f("size", Text),
    f("negative_prompt", Text),
    f("lora", Object),
    f("modalities", Any),
    f("generator_device", Text),
    f("strength", Number),
    f("bot_task", Text),
    f("use_system_prompt", Text),
    f("sys_type", Text),
    f("system_prompt", Text),
    f("return_stage_metrics", Boolean),
    f("fps", Number),
    f("flow_shift", Number),
    f("extra_args", Object),
    f("extra_params", Object),
];

const VIDEOS: &[FieldSpec] = &[
    f("prompt", Text),
    f("input_reference", Any),
    f("input_references", Any),
    f("image_reference", Any),
    f("video_reference", Any),
    f("audio_reference", Any),
    f("model", Text),
    f("seconds", Integer),
    f("size", Text),
    f("user", Text),
    f("width", Integer),
    f("height", Integer),
    f("num_frames", Integer),
    f("fps", Number),
    f("aspect_ratio", Text),
    f("short_edge", Integer),
    f("num_outputs_per_prompt", Integer),
    f("start_time_seconds", Number),
    f("quality", OneOf(&["lossless", "high"])),
    f("num_inference_steps", Integer),
    f("guidance_scale", Number),
    f("guidance_scale_2", Number),
    f("boundary_ratio", Number),
    f("flow_shift", Number),
    f("true_cfg_scale", Number),
    f("seed", Integer),
    f("generate_sound", Boolean),
    f("sound_duration", Number),
    f("negative_prompt", Text),
    f("enable_frame_interpolation", Boolean),
    f("frame_interpolation_exp", Integer),
    f("frame_interpolation_scale", Number),
    f("frame_interpolation_model_path", Text),
    f("lora", Object),
    f("extra_params", Object),
];

/// Every field the endpoint reads.
pub const fn fields(api: Api) -> &'static [FieldSpec] {
    match api {
        Api::Chat => CHAT,
        Api::Generations => GENERATIONS,
        Api::Edits => EDITS,
        Api::Videos => VIDEOS,
    }
}

/// The endpoint's field of that name.
pub fn field(api: Api, name: &str) -> Option<&'static FieldSpec> {
    fields(api).iter().find(|spec| spec.name == name)
}

/// What a field that the endpoint does not read is called there, or why there is none.
pub fn advice(api: Api, name: &str) -> Option<&'static str> {
    Some(match (api, name) {
        (Api::Edits, "use_system_prompt") => "the field is `sys_type` on this endpoint",
        (Api::Generations, "sys_type") => "the field is `use_system_prompt` on this endpoint",
        (Api::Generations | Api::Videos, "extra_args") => "the field is `extra_params` on this endpoint",
        (Api::Generations | Api::Edits | Api::Videos, "cfg_scale") => "the field is `true_cfg_scale` on this endpoint",
        (Api::Generations | Api::Edits | Api::Videos, "extra_body") => {
            "only chat reads it; put its fields in its place, or in `endpoint.extra_body`"
        }
        (Api::Generations | Api::Edits, "fps" | "num_frames") => "pictures have none; videos are made by `/v1/videos`",
        (Api::Edits, "extra_params" | "extra_args") => "the endpoint has no place for fields of the model",
        (Api::Generations | Api::Videos, "return_stage_metrics") => {
            "chat and edits have it, for models of several stages"
        }
        (_, "image_reference" | "video_reference" | "audio_reference" | "input_reference" | "input_references") => {
            "rows and profiles name media in `image_path` or `video_path`, for whatever endpoint"
        }
        _ => return None,
    })
}

/// Whether the endpoint reads the field. The names omni-bench itself translates count as read:
/// width, height, `num_frames` and fps where the endpoint has a place for them, and `n`.
pub fn is_known_field(api: Api, name: &str) -> bool {
    let translated = match name {
        "width" | "height" | "n" => true,
        "num_frames" | "fps" => matches!(api, Api::Videos | Api::Chat),
        _ => false,
    };
    translated || field(api, name).is_some()
}
