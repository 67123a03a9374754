//! Lossless WebP (RFC 9649, section 3): each cell is one pixel and a copy of it, each further row a
//! copy of the row above.

use super::{Cell, grid};
use crate::media::bits::LowBits;
use crate::media::seeded::Seeded;

/// Most pixels of one copy.
const LONGEST_COPY: usize = 4096;
/// Symbols of the code for green: 256 values, and 24 classes of copy lengths.
const COPIES: u32 = 24;
/// The first copy classes have 5 bits, the others 6, values of green 9: together these fill a code.
const SHORT_COPIES: u32 = 8;

pub(super) fn write(width: u16, height: u16, seeded: Seeded) -> Vec<u8> {
    let mut bits = LowBits::default();
    bits.put(0x2F, 8);
    bits.put(u32::from(width) - 1, 14);
    bits.put(u32::from(height) - 1, 14);
    bits.put(0, 1); // no transparency
    bits.put(0, 3); // version
    bits.put(0, 3); // no transform, no colour cache, one set of codes
    codes(&mut bits);
    for row in grid(width.into(), height.into(), seeded) {
        for Cell { width, colour: [red, green, blue] } in row.cells {
            bits.code(256 + u32::from(green), 9);
            bits.code(red.into(), 8);
            bits.code(blue.into(), 8);
            copy(&mut bits, width - 1, Source::Left);
        }
        copy(&mut bits, (row.height - 1) * usize::from(width), Source::Above);
    }
    container(&bits.finish())
}

/// The RIFF file around the one chunk.
fn container(data: &[u8]) -> Vec<u8> {
    let length = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX).to_le_bytes();
    let padding = data.len() % 2;
    let mut file = b"RIFF".to_vec();
    file.extend(length(4 + 8 + data.len() + padding));
    file.extend(b"WEBPVP8L");
    file.extend(length(data.len()));
    file.extend(data);
    file.resize(file.len() + padding, 0);
    file
}

/// The five prefix codes: green with copy lengths, red, blue, alpha, copy distances.
fn codes(bits: &mut LowBits) {
    // lengths 9, 5 and 6 take 1, 2 and 2 bits
    code_lengths(bits, &[(5, 2), (6, 2), (9, 1)]);
    for _ in 0..256 {
        bits.code(0b0, 1);
    }
    for copy in 0..COPIES {
        bits.code(if copy < SHORT_COPIES { 0b10 } else { 0b11 }, 2);
    }
    for _ in ["red", "blue"] {
        // all 256 values have 8 bits; a code of one symbol takes none
        code_lengths(bits, &[(8, 1)]);
    }
    // alpha is 255 throughout: a simple code of one symbol with eight bits
    bits.put(0b1, 1);
    bits.put(0b0, 1);
    bits.put(0b1, 1);
    bits.put(255, 8);
    // distances: a simple code of the two symbols 0 and 1
    bits.put(0b1, 1);
    bits.put(0b1, 1);
    bits.put(0b0, 1);
    bits.put(0, 1);
    bits.put(1, 8);
}

/// Starts a normal code: how many bits the code for each code length takes (section 3.7.2.1.2).
fn code_lengths(bits: &mut LowBits, used: &[(u8, u32)]) {
    const ORDER: [u8; 13] = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9];
    bits.put(0, 1);
    bits.put(13 - 4, 4);
    for length in ORDER {
        let taken = used.iter().find(|(used, _)| *used == length).map_or(0, |(_, taken)| *taken);
        bits.put(taken, 3);
    }
    bits.put(0, 1); // every symbol has its length written
}

/// Where copied pixels come from; the number is the symbol of the distance.
#[derive(Debug, Clone, Copy)]
enum Source {
    Above = 0,
    Left = 1,
}

/// Repeats earlier pixels (section 3.6.2.2).
fn copy(bits: &mut LowBits, mut pixels: usize, source: Source) {
    while pixels > 0 {
        let length = pixels.min(LONGEST_COPY);
        pixels -= length;
        let (class, extra, extra_bits) = length_class(u32::try_from(length - 1).unwrap_or(0));
        if class < SHORT_COPIES {
            bits.code(class, 5);
        } else {
            bits.code(2 * SHORT_COPIES + class - SHORT_COPIES, 6);
        }
        bits.put(extra, extra_bits);
        bits.put(source as u32, 1);
    }
}

/// The class of a length less 1, and what remains with its number of bits: a class holds the two
/// highest bits of the number.
fn length_class(value: u32) -> (u32, u32, u32) {
    let highest = 31_u32.saturating_sub(value.leading_zeros());
    if highest < 2 {
        return (value, 0, 0);
    }
    let extra_bits = highest - 1;
    let second = value >> extra_bits & 1;
    (2 * highest + second, value & ((1 << extra_bits) - 1), extra_bits)
}
