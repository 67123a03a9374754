//! Request fields as written in a profile, a table of defaults or a trace row: the ones omni-bench
//! understands are read into their types, every other key is kept as it is.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;

use super::Shape;
use crate::units::PixelSize;

/// Fields of one request, as far as a table or row gives them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Fields {
    pub(crate) shape: Shape,
    pub(crate) prompt: Option<String>,
    pub(crate) negative_prompt: Option<String>,
    pub(crate) n: Option<u32>,
    pub(crate) seed: Option<u64>,
    pub(crate) slo_ms: Option<f64>,
    pub(crate) request_id: Option<String>,
    pub(crate) timestamp_s: Option<f64>,
    pub(crate) other: IndexMap<String, Value>,
}

/// What is wrong with one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) key: String,
    pub(crate) message: String,
}

/// Where fields come from; a trace row also has an identity and a time stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// A profile, defaults, overrides, extra fields.
    Table,
    /// A row of a trace.
    Row,
}

impl Fields {
    /// Reads a table of fields. A `null` is a field that was not given.
    pub(crate) fn read(table: &IndexMap<String, Value>, scope: Scope) -> (Self, Vec<Fault>) {
        let mut fields = Self::default();
        let mut faults = Vec::new();
        for (key, value) in table.iter().filter(|(_, value)| !value.is_null()) {
            if let Err(message) = fields.set(key, value, scope) {
                faults.push(Fault { key: key.clone(), message });
            }
        }
        (fields, faults)
    }

    fn set(&mut self, key: &str, value: &Value, scope: Scope) -> Result<(), String> {
        match key {
            "width" => once(&mut self.shape.width, positive(key, value)?, key),
            "height" => once(&mut self.shape.height, positive(key, value)?, key),
            "size" if value.as_str() != Some("auto") => self.set_size(value),
            "num_inference_steps" => once(&mut self.shape.num_inference_steps, positive(key, value)?, key),
            "num_frames" => once(&mut self.shape.num_frames, positive(key, value)?, key),
            "fps" => once(&mut self.shape.fps, above_zero(key, value)?, key),
            "prompt" => once(&mut self.prompt, text(key, value)?, key),
            "text" if scope == Scope::Row => once(&mut self.prompt, text(key, value)?, "prompt"),
            "negative_prompt" => once(&mut self.negative_prompt, text(key, value)?, key),
            "n" | "num_outputs_per_prompt" => once(&mut self.n, positive(key, value)?, "n"),
            "seed" => once(&mut self.seed, seed(value)?, key),
            "slo_ms" => once(&mut self.slo_ms, above_zero(key, value)?, key),
            "request_id" if scope == Scope::Row => once(&mut self.request_id, name(key, value)?, key),
            "timestamp" if scope == Scope::Row => once(&mut self.timestamp_s, timestamp(value)?, key),
            _ => {
                self.other.insert(key.to_owned(), value.clone());
                Ok(())
            }
        }
    }

    fn set_size(&mut self, value: &Value) -> Result<(), String> {
        let size: PixelSize = text("size", value)?.parse().map_err(|error| format!("{error}"))?;
        once(&mut self.shape.width, size.width, "width")?;
        once(&mut self.shape.height, size.height, "height")
    }

    /// These fields, with gaps filled from `defaults`.
    pub(crate) fn or(mut self, defaults: &Self) -> Self {
        self.shape = or_shape(self.shape, defaults.shape);
        self.prompt = self.prompt.or_else(|| defaults.prompt.clone());
        self.negative_prompt = self.negative_prompt.or_else(|| defaults.negative_prompt.clone());
        self.n = self.n.or(defaults.n);
        self.seed = self.seed.or(defaults.seed);
        self.slo_ms = self.slo_ms.or(defaults.slo_ms);
        self.request_id = self.request_id.or_else(|| defaults.request_id.clone());
        self.timestamp_s = self.timestamp_s.or(defaults.timestamp_s);
        for (key, value) in &defaults.other {
            self.other.entry(key.clone()).or_insert_with(|| value.clone());
        }
        self
    }

    /// These fields, replaced by what `overrides` gives; fields keep their position.
    pub(crate) fn replaced_by(self, overrides: &Self) -> Self {
        let order: Vec<String> = self.other.keys().cloned().collect();
        let mut merged = overrides.clone().or(&self);
        let mut other = IndexMap::new();
        for key in order {
            if let Some(value) = merged.other.shift_remove(&key) {
                other.insert(key, value);
            }
        }
        other.extend(merged.other);
        merged.other = other;
        merged
    }

    /// The side of the size that has no partner: the one given and the one missing.
    pub(crate) const fn lone_side(&self) -> Option<(&'static str, &'static str)> {
        match (self.shape.width, self.shape.height) {
            (Some(_), None) => Some(("width", "height")),
            (None, Some(_)) => Some(("height", "width")),
            _ => None,
        }
    }
}

/// A shape with its gaps filled from another.
pub(super) fn or_shape(shape: Shape, gaps: Shape) -> Shape {
    Shape {
        width: shape.width.or(gaps.width),
        height: shape.height.or(gaps.height),
        num_inference_steps: shape.num_inference_steps.or(gaps.num_inference_steps),
        num_frames: shape.num_frames.or(gaps.num_frames),
        fps: shape.fps.or(gaps.fps),
    }
}

