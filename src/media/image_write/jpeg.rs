//! Baseline JPEG with halved colour resolution (ITU-T T.81), all of whose blocks are flat: each has
//! only its mean, coded as the difference to the block before, which is nearly always 0.

use super::grid;
use crate::media::bits::Bits;
use crate::media::seeded::Seeded;

/// Pixels along a side of the unit that holds four blocks of brightness and one of each colour difference.
const UNIT: u16 = 16;
/// Everything is divided by this; a block's mean, times 8, then becomes the value itself.
const QUANTIZER: u8 = 8;
/// Table class and number, and how many codes have 1, 2, … 16 bits; then their symbols.
/// Differences of category 0 take one bit, categories 1 to 8 take five.
const MEANS: [u8; 26] = [0x00, 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
/// The only other symbol says that a block has nothing but its mean.
const OTHERS: [u8; 18] = [0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

pub(super) fn write(width: u16, height: u16, seeded: Seeded) -> Vec<u8> {
    let ([h1, h0], [w1, w0]) = (height.to_be_bytes(), width.to_be_bytes());
    let mut file = vec![0xFF, 0xD8];
    segment(&mut file, 0xE0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0");
    let mut quantizers = [QUANTIZER; 65];
    quantizers[0] = 0; // eight bits, table 0
    segment(&mut file, 0xDB, &quantizers);
    // eight bits; three components: id, blocks per unit across and down, quantizer table
    segment(&mut file, 0xC0, &[8, h1, h0, w1, w0, 3, 1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 0]);
    segment(&mut file, 0xC4, &MEANS);
    segment(&mut file, 0xC4, &OTHERS);
    // three components with their tables; all coefficients at full precision
    segment(&mut file, 0xDA, &[3, 1, 0, 2, 0, 3, 0, 0, 63, 0]);
    for byte in scan(width.div_ceil(UNIT).into(), height.div_ceil(UNIT).into(), seeded) {
        file.push(byte);
        if byte == 0xFF {
            file.push(0);
        }
    }
    file.extend([0xFF, 0xD9]);
    file
}

fn segment(file: &mut Vec<u8>, marker: u8, payload: &[u8]) {
    let length = u16::try_from(payload.len() + 2).unwrap_or(u16::MAX);
    file.extend([0xFF, marker]);
    file.extend(length.to_be_bytes());
    file.extend(payload);
}

fn scan(columns: usize, rows: usize, seeded: Seeded) -> Vec<u8> {
    let mut bits = Bits::default();
    let mut before = [128_u8; 3];
    for row in grid(columns, rows, seeded) {
        for _ in 0..row.height {
            for cell in &row.cells {
                let [brightness, blue, red] = differences(before, cell.colour);
                before = cell.colour;
                mean(&mut bits, brightness);
                // the rest of this block, and three blocks without a difference
                bits.put(0, 1 + 3 * 2);
                for difference in [blue, red] {
                    mean(&mut bits, difference);
                    bits.put(0, 1);
                }
                for _ in 1..cell.width {
                    bits.put(0, 6 * 2);
                }
            }
        }
    }
    bits.filled()
}

fn differences(before: [u8; 3], now: [u8; 3]) -> [i16; 3] {
    let mut differences = now.map(i16::from);
    for (difference, before) in differences.iter_mut().zip(before) {
        *difference -= i16::from(before);
    }
    differences
}

/// A difference: the code of its category, which is its length in bits, and then these bits, where a
/// negative number has 1 subtracted (T.81, section F.1.2.1).
fn mean(bits: &mut Bits, difference: i16) {
    let size = difference.unsigned_abs();
    let category = u16::BITS - size.leading_zeros();
    if category == 0 {
        bits.put(0, 1);
        return;
    }
    bits.put(0b1_0000 + category - 1, 5);
    let value = if difference < 0 { (1 << category) - 1 - u32::from(size) } else { size.into() };
    bits.put(value, category);
}
