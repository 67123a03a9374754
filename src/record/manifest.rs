//! `run.json`: the state of one run, replaced whole by rename at every change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ClientProbe, GpuLoad, SlurmFacts};

/// Version of `run.json` and `records.jsonl`.
pub const MANIFEST_FORMAT: u32 = 1;

/// State of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Someone is at it, or was when the tool died.
    Running,
    /// Every request has its record.
    Complete,
    /// Stopped by the user.
    Interrupted,
    /// It could not be carried out; `reason` says why.
    Failed,
}

/// Who works on a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// Host name.
    pub host: String,
    /// Process id.
    pub pid: u32,
    /// Wall-clock time of the claim, RFC 3339 UTC.
    pub at: String,
}

/// What the server said about itself before the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerFacts {
    /// Folder under `servers/`.
    pub folder: Option<String>,
    /// Base URL, without credentials.
    pub url: String,
    /// Model ids from `/v1/models`; null when it has none.
    pub models: Option<Vec<String>>,
    /// `/version` as answered.
    pub version: Option<serde_json::Value>,
    /// What the GPUs did before omni-bench started it; null when it did not, or could not ask them.
    #[serde(default)]
    pub background: Option<Vec<GpuLoad>>,
    /// The Slurm job it was measured in; null outside of one.
    #[serde(default)]
    pub slurm: Option<SlurmFacts>,
}

/// `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunManifest {
    /// Version of this format.
    pub format: u32,
    /// Run id.
    pub id: String,
    /// Workload and configuration, from the plan.
    pub key: String,
    /// Plan it belongs to.
    pub plan_hash: String,
    /// State.
    pub state: RunState,
    /// Why it failed or stopped.
    pub reason: Option<String>,
    /// Attempt, from 1; earlier ones are kept as `<run>.attempt-N`.
    pub attempt: u32,
    /// Who works or worked on it.
    pub claim: Claim,
    /// Wall-clock start of the measured phase, RFC 3339 UTC.
    pub started_at: Option<String>,
    /// Wall-clock end, RFC 3339 UTC.
    pub ended_at: Option<String>,
    /// The server.
    pub server: ServerFacts,
    /// Model id that was sent.
    pub model: String,
    /// Whether the server said it is a simulator.
    pub simulated: bool,
    /// Time base of a simulated run; 1 otherwise.
    pub speed: f64,
    /// The client that carried the run out, as measured before; null when it could not be.
    #[serde(default)]
    pub client: Option<ClientProbe>,
}

impl RunManifest {
    /// Whether whoever was at it died, and someone else has told so. What it got to is kept and not counted.
    pub const fn is_abandoned(&self) -> bool {
        matches!(self.state, RunState::Failed) && self.ended_at.is_none()
    }
}

/// A manifest for the tests of this module's neighbours.
#[cfg(test)]
pub(super) fn sample(state: RunState) -> RunManifest {
    RunManifest {
        format: MANIFEST_FORMAT,
        id: "v/A/c1".into(),
        key: "key".into(),
        plan_hash: "hash".into(),
        state,
        reason: None,
        attempt: 0,
        claim: Claim { host: "here".into(), pid: 7, at: "2026-11-30T16:19:00Z".into() },
        started_at: None,
        ended_at: None,
        server: ServerFacts::default(),
        model: "m".into(),
        simulated: false,
        speed: 1.0,
        client: None,
    }
}
