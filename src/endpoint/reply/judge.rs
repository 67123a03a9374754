//! The judge of one reply that must hold media.

use super::capture::Capture;
use super::gallery::{Gallery, GalleryReader, Place};
use super::metrics::{Told, generation_ms};
use super::missing;
use super::picture::{Picture, PictureFault};
use super::save::PartFile;
use super::tally::Counted;
use super::video::{self, VideoFault, VideoReader};
use crate::catalog::{Api, ErrorClass, Flag};
use crate::endpoint::encode::asked;
use crate::endpoint::types::{JobState, Reply, SaveMedia, Verdict, Wire};
use crate::media::ImageFormat;
use crate::record::{Asked, Output, OutputKind, RequestError};
use crate::workload::Request;

/// Judges one reply while it arrives: a success needs at least one medium that is really there.
///
/// Every other reply of status 200 is an error whose message says what was missing. A picture that
/// cannot be read beside one that can is not counted and shows as [`Flag::FewerOutputs`].
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
        let place = match wire.api {
            Api::Chat => Place::Message,
            Api::Generations | Api::Edits => Place::Data,
            Api::Videos => return Self::content(wire, request, None, reply, save),
        };
        let reading = if is_success(reply.status) && is_json(reply) {
            Reading::Pictures(place, Box::new(GalleryReader::new(place, wire.check_media, save)))
        } else {
            Reading::Words(Capture::default())
        };
        Self::new(wire, request, reply, reading, ("json", REPLY))
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
        let reading = if is_success(reply.status) && !is_textual(reply) {
            let file = save.map(|save| PartFile::create(save.folder, save.stem));
            Reading::Video(Box::new(VideoReader::new(wire.check_media, file)), job.cloned().map(Box::new))
        } else {
            Reading::Words(Capture::default())
        };
        let classes = if job.is_some() { CONTENT } else { REPLY };
        Self::new(wire, request, reply, reading, ("a video", classes))
    }

    fn new(
        wire: &Wire,
        request: &Request,
        reply: &Reply,
        reading: Reading,
        (medium, classes): (&'static str, Classes),
    ) -> Self {
        let asked = asked(wire, request);
        Self { reply: reply.clone(), asked, max_reply: wire.max_reply, bytes: 0, reading, medium, classes }
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
            Reading::Video(reader, _) if !is_too_long => reader.feed(chunk),
            Reading::Pictures(..) | Reading::Video(..) => {}
        }
    }

    /// Whether the body is, or says it will be, longer than allowed: reading on is no use.
    pub fn is_too_long(&self) -> bool {
        self.bytes > self.max_reply || self.reply.content_length.is_some_and(|length| length > self.max_reply)
    }

    /// Bytes of the body held at the moment, besides a video container's index.
    pub fn retained(&self) -> usize {
        match &self.reading {
            Reading::Words(words) => words.retained(),
            Reading::Pictures(_, reader) => reader.retained(),
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
            verdict.error = Some(error.status(status));
        }
        verdict
    }

    fn decide(self, verdict: &mut Verdict) -> Result<(), RequestError> {
        let Classes { status, unusable, cut } = self.classes;
        if let Reading::Words(words) = &self.reading
            && !is_success(self.reply.status)
        {
            return Err(RequestError::new(status, words.message(self.reply.status)));
        }
        if self.is_too_long() {
            let limit = self.max_reply;
            return Err(RequestError::new(unusable, format!("the reply is longer than the limit of {limit} bytes")));
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
                let gallery =
                    reader.finish().map_err(|malformed| RequestError::new(unusable, malformed.to_string()))?;
                pictures(verdict, place, gallery, &self.asked)
            }
            Reading::Video(reader, job) => {
                let (counted, info) = reader.finish(self.reply.status).map_err(|fault| {
                    let class = if matches!(fault, VideoFault::Io(_)) { ErrorClass::Io } else { unusable };
                    RequestError::new(class, fault.to_string())
                })?;
                let Counted { bytes, blake3, file } = counted;
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

/// Counts the usable pictures of a reply.
fn pictures(verdict: &mut Verdict, place: Place, gallery: Gallery, asked: &Asked) -> Result<(), RequestError> {
    let invalid = |message: String| RequestError::new(ErrorClass::InvalidResponse, message);
    let Some(root) = gallery.skeleton else {
        return Err(invalid("the reply is empty".to_owned()));
    };
    let told = Told::from_json(&root);
    verdict.generation_ms = generation_ms(&told.stage_ms);
    verdict.stage_ms = told.stage_ms;
    verdict.peak_memory_mb = told.peak_memory_mb;
    let format = root.get("output_format").and_then(serde_json::Value::as_str);
    let mut first_fault = None;
    let mut files = Vec::new();
    for (name, result) in gallery.pictures {
        match result {
            Ok(picture) => {
                let kind = kind(&picture, format);
                let Picture { counted, info, .. } = picture;
                let size = info.map(|info| (info.width, info.height)).unzip();
                files.extend(counted.file.map(|file| (file, extension(kind))));
                verdict.outputs.push(Output {
                    kind,
                    width: size.0,
                    height: size.1,
                    frames: None,
                    fps: None,
                    duration_s: None,
                    bytes: counted.bytes,
                    blake3: counted.blake3,
                });
            }
            Err(PictureFault::Io(error)) => return Err(RequestError::new(ErrorClass::Io, error.to_string())),
            Err(fault) => {
                first_fault.get_or_insert_with(|| format!("{name} {fault}"));
            }
        }
    }
    if verdict.outputs.is_empty() {
        return Err(invalid(first_fault.unwrap_or_else(|| missing::reason(place, &root))));
    }
    if (verdict.outputs.len() as u64) < u64::from(asked.n) {
        verdict.flags.push(Flag::FewerOutputs);
    }
    compare_sizes(verdict, asked);
    files.into_iter().try_for_each(|(file, extension)| keep(Some(file), extension))
}

fn compare_sizes(verdict: &mut Verdict, asked: &Asked) {
    let differs = |made: Option<u32>, asked: Option<u32>| made.is_some() && asked.is_some() && made != asked;
    let is_other = |output: &Output| differs(output.width, asked.width) || differs(output.height, asked.height);
    if verdict.outputs.iter().any(is_other) {
        verdict.flags.push(Flag::SizeMismatch);
    }
}

fn keep(file: Option<PartFile>, extension: &str) -> Result<(), RequestError> {
    match file.map(|file| file.keep(extension)) {
        Some(Err(error)) => Err(RequestError::new(ErrorClass::Io, error.to_string())),
        None | Some(Ok(())) => Ok(()),
    }
}

/// The format by the bytes; where they are not looked at, the one that the reply claims.
fn kind(picture: &Picture, format: Option<&str>) -> OutputKind {
    match (picture.info.map(|info| info.format), picture.mime.as_deref().or(format)) {
        (Some(ImageFormat::Jpeg), _) | (None, Some("image/jpeg" | "jpeg" | "jpg")) => OutputKind::Jpeg,
        (Some(ImageFormat::Webp), _) | (None, Some("image/webp" | "webp")) => OutputKind::Webp,
        (Some(ImageFormat::Png) | None, _) => OutputKind::Png,
    }
}

fn extension(kind: OutputKind) -> &'static str {
    match kind {
        OutputKind::Png => "png",
        OutputKind::Jpeg => "jpg",
        OutputKind::Webp => "webp",
        OutputKind::Mp4 => "mp4",
    }
}

/// What to say about a reply whose type cannot hold the medium.
fn wrong_type(reply: &Reply, wanted: &str, bytes: u64, words: &Capture) -> String {
    let content_type = media_type(reply).unwrap_or_default();
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
    media_type(reply).is_none_or(|name| name == "application/json" || name == "text/json" || name.ends_with("+json"))
}

/// Whether the reply says that it is text, which no video is.
fn is_textual(reply: &Reply) -> bool {
    media_type(reply).is_some_and(|name| is_json(reply) || name.starts_with("text/"))
}

fn media_type(reply: &Reply) -> Option<String> {
    let name = reply.content_type.as_deref()?.split(';').next().unwrap_or_default();
    Some(name.trim().to_ascii_lowercase())
}
