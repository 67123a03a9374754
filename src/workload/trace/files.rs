//! A trace's files: the paths, folders and globs of a dataset, in a fixed order, and their bytes.

use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use sha2::{Digest, Sha256};

/// File names that a folder contributes.
const EXTENSIONS: [&str; 5] = ["txt", "trace", "jsonl", "ndjson", "csv"];
/// Larger data than this is a mistake, and would have to fit into memory.
const LARGEST: u64 = 1 << 30;
/// How deep `**` looks.
const DEEPEST: usize = 16;

/// One data file with its content.
pub(super) struct DataFile {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
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
        match read(&path, &mut total) {
            Ok(bytes) => files.push(DataFile { path, bytes }),
            Err(message) => faults.push(message),
        }
    }
    if faults.is_empty() { Ok(files) } else { Err(faults) }
}

/// SHA-256 of the files' bytes, one after the other, in hexadecimal.
pub(super) fn sha256(files: &[DataFile]) -> String {
    use std::fmt::Write as _;
    let mut hasher = Sha256::new();
    for file in files {
        hasher.update(&file.bytes);
    }
    hasher.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        // writing to a string cannot fail
        write!(hex, "{byte:02x}").map_or_else(|_| String::new(), |()| hex)
    })
}

fn read(path: &Path, total: &mut u64) -> Result<Vec<u8>, String> {
    let size = fs_err::metadata(path).map_err(|error| error.to_string())?.len();
    *total += size;
    if *total > LARGEST {
        return Err(format!("`{}` and the files before it hold more than 1 GiB", path.display()));
    }
    fs_err::read(path).map_err(|error| error.to_string())
}

fn resolve(written: &str) -> Result<Vec<PathBuf>, String> {
    let path = Path::new(written);
    if path.is_dir() {
        return folder(path);
    }
    if path.exists() || !written.contains(['*', '?', '[', '{']) {
        return if path.exists() { Ok(vec![path.to_owned()]) } else { Err(format!("there is no file `{written}`")) };
    }
    let glob = GlobBuilder::new(written)
        .literal_separator(true)
        .build()
        .map_err(|error| format!("`{written}` is not a pattern: {}", error.kind()))?
        .compile_matcher();
    let base = fixed_part(path);
    let depth = if written.contains("**") { DEEPEST } else { path.components().count() };
    let mut files = Vec::new();
    walk(&base, &glob, depth, &mut files).map_err(|error| error.to_string())?;
    if files.is_empty() {
        return Err(format!("no file matches `{written}`"));
    }
    Ok(files)
}

fn folder(path: &Path) -> Result<Vec<PathBuf>, String> {
    let is_data = |file: &PathBuf| {
        let known = file.extension().and_then(|ext| ext.to_str()).is_some_and(|ext| EXTENSIONS.contains(&ext));
        known && file.is_file() && !is_hidden(file)
    };
    let files: Vec<PathBuf> = entries(path).map_err(|error| error.to_string())?.into_iter().filter(is_data).collect();
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

fn walk(at: &Path, glob: &GlobMatcher, depth: usize, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if depth == 0 || !at.is_dir() {
        return Ok(());
    }
    for entry in entries(at)?.into_iter().filter(|entry| !is_hidden(entry)) {
        let plain = entry.strip_prefix(".").unwrap_or(&entry);
        if entry.is_file() && (glob.is_match(&entry) || glob.is_match(plain)) {
            files.push(plain.to_owned());
        } else if entry.is_dir() && !entry.is_symlink() {
            walk(&entry, glob, depth - 1, files)?;
        }
    }
    Ok(())
}

/// What a folder holds, by name, so that the order does not depend on the file system.
fn entries(path: &Path) -> std::io::Result<Vec<PathBuf>> {
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
        read_all(paths).map(|files| {
            files.iter().map(|file| file.path.file_name().unwrap().to_string_lossy().into_owned()).collect()
        })
    }

    #[test]
    fn paths_folders_and_globs_name_files_in_a_fixed_order() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
        fs_err::create_dir(dir.path().join("sub")).unwrap();
        for name in ["b.txt", "a.jsonl", "c.md", ".hidden.txt", "sub/d.txt"] {
            fs_err::write(dir.path().join(name), name).unwrap();
        }
        assert_eq!(names(&[at("")]).unwrap(), ["a.jsonl", "b.txt"]);
        assert_eq!(names(&[at("*.txt")]).unwrap(), ["b.txt"]);
        assert_eq!(names(&[at("**/*.txt")]).unwrap(), ["b.txt", "d.txt"]);
        assert_eq!(names(&[at("c.md"), at("b.txt"), at("b.*")]).unwrap(), ["c.md", "b.txt"]);
        let faults = names(&[at("none.txt"), at("*.csv"), at("sub/../sub")]).unwrap_err();
        assert_eq!(faults.len(), 2, "{faults:?}");
    }

    #[test]
    fn the_checksum_is_the_usual_sha_256() {
        let file = |bytes: &[u8]| DataFile { path: PathBuf::new(), bytes: bytes.to_vec() };
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(&[file(b"abc")]), abc);
        assert_eq!(sha256(&[file(b"a"), file(b"bc")]), abc);
    }
}
