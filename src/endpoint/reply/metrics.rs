//! Where servers tell stage times and peak memory.
//!
//! Stage times are looked up at the top level, then in `metrics`; only if neither has any, they are
//! merged from the items (`data[i]`, then `choices[i].message.content[j]`), the largest per stage,
//! because items of one request share its stages. Peak memory is the largest positive number of all
//! these places and of `usage`: it is a maximum by nature, so a conflict has only one answer.

use std::collections::BTreeMap;

use serde_json::Value;

/// What a reply tells about its own making.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Told {
    /// Milliseconds, by the server's names.
    pub(crate) stage_ms: BTreeMap<String, f64>,
    pub(crate) peak_memory_mb: Option<f64>,
    pub(crate) inference_time_s: Option<f64>,
}

impl Told {
    /// Reads a JSON reply.
    pub(crate) fn from_json(root: &Value) -> Self {
        let metrics = root.get("metrics").unwrap_or(&Value::Null);
        let items: Vec<&Value> = list(root, "data").chain(contents(root)).collect();
        let request_places = [root, metrics];
        let stage_ms = request_places.into_iter().map(stages).find(|stages| !stages.is_empty()).unwrap_or_else(|| {
            let mut merged = BTreeMap::new();
            for (name, ms) in items.iter().flat_map(|item| stages(item)) {
                let largest = merged.entry(name).or_insert(ms);
                *largest = ms.max(*largest);
            }
            merged
        });
        let usage = root.get("usage").unwrap_or(&Value::Null);
        let memory_places = request_places.into_iter().chain([usage]).chain(items);
        let peak_memory_mb = memory_places.filter_map(|place| positive(place.get("peak_memory_mb")?)).reduce(f64::max);
        let inference_time_s = request_places.iter().find_map(|place| positive(place.get("inference_time_s")?));
        Self { stage_ms, peak_memory_mb, inference_time_s }
    }

    /// Reads the headers of a synchronous video reply.
    pub(crate) fn from_headers(headers: &BTreeMap<String, String>) -> Self {
        let number = |name: &str| headers.get(name).and_then(|text| text.trim().parse().ok()).and_then(measured);
        let durations = headers.get("x-stage-durations").and_then(|text| serde_json::from_str::<Value>(text).ok());
        Self {
            stage_ms: durations.as_ref().map(stage_map).unwrap_or_default(),
            peak_memory_mb: number("x-peak-memory-mb"),
            inference_time_s: number("x-inference-time-s"),
        }
    }
}

/// Generation time by stages: the largest `…_gen_ms`.
pub(crate) fn generation_ms(stage_ms: &BTreeMap<String, f64>) -> Option<f64> {
    let gen_ms = stage_ms.iter().filter(|(name, _)| name.ends_with("_gen_ms"));
    gen_ms.filter_map(|(_, ms)| measured(*ms)).reduce(f64::max)
}

/// A positive number; anything else, 0 and numbers written as text included, is not measured.
pub(crate) fn positive(value: &Value) -> Option<f64> {
    value.as_f64().and_then(measured)
}

/// The number, if it can be a measurement.
pub(crate) fn measured(number: f64) -> Option<f64> {
    (number.is_finite() && number > 0.0).then_some(number)
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn contents(root: &Value) -> impl Iterator<Item = &Value> {
    list(root, "choices").filter_map(|choice| choice.get("message")).flat_map(|message| list(message, "content"))
}

fn stages(place: &Value) -> BTreeMap<String, f64> {
    place.get("stage_durations").map(stage_map).unwrap_or_default()
}

/// Keys that end in `_ms` are milliseconds, all others seconds.
fn stage_map(durations: &Value) -> BTreeMap<String, f64> {
    let fields = durations.as_object().into_iter().flatten();
    fields
        .filter_map(|(name, value)| {
            let ms = value.as_f64()? * if name.ends_with("_ms") { 1.0 } else { 1000.0 };
            (ms.is_finite() && ms >= 0.0).then(|| (name.clone(), ms))
        })
        .collect()
}
