//! How alike saved media are: measures against scikit-image, folders, videos, and runs of the binary.

#![cfg(test)] // the lints that spare tests then spare their helpers too

mod folders;
mod measures;
mod runs;
mod videos;

use std::path::Path;

use omni_bench::parity::Folder;

/// A folder of media under a scratch folder, from names and bytes.
fn folder(scratch: &Path, name: &str, files: &[(&str, &[u8])]) -> Folder {
    let path = scratch.join(name);
    fs_err::create_dir_all(&path).unwrap();
    for (name, bytes) in files {
        fs_err::write(path.join(name), bytes).unwrap();
    }
    let folder = Folder::read(&path).unwrap();
    assert_eq!(folder.len(), files.len());
    folder
}
