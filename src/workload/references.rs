//! Reference media that a row names: files and URLs → [`Reference`]s.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use indexmap::IndexMap;
use serde_json::Value;

use super::Reference;

/// Columns that name reference images.
const IMAGE_COLUMNS: [&str; 2] = ["image_path", "image_paths"];
/// Columns that name reference videos.
const VIDEO_COLUMNS: [&str; 2] = ["video_path", "video_paths"];

/// The reference media of a row, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct References {
    pub(super) images: Vec<Reference>,
    pub(super) videos: Vec<Reference>,
}

impl References {
    /// Takes the columns that name media out of a row's fields, and reads what they name; relative
    /// paths start at `base`.
    pub(super) fn take(fields: &mut IndexMap<String, Value>, base: &Path) -> Result<Self, String> {
        Ok(Self { images: columns(fields, &IMAGE_COLUMNS, base)?, videos: columns(fields, &VIDEO_COLUMNS, base)? })
    }
}

fn columns(fields: &mut IndexMap<String, Value>, names: &[&str], base: &Path) -> Result<Vec<Reference>, String> {
    let mut found = Vec::new();
    for name in names {
        match fields.shift_remove(*name) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => found.push(reference(&text, base)?),
            Some(Value::Array(items)) => {
                for item in &items {
                    let text = item.as_str().ok_or_else(|| format!("`{name}` holds `{item}`, which is no path"))?;
                    found.push(reference(text, base)?);
                }
            }
            Some(other) => return Err(format!("`{name}` is `{other}`, which is no path")),
        }
    }
    Ok(found)
}

fn reference(text: &str, base: &Path) -> Result<Reference, String> {
    if text.starts_with("http://") || text.starts_with("https://") {
        return Ok(Reference::Url(Arc::from(text)));
    }
    let path = base.join(text);
    let bytes = fs_err::read(&path).map_err(|error| error.to_string())?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Reference::Bytes {
        bytes: Bytes::from(bytes),
        mime: Arc::from("application/octet-stream"),
        file_name: Arc::from(name),
    })
}
