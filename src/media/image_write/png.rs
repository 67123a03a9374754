//! PNG, RGB with eight bits a channel. The first row of a row of cells is stored as the difference to
//! the pixel before, the others as the difference to the row above: nearly everything is runs of
//! zeros, which are written as such (zlib, RFC 1950, and deflate, RFC 1951) without being laid out.

use super::{Row, grid};
use crate::media::bits::LowBits;
use crate::media::crc32::crc32;
use crate::media::seeded::Seeded;

/// Row filters (PNG specification, section 9.2).
const AS_IS: u8 = 0;
const SUB: u8 = 1;
const UP: u8 = 2;
/// Bytes per pixel.
const RGB: usize = 3;

pub(super) fn write(width: u16, height: u16, seeded: Seeded) -> Vec<u8> {
    file(width, height, &data(width.into(), &grid(width.into(), height.into(), seeded)))
}

/// Every pixel another colour, so that the file has about as many bytes as the picture has colour values.
pub(super) fn write_detailed(width: u16, height: u16, mut seeded: Seeded) -> Vec<u8> {
    let mut stream = Zlib::new();
    for _ in 0..height {
        stream.byte(AS_IS);
        let mut left = usize::from(width) * RGB;
        while left > 0 {
            let bytes = seeded.bytes();
            let taken = left.min(bytes.len());
            bytes.into_iter().take(taken).for_each(|byte| stream.byte(byte));
            left -= taken;
        }
    }
    file(width, height, &stream.finish())
}

fn file(width: u16, height: u16, data: &[u8]) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::new();
    header.extend(u32::from(width).to_be_bytes());
    header.extend(u32::from(height).to_be_bytes());
    header.extend([8, 2, 0, 0, 0]); // bits a channel, RGB, deflate, the usual filters, not interlaced
    chunk(&mut file, *b"IHDR", &header);
    chunk(&mut file, *b"IDAT", data);
    chunk(&mut file, *b"IEND", &[]);
    file
}

fn chunk(file: &mut Vec<u8>, kind: [u8; 4], payload: &[u8]) {
    file.extend(u32::try_from(payload.len()).unwrap_or(u32::MAX).to_be_bytes());
    file.extend(kind);
    file.extend(payload);
    file.extend(crc32(&[&kind, payload]).to_be_bytes());
}

fn data(width: usize, rows: &[Row]) -> Vec<u8> {
    let mut stream = Zlib::new();
    for row in rows {
        stream.byte(SUB);
        let mut before = [0_u8; RGB];
        for cell in &row.cells {
            for (now, before) in cell.colour.into_iter().zip(before) {
                stream.byte(now.wrapping_sub(before));
            }
            before = cell.colour;
            stream.zeros((cell.width - 1) * RGB);
        }
        for _ in 1..row.height {
            stream.byte(UP);
            stream.zeros(width * RGB);
        }
    }
    stream.finish()
}

/// A zlib stream of one block with the fixed codes.
#[derive(Debug)]
struct Zlib {
    bits: LowBits,
    /// The two sums of Adler-32.
    sums: (u64, u64),
}

impl Zlib {
    const ADLER: u64 = 65_521;
    const LONGEST_COPY: usize = 258;

    fn new() -> Self {
        let mut bits = LowBits::default();
        bits.put(0x78, 8); // deflate with a window of 32 KiB
        bits.put(0x01, 8); // and the check bits of this header
        bits.put(1, 1); // the last block
        bits.put(1, 2); // fixed codes
        Self { bits, sums: (1, 0) }
    }

    fn byte(&mut self, byte: u8) {
        let (low, high) = self.sums;
        let low = (low + u64::from(byte)) % Self::ADLER;
        self.sums = (low, (high + low) % Self::ADLER);
        self.literal(byte);
    }

    /// A run of zeros: one of them, and copies of it.
    fn zeros(&mut self, count: usize) {
        let (low, high) = self.sums;
        self.sums = (low, (high + low * (count as u64 % Self::ADLER)) % Self::ADLER);
        let mut left = count;
        if left > 0 {
            self.literal(0);
            left -= 1;
        }
        while left >= 3 {
            let length = left.min(Self::LONGEST_COPY);
            self.copy(u32::try_from(length - 3).unwrap_or(0));
            left -= length;
        }
        for _ in 0..left {
            self.literal(0);
        }
    }

    fn literal(&mut self, byte: u8) {
        match u32::from(byte) {
            value @ 0..144 => self.bits.code(0x30 + value, 8),
            value => self.bits.code(0x190 + value - 144, 9),
        }
    }

    /// A copy from distance 1, given its length less 3 (section 3.2.5).
    fn copy(&mut self, value: u32) {
        if value == 255 {
            // the longest has a symbol of its own, 285; with the five bits of distance 1
            self.bits.code(0b1100_0101 << 5, 13);
            return;
        }
        let extra_bits = 29_u32.saturating_sub(value.leading_zeros());
        let symbol = if extra_bits == 0 { 257 + value } else { 257 + 4 * extra_bits + (value >> extra_bits) };
        match symbol {
            257..280 => self.bits.code(symbol - 256, 7),
            _ => self.bits.code(0xC0 + symbol - 280, 8),
        }
        self.bits.put(value & ((1 << extra_bits) - 1), extra_bits);
        self.bits.code(0, 5);
    }

    fn finish(mut self) -> Vec<u8> {
        self.bits.code(0, 7); // end of the block
        let mut bytes = self.bits.finish();
        let (low, high) = self.sums;
        let [.., h1, h0] = high.to_be_bytes();
        let [.., l1, l0] = low.to_be_bytes();
        bytes.extend([h1, h0, l1, l0]);
        bytes
    }
}
