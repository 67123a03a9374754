//! The files of a dataset: its paths, folders and globs in a fixed order, or a download, with their bytes.

use std::path::{Component, Path, PathBuf};

use globset::GlobBuilder;
use sha2::{Digest, Sha256};

use super::remote::Remote;

/// File names that a folder contributes.
const EXTENSIONS: [&str; 5] = ["txt", "trace", "jsonl", "ndjson", "csv"];
/// Larger data than this is a mistake, and would have to fit into memory.
const LARGEST: u64 = crate::catalog::limits::DATASET_BYTES;
/// How deep `**` looks.
const DEEPEST: usize = 16;

/// One data file with its content.
#[derive(Debug)]
pub(super) struct DataFile {
    /// Path as resolved, or the address it was downloaded from.
    pub(super) shown: String,
    /// Its name, which tells how it is spelled and stands before line numbers.
    pub(super) name: String,
    /// Where relative paths in its rows start; `None` for a download, whose rows may name no local file.
    pub(super) folder: Option<PathBuf>,
    pub(super) bytes: Vec<u8>,
}

impl DataFile {
    /// A file of this machine; `total` counts the bytes of all files.
    pub(super) fn read(path: &Path, total: &mut u64) -> Result<Self, String> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let folder = Some(path.parent().unwrap_or(Path::new("")).to_owned());
        Ok(Self { shown: path.display().to_string(), name, folder, bytes: read(path, total)? })
    }

    /// A downloaded file that lies at `path`.
    pub(super) fn downloaded(path: &Path, from: &Remote) -> Result<Self, String> {
        Ok(Self { shown: from.to_string(), name: from.file_name(), folder: None, bytes: read(path, &mut 0)? })
    }
}

/// Every file that `paths` name, read; a file named twice counts once.
pub(super) fn read_all(paths: &[String]) -> Result<Vec<DataFile>, Vec<String>> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut faults = Vec::new();
    for path in paths {
        match resolve(path) {
            Ok(files) => {
                for file in files {
                    if !found.contains(&file) {
                        found.push(file);
                    }
                }
            }
            Err(message) => faults.push(message),
        }
    }
    let mut files = Vec::new();
    let mut total = 0;
    for path in found {
        match DataFile::read(&path, &mut total) {
            Ok(file) => files.push(file),
            Err(message) => faults.push(message),
        }
    }
    if faults.is_empty() { Ok(files) } else { Err(faults) }
}

/// SHA-256 of pieces of bytes, one after the other, in hexadecimal.
pub(crate) fn sha256<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
    use std::fmt::Write as _;
    let mut hasher = Sha256::new();
    for piece in pieces {
        hasher.update(piece);
    }
    hasher.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        // writing to a string cannot fail
        write!(hex, "{byte:02x}").map_or_else(|_| String::new(), |()| hex)
    })
}

fn read(path: &Path, total: &mut u64) -> Result<Vec<u8>, String> {
    let facts = fs_err::metadata(path).map_err(|error| error.to_string())?;
    // a pipe or a device would never end
    if !facts.is_file() {
        return Err(format!("`{}` is not a regular file", path.display()));
    }
    *total += facts.len();
    if *total > LARGEST {
        return Err(format!(
            "`{}` and the files before it hold more than 1 GiB (limit `dataset_bytes`)",
            path.display()
        ));
    }
    fs_err::read(path).map_err(|error| error.to_string())
}

