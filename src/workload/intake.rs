//! Rows as they come in from files: their media read, their fields typed, defaults and overrides laid
//! around them, and what is wrong with them kept beside them.

use std::collections::HashMap;
use std::path::Path;

use bytes::Bytes;
use indexmap::IndexMap;
use serde_json::Value;

use super::Reference;
use super::data::Row;
use super::fields::{Fields, Scope, brief};
use super::files::DataFile;
use super::references::References;
use crate::catalog::{REFERENCE_COLUMNS, Task};
use crate::scenario::model::RequestSeed;

/// Most rows of a dataset, good and bad; one of a prompt alone takes 400 bytes of memory.
const MOST_ROWS: usize = 1_000_000;
/// Reference media that one dataset may hold in memory.
const MOST_MEDIA: u64 = 4 << 30;

/// What is laid around the fields of every profile or row.
#[derive(Debug)]
pub(super) struct Surround {
    pub(super) defaults: Fields,
    pub(super) overrides: Fields,
    pub(super) request_seed: RequestSeed,
}

impl Surround {
    /// Fields with their gaps filled and their overrides in place.
    pub(super) fn complete(&self, fields: Fields) -> Fields {
        fields.or(&self.defaults).replaced_by(&self.overrides)
    }
}

/// The rows of a dataset so far.
pub(super) struct Intake<'a> {
    surround: &'a Surround,
    task: Option<Task>,
    pub(super) rows: Vec<Row>,
    /// `file:line: what is wrong` of every row that cannot be used.
    pub(super) bad: Vec<String>,
    /// Fields beyond the known ones, each with the first place and value.
    pub(super) other_keys: IndexMap<String, (String, Value)>,
    /// Rows that `override` changed.
    pub(super) replaced: u64,
    media: Media,
    number: usize,
    /// Whether rows were left unread because there are too many.
    is_full: bool,
}

impl<'a> Intake<'a> {
    pub(super) fn new(surround: &'a Surround, task: Option<Task>) -> Self {
        Self {
            surround,
            task,
            rows: Vec::new(),
            bad: Vec::new(),
            other_keys: IndexMap::new(),
            replaced: 0,
            media: Media::default(),
            number: 0,
            is_full: false,
        }
    }

    /// What to say when there are more rows than are read.
    pub(super) fn excess(&self) -> Option<String> {
        self.is_full.then(|| format!("there are more than {MOST_ROWS} rows, the most that a dataset has"))
    }

    /// Takes the row at a line of a file, or what is wrong with it, and says whether more are taken.
    pub(super) fn line(&mut self, file: &DataFile, line: u64, fields: Result<IndexMap<String, Value>, String>) -> bool {
        self.add(&format!("{}:{line}", file.name), file.folder.as_deref(), fields)
    }

    /// Takes a row, and says whether more are taken. Relative paths start at `folder`; without one the row
    /// may name no local file.
    pub(super) fn add(
        &mut self,
        place: &str,
        folder: Option<&Path>,
        fields: Result<IndexMap<String, Value>, String>,
    ) -> bool {
        let number = self.number;
        if number == MOST_ROWS {
            self.is_full = true;
            return false;
        }
        self.number += 1;
        match fields.and_then(|fields| self.row(number, folder, fields)) {
            Ok(row) => {
                for (key, value) in &row.fields.other {
                    if !self.other_keys.contains_key(key) {
                        self.other_keys.insert(key.clone(), (place.to_owned(), value.clone()));
                    }
                }
                self.rows.push(row);
            }
            Err(message) => self.bad.push(format!("{place}: {message}")),
        }
        true
    }

    fn row(&mut self, number: usize, folder: Option<&Path>, mut table: IndexMap<String, Value>) -> Result<Row, String> {
        if folder.is_none() {
            refuse_local_files(&table)?;
        }
        let mut references = References::take(&mut table, folder.unwrap_or(Path::new("")))?;
        let (fields, faults) = Fields::read(&table, Scope::Row);
        if let Some(fault) = faults.into_iter().next() {
            return Err(fault.message);
        }
        let filled = fields.or(&self.surround.defaults);
        let fields = filled.clone().replaced_by(&self.surround.overrides);
        if let Some((given, missing)) = fields.lone_side() {
            return Err(format!("`{given}` needs `{missing}`"));
        }
        if fields.prompt.is_none() {
            return Err("the row has no `prompt`".to_owned());
        }
        let has_media = !(references.images.is_empty() && references.videos.is_empty());
        if let Some(task) = self.task.filter(|task| has_media && !task.needs_image() && !task.needs_video()) {
            return Err(format!("task `{task}` takes no reference images or videos"));
        }
        let hashes = self.media.keep(&mut references)?;
        self.replaced += u64::from(fields != filled);
        Ok(Row { number, fields, references, hashes })
    }
}

