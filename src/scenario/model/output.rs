//! `[compare]`, `[gate]`, `[dashboard]`, `[simulator]` and `[slurm]`.

use std::borrow::Cow;
use std::fmt;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::fault::Faults;
use crate::catalog::TableKind;
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
    /// Tolerance per metric; only these are compared. Default: the usual ones that the baseline has, at 0.1.
    pub metrics: IndexMap<String, GateMetric>,
    /// Worst value per metric, without a baseline, like `"latency_s.p99" = "36s"`.
    pub limits: IndexMap<String, Limit>,
}

/// Tolerance of one gated metric.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GateMetric {
    /// Relative change for the worse that still passes. Default 0.1, or 0 beside an `absolute`.
    pub tolerance: Option<f64>,
    /// Absolute change for the worse that still passes, in the metric's unit; a run fails beyond both. Default 0.
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
    /// Whether rows link to the summaries of their runs: `relative` to the page.
    pub links: Option<Links>,
    /// Further generated tables.
    pub tables: Vec<TableSpec>,
}

/// How rows of a page link to the files they come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Links {
    /// By the path from the page to the file.
    Relative,
}

/// A generated table of the page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TableSpec {
    /// Name in the page's markers; `results` replaces the results table of section 7.
    pub name: Option<String>,
    /// Which table: `results`, `throughput`, `envelope`, `classes`, `stages`, `memory`, `sensitivity`.
    /// Default the name, when it is one of these.
    pub kind: Option<TableKind>,
    /// Heading in a new page; default by kind.
    pub title: Option<String>,
    /// Columns by key, like `id`, `latency_s.p95`, or `max:latency_s.p99` of grouped rows; default those of the kind.
    pub columns: Vec<String>,
    /// What must hold for a row, like `variant=seqs-8`, `max_concurrency>=4`, `id=*/A/*`.
    #[serde(rename = "where")]
    pub filters: Vec<String>,
    /// Keys that give the order, `-` before one for the largest first; default the plan's order.
    pub sort: Vec<String>,
    /// Keys of which each combination gets one row, its numbers the means over its runs.
    pub group_by: Vec<String>,
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
    /// Faults to commit. Results then say so: their figures are no measurement.
    pub faults: Faults,
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
