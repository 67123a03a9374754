//! JPEG: walks the marker segments up to the frame header (ITU-T T.81, annex B), whichever of the
//! baseline, progressive, lossless or arithmetic kinds it is. Payloads are skipped by counting.

use super::{Gather, Step};
use crate::media::types::{ImageFormat, ImageInfo, MediaError};

#[derive(Debug)]
pub(super) struct JpegHeader(Place);

/// Where in the stream the next byte lies.
#[derive(Debug)]
enum Place {
    /// The 0xFF before a marker code.
    Prefix,
    /// The marker code, or more 0xFF as fill.
    Code,
    /// The two length bytes of a segment.
    Length { frame: bool, gather: Gather<2> },
    /// Precision, height and width.
    Frame(Gather<5>),
    /// This many payload bytes to ignore.
    Skip(usize),
}

impl JpegHeader {
    pub(super) const fn new() -> Self {
        Self(Place::Prefix)
    }

    pub(super) fn feed(&mut self, mut chunk: &[u8]) -> Step {
        while !chunk.is_empty() {
            match self.advance(&mut chunk) {
                Ok(Some(info)) => return Some(Ok(info)),
                Ok(None) => {}
                Err(error) => return Some(Err(error)),
            }
        }
        None
    }

    /// Takes at least one byte of a chunk that has one.
    fn advance(&mut self, chunk: &mut &[u8]) -> Result<Option<ImageInfo>, MediaError> {
        match &mut self.0 {
            Place::Prefix => match take(chunk) {
                0xFF => self.0 = Place::Code,
                other => return Err(MediaError(format!("JPEG has byte `{other:02x}` where a marker should be"))),
            },
            Place::Code => self.0 = after(take(chunk))?,
            Place::Length { frame, gather } => {
                if let Some(length) = gather.fill(chunk) {
                    self.0 = payload(*frame, u16::from_be_bytes(length))?;
                }
            }
            Place::Frame(gather) => {
                if let Some([_, h1, h0, w1, w0]) = gather.fill(chunk) {
                    let (width, height) = (u16::from_be_bytes([w1, w0]), u16::from_be_bytes([h1, h0]));
                    return ImageInfo::checked(ImageFormat::Jpeg, width.into(), height.into()).map(Some);
                }
            }
            Place::Skip(left) => {
                let now = chunk.len().min(*left);
                *chunk = chunk.get(now..).unwrap_or_default();
                *left -= now;
                if *left == 0 {
                    self.0 = Place::Prefix;
                }
            }
        }
        Ok(None)
    }
}

fn take(chunk: &mut &[u8]) -> u8 {
    let Some((first, rest)) = chunk.split_first() else { return 0 };
    *chunk = rest;
    *first
}

/// What follows a marker code.
fn after(code: u8) -> Result<Place, MediaError> {
    match code {
        0xFF => Ok(Place::Code),
        // start of image, restarts and the temporary marker stand alone
        0x01 | 0xD0..=0xD8 => Ok(Place::Prefix),
        0xD9 | 0xDA => Err(MediaError::new("JPEG has no frame header before its data")),
        0x00 | 0x02..=0xBF => Err(MediaError(format!("JPEG has the unknown marker `ff{code:02x}`"))),
        // SOF0 to SOF15, without DHT (C4), JPG (C8) and DAC (CC)
        0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
            Ok(Place::Length { frame: true, gather: Gather::new() })
        }
        0xC4 | 0xC8 | 0xCC | 0xDB..=0xFE => Ok(Place::Length { frame: false, gather: Gather::new() }),
    }
}

/// What follows the length of a segment; the length counts itself.
fn payload(frame: bool, length: u16) -> Result<Place, MediaError> {
    match usize::from(length).checked_sub(2) {
        None => Err(MediaError(format!("JPEG has a segment of length {length}"))),
        Some(left) if frame && left < 6 => Err(MediaError::new("JPEG frame header is too short")),
        Some(_) if frame => Ok(Place::Frame(Gather::new())),
        Some(0) => Ok(Place::Prefix),
        Some(left) => Ok(Place::Skip(left)),
    }
}
