//! The checksum of PNG chunks (PNG specification, annex D).

/// What each byte does to a checksum.
const TABLE: [u32; 256] = table();

#[expect(clippy::cast_possible_truncation, reason = "the index is below 256")]
const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < table.len() {
        let mut value = index as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { (value >> 1) ^ 0xEDB8_8320 } else { value >> 1 };
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
}

/// CRC-32 of bytes that come in parts.
pub(super) fn crc32(parts: &[&[u8]]) -> u32 {
    !parts.iter().copied().flatten().fold(!0, |crc: u32, byte| {
        let [low, ..] = (crc ^ u32::from(*byte)).to_le_bytes();
        (crc >> 8) ^ TABLE[usize::from(low)]
    })
}
