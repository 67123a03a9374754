//! The baseline file: what was measured before, per run and hardware.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalog::{METRICS, Unit, metric};
use crate::diagnostic::nearest;

/// Version of the baseline file.
pub const BASELINE_FORMAT: u32 = 1;

/// What runs measured before. Values are those measured; how far a run may be from them is said where
/// it is gated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Version of this format.
    pub format: u32,
    /// omni-bench's version that wrote it.
    pub tool_version: String,
    /// Where the figures come from.
    pub source: BaselineSource,
    /// One entry per run and hardware.
    pub entries: Vec<BaselineEntry>,
}

/// Where the figures of a baseline come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BaselineSource {
    /// `results`, or the kind of file they were imported from.
    pub kind: String,
    /// The folder or file.
    pub name: String,
    /// The scenario they belong to.
    pub scenario: String,
}

/// The figures of one run on one hardware.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BaselineEntry {
    /// Run id, without repeat.
    pub id: String,
    /// Hash of workload and configuration; what a run is found by.
    pub key: String,
    /// Hash of what was asked.
    pub workload_key: String,
    /// Hash of who answered.
    pub config_key: String,
    /// Hardware that was measured; null when it is not known.
    pub hardware: Option<String>,
    /// Whether a simulator answered; such figures are no measurements.
    pub simulated: bool,
    /// Requests per repeat.
    pub n: u64,
    /// Repeats behind each value; null when that is not known.
    pub repeats: Option<u32>,
    /// Figures by the metric names of `results.json`.
    pub metrics: IndexMap<String, BaselineMetric>,
    /// What else must be equal for figures to be compared, by name.
    pub fingerprint: IndexMap<String, Value>,
}

/// One figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BaselineMetric {
    /// What was measured, the mean over repeats; null when there is nothing to compare with.
    pub value: Option<f64>,
    /// Unit of the value.
    pub unit: Unit,
    /// Observations behind the value in each repeat; null when that is not known.
    #[serde(default)]
    pub n: Option<u64>,
    /// Lower end of the 95 % interval of the mean over repeats; null with fewer than 2.
    #[serde(default)]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(default)]
    pub high: Option<f64>,
    /// Smallest and largest over repeats; null with fewer than 2.
    #[serde(default)]
    pub range: Option<[f64; 2]>,
    /// Why there is no value.
    #[serde(default)]
    pub note: Option<String>,
}

/// Why a text is no baseline; lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BaselineError {
    /// Not JSON, or not of this form.
    #[error("line {line}, column {column}: {message}")]
    Json {
        /// Line.
        line: usize,
        /// Column.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// Of another version.
    #[error("format {found} is not known to this version of omni-bench, which reads {BASELINE_FORMAT}")]
    Format {
        /// The version that was found.
        found: u64,
    },
    /// JSON of this form that means nothing.
    #[error("`{path}`: {message}")]
    Meaning {
        /// Key path.
        path: String,
        /// What is wrong.
        message: String,
    },
}

impl BaselineMetric {
    /// A value of which nothing else is known.
    pub fn of(value: f64, unit: Unit) -> Self {
        Self { value: Some(value).filter(|value| value.is_finite()), ..Self::absent(unit, None) }
    }

    /// A figure without a value, and why.
    pub const fn absent(unit: Unit, note: Option<String>) -> Self {
        Self { value: None, unit, n: None, low: None, high: None, range: None, note }
    }
}

