//! Walking the plan's steps: bringing servers up when a run needs them, claiming and driving runs
//! one at a time, resuming, stopping. In: a plan and a results folder. Out: the runs' folders and how
//! each run ended. A server that fails costs its own runs, not the others'. Computes no statistic.

mod client;
mod drive;
mod environment;
mod host;
mod launch;
mod orphans;
mod resume;
mod types;
mod walk;
mod watch;

pub use host::InProcess;
pub use resume::{ResumeError, resumed};
pub use types::{Campaign, CampaignError, Outcome, RunOutcome, Say, StartSimulator};
pub use walk::walk;
