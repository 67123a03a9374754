//! `/v1/videos` and its synchronous form: a multipart form. Each reference takes the one route that
//! [`Routing`](crate::workload::Routing) gives it.

use serde_json::Value;

use super::multipart::Form;
use super::{EncodeError, Fields};
use crate::catalog::Spelling;
use crate::endpoint::types::{Body, Wire};
use crate::workload::{Request, check_link};

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
    form.references(wire, request, fields)?;
    Ok(form.finish())
}

/// Refuses reference fields that the server would answer with an error or that hold a path.
fn check_field(name: &str, value: &Value) -> Result<(), EncodeError> {
    if matches!(name, "input_reference" | "input_references") {
        return Err(EncodeError::new(format!("`{name}` is a file; give it as a reference image or video")));
    }
    check_link(name, value).map_err(EncodeError::new)
}
