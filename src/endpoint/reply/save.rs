//! Outputs written to disk while they arrive. A file has its final name only when the request
//! succeeded; otherwise nothing is left of it.

use std::io::{self, Write as _};
use std::path::PathBuf;

/// A file on its way to its final name.
pub(crate) struct PartFile {
    folder: PathBuf,
    name: String,
    part: PathBuf,
    file: fs_err::File,
}

impl PartFile {
    /// Creates `<folder>/<name>.part`.
    pub(crate) fn create(folder: PathBuf, name: String) -> io::Result<Self> {
        let part = folder.join(format!("{name}.part"));
        let file = fs_err::File::create(&part)?;
        Ok(Self { folder, name, part, file })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    /// Gives the file its final name, which ends in `extension`.
    pub(crate) fn keep(self, extension: &str) -> io::Result<()> {
        fs_err::rename(&self.part, self.folder.join(format!("{}.{extension}", self.name)))
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        // absent after `keep`; when it cannot be removed there is nobody left to tell
        drop(fs_err::remove_file(&self.part));
    }
}
