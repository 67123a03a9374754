//! A ZIP archive of stored (uncompressed) entries: several pictures in one binary reply.

use bytes::Bytes;

/// The archive of named entries.
pub(crate) fn stored(entries: impl Iterator<Item = (String, Bytes)>) -> Bytes {
    let (mut archive, mut directory, mut count) = (Vec::new(), Vec::new(), 0_u16);
    for (name, data) in entries {
        let offset = low32(archive.len());
        let facts = facts(&name, &data);
        archive.extend_from_slice(b"PK\x03\x04");
        archive.extend_from_slice(&facts);
        archive.extend_from_slice(name.as_bytes());
        archive.extend_from_slice(&data);
        directory.extend_from_slice(b"PK\x01\x02\x14\x00");
        directory.extend_from_slice(&facts);
        // no comment, first disk, no attributes
        directory.extend_from_slice(&[0; 10]);
        directory.extend_from_slice(&offset.to_le_bytes());
        directory.extend_from_slice(name.as_bytes());
        count = count.saturating_add(1);
    }
    let (start, length) = (low32(archive.len()), low32(directory.len()));
    archive.append(&mut directory);
    archive.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    archive.extend_from_slice(&count.to_le_bytes());
    archive.extend_from_slice(&count.to_le_bytes());
    archive.extend_from_slice(&length.to_le_bytes());
    archive.extend_from_slice(&start.to_le_bytes());
    archive.extend_from_slice(&[0; 2]);
    Bytes::from(archive)
}

/// The fields that the local header and the directory share: version 2.0, no flags, stored, 1980-01-01.
fn facts(name: &str, data: &[u8]) -> [u8; 26] {
    let mut facts = [0; 26];
    let length = low32(data.len()).to_le_bytes();
    let name_length = u16::try_from(name.len()).unwrap_or(u16::MAX).to_le_bytes();
    let parts: [(usize, &[u8]); 6] = [
        (0, &[0x14, 0]),
        (8, &[0x21, 0]),
        (10, &crc32(data).to_le_bytes()),
        (14, &length),
        (18, &length),
        (22, &name_length),
    ];
    for (at, bytes) in parts {
        for (place, byte) in facts.iter_mut().skip(at).zip(bytes) {
            *place = *byte;
        }
    }
    facts
}

/// Sizes within the format's limit; a reply is far below it.
fn low32(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// CRC-32 of IEEE 802.3, four bits at a time.
fn crc32(data: &[u8]) -> u32 {
    const TABLE: [u32; 16] = {
        let mut table = [0; 16];
        let mut index = 0;
        while index < 16 {
            #[expect(clippy::cast_possible_truncation, reason = "below 16")]
            let mut value = index as u32;
            let mut bit = 0;
            while bit < 4 {
                value = if value & 1 == 1 { (value >> 1) ^ 0xEDB8_8320 } else { value >> 1 };
                bit += 1;
            }
            table[index] = value;
            index += 1;
        }
        table
    };
    let nibble = |crc: u32, nibble: u32| TABLE[((crc ^ nibble) & 15) as usize] ^ (crc >> 4);
    !data.iter().fold(u32::MAX, |crc, byte| nibble(nibble(crc, u32::from(*byte)), u32::from(*byte) >> 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_standard_one() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }
}
