//! Reads an MP4 or MOV file as it arrives: `moov` first or last, or in fragments.
//!
//! Only the payloads of `moov` and `moof` are kept, one at a time and up to a bound; everything else,
//! above all the media data, is skipped by counting.

#[cfg(test)]
mod tests;

use super::mp4::{Fragments, Movie};
use super::types::{MediaError, VideoInfo};

/// Most bytes of one `moov` or `moof`. Two hours of video need about 5 MB.
const MOST_KEPT: u64 = crate::catalog::limits::HELD_BYTES;

/// Boxes a file may start with; anything else is another format.
const FIRST_BOXES: [&[u8]; 14] = [
    b"ftyp", b"styp", b"moov", b"moof", b"mdat", b"free", b"skip", b"wide", b"pnot", b"uuid", b"sidx", b"emsg",
    b"prft", b"pdin",
];

/// A push parser for MP4 and MOV files; see the module's description.
#[derive(Debug)]
pub struct VideoProbe {
    place: Place,
    /// Whether a box header has been accepted.
    recognized: bool,
    /// Bytes of media data that have come.
    media: u64,
    movie: Option<Movie>,
    fragments: Fragments,
}

#[derive(Debug)]
enum Place {
    /// Inside a box header of 8 or, with a long size, 16 bytes.
    Header(Vec<u8>),
    /// Inside a payload.
    Payload(Payload),
    /// Nothing more will be read.
    Failed(MediaError),
}

#[derive(Debug)]
struct Payload {
    kind: [u8; 4],
    /// Bytes still to come; `None` runs to the end of the file.
    left: Option<u64>,
    /// What has come, where it is wanted.
    kept: Option<Vec<u8>>,
}

impl Default for VideoProbe {
    fn default() -> Self {
        Self::new()
    }
}

impl VideoProbe {
    /// A probe that has seen nothing.
    pub fn new() -> Self {
        Self {
            place: Place::Header(Vec::new()),
            recognized: false,
            media: 0,
            movie: None,
            fragments: Fragments::default(),
        }
    }

    /// Takes the next bytes of the file.
    pub fn feed(&mut self, mut chunk: &[u8]) {
        while !chunk.is_empty() {
            if let Err(error) = self.advance(&mut chunk) {
                self.place = Place::Failed(error);
            }
        }
    }

    /// Takes bytes from the front of a chunk, up to the end of the current header or payload.
    fn advance(&mut self, chunk: &mut &[u8]) -> Result<(), MediaError> {
        match &mut self.place {
            Place::Header(header) => {
                let wanted = if header.starts_with(&[0, 0, 0, 1]) { 16 } else { 8 };
                header.extend_from_slice(split(chunk, wanted - header.len()));
                if !self.recognized && header.get(4..8).is_some_and(|kind| !FIRST_BOXES.contains(&kind)) {
                    return Err(not_a_video(header));
                }
                if let Some(payload) = read_header(header)? {
                    self.recognized = true;
                    self.place = Place::Payload(payload);
                    self.complete()?;
                }
            }
            Place::Payload(payload) => {
                let most = payload.left.map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX));
                let now = split(chunk, most);
                if let Some(kept) = &mut payload.kept {
                    kept.extend_from_slice(now);
                    if kept.len() as u64 > MOST_KEPT {
                        return Err(too_large(payload.kind));
                    }
                }
                if &payload.kind == b"mdat" {
                    self.media += now.len() as u64;
                }
                if let Some(left) = &mut payload.left {
                    *left -= now.len() as u64;
                }
                self.complete()?;
            }
            Place::Failed(_) => *chunk = &[],
        }
        Ok(())
    }

    /// Goes on to the next box when the payload is complete.
    fn complete(&mut self) -> Result<(), MediaError> {
        match &mut self.place {
            Place::Payload(Payload { kind, left: Some(0), kept }) => {
                let (kind, kept) = (*kind, kept.take());
                self.place = Place::Header(Vec::new());
                kept.map_or(Ok(()), |bytes| self.read(kind, &bytes))
            }
            Place::Payload(_) | Place::Header(_) | Place::Failed(_) => Ok(()),
        }
    }

    fn read(&mut self, kind: [u8; 4], payload: &[u8]) -> Result<(), MediaError> {
        if &kind == b"moof" {
            return self.fragments.read(payload);
        }
        if self.movie.is_none() {
            self.movie = Some(Movie::read(payload)?);
        }
        Ok(())
    }

    /// What the file says about its first video track, or why it is not a video.
    pub fn finish(mut self) -> Result<VideoInfo, MediaError> {
        match std::mem::replace(&mut self.place, Place::Header(Vec::new())) {
            Place::Failed(error) => return Err(error),
            Place::Header(part) if !self.recognized => {
                return Err(if part.is_empty() { MediaError::new("no video data") } else { not_a_video(&part) });
            }
            Place::Header(part) if part.is_empty() => {}
            Place::Header(_) => return Err(MediaError::new("video is cut off in a box header")),
            Place::Payload(Payload { kind, left: Some(left), .. }) => {
                return Err(MediaError(format!(
                    "video is cut off: {left} bytes of its `{}` box are missing",
                    kind.escape_ascii()
                )));
            }
            Place::Payload(Payload { kind, left: None, kept }) => {
                if let Some(bytes) = kept {
                    self.read(kind, &bytes)?;
                }
            }
        }
        let info = self.movie.ok_or_else(|| MediaError::new("no `moov` box"))?.info(&self.fragments)?;
        // a frame takes at least a byte, which bounds counts that no table backs
        match self.media {
            0 => Err(MediaError::new("no media data")),
            bytes if info.frames > bytes => {
                Err(MediaError(format!("video says it has {} frames in {bytes} bytes", info.frames)))
            }
            _ => Ok(info),
        }
    }
}

/// Cuts at most `most` bytes from the front of a chunk.
fn split<'a>(chunk: &mut &'a [u8], most: usize) -> &'a [u8] {
    let (now, later) = chunk.split_at(chunk.len().min(most));
    *chunk = later;
    now
}

/// Reads a box header once it is complete.
fn read_header(header: &[u8]) -> Result<Option<Payload>, MediaError> {
    let Some((size, rest)) = header.split_first_chunk::<4>() else { return Ok(None) };
    let Some((kind, rest)) = rest.split_first_chunk::<4>() else { return Ok(None) };
    let (size, length) = match u32::from_be_bytes(*size) {
        0 => (None, 8),
        1 => match rest.first_chunk::<8>() {
            Some(size) => (Some(u64::from_be_bytes(*size)), 16),
            None => return Ok(None),
        },
        size => (Some(u64::from(size)), 8),
    };
    let left = match size {
        None => None,
        Some(size) => Some(size.checked_sub(length).ok_or_else(|| {
            MediaError(format!("`{}` box says it has {size} bytes, less than its header", kind.escape_ascii()))
        })?),
    };
    let wanted = matches!(kind, b"moov" | b"moof");
    if wanted && left.is_some_and(|left| left > MOST_KEPT) {
        return Err(too_large(*kind));
    }
    Ok(Some(Payload { kind: *kind, left, kept: wanted.then(Vec::new) }))
}

fn too_large(kind: [u8; 4]) -> MediaError {
    MediaError(format!(
        "`{}` box is larger than {} MiB (limit `memory_per_request`)",
        kind.escape_ascii(),
        MOST_KEPT >> 20
    ))
}

fn not_a_video(head: &[u8]) -> MediaError {
    MediaError::starts_with("not an MP4 video", head.get(..8).unwrap_or(head))
}
