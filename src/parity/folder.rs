//! The media that a run kept, by request.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::record::{ReadError, Record, RunDir, read_journal};

/// Which medium: the request, from 1 in the order of the run, and which of its outputs, from 0.
pub(super) type Place = (u32, u32);

/// A folder of media.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folder {
    pub(super) files: BTreeMap<Place, PathBuf>,
    /// Seeds that were sent, by request; a request that is not in it is not known.
    pub(super) seeds: BTreeMap<u32, Option<u64>>,
}

impl Folder {
    /// The media in a folder by their names as `run --save-media` writes them: pictures
    /// `<anything>_<request>_<output>.<extension>` and videos, of which a request has one,
    /// `<anything>_<request>.mp4`. Other files are left alone.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        for entry in fs_err::read_dir(folder)? {
            let path = entry?.path();
            if let Some(place) = place(&path) {
                files.insert(place, path);
            }
        }
        Ok(Self { files, seeds: BTreeMap::new() })
    }

    /// The media of a run, with the seeds of its requests from its records. A run without media is an
    /// error that names the folder.
    pub fn of_run(run: &RunDir) -> Result<Self, ReadError> {
        let records = read_journal::<Record>(&run.records())?.items;
        Ok(Self::read(&run.media())?.with_seeds(&records))
    }

    /// The same media, with the seeds that these records tell.
    #[must_use]
    pub fn with_seeds(self, records: &[Record]) -> Self {
        let seed = |record: &Record| Some((u32::try_from(record.index + 1).ok()?, record.seed));
        Self { seeds: records.iter().filter_map(seed).collect(), ..self }
    }

    /// How many media there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

/// What a file's name says.
fn place(path: &Path) -> Option<Place> {
    const PICTURES: [&str; 4] = ["png", "jpg", "jpeg", "webp"];
    let kind = path.extension()?.to_str()?;
    let (stem, last) = path.file_stem()?.to_str()?.rsplit_once('_')?;
    if kind == "mp4" {
        return Some((last.parse().ok()?, 0));
    }
    let (_, request) = stem.rsplit_once('_')?;
    PICTURES.contains(&kind).then_some((request.parse().ok()?, last.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_request_and_output() {
        let of = |name: &str| place(Path::new(name));
        assert_eq!(of("media/req_0001_00.png"), Some((1, 0)));
        assert_eq!(of("req_0002_0007_03.jpeg"), Some((7, 3)));
        assert_eq!(of("req_0003.mp4"), Some((3, 0)));
        assert_eq!(of("req_0002_0007.mp4"), Some((7, 0)));
        assert_eq!(of("a_b_12345_00.webp"), Some((12_345, 0)));
        for other in ["req_0001_00.png.part", "req_0001.png", "notes.txt", "req_x_00.png", "req_0001_00.txt", "png"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
