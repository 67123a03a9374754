//! Reads the size of a PNG, JPEG or WebP from its first bytes, however they are cut into chunks.
//!
//! In: the file's bytes, in order. Out: an [`ImageInfo`] as soon as the header has passed, or why
//! there is none. It keeps at most 33 bytes, never looks at pixels, and does not decode: a picture
//! that is cut off after its header passes here and fails [`decode_image`](super::decode_image).

mod jpeg;
mod png;
#[cfg(test)]
mod tests;
mod webp;

use super::types::{ImageFormat, ImageInfo, MediaError};
use jpeg::JpegHeader;
use png::PngHeader;
use webp::WebpHeader;

/// Bytes that decide which format it is.
const SNIFF: usize = 12;

/// A push parser for picture headers; see the module's description.
#[derive(Debug)]
pub struct ImageProbe(State);

#[derive(Debug)]
enum State {
    Sniffing(Gather<SNIFF>),
    Png(PngHeader),
    Jpeg(JpegHeader),
    Webp(WebpHeader),
    Done(Result<ImageInfo, MediaError>),
}

/// What a header reader knows after a chunk: `None` while it needs more.
type Step = Option<Result<ImageInfo, MediaError>>;

impl Default for ImageProbe {
    fn default() -> Self {
        Self::new()
    }
}

impl ImageProbe {
    /// A probe that has seen nothing.
    pub fn new() -> Self {
        Self(State::Sniffing(Gather::new()))
    }

    /// Takes the next bytes of the file; bytes after the header cost nothing.
    pub fn feed(&mut self, mut chunk: &[u8]) {
        if let State::Sniffing(gather) = &mut self.0 {
            let Some(head) = gather.fill(&mut chunk) else { return };
            self.0 = State::of(&head);
            self.step(&head);
        }
        self.step(chunk);
    }

    fn step(&mut self, chunk: &[u8]) {
        let step = match &mut self.0 {
            State::Png(header) => header.feed(chunk),
            State::Jpeg(header) => header.feed(chunk),
            State::Webp(header) => header.feed(chunk),
            State::Sniffing(_) | State::Done(_) => None,
        };
        if let Some(result) = step {
            self.0 = State::Done(result);
        }
    }

    /// What the header says, once it has passed.
    pub fn info(&self) -> Option<ImageInfo> {
        match &self.0 {
            State::Done(Ok(info)) => Some(*info),
            State::Sniffing(_) | State::Png(_) | State::Jpeg(_) | State::Webp(_) | State::Done(Err(_)) => None,
        }
    }

    /// What the header says, or why the bytes fed so far are not a picture.
    pub fn finish(self) -> Result<ImageInfo, MediaError> {
        let cut_off = |format: ImageFormat| MediaError(format!("{format} header is cut off"));
        match self.0 {
            State::Sniffing(gather) => {
                let head = gather.so_far();
                Err(match ImageFormat::sniff(head).or_else(|| ImageFormat::begun_by(head)) {
                    Some(format) => cut_off(format),
                    None if head.is_empty() => MediaError::new("no image data"),
                    None => not_an_image(head),
                })
            }
            State::Png(_) => Err(cut_off(ImageFormat::Png)),
            State::Jpeg(_) => Err(cut_off(ImageFormat::Jpeg)),
            State::Webp(_) => Err(cut_off(ImageFormat::Webp)),
            State::Done(result) => result,
        }
    }
}

impl State {
    fn of(head: &[u8]) -> Self {
        match ImageFormat::sniff(head) {
            Some(ImageFormat::Png) => Self::Png(PngHeader::new()),
            Some(ImageFormat::Jpeg) => Self::Jpeg(JpegHeader::new()),
            Some(ImageFormat::Webp) => Self::Webp(WebpHeader::new()),
            None => Self::Done(Err(not_an_image(head))),
        }
    }
}

pub(super) fn not_an_image(head: &[u8]) -> MediaError {
    MediaError::starts_with("not an image", head.get(..SNIFF).unwrap_or(head))
}

/// A part of known length, gathered across chunks.
#[derive(Debug)]
struct Gather<const N: usize> {
    bytes: [u8; N],
    have: usize,
}

impl<const N: usize> Gather<N> {
    const fn new() -> Self {
        Self { bytes: [0; N], have: 0 }
    }

    /// Moves bytes from the front of `chunk`; the whole part once it is complete.
    fn fill(&mut self, chunk: &mut &[u8]) -> Option<[u8; N]> {
        let (now, later) = chunk.split_at(chunk.len().min(N - self.have));
        for (slot, byte) in self.bytes.iter_mut().skip(self.have).zip(now) {
            *slot = *byte;
        }
        self.have += now.len();
        *chunk = later;
        (self.have == N).then_some(self.bytes)
    }

    fn so_far(&self) -> &[u8] {
        self.bytes.get(..self.have).unwrap_or_default()
    }
}
