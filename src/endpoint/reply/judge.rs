//! The judge of one reply that must hold media.

use super::capture::Capture;
use super::gallery::{Gallery, GalleryReader, Place};
use super::message::with_wait;
use super::metrics::Told;
use super::missing;
use super::picture::Wants;
use super::pictures::{Pictures, compare_sizes, keep};
use super::save::PartFile;
use super::streamed::{Stream, StreamReader};
use super::tally::Counted;
use super::video::{self, VideoFault, VideoReader};
use crate::catalog::{Api, ErrorClass};
use crate::endpoint::encode::asked;
use crate::endpoint::types::{JobState, Reply, SaveMedia, Verdict, Wire};
use crate::record::{Asked, RequestError, Streamed};
use crate::workload::Request;

/// Judges one reply while it arrives: a success needs at least one medium that is really there.
///
/// Every other reply of status 200 is an error whose message says what was missing. A picture that
/// cannot be read beside one that can is not counted and shows as [`crate::catalog::Flag::FewerOutputs`].
pub struct Judge {
    reply: Reply,
    asked: Asked,
    max_reply: u64,
    bytes: u64,
    reading: Reading,
    /// What a usable reply is made of, for messages.
    medium: &'static str,
    classes: Classes,
}

enum Reading {
    /// An error, or a type that holds no media.
    Words(Capture),
    Pictures(Place, Box<GalleryReader>),
    Events(Box<StreamReader>),
    Video(Box<VideoReader>, Option<Box<JobState>>),
}

/// The classes of errors, which depend on what the reply answers.
#[derive(Clone, Copy)]
struct Classes {
    status: ErrorClass,
    unusable: ErrorClass,
    cut: ErrorClass,
}

const REPLY: Classes =
    Classes { status: ErrorClass::HttpStatus, unusable: ErrorClass::InvalidResponse, cut: ErrorClass::Io };
const CONTENT: Classes =
    Classes { status: ErrorClass::Content, unusable: ErrorClass::Content, cut: ErrorClass::Content };

impl Judge {
    /// A judge for a reply of chat, generations or edits. With `save`, pictures are written to
    /// `<stem>_<NN>.<ext>` and kept if the request succeeds.
    pub fn reply(wire: &Wire, request: &Request, reply: &Reply, save: Option<SaveMedia>) -> Self {
        Self::of(wire, asked(wire, request), reply.clone(), save)
    }

    /// The same for a request that is known to ask for this.
    pub(crate) fn of(wire: &Wire, asked: Asked, reply: Reply, save: Option<SaveMedia>) -> Self {
        let place = match wire.api {
            Api::Chat => Place::Message,
            Api::Generations | Api::Edits => Place::Data,
            Api::Videos => return Self::content_of(wire, asked, None, reply, save),
        };
        let wants = Wants { header: wire.check_media, bytes: wire.keep_pictures };
        let reading = if is_success(reply.status) && wire.stream && is_stream(&reply) {
            Reading::Events(Box::new(StreamReader::new(wants, save)))
        } else if is_success(reply.status) && is_json(&reply) {
            // also a server's that does not know how to stream: the pictures are there
            Reading::Pictures(place, Box::new(GalleryReader::new(place, wants, save)))
        } else {
            Reading::Words(Capture::default())
        };
        let medium = if wire.stream { "a stream of events" } else { "json" };
        Self::new(wire, asked, reply, reading, (medium, REPLY))
    }

    /// A judge for a video's bytes: the content of `job`, or, without one, a synchronous reply. With
    /// `save`, the video is written to `<stem>.mp4` and kept if the request succeeds.
    pub fn content(
        wire: &Wire,
        request: &Request,
        job: Option<&JobState>,
        reply: &Reply,
        save: Option<SaveMedia>,
    ) -> Self {
        Self::content_of(wire, asked(wire, request), job, reply.clone(), save)
    }

    /// The same for a request that is known to ask for this.
    pub(crate) fn content_of(
        wire: &Wire,
        asked: Asked,
        job: Option<&JobState>,
        reply: Reply,
        save: Option<SaveMedia>,
    ) -> Self {
        let reading = if is_success(reply.status) && !is_textual(&reply) {
            let file = save.map(|save| PartFile::create(save.folder, save.stem));
            Reading::Video(Box::new(VideoReader::new(wire.check_media, file)), job.cloned().map(Box::new))
        } else {
            Reading::Words(Capture::default())
        };
        let classes = if job.is_some() { CONTENT } else { REPLY };
        Self::new(wire, asked, reply, reading, ("a video", classes))
    }

