//! What a campaign needs and what comes of it.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use indexmap::IndexMap;
use jiff::Timestamp;
use serde_json::Value;

use super::InProcess;
use crate::execute::{Counts, Progress, Secrets, Stop, Target};
use crate::plan::{Phases, Plan, RunPlan, Step, VariantPlan};
use crate::record::{ResultsDir, SlurmFacts};
use crate::server::{CommandError, Devices};

/// Starts a simulator of a variant in this process.
pub type StartSimulator<'a> = dyn Fn(&VariantPlan) -> io::Result<InProcess> + 'a;

/// Everything a campaign needs; what belongs to later stages enters as a function.
pub struct Campaign<'a> {
    /// What the folder holds when everything is done.
    pub plan: &'a Plan,
    /// What to do now.
    pub steps: &'a [Step],
    /// Where results go; exists.
    pub dir: &'a ResultsDir,
    /// The requests of a run.
    pub phases: &'a dyn Fn(&RunPlan) -> Phases,
    /// The first measured request of a run as it goes over the wire to a model, without headers.
    pub example: &'a dyn Fn(&VariantPlan, &Phases, &str) -> Option<Value>,
    /// Secret headers by variant; a variant without an entry has none.
    pub secrets: &'a BTreeMap<String, Secrets>,
    /// Starts a simulator in this process; `None` when real servers answer.
    pub simulator: Option<&'a StartSimulator<'a>>,
    /// A server that answers at once, for the client to measure itself against before the first run.
    pub null_server: Option<&'a Target>,
    /// Path of a job on the server, to delete what an earlier attempt left there.
    pub job_path: fn(&str) -> Option<String>,
    /// The binary that guards started servers.
    pub watchdog: Option<PathBuf>,
    /// The user's wish to stop.
    pub stop: Stop,
    /// Progress of runs.
    pub progress: &'a Progress,
    /// Keep media.
    pub save_media: bool,
    /// Stop at the first run that fails.
    pub fail_fast: bool,
    /// GPUs of this machine; the error is why nobody can ask them.
    pub devices: &'a Result<Arc<dyn Devices>, String>,
    /// Name of this host.
    pub host: &'a str,
    /// The Slurm job that this is part of.
    pub slurm: Option<SlurmFacts>,
    /// The wall clock.
    pub now: &'a dyn Fn() -> Timestamp,
    /// Talks to the user.
    pub say: &'a dyn Fn(Say<'_>),
    /// Called when a run has ended and its files are written.
    pub on_run_end: &'a dyn Fn(&RunPlan) -> io::Result<()>,
}

/// Something for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Say<'a> {
    /// Worth knowing.
    Note(&'a str),
    /// To be acted upon.
    Ask(&'a str),
    /// Went wrong.
    Error(&'a str),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunOutcome {
    /// Every request has its record.
    Complete(Counts),
    /// It was complete before this campaign and was left as it is.
    Already,
    /// It could not be carried out; why.
    Failed(String),
    /// The user stopped it.
    Interrupted,
    /// It was not started; why.
    NotRun(String),
    /// It was not asked for this time.
    NotSelected,
}

/// How a campaign ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Every run of the plan, in the plan's order.
    pub runs: IndexMap<String, RunOutcome>,
    /// Whether the user stopped it.
    pub interrupted: bool,
}

/// Why a campaign cannot go on at all.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// Results cannot be written or read.
    #[error(transparent)]
    Results(#[from] io::Error),
    /// The scenario's server command cannot be made.
    #[error(transparent)]
    Command(#[from] CommandError),
}

impl Campaign<'_> {
    pub(super) fn note(&self, text: &str) {
        (self.say)(Say::Note(text));
    }

    pub(super) fn ask(&self, text: &str) {
        (self.say)(Say::Ask(text));
    }

    pub(super) fn error(&self, text: &str) {
        (self.say)(Say::Error(text));
    }
}
