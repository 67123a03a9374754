//! One picture inside a JSON text: base64, with or without the head of a data URL.

use std::io;

use super::base64::{Base64, Base64Error};
use super::save::PartFile;
use super::tally::{Counted, Tally};
use crate::media::{ImageInfo, ImageProbe, MediaError};

/// Longest head of a data URL, up to its comma.
const MAX_HEAD: usize = 256;

/// Why a text is not a usable picture.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PictureFault {
    #[error("is empty")]
    Empty,
    #[error("is {0}")]
    Base64(#[from] Base64Error),
    #[error("is a link, not a data URL")]
    Link,
    #[error("is a data URL without base64")]
    Head,
    #[error("holds {bytes} bytes that are no picture: {error}")]
    Media { bytes: u64, error: MediaError },
    #[error("{0}")]
    Io(io::Error),
}

/// A picture that has passed whole.
pub(crate) struct Picture {
    pub(crate) counted: Counted,
    /// What its header says; `None` when headers are not asked for and this one cannot be read.
    pub(crate) info: Option<ImageInfo>,
    /// Media type that the data URL claims.
    pub(crate) mime: Option<String>,
}

/// How the text must look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Base64; the head of a data URL is skipped if there is one.
    Base64,
    /// A data URL.
    DataUrl,
}

/// What is wanted of a picture besides that it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wants {
    /// Its header must be readable.
    pub(crate) header: bool,
    /// Its bytes are kept, to be decoded whole later.
    pub(crate) bytes: bool,
}

/// Reads one picture.
pub(crate) struct PictureReader {
    form: Form,
    wants: Wants,
    /// The text so far while it is unclear whether a data URL's head comes first.
    head: Option<Vec<u8>>,
    mime: Option<String>,
    decoder: Base64,
    probe: ImageProbe,
    tally: Tally,
    fault: Option<PictureFault>,
}

impl PictureReader {
    pub(crate) fn new(form: Form, wants: Wants, file: Option<io::Result<PartFile>>) -> Self {
        Self {
            form,
            wants,
            head: Some(Vec::new()),
            mime: None,
            decoder: Base64::new(),
            probe: ImageProbe::new(),
            tally: Tally::new(file).keeping(wants.bytes),
            fault: None,
        }
    }

    /// Takes the next piece of the text.
    pub(crate) fn feed(&mut self, text: &[u8]) {
        if self.fault.is_some() {
            return;
        }
        let done = match self.head.take() {
            Some(head) => self.head(head, text),
            None => self.decode(text),
        };
        self.fault = done.err();
    }

    /// Says that the text is complete.
    pub(crate) fn finish(mut self) -> Result<Picture, PictureFault> {
        if let Some(head) = self.head.take() {
            // the text ended before a comma
            match self.form {
                _ if head.is_empty() => return Err(PictureFault::Empty),
                Form::Base64 => self.decode(&head)?,
                Form::DataUrl if head.len() >= 5 => return Err(PictureFault::Head),
                Form::DataUrl => return Err(PictureFault::Link),
            }
        }
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let (probe, tally) = (&mut self.probe, &mut self.tally);
        self.decoder.finish(&mut |block| {
            probe.feed(block);
            tally.feed(block);
        })?;
        let bytes = self.tally.bytes();
        if bytes == 0 {
            return Err(PictureFault::Empty);
        }
        let info = match self.probe.finish() {
            Ok(info) => Some(info),
            Err(error) if self.wants.header => return Err(PictureFault::Media { bytes, error }),
            Err(_) => None,
        };
        let counted = self.tally.finish().map_err(PictureFault::Io)?;
        Ok(Picture { counted, info, mime: self.mime })
    }

    /// Bytes of the text held, decoded or not.
    pub(crate) fn retained(&self) -> usize {
        self.head.as_ref().map_or(0, Vec::len) + self.decoder.retained()
    }

    fn head(&mut self, mut head: Vec<u8>, text: &[u8]) -> Result<(), PictureFault> {
        let room = MAX_HEAD.saturating_sub(head.len()).min(text.len());
        let (taken, rest) = text.split_at(room);
        head.extend_from_slice(taken);
        let scheme = b"data:";
        let is_head = head.iter().zip(scheme).all(|(byte, wanted)| byte.eq_ignore_ascii_case(wanted));
        match head.iter().position(|byte| *byte == b',') {
            _ if !is_head && self.form == Form::DataUrl => return Err(PictureFault::Link),
            _ if !is_head => self.decode(&head)?,
            Some(comma) => {
                let (meta, data) = head.split_at(comma);
                self.mime = Some(mime(meta).ok_or(PictureFault::Head)?);
                self.decode(data.get(1..).unwrap_or_default())?;
            }
            None if head.len() == MAX_HEAD => return Err(PictureFault::Head),
            None => {
                self.head = Some(head);
                return Ok(());
            }
        }
        self.decode(rest)
    }

    fn decode(&mut self, text: &[u8]) -> Result<(), PictureFault> {
        let (probe, tally) = (&mut self.probe, &mut self.tally);
        self.decoder.feed(text, &mut |block| {
            probe.feed(block);
            tally.feed(block);
        })?;
        Ok(())
    }
}

/// The media type of `data:TYPE;…;base64`; `None` when it is not base64.
fn mime(head: &[u8]) -> Option<String> {
    let head = std::str::from_utf8(head).ok()?;
    let (_, rest) = head.split_once(':')?;
    let (meta, encoding) = rest.rsplit_once(';')?;
    encoding.trim().eq_ignore_ascii_case("base64").then_some(())?;
    Some(meta.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
}