    fn new(
        wire: &Wire,
        asked: Asked,
        reply: Reply,
        reading: Reading,
        (medium, classes): (&'static str, Classes),
    ) -> Self {
        Self { reply, asked, max_reply: wire.max_reply, bytes: 0, reading, medium, classes }
    }

    /// Takes the next bytes of the body. Once the reply [is too long](Self::is_too_long) they are only
    /// counted.
    pub fn feed(&mut self, chunk: &[u8]) {
        self.bytes += chunk.len() as u64;
        let is_too_long = self.is_too_long();
        match &mut self.reading {
            // bounded by itself
            Reading::Words(words) => words.feed(chunk),
            Reading::Pictures(_, reader) if !is_too_long => reader.feed(chunk),
            Reading::Events(reader) if !is_too_long => reader.feed(chunk),
            Reading::Video(reader, _) if !is_too_long => reader.feed(chunk),
            Reading::Pictures(..) | Reading::Events(..) | Reading::Video(..) => {}
        }
    }

    /// Whether the body is, or says it will be, longer than allowed: reading on is no use.
    pub fn is_too_long(&self) -> bool {
        self.bytes > self.max_reply || self.reply.content_length.is_some_and(|length| length > self.max_reply)
    }

    /// Whether a streamed reply has brought its first event.
    pub fn has_event(&self) -> bool {
        matches!(&self.reading, Reading::Events(reader) if reader.count() > 0)
    }

    /// Bytes of the body held at the moment, besides a video container's index and pictures kept for
    /// full validation.
    pub fn retained(&self) -> usize {
        match &self.reading {
            Reading::Words(words) => words.retained(),
            Reading::Pictures(_, reader) => reader.retained(),
            Reading::Events(reader) => reader.retained(),
            Reading::Video(reader, _) => reader.retained(),
        }
    }

    /// The verdict. The body ended, by the server's will or because the connection broke.
    pub fn finish(self) -> Verdict {
        let mut verdict = Verdict {
            bytes: self.bytes,
            server_request_id: self.reply.headers.get("x-request-id").cloned(),
            ..Verdict::default()
        };
        let status = self.reply.status;
        if let Err(error) = self.decide(&mut verdict) {
            verdict.outputs.clear();
            verdict.flags.clear();
            verdict.pictures.clear();
            // an error inside a stream has a code of its own
            verdict.error = Some(if error.http_status.is_none() { error.status(status) } else { error });
        }
        verdict
    }

    fn decide(self, verdict: &mut Verdict) -> Result<(), RequestError> {
        let Classes { status, unusable, cut } = self.classes;
        if let Reading::Words(words) = &self.reading
            && !is_success(self.reply.status)
        {
            return Err(RequestError::new(status, with_wait(words.message(self.reply.status), &self.reply)));
        }
        if self.is_too_long() {
            let limit = self.max_reply;
            return Err(RequestError::new(
                unusable,
                format!("the reply is longer than the limit of {limit} bytes (`endpoint.max_reply`)"),
            ));
        }
        if let Some(length) = self.reply.content_length.filter(|length| self.bytes < *length) {
            let bytes = self.bytes;
            return Err(RequestError::new(cut, format!("the reply ended after {bytes} of {length} bytes")));
        }
        match self.reading {
            Reading::Words(words) => {
                Err(RequestError::new(unusable, wrong_type(&self.reply, self.medium, self.bytes, &words)))
            }
            Reading::Pictures(place, reader) => {
                let Gallery { pictures, skeleton } =
                    reader.finish().map_err(|malformed| RequestError::new(unusable, malformed.to_string()))?;
                let empty = || RequestError::new(unusable, "the reply is empty");
                let root = skeleton.ok_or_else(empty)?;
                let format = root.get("output_format").and_then(serde_json::Value::as_str).map(str::to_owned);
                let pictures = Pictures { found: pictures, told: Told::from_json(&root), format };
                pictures.count(verdict, &self.asked, || missing::reason(place, &root))
            }
            Reading::Events(reader) => {
                let Stream { pictures, told, format, text, error } = reader.finish();
                verdict.stream = Some(Streamed { first_event_us: None, text });
                let nothing = || "stream ended without image".to_owned();
                let counted = Pictures { found: pictures, told, format };
                match error {
                    Some(error) => Err(error),
                    None => counted.count(verdict, &self.asked, nothing),
                }
            }
            Reading::Video(reader, job) => {
                let (counted, info) = reader.finish(self.reply.status).map_err(|fault| {
                    let class = if matches!(fault, VideoFault::Io(_)) { ErrorClass::Io } else { unusable };
                    RequestError::new(class, fault.to_string())
                })?;
                let Counted { bytes, blake3, file, .. } = counted;
                let job = job.as_deref();
                let output = video::output((blake3, bytes), info, job, &self.asked, &mut verdict.flags);
                video::compare(&output, &self.asked, &mut verdict.flags);
                verdict.outputs.push(output);
                video::making(verdict, Told::from_headers(&self.reply.headers), job);
                compare_sizes(verdict, &self.asked);
                keep(file, "mp4")
            }
        }
    }
}

/// What to say about a reply whose type cannot hold the medium.
fn wrong_type(reply: &Reply, wanted: &str, bytes: u64, words: &Capture) -> String {
    let content_type = media_type(reply).unwrap_or_default().to_ascii_lowercase();
    let told = if is_json(reply) { Some(words.message(reply.status)) } else { words.excerpt() };
    match told {
        _ if bytes == 0 => format!("the reply is empty, and `{content_type}`, not {wanted}"),
        Some(told) => format!("the reply is `{content_type}`, not {wanted}: {told}"),
        None => format!("the reply is `{content_type}`, not {wanted}"),
    }
}

fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

/// A reply that does not name its type is read as JSON.
fn is_json(reply: &Reply) -> bool {
    let is = |name: &str, other: &str| name.eq_ignore_ascii_case(other);
    media_type(reply).is_none_or(|name| {
        is(name, "application/json") || is(name, "text/json") || name.to_ascii_lowercase().ends_with("+json")
    })
}

fn is_stream(reply: &Reply) -> bool {
    media_type(reply).is_some_and(|name| name.eq_ignore_ascii_case("text/event-stream"))
}

/// Whether the reply says that it is text, which no video is.
fn is_textual(reply: &Reply) -> bool {
    media_type(reply).is_some_and(|name| is_json(reply) || name.to_ascii_lowercase().starts_with("text/"))
}

/// The media type without its parameters, as the server spells it.
fn media_type(reply: &Reply) -> Option<&str> {
    let name = reply.content_type.as_deref()?.split(';').next().unwrap_or_default();
    Some(name.trim())
}
