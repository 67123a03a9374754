//! The columns of a row that name media.

use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value;
use url::Url;

use super::data_url::{decode, is_data_url};
use super::file;
use super::kind::{Kind, recognise, reference};
use super::route::{check_link, links};
use crate::workload::{Reference, brief};

/// Columns whose texts are paths, links or data URLs, and what they must hold; `None` takes both.
const COLUMNS: [(&str, Option<Kind>); 6] = [
    ("image_path", Some(Kind::Image)),
    ("image_paths", Some(Kind::Image)),
    ("video_path", Some(Kind::Video)),
    ("video_paths", Some(Kind::Video)),
    ("input_reference", None),
    ("input_references", None),
];

/// Columns in the spelling of the video form, `{"image_url": "…"}` or a list of them.
const LINKED: [(&str, Kind); 2] = [("image_reference", Kind::Image), ("video_reference", Kind::Video)];

/// Whether a column or field names media.
pub(crate) fn is_media_column(name: &str) -> bool {
    COLUMNS.iter().any(|(column, _)| *column == name) || LINKED.iter().any(|(column, _)| *column == name)
}

/// The reference media of a row, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct References {
    pub(crate) images: Vec<Reference>,
    pub(crate) videos: Vec<Reference>,
}

impl References {
    /// Takes the columns that name media out of a row's fields, and reads what they name; relative
    /// paths start at `base`, the folder of the file that holds the row, and stay in it.
    ///
    /// `image_path(s)` and `video_path(s)` hold a path, an `http(s)` link or a data URL, or a list;
    /// `input_reference(s)` the same without links, where the bytes tell image from video;
    /// `image_reference` and `video_reference` what the video form takes under these names.
    /// `audio_reference` is checked and stays a field. The message of an error does not say where the
    /// row stands.
    pub(crate) fn take(fields: &mut IndexMap<String, Value>, base: &Path) -> Result<Self, String> {
        Self::taken(fields, Some(base))
    }

    /// The same for a profile of a scenario, whose paths are already joined with the scenario's folder
    /// and may lead wherever its author wants.
    pub(crate) fn of_profile(fields: &mut IndexMap<String, Value>) -> Result<Self, String> {
        Self::taken(fields, None)
    }

    fn taken(fields: &mut IndexMap<String, Value>, base: Option<&Path>) -> Result<Self, String> {
        let mut references = Self::default();
        for (column, wanted) in COLUMNS {
            for text in texts(fields, column)? {
                let (kind, found) = named(&text, base, wanted).map_err(|reason| format!("`{column}`: {reason}"))?;
                references.push(kind, found);
            }
        }
        for (column, kind) in LINKED {
            let Some(value) = fields.shift_remove(column).filter(|value| !value.is_null()) else { continue };
            check_link(column, &value)?;
            for link in links(&value) {
                if is_data_url(&link) {
                    decode(&link)
                        .and_then(|bytes| recognise(&bytes, Some(kind)))
                        .map_err(|reason| format!("`{column}`: {reason}"))?;
                } else {
                    check_url(&link).map_err(|reason| format!("`{column}`: {reason}"))?;
                }
                references.push(kind, Reference::Url(Arc::from(link)));
            }
        }
        if let Some(value) = fields.get("audio_reference").filter(|value| !value.is_null()) {
            check_link("audio_reference", value)?;
        }
        Ok(references)
    }

    fn push(&mut self, kind: Kind, reference: Reference) {
        match kind {
            Kind::Image => self.images.push(reference),
            Kind::Video => self.videos.push(reference),
        }
    }
}

/// The texts of a column, one or a list; JSON text of a list counts as one, as CSV files have it.
fn texts(fields: &mut IndexMap<String, Value>, column: &str) -> Result<Vec<String>, String> {
    let wrong = |value: &Value| format!("`{column}` holds `{}`, which is no path, link or data URL", brief(value));
    let one = |value: Value| match value {
        Value::String(text) => Ok(text),
        other => Err(wrong(&other)),
    };
    match fields.shift_remove(column) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => items.into_iter().map(one).collect(),
        Some(Value::String(text)) if text.trim_start().starts_with('[') => {
            serde_json::from_str(&text).or_else(|_| Ok(vec![text]))
        }
        Some(other) => one(other).map(|text| vec![text]),
    }
}

/// What one text of a column names.
fn named(text: &str, base: Option<&Path>, wanted: Option<Kind>) -> Result<(Kind, Reference), String> {
    if is_data_url(text) {
        let bytes = decode(text)?;
        let found = recognise(&bytes, wanted).map_err(|reason| format!("the data URL cannot be sent: {reason}"))?;
        return Ok((found.kind, reference(bytes, found, "reference")));
    }
    if text.contains("://") {
        check_url(text)?;
        let kind = wanted.ok_or("a link does not say what is behind it; name it in `image_path` or `video_path`")?;
        return Ok((kind, Reference::Url(Arc::from(text))));
    }
    file::read(text, base, wanted)
}

fn check_url(text: &str) -> Result<(), String> {
    let fits = Url::parse(text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https") && url.host_str().is_some_and(|host| !host.is_empty())
    });
    if fits { Ok(()) } else { Err(format!("`{}` is not an `http` or `https` link", brief(&Value::from(text)))) }
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, LINKED};
    use crate::catalog::REFERENCE_COLUMNS;

    #[test]
    fn every_column_that_is_read_is_one_that_downloaded_rows_are_checked_for() {
        for name in COLUMNS.iter().map(|(name, _)| name).chain(LINKED.iter().map(|(name, _)| name)) {
            assert!(REFERENCE_COLUMNS.contains(name), "{name}");
        }
    }
}
