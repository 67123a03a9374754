//! `environment.json`: what a server was and where it ran, so that a number can be traced to it. What
//! could not be detected is null and has its reason in `undetected`.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::SlurmFacts;

/// Version of `environment.json`.
pub const ENVIRONMENT_FORMAT: u32 = 1;

/// `environment.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of this format.
    pub format: u32,
    /// omni-bench's version.
    pub tool_version: String,
    /// The commit omni-bench was built from; null when the build did not know it.
    #[serde(default)]
    pub tool_commit: Option<String>,
    /// The host that omni-bench ran on.
    pub host: String,
    /// Wall-clock time at which the server was ready, RFC 3339 UTC.
    pub ready_at: String,
    /// Variant it served.
    pub variant: String,
    /// Base URL, without credentials.
    pub url: String,
    /// Model ids from `/v1/models`; null when it could not tell.
    pub models: Option<Vec<String>>,
    /// `/version` as answered; null when there is none.
    pub version: Option<Value>,
    /// The command it was started with, by omni-bench or by hand; null when it was running already.
    pub command: Option<Vec<String>>,
    /// Declared facts.
    pub environment: IndexMap<String, Value>,
    /// The machine that omni-bench ran on; null in files of versions that did not look.
    #[serde(default)]
    pub machine: Option<Machine>,
    /// The Slurm job it was measured in; null outside of one.
    #[serde(default)]
    pub slurm: Option<SlurmFacts>,
}

/// Whose machine it is that omni-bench looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The server's and the client's: omni-bench started the server, or its address is this machine's.
    Server,
    /// The client's only; what the server ran on was not looked at.
    Client,
    /// A simulator's, whose times do not depend on it.
    Simulator,
}

/// Where facts of GPUs come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeviceSource {
    /// The driver's library.
    Nvml,
    /// A recording that a test gave in its place; no fact of this machine.
    Recording,
}

/// A machine as omni-bench found it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Whose it is.
    pub role: Role,
    /// Host name.
    pub host: String,
    /// Operating system with its version.
    pub os: Option<String>,
    /// Version of the kernel.
    pub kernel: Option<String>,
    /// Instruction set, like `x86_64`.
    pub architecture: String,
    /// Model of the processor.
    pub cpu: Option<String>,
    /// Logical processors of the machine.
    pub cpus: Option<u64>,
    /// Logical processors that this process may use.
    pub cpus_available: Option<u64>,
    /// Main memory in MiB.
    pub memory_mb: Option<u64>,
    /// The container that omni-bench ran in, as far as it shows from the inside.
    pub container: Option<Container>,
    /// Digest of the image that the server's command names.
    pub image_digest: Option<String>,
    /// Where the facts of GPUs come from; null when nobody could be asked.
    pub devices: Option<DeviceSource>,
    /// Version of the GPU driver.
    pub driver: Option<String>,
    /// CUDA version that the driver supports.
    pub cuda: Option<String>,
    /// GPUs in the driver's order; null when nobody could be asked.
    pub gpus: Option<Vec<Gpu>>,
    /// What the GPUs did before omni-bench started the server; null when it did not start it or could
    /// not ask.
    pub background: Option<Vec<GpuLoad>>,
    /// What could not be detected, by name, and why.
    pub undetected: IndexMap<String, String>,
}

/// A container from the inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    /// `podman`, `docker`, `kubernetes`, or `container` when only its id shows.
    pub engine: String,
    /// Its id.
    pub id: Option<String>,
    /// Its image by name.
    pub image: Option<String>,
    /// Its image's id, which is no digest of a registry.
    pub image_id: Option<String>,
}

/// A GPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gpu {
    /// Number with the driver, from 0.
    pub index: u32,
    /// The driver's identity of it.
    pub uuid: Option<String>,
    /// Model.
    pub name: Option<String>,
    /// Memory in MiB.
    pub memory_mb: Option<u64>,
    /// Enforced power limit in watts.
    pub power_limit_w: Option<f64>,
    /// Its link to the host, like `PCIe 4.0 x16`.
    pub pcie: Option<String>,
    /// `NVLink` links that are up; 0 when it has none.
    pub nvlinks: Option<u32>,
}

/// What a GPU did at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GpuLoad {
    /// Number with the driver, from 0.
    pub index: u32,
    /// Share of time with a kernel running, 0 to 1.
    pub utilization: Option<f64>,
    /// Memory held by processes, in MiB; null when the driver does not tell them.
    pub held_mb: Option<f64>,
    /// Processes on it; null when the driver does not tell them.
    pub processes: Option<u64>,
}
