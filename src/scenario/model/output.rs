//! `[compare]`, `[gate]`, `[dashboard]`, `[simulator]` and `[slurm]`.

use std::borrow::Cow;
use std::fmt;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use crate::units::Span;

/// Which variants are compared; they get the same requests, seeds and order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Compare {
    /// The variant the others are compared with.
    pub baseline: Option<String>,
    /// The variants compared with it; default all others.
    pub candidates: Vec<String>,
    /// Relative change below which a difference is noise. Default 0.01.
    pub effect_floor: Option<f64>,
    /// Metrics to compare, by their path in `results.json`; default the usual ones.
    pub metrics: Option<Vec<String>>,
}

/// What must hold for a run to pass.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Gate {
    /// Baseline file, relative to this file.
    pub baseline: Option<String>,
    /// Tolerance per metric.
    pub metrics: IndexMap<String, GateMetric>,
    /// Absolute limits per metric, like `"latency_s.p99" = "36s"`.
    pub limits: IndexMap<String, Limit>,
}

/// Tolerance of one gated metric.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GateMetric {
    /// Relative change for the worse that still passes.
    pub tolerance: Option<f64>,
    /// Absolute change for the worse that still passes.
    pub absolute: Option<f64>,
}

/// A limit of a gated metric: a number in the metric's unit, or a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// A number in the metric's own unit.
    Number(f64),
    /// A time.
    Span(Span),
}

/// The dashboard page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Dashboard {
    /// The page's file, relative to this file.
    pub page: Option<String>,
    /// A minijinja template for a new page, relative to this file.
    pub template: Option<String>,
    /// Further generated tables.
    pub tables: Vec<TableSpec>,
}

/// A generated table of the page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TableSpec {
    /// Name in the page's markers.
    pub name: Option<String>,
    /// Which table: `results`, `throughput`, `envelope`, `classes`, `stages`, `memory`, `sensitivity`.
    pub kind: Option<String>,
}

/// The embedded server of `--simulate`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Simulator {
    /// Cost model by name; default the one that fits the model.
    pub profile: Option<String>,
    /// Time base: server and client run this much faster than they say. Default 1; `--simulate` uses 20.
    pub speed: Option<f64>,
    /// Relative spread of service times. Default 0.
    pub noise: Option<f64>,
    /// Faults to inject.
    pub faults: IndexMap<String, Value>,
}

/// How runs are submitted to a Slurm cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Slurm {
    /// Partition.
    pub partition: Option<String>,
    /// Account.
    pub account: Option<String>,
    /// Time limit per element; default from the plan's estimate.
    pub time: Option<String>,
    /// Node constraint.
    pub constraint: Option<String>,
    /// Extra `#SBATCH` directives.
    pub directives: Vec<String>,
    /// Shell lines before the runs.
    pub setup: Vec<String>,
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Span(span) => span.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrSpan;
        #[expect(clippy::cast_precision_loss, reason = "limits are far below 2^53")]
        impl de::Visitor<'_> for NumberOrSpan {
            type Value = Limit;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or a time like `36s`")
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Limit, E> {
                Ok(Limit::Number(number))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Limit, E> {
                Ok(Limit::Number(number as f64))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Limit, E> {
                Ok(Limit::Number(number as f64))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Limit, E> {
                text.parse().map(Limit::Span).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(NumberOrSpan)
    }
}

impl JsonSchema for Limit {
    fn schema_name() -> Cow<'static, str> {
        "GateLimit".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "number" }, { "type": "string", "pattern": r"^[0-9.]+ *(ms|s|m|h)$" }] })
    }
}
