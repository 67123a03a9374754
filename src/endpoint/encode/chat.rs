//! `/v1/chat/completions`: a JSON object. In the plain spelling diffusion keys stand at the root, none
//! under a literal `extra_body`: the server accepts either place but refuses a key that is in both, other servers
//! know only the root, and it is where OpenAI clients put their `extra_body=` argument. The number of
//! outputs is `num_outputs_per_prompt`, because `n` is ignored; the size is `height` and `width`,
//! because an unreadable `size` is ignored too.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::data_url::DataUrls;
use super::{EncodeError, Fields, json_body, route};
use crate::catalog::Spelling;
use crate::endpoint::types::{Body, Wire};
use crate::workload::Request;

pub(super) fn encode(
    wire: &Wire,
    request: &Request,
    mut fields: Fields,
    data_urls: &mut DataUrls,
) -> Result<Body, EncodeError> {
    route(wire, request, &fields)?;
    let mut writer = Writer::default();
    writer.push("{\"model\":");
    writer.push(&Value::from(wire.model.as_str()).to_string());
    writer.push(",\"messages\":");
    match fields.named.shift_remove("messages") {
        Some(messages) => writer.push(&messages.to_string()),
        None => messages(&mut writer, request, data_urls)?,
    }
    let mut root = Map::new();
    let numbers = [("height", fields.height), ("width", fields.width), ("num_outputs_per_prompt", fields.n)];
    root.extend(numbers.into_iter().filter_map(|(name, number)| Some((name.to_owned(), Value::from(number?)))));
    if let Some(size) = fields.size {
        root.insert("size".to_owned(), size.into());
    }
    root.extend(fields.named);
    match wire.spelling {
        Spelling::Plain => {
            for (name, value) in root {
                writer.push(&format!(",{}:{value}", Value::from(name)));
            }
        }
        Spelling::PythonClient if root.is_empty() => {}
        Spelling::PythonClient => writer.push(&format!(",\"extra_body\":{}", Value::from(root))),
    }
    writer.push("}");
    Ok(json_body(writer.finish()))
}

fn messages(writer: &mut Writer, request: &Request, data_urls: &mut DataUrls) -> Result<(), EncodeError> {
    let prompt = Value::from(request.prompt.as_str());
    if request.images.is_empty() {
        writer.push(&json!([{ "role": "user", "content": prompt }]).to_string());
        return Ok(());
    }
    writer.push("[{\"role\":\"user\",\"content\":[");
    writer.push(&json!({ "type": "text", "text": prompt }).to_string());
    for image in &request.images {
        writer.push(",{\"type\":\"image_url\",\"image_url\":{\"url\":\"");
        writer.share(data_urls.get(image)?);
        writer.push("\"}}");
    }
    writer.push("]}]");
    Ok(())
}

/// Text with shared segments in between.
#[derive(Default)]
struct Writer {
    segments: Vec<Bytes>,
    text: String,
}

impl Writer {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn share(&mut self, segment: Bytes) {
        self.segments.push(std::mem::take(&mut self.text).into());
        self.segments.push(segment);
    }

    fn finish(mut self) -> Vec<Bytes> {
        self.segments.push(self.text.into());
        self.segments
    }
}
