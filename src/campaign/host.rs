//! A server that answers, however it came to be.

use std::io;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::plan::VariantPlan;
use crate::record::ServerFacts;
use crate::server::{Probe, ServerProcess, Telemetry};

/// An in-process server needs no longer to see that it is to end.
const FAREWELL: Duration = Duration::from_secs(2);

/// A server within this process, such as the simulator.
#[derive(Debug)]
pub struct InProcess {
    url: String,
    shutdown: oneshot::Sender<()>,
    tasks: JoinSet<io::Result<()>>,
}

impl InProcess {
    /// A server at `url` that runs in `tasks` until `shutdown` is sent or dropped.
    pub const fn new(url: String, shutdown: oneshot::Sender<()>, tasks: JoinSet<io::Result<()>>) -> Self {
        Self { url, shutdown, tasks }
    }

    /// Its base URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    async fn stop(mut self) {
        drop(self.shutdown);
        // what has not ended by then is aborted when the set is dropped
        drop(timeout(FAREWELL, async { while self.tasks.join_next().await.is_some() {} }).await);
    }
}

/// Who is behind the URL.
#[derive(Debug)]
pub(super) enum Origin {
    /// It was running before.
    Given,
    /// A person started it for this campaign.
    Manual,
    /// This tool started it.
    Launched(Box<ServerProcess>),
    /// It is part of this process.
    InProcess(InProcess),
}

impl Origin {
    /// Why it is no longer there, as far as this tool can know.
    pub(super) fn died(&mut self) -> Option<String> {
        match self {
            Self::Launched(process) => process.died(),
            Self::Given | Self::Manual | Self::InProcess(_) => None,
        }
    }

    /// Returns once it is no longer there, with why; never, when this tool cannot know.
    pub(super) async fn death(&mut self) -> String {
        match self {
            Self::Launched(process) => process.death().await,
            Self::Given | Self::Manual | Self::InProcess(_) => std::future::pending().await,
        }
    }

    /// The end of the log of a server that this tool started, as the rest of a sentence.
    pub(super) fn last_words(&self) -> String {
        match self {
            Self::Launched(process) => process.last_words(),
            Self::Given | Self::Manual | Self::InProcess(_) => String::new(),
        }
    }

    /// The log of a server that this tool started.
    pub(super) fn log(&self) -> Option<&Path> {
        match self {
            Self::Launched(process) => Some(process.log()),
            Self::Given | Self::Manual | Self::InProcess(_) => None,
        }
    }

    /// Has the helpers that a started server has by now remembered.
    pub(super) fn remember_helpers(&mut self) {
        match self {
            Self::Launched(process) => process.remember_helpers(),
            Self::Given | Self::Manual | Self::InProcess(_) => {}
        }
    }

    /// Ends what this tool started.
    pub(super) async fn stop(self) {
        match self {
            Self::Launched(process) => process.stop().await,
            Self::InProcess(server) => server.stop().await,
            Self::Given | Self::Manual => {}
        }
    }

    /// Whether jobs of an earlier campaign can still be on it.
    pub(super) const fn outlives_campaigns(&self) -> bool {
        matches!(self, Self::Given | Self::Manual)
    }
}

/// A server that is ready.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) origin: Origin,
    pub(super) url: String,
    pub(super) probe: Probe,
    pub(super) facts: ServerFacts,
    /// Model id to send.
    pub(super) model: String,
    /// Time base of a simulator; `None` when it does not say that it is one.
    pub(super) simulated: Option<f64>,
    /// Where readiness is asked.
    pub(super) ready_path: String,
    /// How it ended by itself during a run.
    pub(super) lost: Option<String>,
    /// What is looked at while it is under load.
    pub(super) telemetry: Telemetry,
}

/// Whether `/version` tells of a simulator, and its time base.
pub(super) fn simulated_speed(version: Option<&Value>) -> Option<f64> {
    let version = version?;
    if version.get("simulated")?.as_bool()? {
        let speed = version.get("speed").and_then(Value::as_f64).filter(|speed| speed.is_finite() && *speed > 0.0);
        Some(speed.unwrap_or(1.0))
    } else {
        None
    }
}

/// Why a server is not there to be measured.
#[derive(Debug)]
pub(super) enum Unready {
    /// The user stopped.
    Interrupted,
    /// It failed; why.
    Failed(String),
    /// Its files cannot be written.
    Results(io::Error),
}

/// The URL of a server that this tool does not start.
pub(super) fn given_url(variant: &VariantPlan) -> Result<String, Unready> {
    let missing = || Unready::Failed(format!("variant `{}` has no `endpoint.url` and no `[server]`", variant.name));
    variant.endpoint.url.clone().ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_server_that_says_so_is_simulated() {
        assert_eq!(simulated_speed(None), None);
        assert_eq!(simulated_speed(Some(&json!({ "version": "0.20.0" }))), None);
        assert_eq!(simulated_speed(Some(&json!({ "simulated": false, "speed": 9 }))), None);
        assert_eq!(simulated_speed(Some(&json!({ "simulated": true, "speed": 20 }))), Some(20.0));
        assert_eq!(simulated_speed(Some(&json!({ "simulated": true, "speed": 0 }))), Some(1.0));
        assert_eq!(simulated_speed(Some(&json!("odd"))), None);
    }
}
