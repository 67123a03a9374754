//! PNG: the signature and the IHDR chunk, 33 bytes in all (PNG specification, sections 5.2 and 11.2.1).

use super::{Gather, Step};
use crate::media::crc32::crc32;
use crate::media::types::{ImageFormat, ImageInfo, MediaError};

#[derive(Debug)]
pub(super) struct PngHeader(Gather<33>);

impl PngHeader {
    pub(super) const fn new() -> Self {
        Self(Gather::new())
    }

    pub(super) fn feed(&mut self, mut chunk: &[u8]) -> Step {
        self.0.fill(&mut chunk).map(read)
    }
}

fn read(header: [u8; 33]) -> Result<ImageInfo, MediaError> {
    let [
        _,
        _,
        _,
        _,
        _,
        _,
        _,
        _, // signature, already seen
        l0,
        l1,
        l2,
        l3,
        t0,
        t1,
        t2,
        t3,
        w0,
        w1,
        w2,
        w3,
        h0,
        h1,
        h2,
        h3,
        depth,
        color,
        method,
        filter,
        interlace,
        c0,
        c1,
        c2,
        c3,
    ] = header;
    if [t0, t1, t2, t3] != *b"IHDR" || u32::from_be_bytes([l0, l1, l2, l3]) != 13 {
        return Err(MediaError::new("PNG does not start with its IHDR chunk"));
    }
    let checked = [t0, t1, t2, t3, w0, w1, w2, w3, h0, h1, h2, h3, depth, color, method, filter, interlace];
    if crc32(&[&checked]) != u32::from_be_bytes([c0, c1, c2, c3]) {
        return Err(MediaError::new("PNG header has a wrong checksum"));
    }
    ImageInfo::checked(ImageFormat::Png, u32::from_be_bytes([w0, w1, w2, w3]), u32::from_be_bytes([h0, h1, h2, h3]))
}
