//! Files and links that are either the old ones or the new ones, never half of each.

use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::catalog::limits::{JSON_BYTES, json_words};

use super::ReadError;

/// Replaces the file at `path` by one with these bytes, which are on disk when this returns.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = beside(path);
    let written = fill(&temporary, bytes).and_then(|()| fs_err::rename(&temporary, path));
    if written.is_err() {
        // the first error is the one to tell
        drop(fs_err::remove_file(&temporary));
        return written;
    }
    if let Some(folder) = path.parent() {
        sync_folder(folder);
    }
    Ok(())
}

/// Replaces the file at `path` by the value as indented JSON with a final line feed.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> io::Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    write_atomic(path, &bytes)
}

/// Reads a JSON file; `None` when it does not exist.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, ReadError> {
    let wrong = |message: String| ReadError::Json { path: path.to_owned(), message };
    let facts = match fs_err::metadata(path) {
        Ok(facts) => facts,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ReadError::Io(error)),
    };
    // a pipe or a device would never end
    if !facts.is_file() {
        return Err(wrong("it is not a regular file".into()));
    }
    if facts.len() > JSON_BYTES {
        return Err(wrong(format!(
            "it has {} MiB; the most that is read is 1 GiB (limit `json_bytes`)",
            facts.len() >> 20
        )));
    }
    match fs_err::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| wrong(json_words(&error))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ReadError::Io(error)),
    }
}

/// Points the link at `path` to `target`, whether or not it was there before.
pub(super) fn replace_link(path: &Path, target: &Path) -> io::Result<()> {
    let temporary = beside(path);
    symlink(target, &temporary)?;
    fs_err::rename(&temporary, path).inspect_err(|_| drop(fs_err::remove_file(&temporary)))
}

#[cfg(unix)]
fn symlink(target: &Path, link: &Path) -> io::Result<()> {
    fs_err::os::unix::fs::symlink(target, link)
}

#[cfg(windows)]
fn symlink(target: &Path, link: &Path) -> io::Result<()> {
    fs_err::os::windows::fs::symlink_dir(target, link)
}

/// A hidden name in the same folder that no one else uses, on this node or another one.
pub(super) fn beside(path: &Path) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // process ids of nodes that share the folder may be equal
    static OWN: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(std::process::id()));
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{:x}-{}", *OWN, NEXT.fetch_add(1, Ordering::Relaxed)));
    path.with_file_name(name)
}

fn fill(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs_err::OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes a folder and those above it that are not there yet, each of them durable.
pub(super) fn make_folders(path: &Path) -> io::Result<()> {
    let missing = path.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists()).count();
    fs_err::create_dir_all(path)?;
    for folder in path.ancestors().skip(1).take(missing) {
        sync_folder(folder);
    }
    Ok(())
}

/// Makes a rename durable where the system can; it has happened already, so a refusal changes nothing.
pub(super) fn sync_folder(folder: &Path) {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if let Ok(handle) = fs_err::File::open(folder) {
        drop(handle.sync_all());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_atomic_write_replaces_the_file_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        write_atomic(&path, b"old").unwrap();
        write_atomic(&path, b"new").unwrap();
        assert_eq!(fs_err::read(&path).unwrap(), b"new");
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_write_into_a_missing_folder_names_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_atomic(&folder.path().join("absent").join("run.json"), b"x").unwrap_err();
        assert!(error.to_string().contains("absent"), "{error}");
    }

    #[test]
    fn json_that_is_not_there_is_none_and_broken_json_names_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        assert_eq!(read_json::<u32>(&path).unwrap(), None);
        write_json(&path, &7).unwrap();
        assert_eq!(read_json::<u32>(&path).unwrap(), Some(7));
        fs_err::write(&path, "{").unwrap();
        assert!(read_json::<u32>(&path).unwrap_err().to_string().contains("run.json"));
    }

    #[test]
    fn what_is_too_large_or_no_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        // a hole takes no room on the disk
        fs_err::File::create(&path).unwrap().set_len(JSON_BYTES + 1).unwrap();
        let error = read_json::<u32>(&path).unwrap_err().to_string();
        assert!(error.ends_with("it has 1024 MiB; the most that is read is 1 GiB (limit `json_bytes`)"), "{error}");
        let error = read_json::<u32>(folder.path()).unwrap_err().to_string();
        assert!(error.ends_with("it is not a regular file"), "{error}");
    }
}
