//! Where servers tell stage times and peak memory.
//!
//! Stage times are looked up at the top level, then in `metrics`; only if neither has any, they are
//! merged from the items (`data[i]`, then `choices[i].message.content[j]`), the largest per stage,
//! because items of one request share its stages. Where none of these places tells durations, the
//! `metrics.stage_metrics` of a multi-stage server stand in for them. Peak memory is the largest positive number of all
//! these places and of `usage`: it is a maximum by nature, so a conflict has only one answer.

use std::collections::BTreeMap;

use serde_json::Value;

/// What a reply tells about its own making.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Told {
    /// Milliseconds, by the server's names.
    pub(crate) stage_ms: BTreeMap<String, f64>,
    /// Time of the stages that made the medium.
    pub(crate) generation_ms: Option<f64>,
    pub(crate) peak_memory_mb: Option<f64>,
    pub(crate) inference_time_s: Option<f64>,
}

impl Told {
    /// Reads a JSON reply.
    pub(crate) fn from_json(root: &Value) -> Self {
        let metrics = root.get("metrics").unwrap_or(&Value::Null);
        let items: Vec<&Value> = list(root, "data").chain(contents(root)).collect();
        let request_places = [root, metrics];
        let durations = request_places.into_iter().map(stages).find(|stages| !stages.is_empty()).unwrap_or_else(|| {
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
        let metrics: Vec<StageMetrics> = request_places.into_iter().flat_map(stage_metrics).collect();
        let generation_ms = generation_ms(&durations).or_else(|| made_ms(&metrics));
        let mut stage_ms = durations;
        let tells_durations = !stage_ms.is_empty();
        for stage in metrics {
            let figures = [
                ("gen_ms", stage.gen_ms.filter(|_| !tells_durations)),
                ("denoise_step_latency_ms", stage.denoise_step_ms),
            ];
            for (name, ms) in figures.into_iter().filter_map(|(name, ms)| Some((name, ms?))) {
                stage_ms.entry(format!("stage_{}_{name}", stage.id)).or_insert(ms);
            }
        }
        Self { stage_ms, generation_ms, peak_memory_mb, inference_time_s }
    }

    /// Adds what a later document of the same reply tells; figures only grow, so the largest counts.
    pub(crate) fn merge(&mut self, later: Self) {
        let largest = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::max);
        for (name, ms) in later.stage_ms {
            let known = self.stage_ms.entry(name).or_insert(ms);
            *known = ms.max(*known);
        }
        self.generation_ms = largest(self.generation_ms, later.generation_ms);
        self.peak_memory_mb = largest(self.peak_memory_mb, later.peak_memory_mb);
        self.inference_time_s = largest(self.inference_time_s, later.inference_time_s);
    }

    /// Reads the headers of a synchronous video reply.
    pub(crate) fn from_headers(headers: &BTreeMap<String, String>) -> Self {
        let number = |name: &str| headers.get(name).and_then(|text| text.trim().parse().ok()).and_then(measured);
        let durations = headers.get("x-stage-durations").and_then(|text| serde_json::from_str::<Value>(text).ok());
        let stage_ms = durations.as_ref().map(stage_map).unwrap_or_default();
        Self {
            generation_ms: generation_ms(&stage_ms),
            stage_ms,
            peak_memory_mb: number("x-peak-memory-mb"),
            inference_time_s: number("x-inference-time-s"),
        }
    }
}

/// What is used of one entry of `stage_metrics`. Its counts of outputs and pixels are not: those come
/// from the bytes.
struct StageMetrics {
    id: String,
    gen_ms: Option<f64>,
    denoise_step_ms: Option<f64>,
    makes_pictures: bool,
}

/// The entries of a place's `stage_metrics`, an object by stage or a list.
fn stage_metrics(place: &Value) -> Vec<StageMetrics> {
    let entry = |key: String, entry: &Value| {
        let number = |name: &str| entry.get(name).and_then(positive);
        let is = |name: &str, words: &[&str]| {
            entry.get(name).and_then(Value::as_str).is_some_and(|word| words.contains(&word))
        };
        StageMetrics {
            id: entry.get("stage_id").and_then(Value::as_u64).map_or(key, |id| id.to_string()),
            gen_ms: number("stage_gen_time_ms"),
            denoise_step_ms: number("denoise_step_latency_ms"),
            makes_pictures: is("final_output_type", &["image", "images"]) || is("output_unit_type", &["image"]),
        }
    };
    match place.get("stage_metrics") {
        Some(Value::Object(stages)) => stages.iter().map(|(key, stage)| entry(key.clone(), stage)).collect(),
        Some(Value::Array(stages)) => {
            stages.iter().enumerate().map(|(index, stage)| entry(index.to_string(), stage)).collect()
        }
        _ => Vec::new(),
    }
}

/// Time of the stages that make pictures, together; without any, the longest stage.
fn made_ms(stages: &[StageMetrics]) -> Option<f64> {
    let times = |of_pictures: bool| {
        stages.iter().filter(move |stage| stage.makes_pictures || !of_pictures).filter_map(|stage| stage.gen_ms)
    };
    times(true).reduce(|sum, ms| sum + ms).or_else(|| times(false).reduce(f64::max))
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
