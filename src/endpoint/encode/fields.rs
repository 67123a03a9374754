//! What a request finally asks for: row, wire settings and common fields laid over each other.
//!
//! Later wins: `extra_body` of the endpoint, `bot_task` and `return_stage_metrics` of the wire, the
//! row's own fields, the row's typed values (size, steps, seed, …). A null takes a field away.

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::EncodeError;
use crate::catalog::{Api, field};
use crate::endpoint::types::Wire;
use crate::record::Asked;
use crate::workload::Request;

/// The fields of one request. No name occurs twice.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    pub(crate) width: Option<u32>,
    pub(crate) height: Option<u32>,
    /// A size that the scenario wrote as text, like `auto`; `None` when width and height are known.
    pub(crate) size: Option<String>,
    pub(crate) n: Option<u32>,
    /// Everything else under its name on the wire; no nulls.
    pub(crate) named: IndexMap<String, Value>,
}

impl Fields {
    pub(crate) fn resolve(wire: &Wire, request: &Request) -> Result<Self, EncodeError> {
        let mut rest = layers(wire, request)?;
        rest.retain(|_, value| !value.is_null());
        rest.shift_remove("prompt");
        rest.shift_remove("model");
        if matches!(wire.api, Api::Generations | Api::Edits) {
            response_format(&mut rest)?;
        }
        let n = match wire.api {
            Api::Chat | Api::Videos => whole(&mut rest, "num_outputs_per_prompt")?,
            Api::Generations | Api::Edits => whole(&mut rest, "n")?,
        };
        let mut fields = Self { n: request.n.or(n), ..Self::default() };
        let (width, height) = (whole(&mut rest, "width")?, whole(&mut rest, "height")?);
        fields.width = request.shape.width.or(width);
        fields.height = request.shape.height.or(height);
        let size = rest.shift_remove("size");
        if fields.width.is_none() && fields.height.is_none() {
            fields.size = size.map(|size| size.as_str().map_or_else(|| size.to_string(), str::to_owned));
        }
        fields.named = typed(wire.api, request);
        for (name, value) in rest {
            fields.named.entry(name).or_insert(value);
        }
        Ok(fields)
    }

    /// Width and height as `WxH`, or the size the scenario wrote; an error when a side is missing.
    pub(crate) fn size(&self) -> Result<Option<String>, EncodeError> {
        match (self.width, self.height) {
            (Some(width), Some(height)) => Ok(Some(format!("{width}x{height}"))),
            (None, None) => Ok(self.size.clone()),
            _ => Err(EncodeError::new("a size needs both `width` and `height`")),
        }
    }
}

/// What a request asks for, as records keep it and replies are compared with.
pub fn asked(wire: &Wire, request: &Request) -> Asked {
    let shape = request.shape;
    // a request that cannot be encoded is never sent; its typed values still describe it
    let fields = Fields::resolve(wire, request).unwrap_or_default();
    let (width, height) = match fields.size.as_deref().and_then(|size| size.split_once('x')) {
        Some((width, height)) => (width.parse().ok(), height.parse().ok()),
        None => (fields.width.or(shape.width), fields.height.or(shape.height)),
    };
    let number = |name: &str| fields.named.get(name).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
    Asked {
        width,
        height,
        num_inference_steps: shape.num_inference_steps.or_else(|| number("num_inference_steps")),
        num_frames: shape.num_frames.or_else(|| number("num_frames")),
        fps: shape.fps.or_else(|| fields.named.get("fps").and_then(Value::as_f64)),
        n: fields.n.or(request.n).unwrap_or(1),
    }
}

fn layers(wire: &Wire, request: &Request) -> Result<IndexMap<String, Value>, EncodeError> {
    let mut rest = spelled(wire.api, &wire.extra_body)?;
    if let Some(bot_task) = &wire.bot_task
        && field(wire.api, "bot_task").is_some()
    {
        rest.insert("bot_task".to_owned(), Value::from(bot_task.as_str()));
    }
    if wire.return_stage_metrics && field(wire.api, "return_stage_metrics").is_some() {
        rest.insert("return_stage_metrics".to_owned(), Value::Bool(true));
    }
    let row = spelled(wire.api, &request.fields)?;
    let is_sized = |name: &str| row.contains_key(name);
    // a size in one spelling replaces a size in the other
    if is_sized("width") || is_sized("height") {
        rest.shift_remove("size");
    } else if is_sized("size") {
        rest.shift_remove("width");
        rest.shift_remove("height");
    }
    rest.extend(row);
    Ok(rest)
}

/// A layer in the endpoint's spelling, so that one thing has one name in all layers.
fn spelled(api: Api, layer: &IndexMap<String, Value>) -> Result<IndexMap<String, Value>, EncodeError> {
    let mut layer = layer.clone();
    if api == Api::Chat {
        flatten(&mut layer)?;
    }
    if matches!(api, Api::Chat | Api::Videos)
        && let Some(n) = layer.shift_remove("n")
    {
        layer.entry("num_outputs_per_prompt".to_owned()).or_insert(n);
    }
    Ok(layer)
}

/// Values that the request holds by type, in the order they are sent.
fn typed(api: Api, request: &Request) -> IndexMap<String, Value> {
    let shape = request.shape;
    let has_frames = matches!(api, Api::Chat | Api::Videos);
    let values = [
        ("num_frames", shape.num_frames.filter(|_| has_frames).map(Value::from)),
        ("fps", shape.fps.filter(|_| has_frames).map(number)),
        ("num_inference_steps", shape.num_inference_steps.map(Value::from)),
        ("seed", request.seed.map(Value::from)),
        ("negative_prompt", request.negative_prompt.as_deref().map(Value::from)),
    ];
    values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// A whole number is written without a fraction: servers before fractional fps refuse `24.0`.
fn number(value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
    if value.fract() == 0.0 && value.abs() < 1e15 { Value::from(value as i64) } else { Value::from(value) }
}

/// Keys of a literal `extra_body` join the root: the server refuses a key that is in both. Within one
/// layer the root wins.
fn flatten(rest: &mut IndexMap<String, Value>) -> Result<(), EncodeError> {
    let nested: Map<String, Value> = match rest.shift_remove("extra_body") {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Object(nested)) => nested,
        Some(other) => return Err(EncodeError::new(format!("`extra_body` must be an object, not `{other}`"))),
    };
    for (name, value) in nested {
        rest.entry(name).or_insert(value);
    }
    Ok(())
}

/// The only format that carries the picture itself is always asked for.
fn response_format(rest: &mut IndexMap<String, Value>) -> Result<(), EncodeError> {
    match rest.shift_remove("response_format") {
        Some(format) if format != "b64_json" => {
            Err(EncodeError::new(format!("`response_format` must be `b64_json`, not `{format}`")))
        }
        _ => Ok(()),
    }
}

fn whole(rest: &mut IndexMap<String, Value>, name: &str) -> Result<Option<u32>, EncodeError> {
    let Some(value) = rest.shift_remove(name) else { return Ok(None) };
    match value.as_u64().and_then(|number| u32::try_from(number).ok()) {
        Some(number) => Ok(Some(number)),
        None => Err(EncodeError::new(format!("`{name}` must be a whole number, not `{value}`"))),
    }
}
