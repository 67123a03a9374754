//! A decoded picture.

/// A picture as 8-bit RGB, row by row from the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Pixels {
    /// A picture of that size; `None` when the bytes are not three per pixel, or there is none.
    pub fn new(width: u32, height: u32, rgb: Vec<u8>) -> Option<Self> {
        let (width, height) = (usize::try_from(width).ok()?, usize::try_from(height).ok()?);
        let wanted = width.checked_mul(height)?.checked_mul(3)?;
        (wanted > 0 && rgb.len() == wanted).then_some(Self { width, height, rgb })
    }

    /// Width and height in pixels, each at least 1.
    pub const fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Red, green and blue of each pixel in turn.
    pub fn rgb(&self) -> &[u8] {
        &self.rgb
    }

    /// The rows, top first.
    pub fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.rgb.chunks_exact(self.width * 3)
    }
}
