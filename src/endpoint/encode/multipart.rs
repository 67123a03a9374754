//! `multipart/form-data` bodies (RFC 7578) of known length.

use bytes::Bytes;
use serde_json::Value;

use super::{EncodeError, Fields, route};
use crate::endpoint::types::{Body, Wire};
use crate::workload::{LARGEST_TEXT_PART, Part, Request};

/// A form under construction.
#[derive(Debug, Default)]
pub(super) struct Form {
    parts: Vec<(String, Bytes)>,
}

impl Form {
    /// Adds a field: texts as they are, truth values as `true` and `false`, structures as compact
    /// JSON; null adds nothing.
    pub(super) fn field(&mut self, name: &str, value: &Value) -> Result<(), EncodeError> {
        match value {
            Value::Null => Ok(()),
            Value::String(text) => self.text(name, text.clone()),
            other => self.text(name, other.to_string()),
        }
    }

    pub(super) fn text(&mut self, name: &str, text: String) -> Result<(), EncodeError> {
        if text.len() > LARGEST_TEXT_PART {
            let length = text.len();
            return Err(EncodeError::new(format!(
                "`{name}` has {length} bytes, and servers refuse form fields above {LARGEST_TEXT_PART}; pass media as files"
            )));
        }
        self.parts.push((format!("name=\"{}\"", quoted(name)), Bytes::from(text)));
        Ok(())
    }

    pub(super) fn file(&mut self, name: &str, file_name: &str, mime: &str, bytes: Bytes) -> Result<(), EncodeError> {
        if mime.is_empty() || !mime.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(EncodeError::new(format!("`{mime}` is not a media type")));
        }
        let head = format!("name=\"{}\"; filename=\"{}\"\r\nContent-Type: {mime}", quoted(name), quoted(file_name));
        self.parts.push((head, bytes));
        Ok(())
    }

    /// Adds the request's references, each on its one route.
    pub(super) fn references(&mut self, wire: &Wire, request: &Request, fields: &Fields) -> Result<(), EncodeError> {
        for part in route(wire, request, fields)? {
            match part {
                Part::File { name, bytes, mime, file_name } => self.file(name, &file_name, &mime, bytes)?,
                Part::Text { name, text } => self.text(name, text)?,
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Body {
        let boundary = self.boundary();
        let mut segments = Vec::new();
        let mut pending = Vec::new();
        for (head, body) in self.parts {
            pending.extend(format!("--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n").into_bytes());
            if head.contains("; filename=") {
                segments.push(Bytes::from(std::mem::take(&mut pending)));
                segments.push(body);
            } else {
                pending.extend_from_slice(&body);
            }
            pending.extend_from_slice(b"\r\n");
        }
        pending.extend(format!("--{boundary}--\r\n").into_bytes());
        segments.push(Bytes::from(pending));
        Body { content_type: format!("multipart/form-data; boundary={boundary}"), segments }
    }

    /// A hash of the whole content: the same for the same form, and no content can hold its own hash.
    fn boundary(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (head, body) in &self.parts {
            hasher.update(head.as_bytes());
            hasher.update(body);
        }
        let hash: String = hasher.finalize().to_hex().chars().take(32).collect();
        format!("omni-bench-{hash}")
    }
}

/// A parameter value as browsers escape it.
fn quoted(text: &str) -> String {
    text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}
