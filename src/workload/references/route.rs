//! The one route that each reference takes on an endpoint. The plan asks whether there is one, the
//! encoder takes it.
//!
//! | endpoint | file or data URL | `http(s)` link |
//! |---|---|---|
//! | chat | data URL in the message | none: the server passes over it without notice |
//! | edits | `image` file part | `url` text part |
//! | videos | `input_reference`, several images `input_references` | `image_reference`, `video_reference` JSON text |
//!
//! Files and links exclude each other on videos, and `input_references` stands alone. MiniMax-H3
//! reads its reference videos from files that the server writes, so they travel as data URLs in
//! `video_reference`, or, above the form's limit, in `input_references`.

use std::sync::Arc;

use bytes::Bytes;
use indexmap::IndexMap;
use serde_json::{Value, json};

use super::data_url::{decode, is_data_url};
use super::kind::{recognise, reference};
use crate::catalog::{Api, takes_video_reference};
use crate::workload::{Reference, brief};

/// Servers refuse longer text parts of a form.
pub(crate) const LARGEST_TEXT_PART: usize = 1024 * 1024;

/// Fields of the video form that hold links, and the one key their objects have.
const LINKS: [(&str, &str); 3] =
    [("image_reference", "image_url"), ("video_reference", "video_url"), ("audio_reference", "audio_url")];

/// References of one request and where they go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Routing<'a> {
    /// The endpoint.
    pub(crate) api: Api,
    /// The model id.
    pub(crate) model: &'a str,
    /// Reference images, in order.
    pub(crate) images: &'a [Reference],
    /// Reference videos, in order.
    pub(crate) videos: &'a [Reference],
    /// The request's other fields, which may hold links of their own.
    pub(crate) fields: &'a [&'a IndexMap<String, Value>],
}

/// One part of a form that carries references.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// A file part.
    File {
        /// Name of the part.
        name: &'static str,
        /// Content.
        bytes: Bytes,
        /// Media type.
        mime: Arc<str>,
        /// File name told to the server.
        file_name: Arc<str>,
    },
    /// A text part.
    Text {
        /// Name of the part.
        name: &'static str,
        /// Content.
        text: String,
    },
}

type File = (Bytes, Arc<str>, Arc<str>);

impl Part {
    fn file(name: &'static str, (bytes, mime, file_name): File) -> Self {
        Self::File { name, bytes, mime, file_name }
    }
}

