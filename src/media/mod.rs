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

/// A picture of one colour that differs by seed.
pub fn write_image(format: ImageFormat, width: u32, height: u32, seed: u64) -> Result<Vec<u8>, MediaError> {
    if format != ImageFormat::Png {
        return Err(MediaError("only PNG is written".into()));
    }
    let told = |error: png::EncodingError| MediaError(error.to_string());
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().map_err(told)?;
    let shade = seed.to_le_bytes().into_iter().fold(width.to_le_bytes()[0], |a, b| a.wrapping_mul(31).wrapping_add(b));
    let pixels = vec![shade; width as usize * height as usize];
    writer.write_image_data(&pixels).map_err(told)?;
    writer.finish().map_err(told)?;
    Ok(bytes)
}
