//! What a reply carries, encoded while the modelled service time runs.

use bytes::Bytes;

use super::random;
use crate::media::{
    ImageFormat, MediaError, write_detailed_png, write_drifted_image, write_drifted_video, write_image, write_video,
};

/// What is seen on a medium besides what its seed decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// A few colours.
    Plain,
    /// The same, so far off.
    Drifted(u64),
    /// Every pixel of a PNG another colour; other formats and videos are plain.
    Detailed,
}

/// Pictures or a video to be made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Medium {
    /// Pictures of one size.
    Pictures {
        /// Format of all.
        format: ImageFormat,
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// How many.
        count: u32,
        /// Base64 text instead of bytes.
        text: bool,
    },
    /// One video.
    Video {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// Number of frames.
        frames: u32,
        /// Frames per second.
        fps: u32,
    },
}

impl Medium {
    /// Encodes it; the seed decides what is on it.
    ///
    /// # Errors
    /// What the encoder cannot write, such as a video of odd size.
    pub(crate) fn encode(&self, seed: u64, look: Look) -> Result<Vec<Bytes>, MediaError> {
        match *self {
            Self::Pictures { format, width, height, count, text } => (0..count)
                .map(|index| {
                    let seed = random::nth(seed, u64::from(index));
                    let picture = match look {
                        Look::Drifted(drift) => write_drifted_image(format, width, height, seed, drift)?,
                        Look::Detailed if format == ImageFormat::Png => write_detailed_png(width, height, seed)?,
                        Look::Plain | Look::Detailed => write_image(format, width, height, seed)?,
                    };
                    Ok(if text {
                        Bytes::from(base64_simd::STANDARD.encode_to_string(picture))
                    } else {
                        Bytes::from(picture)
                    })
                })
                .collect(),
            Self::Video { width, height, frames, fps } => {
                let video = match look {
                    Look::Drifted(drift) => write_drifted_video(width, height, frames, f64::from(fps), seed, drift),
                    Look::Plain | Look::Detailed => write_video(width, height, frames, f64::from(fps), seed),
                };
                video.map(|video| vec![Bytes::from(video)])
            }
        }
    }

    /// A rough upper bound of what it holds in memory, in MB; bounds how much is encoded ahead.
    pub(crate) fn megabytes(&self) -> u32 {
        let bytes = match *self {
            Self::Pictures { width, height, count, .. } => u64::from(width) * u64::from(height) * 4 * u64::from(count),
            Self::Video { width, height, frames, .. } => {
                u64::from(width) * u64::from(height) * (4 + u64::from(frames) / 64)
            }
        };
        u32::try_from(bytes >> 20).unwrap_or(u32::MAX).saturating_add(1)
    }
}

/// The name of a format in requests and replies.
pub(crate) const fn format_name(format: ImageFormat) -> &'static str {
    match format {
        ImageFormat::Png => "png",
        ImageFormat::Jpeg => "jpeg",
        ImageFormat::Webp => "webp",
    }
}

/// The format a request names; the real server writes JPEG for a text it does not know.
pub(crate) fn format_asked(text: Option<&str>) -> ImageFormat {
    match text.map(str::to_lowercase).as_deref() {
        None | Some("png") => ImageFormat::Png,
        Some("webp") => ImageFormat::Webp,
        Some(_) => ImageFormat::Jpeg,
    }
}

/// The content type of a format.
pub(crate) const fn content_type(format: ImageFormat) -> &'static str {
    match format {
        ImageFormat::Png => "image/png",
        ImageFormat::Jpeg => "image/jpeg",
        ImageFormat::Webp => "image/webp",
    }
}