fn resolve(written: &str) -> Result<Vec<PathBuf>, String> {
    let path = Path::new(written);
    if path.is_dir() {
        return folder(path);
    }
    if path.exists() || !written.contains(['*', '?', '[', '{']) {
        return if path.exists() { Ok(vec![path.to_owned()]) } else { Err(absent(written)) };
    }
    let glob = GlobBuilder::new(written)
        .literal_separator(true)
        .build()
        .map_err(|error| format!("`{written}` is not a pattern: {}", error.kind()))?
        .compile_matcher();
    let base = fixed_part(path);
    let depth = if written.contains("**") { DEEPEST } else { path.components().count() };
    let mut files = Vec::new();
    let matches = |file: &Path| glob.is_match(file) || glob.is_match(file.strip_prefix(".").unwrap_or(file));
    walk(&base, &matches, depth, &mut files).map_err(|error| error.to_string())?;
    if files.is_empty() {
        return Err(format!("no file matches `{written}`"));
    }
    Ok(files)
}

fn absent(written: &str) -> String {
    if written.contains("://") || written.starts_with("hf:") {
        return format!("`{written}` is no path: write it as `url`");
    }
    format!("there is no file `{written}`")
}

/// The data files of a folder and of those in it.
fn folder(path: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    let is_data = |file: &Path| {
        let extension = file.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| EXTENSIONS.iter().any(|known| known.eq_ignore_ascii_case(extension)))
    };
    walk(path, &is_data, DEEPEST, &mut files).map_err(|error| error.to_string())?;
    if files.is_empty() {
        return Err(format!("the folder `{}` holds no .{} file", path.display(), EXTENSIONS.join(", .")));
    }
    Ok(files)
}

/// The components before the first one with a pattern.
fn fixed_part(path: &Path) -> PathBuf {
    let base: PathBuf = path
        .components()
        .take_while(|part| match part {
            Component::Normal(name) => !name.to_string_lossy().contains(['*', '?', '[', '{']),
            _ => true,
        })
        .collect();
    if base.as_os_str().is_empty() { PathBuf::from(".") } else { base }
}

fn walk(at: &Path, wanted: &dyn Fn(&Path) -> bool, depth: usize, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if depth == 0 || !at.is_dir() {
        return Ok(());
    }
    for entry in entries(at)?.into_iter().filter(|entry| !is_hidden(entry)) {
        if entry.is_file() && wanted(&entry) {
            files.push(entry.strip_prefix(".").unwrap_or(&entry).to_owned());
        } else if entry.is_dir() && !entry.is_symlink() {
            walk(&entry, wanted, depth - 1, files)?;
        }
    }
    Ok(())
}

/// What a folder holds, by name, so that the order does not depend on the file system.
pub(super) fn entries(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut entries =
        fs_err::read_dir(path)?.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries)
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(paths: &[String]) -> Result<Vec<String>, Vec<String>> {
        read_all(paths).map(|files| files.into_iter().map(|file| file.name).collect())
    }

    #[test]
    fn paths_folders_and_globs_name_files_in_a_fixed_order() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
        fs_err::create_dir(dir.path().join("sub")).unwrap();
        for name in ["b.txt", "a.jsonl", "c.md", ".hidden.txt", "sub/d.txt"] {
            fs_err::write(dir.path().join(name), name).unwrap();
        }
        assert_eq!(names(&[at("")]).unwrap(), ["a.jsonl", "b.txt", "d.txt"], "folders are searched to their ends");
        assert_eq!(names(&[at("*.txt")]).unwrap(), ["b.txt"]);
        assert_eq!(names(&[at("**/*.txt")]).unwrap(), ["b.txt", "d.txt"]);
        assert_eq!(names(&[at("c.md"), at("b.txt"), at("b.*")]).unwrap(), ["c.md", "b.txt"]);
        let faults = names(&[at("none.txt"), at("*.csv"), at("sub/../sub")]).unwrap_err();
        assert_eq!(faults.len(), 2, "{faults:?}");
        let faults = names(&["https://x.test/a.txt".into()]).unwrap_err();
        assert_eq!(faults, ["`https://x.test/a.txt` is no path: write it as `url`"]);
    }

    #[test]
    fn the_checksum_is_the_usual_sha_256() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256([&b"abc"[..]]), abc);
        assert_eq!(sha256([&b"a"[..], b"bc"]), abc);
    }
}
