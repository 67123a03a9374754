//! `[traffic]`, `[warmup]`, `[slo]` and `[matrix]`.

use std::borrow::Cow;
use std::fmt;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::units::{PixelSize, Rate, Span};

/// How requests arrive.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Traffic {
    /// How many requests are measured: a number, or `{ per_concurrency, at_least }`. Default 10.
    pub requests: Option<Requests>,
    /// Most requests in flight. Default 1 in closed loop, none in open loop.
    pub max_concurrency: Option<u32>,
    /// Arrivals per second, or `"inf"` (default): a closed loop that sends as slots become free.
    pub request_rate: Option<Rate>,
    /// Arrival process of an open loop: `poisson` (default), `constant`, `gamma` or `trace`.
    pub arrival: Option<Arrival>,
    /// Shape γ of gamma arrivals; the gaps' coefficient of variation is 1/√γ, below 1 is bursty. Default 1.
    pub burstiness: Option<f64>,
    /// Factor by which a trace is replayed faster. Default 1.
    pub trace_speed: Option<f64>,
    /// Seed of profile sampling; arrivals and request seeds derive theirs from it. Default 42.
    pub seed: Option<u64>,
    /// How often each run is repeated. Default 1.
    pub repeats: Option<u32>,
    /// `interleaved` (default): repeat 1 of all runs, then repeat 2; `grouped`: all repeats of a run together.
    pub order: Option<Order>,
    /// Failed and censored requests that are still fine. Default 0.
    pub allow_failures: Option<u64>,
}

/// How many requests a run has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requests {
    /// This many.
    Count(u64),
    /// In proportion to the concurrency.
    PerConcurrency {
        /// Requests per slot.
        per_concurrency: u64,
        /// But at least this many.
        at_least: u64,
    },
}

/// Arrival process of an open loop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// Exponential gaps.
    #[default]
    Poisson,
    /// Equal gaps.
    Constant,
    /// Gamma-distributed gaps of shape `burstiness`.
    Gamma,
    /// The trace's own time stamps.
    Trace,
}

/// Order of the repeats.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Repeat 1 of every run of a server, then repeat 2, ….
    #[default]
    Interleaved,
    /// All repeats of a run one after the other.
    Grouped,
}

/// Requests before the measured ones; never counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Warmup {
    /// How many, or `"match"` (default): enough to fill the concurrency and touch every class.
    pub requests: Option<Match>,
    /// In flight at once, or `"match"` (default): the run's own concurrency.
    pub concurrency: Option<Match>,
    /// Steps of warm-up requests; absent: the measured ones.
    pub num_inference_steps: Option<u32>,
    /// Frames of warm-up requests; absent: the measured ones.
    pub num_frames: Option<u32>,
}

/// A number, or `match` for what the run itself needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Match {
    /// As the run needs.
    #[default]
    Run,
    /// Exactly this many.
    Count(u32),
}

/// The service-level objective; give `latency` or `scale`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Slo {
    /// Target for every request.
    pub latency: Option<Span>,
    /// Target as a multiple of the class's calibrated latency.
    pub scale: Option<f64>,
    /// Calibration requests per class at concurrency 1, after the warm-up. Default 3.
    pub calibration: Option<u32>,
    /// Share of requests that must meet their target. Default 0.99.
    pub attainment: Option<f64>,
}

/// Axes of the matrix.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Matrix {
    /// Variants by name; default all.
    pub variant: Option<Vec<String>>,
    /// Datasets by name; default all.
    pub dataset: Option<Vec<String>>,
    /// Concurrency caps.
    pub max_concurrency: Option<Vec<u32>>,
    /// Arrival rates.
    pub request_rate: Option<Vec<Rate>>,
    /// Request counts.
    pub requests: Option<Vec<u64>>,
    /// Traffic seeds.
    pub seed: Option<Vec<u64>>,
    /// Output sizes like `512x512`; override the profiles.
    pub size: Option<Vec<PixelSize>>,
    /// Steps; override the profiles.
    pub num_inference_steps: Option<Vec<u32>>,
    /// Frames; override the profiles.
    pub num_frames: Option<Vec<u32>>,
    /// Groups of axes that advance together; their lists have equal length.
    pub zip: Vec<Vec<String>>,
    /// Extra points, each a table of axis values.
    pub include: Vec<AxisPoint>,
    /// Points that match every key of one of these tables are left out.
    pub exclude: Vec<AxisPoint>,
}

