//! The tables that reports and pages can show.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TableKind {
    /// A row per run with the dashboards' columns.
    Results,
    /// A row per run with its rates.
    Throughput,
    /// A row per concurrency with throughput, latency and memory.
    Envelope,
    /// A row per class of requests.
    Classes,
    /// A row per stage that the server tells.
    Stages,
    /// A row per run with the peak memory that the server tells.
    Memory,
    /// A row per step count, frame count and prompt length, with latency.
    Sensitivity,
}

impl TableKind {
    /// Every kind, in order of declaration.
    pub const ALL: &[Self] = &[
        Self::Results,
        Self::Throughput,
        Self::Envelope,
        Self::Classes,
        Self::Stages,
        Self::Memory,
        Self::Sensitivity,
    ];

    /// The name in scenarios, on the command line and in a page's markers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Results => "results",
            Self::Throughput => "throughput",
            Self::Envelope => "envelope",
            Self::Classes => "classes",
            Self::Stages => "stages",
            Self::Memory => "memory",
            Self::Sensitivity => "sensitivity",
        }
    }

    /// The heading when nobody gives another.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Results => "Results",
            Self::Throughput => "Throughput",
            Self::Envelope => "Concurrency envelope",
            Self::Classes => "Latency by class of requests",
            Self::Stages => "Stage breakdown",
            Self::Memory => "Peak memory",
            Self::Sensitivity => "Step and prompt sensitivity",
        }
    }
}

impl fmt::Display for TableKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for TableKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || Self::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
        let found = Self::ALL.iter().copied().find(|kind| kind.name() == text);
        found.ok_or_else(|| format!("no table is called `{text}`; there are {}", names()))
    }
}
