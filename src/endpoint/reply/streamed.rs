//! A reply that is a stream of events: pictures, text on the way to them, or an error, each event a
//! JSON document. The stream ends with `[DONE]`, or, once a picture has come, by simply ending.

use serde_json::Value;

use super::gallery::{Found, Gallery, GalleryReader, Place};
use super::message::{error_text, excerpt, one_line};
use super::metrics::Told;
use super::picture::Wants;
use crate::catalog::ErrorClass;
use crate::endpoint::sse::{Sse, SseEvent};
use crate::endpoint::types::SaveMedia;
use crate::record::RequestError;

/// The event that says that no other follows.
const DONE: &[u8] = b"[DONE]";
/// Bytes of text kept; more than an excerpt needs.
const MAX_TEXT: usize = 2 * 1024;

/// Reads one stream.
pub(super) struct StreamReader {
    sse: Sse,
    events: Events,
}

/// A stream that has been read.
pub(super) struct Stream {
    pub(super) pictures: Vec<Found>,
    pub(super) told: Told,
    /// The format that the server claims.
    pub(super) format: Option<String>,
    /// The beginning of the text that came.
    pub(super) text: Option<String>,
    /// Why the stream is no success, whatever pictures it holds.
    pub(super) error: Option<RequestError>,
}

struct Events {
    wants: Wants,
    save: Option<SaveMedia>,
    current: Option<Current>,
    count: u64,
    done: bool,
    text: Vec<u8>,
    stream: Stream,
}

/// The event being read.
enum Current {
    /// It may still be the closing one.
    Word(Vec<u8>),
    Document(Box<GalleryReader>),
}

impl StreamReader {
    pub(super) fn new(wants: Wants, save: Option<SaveMedia>) -> Self {
        let stream = Stream { pictures: Vec::new(), told: Told::default(), format: None, text: None, error: None };
        let events = Events { wants, save, current: None, count: 0, done: false, text: Vec::new(), stream };
        Self { sse: Sse::new(), events }
    }

    pub(super) fn feed(&mut self, chunk: &[u8]) {
        let Self { sse, events } = self;
        sse.feed(chunk, &mut |event| match event {
            SseEvent::Data(piece) => events.data(piece),
            SseEvent::End => events.end(),
        });
    }

    /// Events so far, the closing one left out.
    pub(super) fn count(&self) -> u64 {
        self.events.count
    }

    pub(super) fn finish(self) -> Stream {
        let Events { mut stream, text, done, current, .. } = self.events;
        let text = excerpt(String::from_utf8_lossy(&text).trim_end_matches(char::REPLACEMENT_CHARACTER));
        stream.text = (!text.is_empty()).then_some(text);
        if stream.error.is_none() && !done && (self.sse.is_open() || current.is_some()) {
            stream.error = Some(invalid("the stream ended within an event".to_owned()));
        }
        stream
    }

    /// Bytes of the reply that are held.
    pub(super) fn retained(&self) -> usize {
        let current = match &self.events.current {
            None => 0,
            Some(Current::Word(word)) => word.len(),
            Some(Current::Document(reader)) => reader.retained(),
        };
        current + self.events.text.len()
    }
}

impl Events {
    fn data(&mut self, piece: &[u8]) {
        if self.done {
            return;
        }
        match self.current.get_or_insert_with(|| Current::Word(Vec::new())) {
            Current::Document(reader) => reader.feed(piece),
            Current::Word(word) => {
                let fits = word.len() + piece.len() <= 2 * DONE.len();
                if fits {
                    word.extend_from_slice(piece);
                }
                if !fits || !DONE.starts_with(word.trim_ascii()) {
                    let number = self.stream.pictures.len();
                    let mut reader = GalleryReader::new(Place::Data, self.wants, self.save.clone()).numbered(number);
                    reader.feed(word);
                    if !fits {
                        reader.feed(piece);
                    }
                    self.current = Some(Current::Document(Box::new(reader)));
                }
            }
        }
    }

    fn end(&mut self) {
        let read = match self.current.take() {
            None => return,
            Some(Current::Word(word)) if word.trim_ascii().is_empty() => return,
            Some(Current::Word(word)) => {
                self.done = word.trim_ascii() == DONE;
                if self.done {
                    return;
                }
                Err("truncated json".to_owned())
            }
            Some(Current::Document(reader)) => reader.finish().map_err(|malformed| malformed.to_string()),
        };
        self.count += 1;
        match read {
            Ok(Gallery { pictures, skeleton: Some(root) }) => self.event(&root, pictures),
            Ok(_) => {}
            Err(reason) => self.fail(invalid(format!("event {}: {reason}", self.count))),
        }
    }

    fn event(&mut self, root: &Value, pictures: Vec<Found>) {
        if let Some(error) = told_error(root) {
            return self.fail(error);
        }
        if let Some(delta) = root.get("delta").and_then(Value::as_str) {
            let space = MAX_TEXT.saturating_sub(self.text.len()).min(delta.len());
            self.text.extend(delta.bytes().take(space));
        }
        self.stream.told.merge(Told::from_json(root));
        // pictures of other events are drafts of the one that is meant
        if root.get("type").and_then(Value::as_str).is_none_or(|kind| kind == "image") {
            self.stream.pictures.extend(pictures);
            if let Some(format) = root.get("output_format").and_then(Value::as_str) {
                self.stream.format = Some(format.to_owned());
            }
        }
    }

    fn fail(&mut self, error: RequestError) {
        self.stream.error.get_or_insert(error);
    }
}

/// The error that an event tells, with the code that the server would have answered with.
fn told_error(root: &Value) -> Option<RequestError> {
    let error = root.get("error").filter(|error| !error.is_null());
    if error.is_none() && root.get("object").and_then(Value::as_str) != Some("error") {
        return None;
    }
    let message = error_text(root).map(|message| one_line(&message, 500)).filter(|message| !message.is_empty());
    let message = message.unwrap_or_else(|| "the stream holds an error without a message".to_owned());
    let code = error.and_then(|error| error.get("code")?.as_u64()).and_then(|code| u16::try_from(code).ok());
    Some(match code.filter(|code| (400..600).contains(code)) {
        Some(code) => RequestError::new(ErrorClass::HttpStatus, message).status(code),
        None => invalid(message),
    })
}

fn invalid(message: String) -> RequestError {
    RequestError::new(ErrorClass::InvalidResponse, message)
}
