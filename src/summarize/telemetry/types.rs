//! The telemetry of a run as in `results.json`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a server and its GPUs did while a run went on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TelemetryFigures {
    /// Looks at the GPUs.
    pub gpu_samples: u64,
    /// Looks at the server's metrics.
    pub server_samples: u64,
    /// Time between the first and the last look at the GPUs, in seconds; null with fewer than two.
    pub gpu_span_s: Option<f64>,
    /// By what GPUs count as the server's; null when none was looked at.
    pub gpu_basis: Option<GpuBasis>,
    /// Every GPU that was looked at.
    pub gpus: Vec<GpuFigures>,
    /// Every process on a GPU that counts, the one with the most memory first.
    pub processes: Vec<ProcessFigures>,
    /// Memory in use on the counted GPU that used most, in MiB.
    pub gpu_memory_mb: Option<PeakMean>,
    /// Memory of the process that held most, in MiB.
    pub process_memory_mb: Option<PeakMean>,
    /// Mean share of time with a kernel running, over the GPUs that count.
    pub utilization: Option<f64>,
    /// Mean power of the GPUs that count together, in watts.
    pub power_w: Option<f64>,
    /// Energy of the GPUs that count together over the span of the samples, in joules; what they draw
    /// while idle included. Null when the samples span less than 90 % of the run.
    pub energy_j: Option<f64>,
    /// Where the energy comes from.
    pub energy_basis: Option<EnergyBasis>,
    /// Energy per request that succeeded; the work of those that failed included.
    pub joules_per_request: Option<f64>,
    /// Energy per picture received.
    pub joules_per_image: Option<f64>,
    /// Energy per clip received.
    pub joules_per_video: Option<f64>,
    /// Requests that the server said it was working on.
    pub running: Option<PeakMean>,
    /// Requests that it said were in its queue.
    pub waiting: Option<PeakMean>,
    /// Times that the server told over this run, by its own names: the unit is in the name.
    pub times: BTreeMap<String, ToldTime>,
}

/// By what a GPU counts as the server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GpuBasis {
    /// A process of the server that omni-bench started was on it.
    ServerProcesses,
    /// Some process was on it; whose cannot be told.
    Processes,
    /// All of the machine, because no process can be seen.
    All,
}

/// Where an energy comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EnergyBasis {
    /// The GPUs' energy counters: last minus first.
    Counter,
    /// Power over time, for at least one GPU.
    Power,
}

/// Largest value, and mean over time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PeakMean {
    /// Largest.
    pub max: f64,
    /// Mean over time.
    pub mean: f64,
}

/// A time that the server told.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToldTime {
    /// Observations within the run.
    pub n: f64,
    /// Their mean.
    pub mean: f64,
}

/// One GPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GpuFigures {
    /// Number with the driver.
    pub index: u32,
    /// Whether it counts as the server's.
    pub counted: bool,
    /// Memory in use, in MiB.
    pub memory_mb: Option<PeakMean>,
    /// Mean share of time with a kernel running.
    pub utilization: Option<f64>,
    /// Mean power in watts.
    pub power_w: Option<f64>,
    /// Energy in joules.
    pub energy_j: Option<f64>,
}

/// One process on one GPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessFigures {
    /// The GPU.
    pub gpu: u32,
    /// Process id as the driver knows it.
    pub pid: u32,
    /// Its name.
    pub name: Option<String>,
    /// Whether it is the server's.
    pub of_server: Option<bool>,
    /// Memory it held, in MiB.
    pub memory_mb: Option<PeakMean>,
}
