//! `/v1/images/generations`: a JSON object, every field at the root; the size travels as text because
//! the endpoint ignores `width` and `height`.

use serde_json::{Map, Value};

use super::{EncodeError, Fields, json_body, route};
use crate::endpoint::types::{Body, Wire};
use crate::workload::Request;

pub(super) fn encode(wire: &Wire, request: &Request, fields: Fields) -> Result<Body, EncodeError> {
    route(wire, request, &fields)?;
    let mut root = Map::new();
    root.insert("model".to_owned(), wire.model.as_str().into());
    root.insert("prompt".to_owned(), request.prompt.as_str().into());
    if let Some(n) = fields.n {
        root.insert("n".to_owned(), n.into());
    }
    if let Some(size) = fields.size()? {
        root.insert("size".to_owned(), size.into());
    }
    root.insert("response_format".to_owned(), "b64_json".into());
    root.extend(fields.named);
    Ok(json_body(vec![Value::Object(root).to_string().into()]))
}
