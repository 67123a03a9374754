//! Boxes and the big-endian fields inside them, read from a slice that holds the whole parent.

use super::super::types::MediaError;

/// A box: its four-character type and its payload.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mp4Box<'a> {
    pub(super) kind: [u8; 4],
    pub(super) payload: &'a [u8],
}

impl<'a> Mp4Box<'a> {
    /// The boxes inside this one.
    pub(super) const fn parts(&self) -> Boxes<'a> {
        Boxes::of(self.kind, self.payload)
    }

    pub(super) const fn fields(&self) -> Fields<'a> {
        Fields { kind: self.kind, rest: self.payload }
    }
}

/// The boxes inside a payload, in order; stops after the first that is not readable.
#[derive(Debug)]
pub(super) struct Boxes<'a> {
    parent: [u8; 4],
    rest: &'a [u8],
}

impl<'a> Boxes<'a> {
    /// The boxes in a payload; `parent` is the kind of the box around them, for messages.
    pub(super) const fn of(parent: [u8; 4], payload: &'a [u8]) -> Self {
        Self { parent, rest: payload }
    }

    fn next_box(&mut self) -> Result<Mp4Box<'a>, MediaError> {
        let whole = self.rest;
        let mut fields = Fields { kind: self.parent, rest: whole };
        let size = fields.u32()?;
        let kind = fields.take::<4>()?;
        let (size, header) = match size {
            0 => (whole.len(), 8),
            1 => (usize::try_from(fields.u64()?).unwrap_or(usize::MAX), 16),
            _ => (usize::try_from(size).unwrap_or(usize::MAX), 8),
        };
        let (Some(payload), Some(rest)) = (whole.get(header..size), whole.get(size..)) else {
            return Err(MediaError(format!(
                "`{}` box says it has {size} bytes where {} are left",
                kind.escape_ascii(),
                whole.len()
            )));
        };
        self.rest = rest;
        Ok(Mp4Box { kind, payload })
    }
}

impl<'a> Iterator for Boxes<'a> {
    type Item = Result<Mp4Box<'a>, MediaError>;

    fn next(&mut self) -> Option<Self::Item> {
        // some writers end a box with a zero word or two
        if self.rest.len() < 8 && self.rest.iter().all(|byte| *byte == 0) {
            return None;
        }
        let next = self.next_box();
        if next.is_err() {
            self.rest = &[];
        }
        Some(next)
    }
}

/// Fields of one box, read from its front.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    kind: [u8; 4],
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn take<const N: usize>(&mut self) -> Result<[u8; N], MediaError> {
        let (first, rest) = self.rest.split_first_chunk::<N>().ok_or_else(|| self.too_short())?;
        self.rest = rest;
        Ok(*first)
    }

    pub(super) fn u16(&mut self) -> Result<u16, MediaError> {
        self.take().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, MediaError> {
        self.take().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, MediaError> {
        self.take().map(u64::from_be_bytes)
    }

    pub(super) fn skip(&mut self, bytes: usize) -> Result<(), MediaError> {
        self.rest = self.rest.get(bytes..).ok_or_else(|| self.too_short())?;
        Ok(())
    }

    /// The version byte and the flags that start a full box.
    pub(super) fn version_and_flags(&mut self) -> Result<(u8, u32), MediaError> {
        let [version, f2, f1, f0] = self.take()?;
        Ok((version, u32::from_be_bytes([0, f2, f1, f0])))
    }

    /// A field that is 64 bits wide in version 1 and 32 bits before.
    pub(super) fn by_version(&mut self, version: u8) -> Result<u64, MediaError> {
        if version == 1 { self.u64() } else { self.u32().map(u64::from) }
    }

    /// A table of `count` rows of `N` bytes; an error when the box does not hold that many.
    pub(super) fn rows<const N: usize>(&mut self, count: u32) -> Result<&'a [[u8; N]], MediaError> {
        let (rows, _) = self.rest.as_chunks::<N>();
        usize::try_from(count).ok().and_then(|count| rows.get(..count)).ok_or_else(|| {
            let kind = self.kind.escape_ascii();
            MediaError(format!("`{kind}` box says it has {count} entries and holds {}", rows.len()))
        })
    }

    pub(super) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    fn too_short(&self) -> MediaError {
        MediaError(format!("`{}` box is too short", self.kind.escape_ascii()))
    }
}
