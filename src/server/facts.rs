//! `environment.json`: what a server was, so that a number can be traced to it.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record::SlurmFacts;

/// Version of `environment.json`.
pub const ENVIRONMENT_FORMAT: u32 = 1;

/// `environment.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of this format.
    pub format: u32,
    /// omni-bench's version.
    pub tool_version: String,
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
    /// The Slurm job it was measured in; null outside of one.
    #[serde(default)]
    pub slurm: Option<SlurmFacts>,
}

/// Name of this host, or `unknown`.
pub fn host_name() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").unwrap_or_default();
    if name.is_empty() { "unknown".into() } else { name }
}
