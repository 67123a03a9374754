//! The workload of an entry: its source, fields, seed, reference images and extra fields, as the script
//! would send them.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::super::document::{Findings, Node, kind};
use super::entry::Reader;
use super::inline::{self, InlineFile};
use super::server::holds_null;
use crate::catalog::Task;
use crate::scenario::model::{Dataset, InputImages, OnShort, PathList, Profile, RequestSeed, Source};

/// The script's default of `num-inference-steps`.
const STEPS: u32 = 50;
/// Side of the script's synthetic reference images.
const IMAGE_SIDE: u32 = 512;

/// The workload of an entry, and the rows that are written into it.
pub(super) fn read(
    reader: &Reader<'_, '_>,
    task: Task,
    findings: &mut Findings,
) -> Option<(Dataset, Option<InlineFile>)> {
    let node = reader.get("dataset");
    let source = match node.map(Node::text) {
        None | Some(Some("random")) => Source::Random,
        Some(Some("custom")) => Source::Custom,
        Some(Some("vbench")) => Source::Vbench,
        Some(Some("trace")) => Source::Trace,
        Some(_) => {
            let at = node.unwrap_or(reader.node);
            findings.error_hint(
                at,
                format!("there is no dataset {}", at.value),
                "the datasets are `random`, `custom`, `vbench` and `trace`",
            );
            return None;
        }
    };
    let mut dataset = Dataset { source: Some(source), ..Dataset::default() };
    let mut fields = fields(reader, findings);
    if let Some(seed) = reader.integer("seed", 0, findings) {
        dataset.request_seed = Some(RequestSeed::Fixed);
        dataset.defaults.insert("seed".to_owned(), seed.into());
    }
    let rows = rows(reader, source, &mut dataset, findings);
    if reader.flag("enable-negative-prompt", findings) {
        if source == Source::Random {
            dataset.negative_prompt = Some(true);
        } else if let Some(node) = reader.get("enable-negative-prompt") {
            findings.note(node, "the script numbers negative prompts for `random` datasets only; it is left out");
        }
    }
    if source == Source::Random && task.needs_image() {
        let count = reader.small("num-input-images", 1, findings);
        dataset.images =
            Some(InputImages { count: count.or(Some(1)), width: Some(IMAGE_SIDE), height: Some(IMAGE_SIDE) });
    }
    let profiles = profiles(reader, source, findings);
    if profiles.is_empty() && source == Source::Random {
        dataset.profiles.push(Profile { weight: None, fields: std::mem::take(&mut fields) });
    } else {
        dataset.profiles = profiles;
    }
    for (key, value) in fields {
        dataset.defaults.insert(key, value);
    }
    extra_body(reader, &mut dataset, rows.as_ref(), findings);
    Some((dataset, rows))
}

/// Shape fields of the entry, steps with the script's default.
fn fields(reader: &Reader<'_, '_>, findings: &mut Findings) -> IndexMap<String, Value> {
    let mut fields = IndexMap::new();
    for key in ["width", "height", "num-inference-steps", "num-frames"] {
        let value = reader.small(key, 1, findings);
        let value = if key == "num-inference-steps" { value.or(Some(STEPS)) } else { value };
        if let Some(value) = value {
            fields.insert(key.replace('-', "_"), value.into());
        }
    }
    if let Some(fps) = reader.get("fps") {
        match fps.value.as_f64().filter(|fps| fps.is_finite() && *fps > 0.0) {
            Some(_) => {
                fields.insert("fps".to_owned(), fps.value.clone());
            }
            None => findings.error(fps, format!("`fps` must be a number above 0, not `{}`", fps.value)),
        }
    }
    fields
}

