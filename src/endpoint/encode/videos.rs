//! `/v1/videos` and its synchronous form: a multipart form. Each reference takes exactly one route:
//! one file is `input_reference`, several images are `input_references`, links are JSON in
//! `image_reference` and `video_reference`; files and links exclude each other.

use serde_json::{Value, json};

use super::multipart::Form;
use super::{EncodeError, Fields};
use crate::catalog::Spelling;
use crate::endpoint::types::{Body, Wire};
use crate::workload::{Reference, Request};

/// Fields that hold links, and the one key their objects may have.
const LINKS: [(&str, &str); 3] =
    [("image_reference", "image_url"), ("video_reference", "video_url"), ("audio_reference", "audio_url")];

pub(super) fn encode(wire: &Wire, request: &Request, fields: &Fields) -> Result<Body, EncodeError> {
    let mut form = Form::default();
    if wire.spelling == Spelling::Plain {
        form.text("model", wire.model.clone())?;
    }
    form.text("prompt", request.prompt.clone())?;
    match (wire.spelling, fields.width, fields.height) {
        (Spelling::Plain, Some(_), Some(_)) | (_, None, None) => {
            if let Some(size) = fields.size()? {
                form.text("size", size)?;
            }
        }
        // the endpoint reads a single side, with the model's default for the other
        (_, width, height) => {
            for (name, side) in [("width", width), ("height", height)] {
                side.map_or(Ok(()), |side| form.text(name, side.to_string()))?;
            }
        }
    }
    if let Some(n) = fields.n {
        form.text("num_outputs_per_prompt", n.to_string())?;
    }
    for (name, value) in &fields.named {
        check_field(name, value)?;
        form.field(name, value)?;
    }
    references(&mut form, request, fields)?;
    Ok(form.finish())
}

fn references(form: &mut Form, request: &Request, fields: &Fields) -> Result<(), EncodeError> {
    let mut files = Vec::new();
    let mut links: Vec<(&str, Vec<Value>)> = Vec::new();
    let routes = [(&request.images, "image_reference", "image_url"), (&request.videos, "video_reference", "video_url")];
    for (references, field, key) in routes {
        let mut urls = Vec::new();
        for reference in references {
            match reference {
                Reference::Bytes { bytes, mime, file_name } => files.push((bytes, mime, file_name)),
                Reference::Url(url) => urls.push(json!({ key: url.as_ref() })),
            }
        }
        if !urls.is_empty() && fields.named.contains_key(field) {
            return Err(EncodeError::new(format!("`{field}` is given twice: as a field and as reference media")));
        }
        if !urls.is_empty() {
            links.push((field, urls));
        }
    }
    let linked = !links.is_empty() || LINKS.iter().any(|(field, _)| fields.named.contains_key(*field));
    if !files.is_empty() && linked {
        return Err(EncodeError::new("reference files and reference links cannot be combined in one request"));
    }
    if files.len() > 1 && request.videos.iter().any(|video| matches!(video, Reference::Bytes { .. })) {
        return Err(EncodeError::new("a reference video that is a file cannot be combined with other files"));
    }
    let name = if files.len() == 1 { "input_reference" } else { "input_references" };
    for (bytes, mime, file_name) in files {
        form.file(name, file_name, mime, bytes.clone())?;
    }
    for (field, mut urls) in links {
        let value = if urls.len() == 1 { urls.remove(0) } else { Value::Array(urls) };
        form.field(field, &value)?;
    }
    Ok(())
}

/// Refuses reference fields that the server would answer with an error or that hold a path.
fn check_field(name: &str, value: &Value) -> Result<(), EncodeError> {
    if matches!(name, "input_reference" | "input_references") {
        return Err(EncodeError::new(format!("`{name}` is a file; give it as a reference image or video")));
    }
    let Some((_, key)) = LINKS.iter().find(|(field, _)| *field == name) else { return Ok(()) };
    let parsed = match value {
        Value::String(text) => serde_json::from_str(text).unwrap_or(Value::Null),
        other => other.clone(),
    };
    let is_link = |item: &Value| {
        item.as_object().is_some_and(|fields| fields.len() == 1 && fields.get(*key).is_some_and(Value::is_string))
    };
    let is_right = match &parsed {
        Value::Array(items) => !items.is_empty() && items.iter().all(is_link),
        item => is_link(item),
    };
    if is_right {
        return Ok(());
    }
    Err(EncodeError::new(format!("`{name}` must be {{\"{key}\": \"…\"}} or a list of such objects, not `{value}`")))
}