impl Routing<'_> {
    /// Whether the request's own fields hold the field of this name.
    pub(super) fn has_field(&self, name: &str) -> bool {
        self.fields.iter().any(|table| table.get(name).is_some_and(|value| !value.is_null()))
    }

    /// The form parts that carry the references, or why the endpoint cannot be given them. Chat has
    /// none: its images stand in the message.
    pub(crate) fn parts(&self) -> Result<Vec<Part>, String> {
        match self.api {
            Api::Generations if self.images.is_empty() && self.videos.is_empty() => Ok(Vec::new()),
            Api::Generations => Err("generations takes no reference media; use edits".to_owned()),
            Api::Chat => self.chat().map(|()| Vec::new()),
            Api::Edits => self.edits(),
            Api::Videos => self.video_form(),
        }
    }

    fn chat(&self) -> Result<(), String> {
        if !self.videos.is_empty() {
            return Err("chat takes no reference video".to_owned());
        }
        let ignored = self.images.iter().find_map(|image| match image {
            Reference::Url(url) if !is_image_data_url(url) => Some(brief(&Value::from(url.as_ref()))),
            _ => None,
        });
        match ignored {
            None => Ok(()),
            Some(url) => Err(format!(
                "chat reads data URLs only and ignores image links without notice; fetch `{url}` to a file first"
            )),
        }
    }

    fn edits(&self) -> Result<Vec<Part>, String> {
        if self.images.is_empty() {
            return Err("edits needs at least one reference image".to_owned());
        }
        if !self.videos.is_empty() {
            return Err("edits takes no reference video".to_owned());
        }
        let mut parts = Vec::new();
        for image in self.images {
            parts.push(match image {
                Reference::Bytes { .. } => Part::file("image", file(image)?),
                Reference::Url(url) if url.len() > LARGEST_TEXT_PART => Part::file("image", file(image)?),
                Reference::Url(url) => Part::Text { name: "url", text: url.to_string() },
            });
        }
        // the server takes files first, whatever the order of the parts
        parts.sort_by_key(|part| matches!(part, Part::Text { .. }));
        Ok(parts)
    }

    fn video_form(&self) -> Result<Vec<Part>, String> {
        let mixes = takes_video_reference(self.model);
        let images = Carried::new(self.images, LINKS[0], false)?;
        // beside image files a video can only be a file too
        let videos = Carried::new(self.videos, LINKS[1], mixes && images.files.is_empty())?;
        let reason = images.too_long.as_ref().or(videos.too_long.as_ref());
        let linked = images.text.is_some() || videos.text.is_some();
        for carried in [&images, &videos] {
            let name = carried.name;
            if carried.text.is_some() && self.has_field(name) {
                return Err(format!("`{name}` is given twice: as a field and as reference media"));
            }
        }
        let pictured = linked || LINKS[..2].iter().any(|(field, _)| self.has_field(field));
        let with_sound = self.has_field(LINKS[2].0);
        let has_video_file = !videos.files.is_empty();
        let files: Vec<File> = images.files.into_iter().chain(videos.files).collect();
        let combined = |rule: &str| match reason {
            None => rule.to_owned(),
            Some(reason) => format!("{reason}, and {rule}"),
        };
        if !files.is_empty() && pictured {
            return Err(combined("reference files and reference links cannot be combined in one request"));
        }
        let alone = files.len() == 1 && !(mixes && has_video_file);
        if files.len() > 1 && has_video_file && !mixes {
            return Err(combined("a reference video that is a file cannot be combined with other files"));
        }
        if !files.is_empty() && !alone && with_sound {
            return Err(combined("several reference files cannot be combined with `audio_reference`"));
        }
        let name = if alone { "input_reference" } else { "input_references" };
        let mut parts: Vec<Part> = files.into_iter().map(|file| Part::file(name, file)).collect();
        parts.extend(
            [(images.name, images.text), (videos.name, videos.text)]
                .into_iter()
                .filter_map(|(name, text)| Some(Part::Text { name, text: text? })),
        );
        Ok(parts)
    }
}

/// Chat passes over data URLs of other types too.
fn is_image_data_url(url: &str) -> bool {
    url.get(..10).is_some_and(|head| head.eq_ignore_ascii_case("data:image"))
}

/// Images or videos of one request: as files, or together as one link field.
struct Carried {
    name: &'static str,
    files: Vec<File>,
    text: Option<String>,
    /// Why links became files.
    too_long: Option<String>,
}

