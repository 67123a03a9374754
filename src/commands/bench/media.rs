//! The saved media of a run, copied to `--save-dir` under the names that the Python client gives:
//! `req_0000_00.png` for pictures and `req_0000.mp4` for videos, requests and pictures counted from 0.

use std::io;
use std::path::{Path, PathBuf};

use crate::record::write_atomic;

/// Copies everything in `from` to `to`, which exists; gives the number of files.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<usize> {
    let mut copied = 0;
    // without a success there is no folder, or nothing in it
    for entry in from.is_dir().then(|| fs_err::read_dir(from)).transpose()?.into_iter().flatten() {
        let path: PathBuf = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()).and_then(renamed) else { continue };
        write_atomic(&to.join(name), &fs_err::read(&path)?)?;
        copied += 1;
    }
    Ok(copied)
}

/// `ID_0001_00.png` → `req_0000_00.png`, `ID_0001.mp4` → `req_0000.mp4`; `None` for other files.
fn renamed(name: &str) -> Option<String> {
    let (stem, extension) = name.rsplit_once('.')?;
    if extension == "mp4" {
        let (_, number) = stem.rsplit_once('_')?;
        return Some(format!("req_{:04}.mp4", number.parse::<u64>().ok()?.checked_sub(1)?));
    }
    let (stem, picture) = stem.rsplit_once('_')?;
    let (_, number) = stem.rsplit_once('_')?;
    let (number, picture) = (number.parse::<u64>().ok()?.checked_sub(1)?, picture.parse::<u64>().ok()?);
    Some(format!("req_{number:04}_{picture:02}.{extension}"))
}

#[cfg(test)]
mod tests {
    use super::renamed;

    #[test]
    fn files_get_the_names_of_the_python_client() {
        for (ours, theirs) in [
            ("req_0001_00.png", Some("req_0000_00.png")),
            ("req_0012_03.webp", Some("req_0011_03.webp")),
            ("a_b_7_0003_00.jpg", Some("req_0002_00.jpg")),
            ("req_0001.mp4", Some("req_0000.mp4")),
            ("req_0001_00.png.part", None),
            ("req_0000.mp4", None),
        ] {
            assert_eq!(renamed(ours).as_deref(), theirs, "{ours}");
        }
    }
}
