//! Links inside a results folder: none is ever made there, so one that is found was put there by somebody
//! else, and what is written through it would land outside.

use std::io;
use std::path::{Path, PathBuf};

use super::ResultsDir;

impl ResultsDir {
    /// The first link within the folder, in the order of names; `None` when there is none.
    pub fn link_within(&self) -> io::Result<Option<PathBuf>> {
        first_link(self.path())
    }
}

fn first_link(folder: &Path) -> io::Result<Option<PathBuf>> {
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let mut entries = Vec::new();
        for entry in fs_err::read_dir(&folder)? {
            let entry = entry?;
            entries.push((entry.path(), entry.file_type()?));
        }
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        if let Some((link, _)) = entries.iter().find(|(_, kind)| kind.is_symlink()) {
            return Ok(Some(link.clone()));
        }
        open.extend(entries.into_iter().rev().filter(|(_, kind)| kind.is_dir()).map(|(path, _)| path));
    }
    Ok(None)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_found_however_deep_it_lies_and_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("runs/a/c1");
        fs_err::create_dir_all(&deep).unwrap();
        fs_err::write(deep.join("records.jsonl"), "").unwrap();
        let dir = ResultsDir::at(folder.path());
        assert_eq!(dir.link_within().unwrap(), None);
        std::os::unix::fs::symlink("/", deep.join("media")).unwrap();
        assert_eq!(dir.link_within().unwrap(), Some(deep.join("media")));
    }
}