/// A point of the matrix, or a pattern for points: only the axes it names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AxisPoint {
    /// Variant name.
    pub variant: Option<String>,
    /// Dataset name.
    pub dataset: Option<String>,
    /// Concurrency cap.
    pub max_concurrency: Option<u32>,
    /// Arrival rate.
    pub request_rate: Option<Rate>,
    /// Request count.
    pub requests: Option<u64>,
    /// Traffic seed.
    pub seed: Option<u64>,
    /// Output size.
    pub size: Option<PixelSize>,
    /// Steps.
    pub num_inference_steps: Option<u32>,
    /// Frames.
    pub num_frames: Option<u32>,
}

impl Serialize for Requests {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Count(count) => serializer.serialize_u64(count),
            Self::PerConcurrency { per_concurrency, at_least } => {
                IndexMap::from([("per_concurrency", per_concurrency), ("at_least", at_least)]).serialize(serializer)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Requests {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountOrTable;
        impl<'de> de::Visitor<'de> for CountOrTable {
            type Value = Requests;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of requests, or `{ per_concurrency = 4, at_least = 20 }`")
            }
            fn visit_u64<E: de::Error>(self, count: u64) -> Result<Requests, E> {
                Ok(Requests::Count(count))
            }
            fn visit_i64<E: de::Error>(self, count: i64) -> Result<Requests, E> {
                u64::try_from(count)
                    .map(Requests::Count)
                    .map_err(|_| E::invalid_value(de::Unexpected::Signed(count), &self))
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Requests, A::Error> {
                #[derive(Deserialize)]
                #[serde(deny_unknown_fields)]
                struct Table {
                    per_concurrency: u64,
                    #[serde(default)]
                    at_least: u64,
                }
                let table = Table::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(Requests::PerConcurrency { per_concurrency: table.per_concurrency, at_least: table.at_least })
            }
        }
        deserializer.deserialize_any(CountOrTable)
    }
}

impl JsonSchema for Requests {
    fn schema_name() -> Cow<'static, str> {
        "Requests".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "integer", "minimum": 1 },
                {
                    "type": "object",
                    "properties": {
                        "per_concurrency": { "type": "integer", "minimum": 1, "description": "Requests per slot." },
                        "at_least": { "type": "integer", "minimum": 0, "description": "But at least this many." }
                    },
                    "required": ["per_concurrency"],
                    "additionalProperties": false
                }
            ]
        })
    }
}

impl Serialize for Match {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Run => serializer.serialize_str("match"),
            Self::Count(count) => serializer.serialize_u32(*count),
        }
    }
}

impl<'de> Deserialize<'de> for Match {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountOrMatch;
        impl de::Visitor<'_> for CountOrMatch {
            type Value = Match;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or `\"match\"`")
            }
            fn visit_u64<E: de::Error>(self, count: u64) -> Result<Match, E> {
                u32::try_from(count)
                    .map(Match::Count)
                    .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(count), &self))
            }
            fn visit_i64<E: de::Error>(self, count: i64) -> Result<Match, E> {
                u32::try_from(count)
                    .map(Match::Count)
                    .map_err(|_| E::invalid_value(de::Unexpected::Signed(count), &self))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Match, E> {
                match text {
                    "match" => Ok(Match::Run),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(CountOrMatch)
    }
}

impl JsonSchema for Match {
    fn schema_name() -> Cow<'static, str> {
        "Match".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "integer", "minimum": 0 }, { "const": "match" }] })
    }
}