impl Baseline {
    /// Reads a baseline and checks it.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let json = |error: &serde_json::Error| {
            let text = error.to_string();
            let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
            BaselineError::Json { line: error.line(), column: error.column(), message }
        };
        let value: Value = serde_json::from_str(text).map_err(|error| json(&error))?;
        match value.get("format").and_then(Value::as_u64) {
            Some(found) if found != u64::from(BASELINE_FORMAT) => return Err(BaselineError::Format { found }),
            _ => {}
        }
        let baseline: Self = serde_json::from_str(text).map_err(|error| json(&error))?;
        baseline.check()?;
        Ok(baseline)
    }

    fn check(&self) -> Result<(), BaselineError> {
        let wrong = |path: String, message: String| BaselineError::Meaning { path, message };
        for (number, entry) in self.entries.iter().enumerate() {
            let at = format!("entries[{number}]");
            let earlier = self.entries.iter().take(number).position(|other| other.is_for_the_same(entry));
            if let Some(earlier) = earlier {
                return Err(wrong(at, format!("`{}` on this hardware is already `entries[{earlier}]`", entry.id)));
            }
            for (name, figure) in &entry.metrics {
                let at = format!("{at}.metrics.{name}");
                let Some(spec) = metric(name) else {
                    let near = nearest(name, METRICS.iter().map(|spec| spec.name));
                    let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                    return Err(wrong(at, format!("there is no such metric{near}")));
                };
                if figure.unit != spec.unit {
                    return Err(wrong(
                        format!("{at}.unit"),
                        format!("this metric is in {:?}, not in {:?}", spec.unit, figure.unit),
                    ));
                }
            }
        }
        Ok(())
    }
}

impl BaselineEntry {
    fn is_for_the_same(&self, other: &Self) -> bool {
        self.key == other.key && self.hardware == other.hardware && self.simulated == other.simulated
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn file() -> Value {
        json!({
            "format": 1, "tool_version": "0.1.0", "source": { "kind": "results", "name": "r", "scenario": "s" },
            "entries": [{
                "id": "v/A/c1", "key": "k", "workload_key": "w", "config_key": "c", "hardware": "H100",
                "simulated": false, "n": 10, "repeats": 1,
                "metrics": { "latency_s.mean": { "value": 2.5, "unit": "seconds" } }, "fingerprint": {}
            }]
        })
    }

    fn error(change: impl FnOnce(&mut Value)) -> String {
        let mut value = file();
        change(&mut value);
        Baseline::parse(&value.to_string()).unwrap_err().to_string()
    }

    #[test]
    fn a_baseline_reads_back_as_it_was_written() {
        let baseline = Baseline::parse(&file().to_string()).unwrap();
        assert_eq!(Baseline::parse(&serde_json::to_string_pretty(&baseline).unwrap()).unwrap(), baseline);
        assert_eq!(baseline.entries[0].metrics["latency_s.mean"], BaselineMetric::of(2.5, Unit::Seconds));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        assert_eq!(
            error(|file| file["format"] = 2.into()),
            "format 2 is not known to this version of omni-bench, which reads 1"
        );
        assert_eq!(
            error(|file| {
                let metrics = file["entries"][0]["metrics"].as_object_mut().unwrap();
                let figure = metrics["latency_s.mean"].clone();
                metrics.insert("latency_s.p999".into(), figure);
            }),
            "`entries[0].metrics.latency_s.p999`: there is no such metric; did you mean `latency_s.p99`?"
        );
        assert_eq!(
            error(|file| file["entries"][0]["metrics"]["latency_s.mean"]["unit"] = "milliseconds".into()),
            "`entries[0].metrics.latency_s.mean.unit`: this metric is in Seconds, not in Milliseconds"
        );
        assert_eq!(
            error(|file| {
                let entry = file["entries"][0].clone();
                file["entries"].as_array_mut().unwrap().push(entry);
            }),
            "`entries[1]`: `v/A/c1` on this hardware is already `entries[0]`"
        );
        let text = "{\n  \"format\": 1,\n  \"entries\": [NaN]\n}";
        assert_eq!(Baseline::parse(text).unwrap_err().to_string(), "line 3, column 15: expected value");
        assert!(
            error(|file| file["entries"][0]["metrics"]["latency_s.mean"]["value"] = "fast".into()).contains("fast")
        );
        assert!(error(|file| file["colour"] = 1.into()).contains("unknown field `colour`"));
    }
}
