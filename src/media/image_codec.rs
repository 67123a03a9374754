//! Writes synthetic pictures and decodes whole ones, both through the `image` and `png` crates.
//!
//! A written picture is a grid of seeded colours: it compresses to a few kilobytes and costs little
//! to encode, so that the simulator's own work stays far below what it pretends to compute.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::webp::WebPEncoder;
use image::{ExtendedColorType, ImageReader, Limits};

use super::image_probe::not_an_image;
use super::seeded::Seeded;
use super::types::{ImageFormat, ImageInfo, MediaError};

/// Longest side written or decoded; also the most that a lossless WebP can hold.
const LONGEST_SIDE: u32 = 16_384;
/// Most memory one decode may take.
const DECODE_BYTES: u64 = 1 << 30;
/// Cells along each side of a written picture.
const CELLS: u32 = 8;
/// Bytes per pixel.
const RGB: usize = 3;

/// A picture of exactly this size, as RGB with eight bits a channel. The same seed gives the same
/// bytes; another seed gives others (below about 3×3 pixels there are too few colours to promise it).
pub fn write_image(format: ImageFormat, width: u32, height: u32, seed: u64) -> Result<Vec<u8>, MediaError> {
    if width == 0 || height == 0 || width > LONGEST_SIDE || height > LONGEST_SIDE {
        return Err(MediaError(format!(
            "cannot write a picture of {width}x{height}: sides must be 1 to {LONGEST_SIDE} pixels"
        )));
    }
    let pixels = grid(width, height, seed)?;
    let mut file = Vec::new();
    match format {
        ImageFormat::Png => write_png(&mut file, &pixels, width, height).map_err(|error| error.to_string()),
        ImageFormat::Jpeg => JpegEncoder::new_with_quality(&mut file, 85)
            .encode(&pixels, width, height, ExtendedColorType::Rgb8)
            .map_err(|error| error.to_string()),
        ImageFormat::Webp => WebPEncoder::new_lossless(&mut file)
            .encode(&pixels, width, height, ExtendedColorType::Rgb8)
            .map_err(|error| error.to_string()),
    }
    .map_err(|reason| MediaError(format!("cannot write a {format}: {reason}")))?;
    Ok(file)
}

fn write_png(file: &mut Vec<u8>, pixels: &[u8], width: u32, height: u32) -> Result<(), png::EncodingError> {
    let mut encoder = png::Encoder::new(file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fastest);
    // most rows repeat the one above, which leaves runs of zeros
    encoder.set_filter(png::Filter::Up);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()
}

/// Rows of RGB pixels. Works in whole rows: one row of cells is laid out once and then repeated.
fn grid(width: u32, height: u32, seed: u64) -> Result<Vec<u8>, MediaError> {
    let size = |side: u32| usize::try_from(side).map_err(|_| MediaError::new("picture is too large for this machine"));
    let (columns, rows) = (size(width)?, size(height)?);
    let (cell_width, cell_height) = (size(width.div_ceil(CELLS))?, size(height.div_ceil(CELLS))?);
    let mut seeded = Seeded::new(seed);
    let mut pixels = Vec::with_capacity(columns * rows * RGB);
    let mut line = Vec::with_capacity((columns + cell_width) * RGB);
    for top in (0..rows).step_by(cell_height) {
        line.clear();
        while line.len() < columns * RGB {
            let [red, green, blue, ..] = seeded.bytes();
            line.extend([red, green, blue].repeat(cell_width));
        }
        line.truncate(columns * RGB);
        for _ in top..rows.min(top + cell_height) {
            pixels.extend_from_slice(&line);
        }
    }
    Ok(pixels)
}

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
