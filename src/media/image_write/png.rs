//! PNG, RGB.

use super::grid;
use crate::media::types::MediaError;

pub(super) fn write(width: u16, height: u16, seed: u64) -> Result<Vec<u8>, MediaError> {
    let mut file = Vec::new();
    encode(&mut file, width, height, seed).map_err(|error| MediaError(format!("cannot write a PNG: {error}")))?;
    Ok(file)
}

fn encode(file: &mut Vec<u8>, width: u16, height: u16, seed: u64) -> Result<(), png::EncodingError> {
    let mut encoder = png::Encoder::new(file, width.into(), height.into());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fastest);
    // most rows repeat the one above, which leaves runs of zeros
    encoder.set_filter(png::Filter::Up);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels(width.into(), height.into(), seed))?;
    writer.finish()
}

/// Rows of pixels. One row of each row of cells is laid out, and then repeated as a whole.
fn pixels(width: usize, height: usize, seed: u64) -> Vec<u8> {
    let mut pixels = Vec::with_capacity(width * height * 3);
    for row in grid(width, height, seed) {
        let line: Vec<u8> = row.cells.iter().flat_map(|cell| cell.colour.repeat(cell.width)).collect();
        for _ in 0..row.height {
            pixels.extend_from_slice(&line);
        }
    }
    pixels
}
