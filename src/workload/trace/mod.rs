//! A recorded trace: files → rows of request fields, with what could not be read. In: paths, folders
//! and globs. Out: typed rows in the order of their time stamps where every row has one, else in the
//! order of the files. Evaluates nothing, fetches nothing.

mod files;
mod literal;
mod rows;

use indexmap::IndexMap;
use serde_json::Value;

use super::fields::{Fields, Scope};

/// Columns that name local media; they need a source that can resolve them.
const MEDIA_COLUMNS: [&str; 4] = ["image_path", "image_paths", "video_path", "video_paths"];

/// A trace as read.
#[derive(Debug)]
pub(super) struct Trace {
    pub(super) files: Vec<String>,
    pub(super) sha256: String,
    pub(super) rows: Vec<TraceRow>,
    /// `file:line: what is wrong` of every row that was left out.
    pub(super) bad: Vec<String>,
    /// Fields beyond the known ones, each with the first place and value.
    pub(super) other_keys: IndexMap<String, (String, Value)>,
}

/// One good row.
#[derive(Debug)]
pub(super) struct TraceRow {
    /// Position among the good and bad rows, from 0.
    pub(super) number: usize,
    pub(super) fields: Fields,
}

/// Reads a trace; `complete` lays defaults and overrides around a row and says what it still lacks.
pub(super) fn load(
    paths: &[String],
    complete: impl Fn(Fields) -> Result<Fields, String>,
) -> Result<Trace, Vec<String>> {
    let files = files::read_all(paths)?;
    let mut trace = Trace {
        files: files.iter().map(|file| file.path.display().to_string()).collect(),
        sha256: files::sha256(&files),
        rows: Vec::new(),
        bad: Vec::new(),
        other_keys: IndexMap::new(),
    };
    let mut number = 0;
    for file in &files {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for raw in rows::read(&file.path, &file.bytes) {
            let place = format!("{name}:{}", raw.line);
            match raw.fields.and_then(|fields| typed(&fields)).and_then(&complete) {
                Ok(fields) => {
                    for (key, value) in &fields.other {
                        if !trace.other_keys.contains_key(key) {
                            trace.other_keys.insert(key.clone(), (place.clone(), value.clone()));
                        }
                    }
                    trace.rows.push(TraceRow { number, fields });
                }
                Err(message) => trace.bad.push(format!("{place}: {message}")),
            }
            number += 1;
        }
    }
    if let Some(column) = MEDIA_COLUMNS.iter().find(|column| trace.other_keys.contains_key(**column)) {
        return Err(vec![format!("`{column}` is not available in this version")]);
    }
    if trace.rows.is_empty() {
        let first = trace.bad.first().map_or_else(String::new, |bad| format!("; {bad}"));
        return Err(vec![format!("`{}` has no row that can be read{first}", trace.files.join("`, `"))]);
    }
    sort_by_time(&mut trace.rows);
    Ok(trace)
}

fn typed(table: &IndexMap<String, Value>) -> Result<Fields, String> {
    let (fields, faults) = Fields::read(table, Scope::Row);
    match faults.into_iter().next() {
        Some(fault) => Err(fault.message),
        None => Ok(fields),
    }
}

/// Arrivals are replayed in the order in which they happened; rows of equal time keep their order.
fn sort_by_time(rows: &mut [TraceRow]) {
    if rows.iter().all(|row| row.fields.timestamp_s.is_some()) {
        rows.sort_by(|a, b| {
            let stamp = |row: &TraceRow| row.fields.timestamp_s.unwrap_or_default();
            stamp(a).total_cmp(&stamp(b))
        });
    }
}
