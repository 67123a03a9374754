//! VBench: its prompt lists (a prompt a line, or the JSON of its dimensions) and its pictures with
//! captions for tasks that start from a picture → rows. Runs none of its scripts, and puts nothing in
//! the place of what is missing.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

use super::Reference;
use super::files::{self, DataFile};
use super::intake::Intake;

/// Name of the list of pictures and captions.
const INFO: &str = "i2v-bench-info.json";
/// File names of pictures.
const PICTURES: [&str; 4] = ["jpg", "jpeg", "png", "webp"];

/// What was read.
pub(super) struct Gathered {
    /// Files and folders, as they are told to the user.
    pub(super) files: Vec<String>,
    /// SHA-256 of the list, or of the pictures where there is none.
    pub(super) sha256: String,
}

/// An entry of one of VBench's lists; other keys say which dimension it tests.
#[derive(Deserialize)]
struct Entry {
    prompt_en: Option<String>,
    caption: Option<String>,
    file_name: Option<String>,
    image_name: Option<String>,
}

/// Reads a list or a folder of this machine. `pictures` says whether the task takes them.
pub(super) fn local(path: &Path, pictures: bool, intake: &mut Intake<'_>) -> Result<Gathered, String> {
    if !path.is_dir() {
        if !path.exists() {
            return Err(format!("there is no file or folder `{}`", path.display()));
        }
        return list(&DataFile::read(path, &mut 0)?, pictures, intake);
    }
    for info in [path.join("data").join(INFO), path.join(INFO)] {
        if info.is_file() {
            return list(&DataFile::read(&info, &mut 0)?, pictures, intake);
        }
    }
    if !pictures {
        return Err(format!(
            "`{}` is a folder, and the task takes no pictures; name a list of prompts",
            path.display()
        ));
    }
    scan(path, intake)
}

/// Reads a list: JSON or lines, told by its content.
pub(super) fn list(file: &DataFile, pictures: bool, intake: &mut Intake<'_>) -> Result<Gathered, String> {
    let bytes = file.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&file.bytes);
    if is_page(bytes) {
        return Err(format!("`{}` is a web page, not a list of prompts", file.shown));
    }
    if is_json(bytes) {
        entries(file, bytes, pictures, intake)?;
    } else {
        lines(file, bytes, intake);
    }
    Ok(Gathered { files: vec![file.shown.clone()], sha256: files::sha256([file.bytes.as_slice()]) })
}

/// The page that some servers send in the place of a file, whose lines would pass as prompts.
fn is_page(bytes: &[u8]) -> bool {
    let start: Vec<u8> = bytes.trim_ascii_start().iter().take(9).map(u8::to_ascii_lowercase).collect();
    start.starts_with(b"<!doctype") || start.starts_with(b"<html")
}

/// A list of objects; a prompt may begin with a bracket, too.
fn is_json(bytes: &[u8]) -> bool {
    let inner = bytes.trim_ascii_start().strip_prefix(b"[");
    inner.is_some_and(|inner| matches!(inner.trim_ascii_start().first(), Some(b'{' | b']')))
}

fn lines(file: &DataFile, bytes: &[u8], intake: &mut Intake<'_>) {
    for (line, text) in (1..).zip(bytes.split(|b| *b == b'\n').map(<[u8]>::trim_ascii)) {
        if text.is_empty() {
            continue;
        }
        let row = std::str::from_utf8(text).map_err(|_| "the line is not UTF-8".to_owned());
        if !intake.line(file, line, row.map(|text| prompt(text.trim()))) {
            break;
        }
    }
}

fn prompt(text: &str) -> IndexMap<String, Value> {
    IndexMap::from([("prompt".to_owned(), Value::from(text))])
}

fn entries(file: &DataFile, bytes: &[u8], pictures: bool, intake: &mut Intake<'_>) -> Result<(), String> {
    let entries: Vec<Entry> =
        serde_json::from_slice(bytes).map_err(|error| format!("`{}` is not a list of VBench: {error}", file.shown))?;
    let folder = file.folder.as_deref().map(picture_folder);
    for (number, entry) in entries.into_iter().enumerate() {
        let place = format!("{}[{number}]", file.name);
        let row = match (entry.prompt_en.or(entry.caption), entry.file_name.or(entry.image_name)) {
            (None, _) => Err("neither `prompt_en` nor `caption` is there".to_owned()),
            (Some(text), Some(name)) if pictures && folder.is_some() => with_picture(&text, &name),
            (Some(text), _) => Ok(prompt(&text)),
        };
        if !intake.add(&place, folder.as_deref(), row) {
            break;
        }
    }
    Ok(())
}

/// The pictures lie in `origin` beside their list, or beside it themselves.
fn picture_folder(list: &Path) -> PathBuf {
    let origin = list.join("origin");
    if origin.is_dir() { origin } else { list.to_owned() }
}

fn with_picture(text: &str, name: &str) -> Result<IndexMap<String, Value>, String> {
    if Path::new(name).file_name().is_none_or(|own| own != name) {
        return Err(format!("`{name}` is not the name of a file"));
    }
    let mut row = prompt(text);
    row.insert("image_path".to_owned(), Value::from(name));
    Ok(row)
}

/// Every picture of a folder and of its `data/origin`, with its name as the prompt.
fn scan(path: &Path, intake: &mut Intake<'_>) -> Result<Gathered, String> {
    let origin = path.join("data").join("origin");
    let folders = [Some(path.to_owned()), origin.is_dir().then_some(origin)];
    for folder in folders.into_iter().flatten() {
        for picture in files::entries(&folder).map_err(|error| error.to_string())? {
            let extension = picture.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
            if !picture.is_file() || extension.is_none_or(|extension| !PICTURES.contains(&extension.as_str())) {
                continue;
            }
            let name = picture.file_name().unwrap_or_default().to_string_lossy();
            let stem = picture.file_stem().unwrap_or_default().to_string_lossy();
            if !intake.add(&name, Some(&folder), with_picture(&stem, &name)) {
                break;
            }
        }
    }
    if intake.rows.is_empty() && intake.bad.is_empty() {
        return Err(format!("the folder `{}` holds neither `{INFO}` nor .{}", path.display(), PICTURES.join(", .")));
    }
    let images = intake.rows.iter().flat_map(|row| &row.references.images);
    let sha256 = files::sha256(images.filter_map(|image| match image {
        Reference::Bytes { bytes, .. } => Some(bytes.as_ref()),
        Reference::Url(_) => None,
    }));
    Ok(Gathered { files: vec![path.display().to_string()], sha256 })
}
