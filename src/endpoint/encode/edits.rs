//! `/v1/images/edits`: a multipart form. Images in hand are file parts named `image`, links are text
//! parts named `url`; the server takes files first.

use super::multipart::Form;
use super::{EncodeError, Fields};
use crate::endpoint::types::{Body, Wire};
use crate::workload::Request;

pub(super) fn encode(wire: &Wire, request: &Request, fields: &Fields) -> Result<Body, EncodeError> {
    if fields.named.get("stream").is_some_and(|stream| *stream != wire.stream) {
        return Err(EncodeError::new("`stream` is no field of a request; set `endpoint.stream`"));
    }
    let mut form = Form::default();
    form.text("model", wire.model.clone())?;
    form.text("prompt", request.prompt.clone())?;
    if let Some(n) = fields.n {
        form.text("n", n.to_string())?;
    }
    if let Some(size) = fields.size()? {
        form.text("size", size)?;
    }
    form.text("response_format", "b64_json".to_owned())?;
    if wire.stream {
        form.text("stream", "true".to_owned())?;
    }
    for (name, value) in fields.named.iter().filter(|(name, _)| *name != "stream") {
        form.field(name, value)?;
    }
    form.references(wire, request, fields)?;
    Ok(form.finish())
}
