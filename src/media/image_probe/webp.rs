//! WebP: the RIFF header and the first chunk, which is lossy (`VP8 `, RFC 6386 section 9.1), lossless
//! (`VP8L`, RFC 9649 section 3.4) or extended (`VP8X`, RFC 9649 section 2.7.1). 30 bytes tell all three.

use super::{Gather, Step};
use crate::media::types::{ImageFormat, ImageInfo, MediaError};

#[derive(Debug)]
pub(super) struct WebpHeader {
    /// RIFF, its size, WEBP, the first chunk's name and size.
    container: Gather<20>,
    /// The part of the chunk that holds the size; a lossless header needs half of it.
    lossless: Gather<5>,
    other: Gather<10>,
    chunk: Option<Chunk>,
}

#[derive(Debug, Clone, Copy)]
enum Chunk {
    Lossy,
    Lossless,
    Extended,
}

impl WebpHeader {
    pub(super) const fn new() -> Self {
        Self { container: Gather::new(), lossless: Gather::new(), other: Gather::new(), chunk: None }
    }

    pub(super) fn feed(&mut self, mut bytes: &[u8]) -> Step {
        let chunk = match self.chunk {
            Some(chunk) => chunk,
            None => match first_chunk(self.container.fill(&mut bytes)?) {
                Ok(chunk) => *self.chunk.insert(chunk),
                Err(error) => return Some(Err(error)),
            },
        };
        match chunk {
            Chunk::Lossless => self.lossless.fill(&mut bytes).map(lossless),
            Chunk::Lossy => self.other.fill(&mut bytes).map(lossy),
            Chunk::Extended => self.other.fill(&mut bytes).map(extended),
        }
    }
}

fn first_chunk(container: [u8; 20]) -> Result<Chunk, MediaError> {
    let [.., n0, n1, n2, n3, l0, l1, l2, l3] = container;
    let (chunk, least) = match &[n0, n1, n2, n3] {
        b"VP8 " => (Chunk::Lossy, 10),
        b"VP8L" => (Chunk::Lossless, 5),
        b"VP8X" => (Chunk::Extended, 10),
        other => {
            return Err(MediaError(format!("WebP starts with the unknown chunk `{}`", other.escape_ascii())));
        }
    };
    if u32::from_le_bytes([l0, l1, l2, l3]) < least {
        return Err(MediaError::new("WebP header is too short"));
    }
    Ok(chunk)
}

fn lossy([tag, _, _, s0, s1, s2, w0, w1, h0, h1]: [u8; 10]) -> Result<ImageInfo, MediaError> {
    if tag & 1 != 0 || [s0, s1, s2] != [0x9D, 0x01, 0x2A] {
        return Err(MediaError::new("WebP does not start with a key frame"));
    }
    // the two upper bits of each are a scaling hint
    let side = |low, high| u32::from(u16::from_le_bytes([low, high]) & 0x3FFF);
    ImageInfo::checked(ImageFormat::Webp, side(w0, w1), side(h0, h1))
}

fn lossless([signature, b0, b1, b2, b3]: [u8; 5]) -> Result<ImageInfo, MediaError> {
    let bits = u32::from_le_bytes([b0, b1, b2, b3]);
    if signature != 0x2F || bits >> 29 != 0 {
        return Err(MediaError::new("WebP lossless header is not readable"));
    }
    ImageInfo::checked(ImageFormat::Webp, (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
}

fn extended([_, _, _, _, w0, w1, w2, h0, h1, h2]: [u8; 10]) -> Result<ImageInfo, MediaError> {
    let side = |b0, b1, b2| u32::from_le_bytes([b0, b1, b2, 0]) + 1;
    ImageInfo::checked(ImageFormat::Webp, side(w0, w1, w2), side(h0, h1, h2))
}
