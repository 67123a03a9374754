//! Files that rows name, read once however many rows name them.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

use bytes::Bytes;

use super::kind::{Kind, LARGEST, recognise, reference};
use crate::workload::Reference;

/// A file as it was when it was read.
type Identity = (PathBuf, u64, Option<SystemTime>);

/// Files whose bytes some request still holds.
static HELD: Mutex<BTreeMap<Identity, Weak<Vec<u8>>>> = Mutex::new(BTreeMap::new());

/// Bytes that all references to one file share.
struct Shared(Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// The reference that `text` names, with what it is.
pub(super) fn read(text: &str, base: Option<&Path>, wanted: Option<Kind>) -> Result<(Kind, Reference), String> {
    let path = resolve(text, base)?;
    let bytes = bytes(text, &path)?;
    let found = recognise(&bytes, wanted).map_err(|reason| format!("`{text}` cannot be sent: {reason}"))?;
    let name = Path::new(text).file_name().unwrap_or_default().to_string_lossy();
    Ok((found.kind, reference(bytes, found, &name)))
}

/// The file behind a name, with every link followed; a relative one does not leave `base`.
fn resolve(text: &str, base: Option<&Path>) -> Result<PathBuf, String> {
    let written = Path::new(text);
    if text.trim().is_empty() || text.contains('\0') {
        return Err("a path is empty or holds a zero byte".to_owned());
    }
    let Some(base) = base.filter(|_| !written.is_absolute()) else { return real(written, text) };
    let leaves = || format!("`{text}` leads out of the folder of the file that names it; write an absolute path");
    let mut depth = 0_usize;
    for part in written.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir => depth = depth.checked_sub(1).ok_or_else(leaves)?,
            Component::Prefix(_) | Component::RootDir => return Err(leaves()),
        }
    }
    let here = if base.as_os_str().is_empty() { Path::new(".") } else { base };
    let folder = real(here, &here.display().to_string())?;
    let path = real(&folder.join(written), text)?;
    if path.starts_with(&folder) { Ok(path) } else { Err(leaves()) }
}

fn real(path: &Path, text: &str) -> Result<PathBuf, String> {
    path.canonicalize().map_err(|error| unreadable(text, &error))
}

fn unreadable(text: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("`{text}` does not exist"),
        _ => format!("`{text}` cannot be read: {error}"),
    }
}

fn bytes(text: &str, path: &Path) -> Result<Bytes, String> {
    let failed = |error: io::Error| unreadable(text, &error);
    // asked before it is opened: opening a pipe waits for its other end
    let facts = path.metadata().map_err(failed)?;
    if !facts.is_file() {
        let what = if facts.is_dir() { "a folder" } else { "a device, pipe or socket" };
        return Err(format!("`{text}` is {what}, not a file"));
    }
    let too_large = || format!("`{text}` has more than {} MiB, too much for a reference", LARGEST >> 20);
    if facts.len() > LARGEST {
        return Err(too_large());
    }
    let identity = (path.to_owned(), facts.len(), facts.modified().ok());
    let held = || HELD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(shared) = held().get(&identity).and_then(Weak::upgrade) {
        return Ok(Bytes::from_owner(Shared(shared)));
    }
    let mut content = Vec::new();
    // a file that grows meanwhile is not followed
    fs_err::File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut content)).map_err(failed)?;
    if content.len() as u64 > LARGEST {
        return Err(too_large());
    }
    let shared = Arc::new(content);
    let mut held = held();
    held.retain(|_, weak| weak.strong_count() > 0);
    held.insert(identity, Arc::downgrade(&shared));
    Ok(Bytes::from_owner(Shared(shared)))
}
