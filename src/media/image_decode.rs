//! Decodes whole pictures through the `image` crate, to tell a complete file from one that only
//! starts like a picture.

use std::io::Cursor;

use image::{ImageReader, Limits};

use super::image_probe::not_an_image;
use super::types::{ImageFormat, ImageInfo, MediaError};

/// Longest side decoded.
const LONGEST_SIDE: u32 = 16_384;
/// Most memory one decode may take.
const DECODE_BYTES: u64 = 1 << 30;

/// Decodes every pixel of a PNG, JPEG or WebP and says what it was. Sides above 16384 pixels and
/// pictures that need more than 1 GiB are refused.
pub fn decode_image(bytes: &[u8]) -> Result<ImageInfo, MediaError> {
    if bytes.is_empty() {
        return Err(MediaError::new("no image data"));
    }
    let format = ImageFormat::sniff(bytes).ok_or_else(|| not_an_image(bytes))?;
    if format == ImageFormat::Jpeg && !has_end(bytes) {
        return Err(MediaError(format!("{format} does not decode: it is cut off")));
    }
    let mut reader = ImageReader::with_format(
        Cursor::new(bytes),
        match format {
            ImageFormat::Png => image::ImageFormat::Png,
            ImageFormat::Jpeg => image::ImageFormat::Jpeg,
            ImageFormat::Webp => image::ImageFormat::WebP,
        },
    );
    let mut limits = Limits::default();
    limits.max_image_width = Some(LONGEST_SIDE);
    limits.max_image_height = Some(LONGEST_SIDE);
    limits.max_alloc = Some(DECODE_BYTES);
    reader.limits(limits);
    let picture = reader.decode().map_err(|error| MediaError(format!("{format} does not decode: {error}")))?;
    ImageInfo::checked(format, picture.width(), picture.height())
}

/// Whether a JPEG's last scan is followed by the end marker: decoders fill up what is missing with
/// grey and do not complain. Neither marker can occur inside a scan's data.
fn has_end(jpeg: &[u8]) -> bool {
    let end = jpeg.windows(2).rposition(|pair| pair == [0xFF, 0xD9]);
    let after = end.and_then(|end| jpeg.get(end..)).unwrap_or(jpeg);
    end.is_some() && !after.windows(2).any(|pair| pair == [0xFF, 0xDA])
}