fn profiles(reader: &Reader<'_, '_>, source: Source, findings: &mut Findings) -> Vec<Profile> {
    let Some(node) = reader.get("random-request-config") else { return Vec::new() };
    if source != Source::Random {
        findings.note(node, "`random-request-config` belongs to `random` datasets; it is left out");
        return Vec::new();
    }
    // the option is JSON text on the command line, and some files write it as such
    let parsed = node.text().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let value = parsed.as_ref().unwrap_or(node.value);
    let Some(list) = value.as_array().filter(|list| !list.is_empty()) else {
        findings.error(node, "`random-request-config` is a list of profiles");
        return Vec::new();
    };
    let mut profiles = Vec::new();
    for (position, profile) in list.iter().enumerate() {
        let read = profile.as_object().and_then(|table| {
            let mut fields: IndexMap<String, Value> = table
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            let weight = match fields.shift_remove("weight") {
                None => None,
                Some(weight) => Some(weight.as_f64()?),
            };
            Some(Profile { weight, fields })
        });
        match read {
            Some(profile) => profiles.push(profile),
            None => findings.error(node, format!("profile {} is not a table of fields with a weight", position + 1)),
        }
    }
    profiles
}

fn rows(reader: &Reader<'_, '_>, source: Source, dataset: &mut Dataset, findings: &mut Findings) -> Option<InlineFile> {
    for (key, node) in reader.keys.iter().filter(|(key, _)| key.ends_with("-inline")) {
        let file = inline::read(key, node, findings);
        if key != "dataset-path-inline" {
            findings.error(node, format!("`{key}` is not known; the script has no option of that name"));
        } else if source == Source::Random {
            findings.note(node, "a `random` dataset has no rows; the block is left out");
        } else {
            if let Some(path) = reader.get("dataset-path") {
                findings.note(path, "`dataset-path-inline` replaces `dataset-path`, which is there too");
            }
            dataset.on_short = Some(OnShort::Cycle);
            return file;
        }
    }
    let path = reader.get("dataset-path");
    match (source, path) {
        (Source::Random, Some(path)) => {
            findings.note(path, "a `random` dataset has no file; `dataset-path` is left out");
        }
        (Source::Custom, None) => {
            findings.error(reader.node, "a `custom` dataset needs `dataset-path` or `dataset-path-inline`");
        }
        (Source::Vbench | Source::Trace, None) => {
            let message = "the script would download the data of this dataset; give `path`, or `url` and `allow_download`, in the scenario";
            findings.note(reader.get("dataset").unwrap_or(reader.node), message);
        }
        (_, Some(path)) => {
            let Some(text) = path.text() else {
                findings.error(path, format!("`dataset-path` is text, not {}", kind(path.value)));
                return None;
            };
            findings.note(
                path,
                "the path is relative to where the script was started; in the scenario it is relative to its file",
            );
            dataset.path = Some(PathList(vec![text.to_owned()]));
            if source == Source::Custom {
                dataset.on_short = Some(OnShort::Cycle);
            }
        }
        (Source::Random, None) => {}
    }
    None
}

/// Fields of every request. They fill gaps; where the entry or its rows say something else, the
/// script lets them win, and so does `override`.
fn extra_body(reader: &Reader<'_, '_>, dataset: &mut Dataset, rows: Option<&InlineFile>, findings: &mut Findings) {
    let Some(node) = reader.get("extra-body") else { return };
    let parsed = node.text().and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok());
    let Some(table) = parsed.as_ref().or_else(|| node.value.as_object()) else {
        findings.error(node, format!("`extra-body` is a table, not {}", kind(node.value)));
        return;
    };
    let in_rows = |key: &str| {
        let rows = rows.into_iter().flat_map(|file| file.text.lines());
        rows.filter_map(|row| serde_json::from_str::<Value>(row).ok()).any(|row| row.get(key).is_some())
    };
    for (key, value) in table {
        if holds_null(value) {
            findings.note(node, format!("`{key}` of `extra-body` holds null, which a scenario cannot; it is left out"));
            continue;
        }
        let given = dataset.defaults.contains_key(key)
            || dataset.profiles.iter().any(|profile| profile.fields.contains_key(key))
            || in_rows(key);
        let place = if given { &mut dataset.overrides } else { &mut dataset.defaults };
        place.insert(key.clone(), value.clone());
        if given {
            findings.note(node, format!("`{key}` of `extra-body` replaces what the entry or its rows say"));
        }
    }
}

/// A dataset's content, to tell whether two are the same.
pub(super) fn content(dataset: &Dataset, rows: Option<&InlineFile>) -> Value {
    json!([dataset, rows.map(|rows| &rows.text)])
}
