//! The beginning of a body that is read for its message only.

use super::message::{excerpt, server_message};

const LIMIT: usize = 64 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Capture {
    bytes: Vec<u8>,
}

impl Capture {
    pub(crate) fn feed(&mut self, chunk: &[u8]) {
        let room = LIMIT.saturating_sub(self.bytes.len()).min(chunk.len());
        let (taken, _) = chunk.split_at(room);
        self.bytes.extend_from_slice(taken);
    }

    pub(crate) fn retained(&self) -> usize {
        self.bytes.len()
    }

    /// The server's message.
    pub(crate) fn message(&self, status: u16) -> String {
        server_message(status, &self.bytes)
    }

    /// A short piece of the body, if it is text.
    pub(crate) fn excerpt(&self) -> Option<String> {
        let start = self.bytes.get(..1024).unwrap_or(&self.bytes);
        let text = String::from_utf8_lossy(start);
        let text = excerpt(text.trim_end_matches(char::REPLACEMENT_CHARACTER));
        (!text.is_empty() && !text.contains(char::REPLACEMENT_CHARACTER)).then_some(text)
    }

    /// The message, if the body is a JSON document.
    pub(crate) fn json_message(&self, status: u16) -> Option<String> {
        serde_json::from_slice::<serde::de::IgnoredAny>(&self.bytes).ok().map(|_| self.message(status))
    }
}
