//! Picture and video containers: readers that are fed chunks and keep only what they need, and
//! writers for the simulator and for synthetic inputs. No I/O.

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

/// What a picture's header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageInfo {
    /// The format.
    pub format: ImageFormat,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
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
    /// Frames per second.
    pub fps: f64,
    /// Length in seconds.
    pub duration_s: f64,
}

/// Why bytes are not the medium they should be; the message is short and lower case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MediaError(pub String);
