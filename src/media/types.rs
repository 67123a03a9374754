//! What a medium is, as its own bytes say.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A picture format the endpoints can return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageFormat {
    /// Portable Network Graphics.
    Png,
    /// JPEG.
    Jpeg,
    /// WebP, lossy or lossless.
    Webp,
}

impl ImageFormat {
    /// The format a file with this beginning claims to be; twelve bytes are enough to tell.
    pub fn sniff(head: &[u8]) -> Option<Self> {
        if head.starts_with(PNG_SIGNATURE) {
            return Some(Self::Png);
        }
        if head.starts_with(JPEG_SIGNATURE) {
            return Some(Self::Jpeg);
        }
        let webp = head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP");
        webp.then_some(Self::Webp)
    }

    /// The format whose signature these first bytes begin, when they are too few to [`sniff`](Self::sniff).
    pub(super) fn begun_by(head: &[u8]) -> Option<Self> {
        if head.is_empty() {
            None
        } else if PNG_SIGNATURE.starts_with(head) {
            Some(Self::Png)
        } else if JPEG_SIGNATURE.starts_with(head) {
            Some(Self::Jpeg)
        } else {
            let (riff, rest) = head.split_at(head.len().min(4));
            let name = rest.get(4..).unwrap_or_default();
            (b"RIFF".starts_with(riff) && b"WEBP".starts_with(name)).then_some(Self::Webp)
        }
    }

    /// The media type, for data URLs and multipart bodies.
    pub const fn mime(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Webp => "image/webp",
        }
    }

    /// The usual file extension, without a dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
            Self::Webp => "webp",
        }
    }
}

pub(super) const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
const JPEG_SIGNATURE: &[u8] = b"\xff\xd8\xff";

impl fmt::Display for ImageFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::Webp => "WebP",
        })
    }
}

/// What a picture's header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageInfo {
    /// The format.
    pub format: ImageFormat,
    /// Width in pixels, at least 1.
    pub width: u32,
    /// Height in pixels, at least 1.
    pub height: u32,
}

impl ImageInfo {
    /// Refuses a picture without pixels.
    pub(super) fn checked(format: ImageFormat, width: u32, height: u32) -> Result<Self, MediaError> {
        if width == 0 || height == 0 {
            return Err(MediaError(format!("{format} has size {width}x{height}")));
        }
        Ok(Self { format, width, height })
    }
}

/// What a video's container says about its first video track.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VideoInfo {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Number of frames.
    pub frames: u64,
    /// Frames per second: frames over duration.
    pub fps: f64,
    /// Length in seconds.
    pub duration_s: f64,
}

/// Why bytes are not the medium they should be; the message is short and lower case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MediaError(pub String);

impl MediaError {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    /// Names what the bytes look like, for people who got a text or another format instead.
    pub(super) fn starts_with(expected: &str, head: &[u8]) -> Self {
        let text: String =
            head.iter().take_while(|byte| matches!(byte, b' '..=b'~')).map(|byte| char::from(*byte)).collect();
        if text.len() >= 4 || text.len() == head.len() {
            return Self(format!("{expected}: starts with `{text}`"));
        }
        let bytes: Vec<String> = head.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Self(format!("{expected}: starts with bytes `{}`", bytes.join(" ")))
    }
}