impl Carried {
    /// `as_links` puts files into the link field as far as they fit; links that do not fit become
    /// files when their bytes are at hand.
    fn new(references: &[Reference], (name, key): (&'static str, &str), as_links: bool) -> Result<Self, String> {
        let mut carried = Self { name, files: Vec::new(), text: None, too_long: None };
        let (links, files): (Vec<_>, Vec<_>) =
            references.iter().partition(|one| matches!(one, Reference::Url(_)) || as_links);
        for reference in files {
            carried.files.push(file(reference)?);
        }
        if links.is_empty() {
            return Ok(carried);
        }
        let length = estimate(&links);
        // far above the limit the text need not be made to know
        let text = (length <= 2 * LARGEST_TEXT_PART).then(|| link_text(&links, key, as_links));
        let length = text.as_ref().map_or(length, String::len);
        if let Some(text) = text.filter(|text| text.len() <= LARGEST_TEXT_PART) {
            carried.text = Some(text);
            return Ok(carried);
        }
        let reason = format!("`{name}` has {length} bytes, and servers refuse form fields above {LARGEST_TEXT_PART}");
        for reference in links {
            carried.files.push(file(reference).map_err(|_| format!("{reason}; pass media as files"))?);
        }
        carried.too_long = Some(reason);
        Ok(carried)
    }
}

/// About how long the field with these links is.
fn estimate(references: &[&Reference]) -> usize {
    let length = |reference: &&Reference| match reference {
        Reference::Bytes { bytes, mime, .. } => bytes.len().div_ceil(3) * 4 + mime.len() + 32,
        Reference::Url(url) => url.len() + 20,
    };
    references.iter().map(length).sum()
}

/// The field's JSON; files always stand in a list, as the Python client writes them.
fn link_text(references: &[&Reference], key: &str, as_list: bool) -> String {
    let mut links: Vec<Value> = references
        .iter()
        .map(|reference| match reference {
            Reference::Url(url) => json!({ key: url.as_ref() }),
            Reference::Bytes { bytes, mime, .. } => {
                json!({ key: format!("data:{mime};base64,{}", base64_simd::STANDARD.encode_to_string(bytes)) })
            }
        })
        .collect();
    let has_file = references.iter().any(|reference| matches!(reference, Reference::Bytes { .. }));
    match links.pop() {
        Some(only) if links.is_empty() && !(as_list && has_file) => only.to_string(),
        last => Value::Array(links.into_iter().chain(last).collect()).to_string(),
    }
}

/// A reference as a file; a link is one only when it is a data URL.
fn file(one: &Reference) -> Result<File, String> {
    match one {
        Reference::Bytes { bytes, mime, file_name } => Ok((bytes.clone(), mime.clone(), file_name.clone())),
        Reference::Url(url) if is_data_url(url) => {
            let bytes = decode(url)?;
            let found = recognise(&bytes, None)?;
            match reference(bytes, found, "reference") {
                Reference::Bytes { bytes, mime, file_name } => Ok((bytes, mime, file_name)),
                Reference::Url(url) => Err(format!("`{url}` is a link")),
            }
        }
        Reference::Url(url) => Err(format!("`{}` is a link and not a file", brief(&Value::from(url.as_ref())))),
    }
}

/// Checks the value of a link field: an object with exactly its one key, or a list of such objects,
/// as a table or as JSON text.
pub(crate) fn check_link(name: &str, value: &Value) -> Result<(), String> {
    let Some((_, key)) = LINKS.iter().find(|(field, _)| *field == name) else { return Ok(()) };
    let wrong = |more: &str| {
        let shown = brief(value);
        Err(format!("`{name}` must be {{\"{key}\": \"…\"}} or a list of such objects, not `{shown}`{more}"))
    };
    let parsed = parsed(value);
    let items = match &parsed {
        Value::Array(items) => items.as_slice(),
        item => std::slice::from_ref(item),
    };
    if items.iter().any(|item| item.get("file_id").is_some()) {
        return wrong("; servers do not know `file_id`");
    }
    let is_link = |item: &Value| {
        item.as_object().is_some_and(|fields| {
            fields.len() == 1 && fields.get(*key).and_then(Value::as_str).is_some_and(|url| !url.is_empty())
        })
    };
    if !items.is_empty() && items.iter().all(is_link) { Ok(()) } else { wrong("") }
}

/// The links of a checked field, in order.
pub(super) fn links(value: &Value) -> Vec<String> {
    let parsed = parsed(value);
    let items = match &parsed {
        Value::Array(items) => items.as_slice(),
        item => std::slice::from_ref(item),
    };
    items.iter().filter_map(|item| item.as_object()?.values().next()?.as_str().map(str::to_owned)).collect()
}

fn parsed(value: &Value) -> Value {
    match value {
        Value::String(text) => serde_json::from_str(text).unwrap_or(Value::Null),
        other => other.clone(),
    }
}
