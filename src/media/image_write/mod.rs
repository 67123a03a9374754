//! Writes synthetic pictures: a grid of seeded colours, of exactly the asked size.
//!
//! They compress to some kilobytes and cost little to encode, so that the simulator's own work stays
//! far below what it pretends to compute: under a millisecond for a large picture in a release build,
//! where general encoders take tens. The pixels are never laid out.

mod jpeg;
mod png;
mod webp;

use super::seeded::Seeded;
use super::types::{ImageFormat, MediaError};

/// Longest side written; also the most that a lossless WebP can hold.
const LONGEST_SIDE: u16 = 16_384;
/// Most cells along each side of a picture.
const CELLS: usize = 8;

/// A picture of exactly this size, with eight bits a channel and no transparency. The same seed gives
/// the same bytes; another seed gives others, as far as the few colours of a tiny picture allow.
pub fn write_image(format: ImageFormat, width: u32, height: u32, seed: u64) -> Result<Vec<u8>, MediaError> {
    write(format, width, height, Seeded::new(seed))
}

/// The same picture with its colours a little off, as far as `drift` decides: what a server draws that
/// reuses results between denoising steps.
pub fn write_drifted_image(
    format: ImageFormat,
    width: u32,
    height: u32,
    seed: u64,
    drift: u64,
) -> Result<Vec<u8>, MediaError> {
    write(format, width, height, Seeded::drifting(seed, drift))
}

/// A PNG of this size whose every pixel has another colour, so that it compresses as little as a photograph does.
pub fn write_detailed_png(width: u32, height: u32, seed: u64) -> Result<Vec<u8>, MediaError> {
    let (width, height) = sides(width, height)?;
    Ok(png::write_detailed(width, height, Seeded::new(seed)))
}

fn sides(width: u32, height: u32) -> Result<(u16, u16), MediaError> {
    let side = |pixels: u32| u16::try_from(pixels).ok().filter(|pixels| (1..=LONGEST_SIDE).contains(pixels));
    side(width).zip(side(height)).ok_or_else(|| {
        MediaError(format!("cannot write a picture of {width}x{height}: sides must be 1 to {LONGEST_SIDE} pixels"))
    })
}

fn write(format: ImageFormat, width: u32, height: u32, seeded: Seeded) -> Result<Vec<u8>, MediaError> {
    let (width, height) = sides(width, height)?;
    Ok(match format {
        ImageFormat::Png => png::write(width, height, seeded),
        ImageFormat::Jpeg => jpeg::write(width, height, seeded),
        ImageFormat::Webp => webp::write(width, height, seeded),
    })
}

/// One row of cells.
#[derive(Debug)]
struct Row {
    /// How many units, which are pixels or blocks of them, it is high.
    height: usize,
    cells: Vec<Cell>,
}

/// An area of one colour.
#[derive(Debug)]
struct Cell {
    /// How many units it is wide.
    width: usize,
    /// Red, green and blue, or brightness and two colour differences.
    colour: [u8; 3],
}

/// Covers `columns` × `rows` units with coloured cells.
fn grid(columns: usize, rows: usize, mut seeded: Seeded) -> Vec<Row> {
    let mut cell = |width| {
        let [a, b, c, ..] = seeded.bytes();
        Cell { width, colour: [a, b, c].map(|colour| seeded.near(colour)) }
    };
    parts(rows).map(|height| Row { height, cells: parts(columns).map(&mut cell).collect() }).collect()
}

/// Cuts a side into at most [`CELLS`] parts of equal size, the last of which may be smaller.
fn parts(side: usize) -> impl Iterator<Item = usize> {
    let part = side.div_ceil(CELLS);
    (0..side).step_by(part.max(1)).map(move |start| part.min(side - start))
}