fn refuse_local_files(table: &IndexMap<String, Value>) -> Result<(), String> {
    // by these, downloaded rows could make this machine read, and send, files of its own
    for column in REFERENCE_COLUMNS {
        let Some(value) = table.get(column) else { continue };
        if let Some(text) = local_file(value) {
            let text = brief(&Value::String(text.to_owned()));
            return Err(format!("`{column}` is `{text}`, but downloaded data may name URLs only"));
        }
    }
    Ok(())
}

fn local_file(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => {
            let elsewhere = ["http://", "https://", "data:"].iter().any(|scheme| text.starts_with(scheme));
            (!elsewhere).then_some(text)
        }
        Value::Array(items) => items.iter().find_map(local_file),
        Value::Object(map) => map.values().find_map(local_file),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// The media of all rows: equal ones are held once.
#[derive(Default)]
pub(super) struct Media {
    held: HashMap<blake3::Hash, Bytes>,
    total: u64,
}

impl Media {
    /// Makes references to equal bytes share them, and gives what identifies each.
    pub(super) fn keep(&mut self, references: &mut References) -> Result<Vec<String>, String> {
        let mut hashes = Vec::new();
        for (kind, list) in [("image", &mut references.images), ("video", &mut references.videos)] {
            for reference in list {
                hashes.push(match reference {
                    Reference::Url(url) => format!("{kind} {url}"),
                    Reference::Bytes { bytes, .. } => {
                        let hash = blake3::hash(bytes);
                        if let Some(known) = self.held.get(&hash) {
                            *bytes = known.clone();
                        } else {
                            self.total += bytes.len() as u64;
                            self.held.insert(hash, bytes.clone());
                        }
                        format!("{kind} {}", hash.to_hex())
                    }
                });
            }
        }
        if self.total > MOST_MEDIA {
            return Err("with it, the dataset's images and videos hold more than 4 GiB".to_owned());
        }
        Ok(hashes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn surround() -> Surround {
        Surround { defaults: Fields::default(), overrides: Fields::default(), request_seed: RequestSeed::None }
    }

    fn taken(folder: Option<&Path>, task: Option<Task>, rows: &[Value]) -> (Vec<Row>, Vec<String>) {
        let surround = surround();
        let mut intake = Intake::new(&surround, task);
        for row in rows {
            intake.add("r", folder, Ok(serde_json::from_value(row.clone()).unwrap()));
        }
        (intake.rows, intake.bad)
    }

    #[test]
    fn downloaded_rows_may_name_urls_but_no_files() {
        let rows = [
            json!({ "prompt": "a", "image_path": "/etc/hostname" }),
            json!({ "prompt": "b", "image_paths": ["https://x.test/a.png", "../b.png"] }),
            json!({ "prompt": "c", "image_path": "https://x.test/a.png" }),
            json!({ "prompt": "d", "image_reference": { "image_url": "file:///etc/hostname" } }),
        ];
        let (rows, bad) = taken(None, Some(Task::I2v), &rows);
        assert_eq!(rows.iter().map(|row| row.number).collect::<Vec<_>>(), [2]);
        assert_eq!(
            bad,
            [
                "r: `image_path` is `/etc/hostname`, but downloaded data may name URLs only",
                "r: `image_paths` is `../b.png`, but downloaded data may name URLs only",
                "r: `image_reference` is `file:///etc/hostname`, but downloaded data may name URLs only",
            ]
        );
    }

    #[test]
    fn a_task_without_references_refuses_rows_that_name_some() {
        let row = [json!({ "prompt": "a", "image_path": "https://x.test/a.png" })];
        assert_eq!(taken(None, Some(Task::T2i), &row).1, ["r: task `t2i` takes no reference images or videos"]);
        assert!(taken(None, Some(Task::Ti2i), &row).1.is_empty());
    }

    proptest! {
        #[test]
        fn fields_of_a_row_survive_with_their_values(
            number in prop::num::i64::ANY, real in -1e9_f64..1e9, text in "\\PC{0,20}", flag: bool, seed in 0_u64..1 << 53,
        ) {
            let row = json!({
                "prompt": "", "seed": seed, "zero": 0, "no": false, "empty": "", "number": number, "real": real,
                "text": text, "flag": flag, "list": [0, "", false], "table": { "a": 0 }
            });
            // `text` is another word for the prompt only where there is none
            let mut row: IndexMap<String, Value> = serde_json::from_value(row).unwrap();
            row.insert("words".into(), row["text"].clone());
            row.shift_remove("text");
            let surround = surround();
            let mut intake = Intake::new(&surround, None);
            intake.add("r", None, Ok(row.clone()));
            prop_assert!(intake.bad.is_empty(), "{:?}", intake.bad);
            let fields = &intake.rows[0].fields;
            prop_assert_eq!(fields.prompt.as_deref(), Some(""));
            prop_assert_eq!(fields.seed, Some(seed));
            row.shift_remove("prompt");
            row.shift_remove("seed");
            prop_assert_eq!(&fields.other, &row);
        }
    }
}