fn once<T: PartialEq>(slot: &mut Option<T>, value: T, name: &str) -> Result<(), String> {
    match slot {
        Some(earlier) if *earlier != value => Err(format!("`{name}` is given twice with different values")),
        _ => {
            *slot = Some(value);
            Ok(())
        }
    }
}

/// A whole number that JSON or CSV may have written with a decimal point.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be whole and in range")]
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let float = value.as_f64().filter(|float| float.fract() == 0.0 && (0.0..9e15).contains(float))?;
        Some(float as u64)
    })
}

fn positive(key: &str, value: &Value) -> Result<u32, String> {
    whole(value)
        .and_then(|number| u32::try_from(number).ok())
        .filter(|number| *number > 0)
        .ok_or_else(|| format!("`{key}` must be a whole number of at least 1, not `{}`", brief(value)))
}

fn seed(value: &Value) -> Result<u64, String> {
    whole(value).ok_or_else(|| format!("`seed` must be a whole number of at least 0, not `{}`", brief(value)))
}

fn above_zero(key: &str, value: &Value) -> Result<f64, String> {
    value
        .as_f64()
        .filter(|number| number.is_finite() && *number > 0.0)
        .ok_or_else(|| format!("`{key}` must be a number above 0, not `{}`", brief(value)))
}

fn text(key: &str, value: &Value) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("`{key}` must be text, not `{}`", brief(value)))
}

fn name(key: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) if !text.is_empty() => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(format!("`{key}` must be a name, not `{}`", brief(value))),
    }
}

/// Seconds, or a date and time with a zone as in RFC 3339.
fn timestamp(value: &Value) -> Result<f64, String> {
    let parsed = match value {
        Value::String(text) => text.parse::<jiff::Timestamp>().ok().map(|stamp| stamp.as_duration().as_secs_f64()),
        _ => value.as_f64().filter(|seconds| seconds.is_finite()),
    };
    parsed.ok_or_else(|| format!("`timestamp` must be seconds or a date and time, not `{}`", brief(value)))
}

/// A value as it fits into a message.
pub(crate) fn brief(value: &Value) -> String {
    const MOST: usize = 60;
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if text.chars().count() > MOST { text.chars().take(MOST).chain(['…']).collect() } else { text }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table(value: Value) -> IndexMap<String, Value> {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn known_fields_are_typed_and_others_kept_in_order() {
        let written = table(json!({
            "width": 512, "height": 768.0, "guidance_scale": 4.5, "n": 2, "seed": 0, "prompt": "a", "lora": null, "layers": 3
        }));
        let (fields, faults) = Fields::read(&written, Scope::Table);
        assert_eq!(faults, []);
        assert_eq!((fields.shape.width, fields.shape.height), (Some(512), Some(768)));
        assert_eq!((fields.n, fields.seed), (Some(2), Some(0)), "0 is a value");
        assert_eq!(fields.other.keys().collect::<Vec<_>>(), ["guidance_scale", "layers"]);
    }

    #[test]
    fn every_wrong_type_is_told_with_its_key() {
        let written = table(json!({
            "width": "wide", "height": 0, "fps": -1, "num_frames": 1.5, "prompt": 3, "seed": -1, "size": "512"
        }));
        let (_, faults) = Fields::read(&written, Scope::Table);
        let keys: Vec<&str> = faults.iter().map(|fault| fault.key.as_str()).collect();
        assert_eq!(keys, ["width", "height", "fps", "num_frames", "prompt", "seed", "size"]);
        assert_eq!(faults[0].message, "`width` must be a whole number of at least 1, not `wide`");
    }

    #[test]
    fn size_is_width_and_height_and_may_not_contradict_them() {
        let (fields, _) = Fields::read(&table(json!({ "size": "640x480" })), Scope::Table);
        assert_eq!((fields.shape.width, fields.shape.height), (Some(640), Some(480)));
        let (_, faults) = Fields::read(&table(json!({ "size": "640x480", "width": 512 })), Scope::Table);
        assert_eq!(faults[0].message, "`width` is given twice with different values");
    }

    #[test]
    fn defaults_fill_gaps_and_overrides_replace() {
        let read = |value| Fields::read(&table(value), Scope::Table).0;
        let row = read(json!({ "width": 512, "strength": 0.5, "layers": 1 }));
        let merged = row
            .or(&read(json!({ "width": 1024, "height": 1024, "quality": "high" })))
            .replaced_by(&read(json!({ "layers": 4, "num_inference_steps": 8 })));
        assert_eq!((merged.shape.width, merged.shape.height), (Some(512), Some(1024)));
        assert_eq!(merged.shape.num_inference_steps, Some(8));
        assert_eq!(
            merged.other.into_iter().collect::<Vec<_>>(),
            [("strength".into(), json!(0.5)), ("layers".into(), json!(4)), ("quality".into(), json!("high"))]
        );
    }

    #[test]
    fn time_stamps_are_seconds_or_dates() {
        let stamp = |value| Fields::read(&table(json!({ "timestamp": value })), Scope::Row).0.timestamp_s;
        assert_eq!(stamp(json!(1000.5)), Some(1000.5));
        assert_eq!(stamp(json!("1970-01-01T00:01:00Z")), Some(60.0));
        assert_eq!(stamp(json!("yesterday")), None);
    }
}
