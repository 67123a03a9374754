//! What every decoded medium is reduced to while it passes: a byte count, a hash, a file if wanted.

use std::io;

use super::save::PartFile;

pub(crate) struct Tally {
    bytes: u64,
    hasher: blake3::Hasher,
    file: Option<io::Result<PartFile>>,
    kept: Option<Vec<u8>>,
}

/// A medium that has passed whole.
pub(crate) struct Counted {
    pub(crate) bytes: u64,
    pub(crate) blake3: String,
    pub(crate) file: Option<PartFile>,
    /// Its bytes, when they were to be kept.
    pub(crate) kept: Option<Vec<u8>>,
}

impl Tally {
    /// `file` is `None` when the medium is not kept.
    pub(crate) fn new(file: Option<io::Result<PartFile>>) -> Self {
        Self { bytes: 0, hasher: blake3::Hasher::new(), file, kept: None }
    }

    /// Whether the medium's bytes are kept in memory.
    pub(crate) fn keeping(mut self, wanted: bool) -> Self {
        self.kept = wanted.then(Vec::new);
        self
    }

    pub(crate) fn feed(&mut self, block: &[u8]) {
        self.bytes += block.len() as u64;
        self.hasher.update(block);
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(block);
        }
        if let Some(Ok(file)) = &mut self.file
            && let Err(error) = file.write(block)
        {
            self.file = Some(Err(error));
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn finish(self) -> io::Result<Counted> {
        Ok(Counted {
            bytes: self.bytes,
            blake3: self.hasher.finalize().to_hex().to_string(),
            file: self.file.transpose()?,
            kept: self.kept,
        })
    }
}
