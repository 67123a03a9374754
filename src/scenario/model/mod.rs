//! The plain model types of a scenario file. `None` means that the file did not say.

mod dataset;
mod endpoint;
mod fault;
mod output;
mod server;
mod traffic;

pub use dataset::{Dataset, InputImages, InputVideos, OnShort, PathList, Profile, RequestSeed, Sampling, Source};
pub use endpoint::{Endpoint, Poll, Ready, Timeout, Validate};
pub use fault::{FaultSpec, Faults};
pub use output::{Compare, Dashboard, Gate, GateMetric, Limit as GateLimit, Links, Simulator, Slurm, TableSpec};
pub use server::{ListForm, Parallel, Restart, Server, ServerMode, Variant, Verify};
pub use traffic::{Arrival, AxisPoint, Match, Matrix, Order, Requests, Slo, Traffic, Warmup};

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalog::Task;

/// A benchmark scenario: what to measure, against which server, under which load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Scenario {
    /// Short name; the results folder is named after it. Letters, digits, `.`, `_`, `-`.
    pub name: Option<String>,
    /// Title of the dashboard page.
    pub title: Option<String>,
    /// What the scenario is for, in a sentence or two.
    pub description: Option<String>,
    /// Files this one builds on; its own values win. Paths are relative to this file.
    pub extends: Vec<String>,
    /// Free labels.
    pub tags: Vec<String>,
    /// The model and its task.
    pub model: Model,
    /// The server's address and how to talk to it.
    pub endpoint: Endpoint,
    /// How to start a server per variant; absent: the server is already running.
    pub server: Option<Server>,
    /// Facts the tool cannot see, printed in the test-environment table.
    pub environment: IndexMap<String, Value>,
    /// Server configurations to measure; absent: one, called `default`.
    pub variants: Vec<Variant>,
    /// Workloads by name.
    pub datasets: IndexMap<String, Dataset>,
    /// How requests arrive.
    pub traffic: Traffic,
    /// Requests before the measured ones.
    pub warmup: Warmup,
    /// The service-level objective.
    pub slo: Option<Slo>,
    /// Axes of the matrix; every list replaces the default of its key.
    pub matrix: Matrix,
    /// Which variants are compared.
    pub compare: Option<Compare>,
    /// What must hold for the run to pass.
    pub gate: Option<Gate>,
    /// The dashboard page to write.
    pub dashboard: Option<Dashboard>,
    /// The embedded server used by `--simulate`.
    pub simulator: Simulator,
    /// How to submit the runs to a Slurm cluster.
    pub slurm: Option<Slurm>,
}

/// The model under test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Model {
    /// The name the server serves it under; `auto` takes the only served model and records it.
    pub id: Option<String>,
    /// What is asked of it; the expected medium follows from this, never from the reply.
    pub task: Option<Task>,
}
