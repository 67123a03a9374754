//! `submit`, `status` and `cancel`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::PlanningArgs;

/// Arguments of `submit`.
#[derive(Debug, Clone, Args)]
pub struct SubmitArgs {
    /// What is planned.
    #[command(flatten)]
    pub planning: PlanningArgs,
    /// Folder of all results; every node must see it.
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub out: PathBuf,
    /// Submit what is not complete in an earlier results folder, and is not in the queue.
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,
    /// Print the scripts and the table of elements, and submit nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Elements of an array at a time [default: as many as there are GPUs for].
    #[arg(long, value_name = "N")]
    pub max_parallel: Option<NonZeroU32>,
    /// Keep the pictures and videos that come back.
    #[arg(long)]
    pub save_media: bool,
    /// Submit nothing: make the tables and the page of what is there. The last job of a submission does this.
    #[arg(long, requires = "resume", conflicts_with = "dry_run")]
    pub merge: bool,
}

/// Arguments of `status`.
#[derive(Debug, Clone, Args)]
pub struct StatusArgs {
    /// Results folder of a submission.
    pub results: PathBuf,
    /// Output format.
    #[arg(long, value_enum, default_value_t = StatusFormat::Table)]
    pub format: StatusFormat,
}

/// Output formats of `status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatusFormat {
    /// A table for people.
    Table,
    /// JSON for programs.
    Json,
}

/// Arguments of `cancel`.
#[derive(Debug, Clone, Args)]
pub struct CancelArgs {
    /// Results folder of a submission.
    pub results: PathBuf,
}
