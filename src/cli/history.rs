//! `history`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Arguments of `history`.
#[derive(Debug, Clone, Args)]
pub struct HistoryArgs {
    /// What to do with it.
    #[command(subcommand)]
    pub action: HistoryAction,
}

/// What `history` can do.
#[derive(Debug, Clone, Subcommand)]
pub enum HistoryAction {
    /// Put the summaries of results into the history.
    Add(HistoryAddArgs),
    /// List what the history holds, oldest first.
    List(HistorySelection),
    /// Show one metric over time.
    Trend(HistoryTrendArgs),
}

/// Which history.
#[derive(Debug, Clone, Args)]
pub struct HistoryFile {
    /// Database file [default: `history.sqlite` in the user's data folder].
    #[arg(long, value_name = "FILE", env = "OMNI_BENCH_HISTORY", hide_env_values = true)]
    pub db: Option<PathBuf>,
}

/// Arguments of `history add`.
#[derive(Debug, Clone, Args)]
pub struct HistoryAddArgs {
    /// Results folders, links to them like `latest`, or the `results.json` in them.
    #[arg(required = true, value_name = "RESULTS")]
    pub results: Vec<PathBuf>,
    /// Which history.
    #[command(flatten)]
    pub file: HistoryFile,
    /// Accept what is otherwise refused.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub allow: Vec<HistoryAllowance>,
}

/// What `history add` can be told to accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HistoryAllowance {
    /// Results of a simulator, which are labelled.
    Simulated,
}

/// Which entries.
#[derive(Debug, Clone, Args)]
pub struct HistorySelection {
    /// Which history.
    #[command(flatten)]
    pub file: HistoryFile,
    /// Only entries for which this holds, like `variant=seqs-8`, `max_concurrency>=4`, `run=*/A/*` or
    /// `time>=2026-09-01`; may be given often.
    #[arg(long = "where", value_name = "EXPR")]
    pub filters: Vec<String>,
    /// Only so many of the newest entries of each line.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub last: Option<u32>,
}

/// Arguments of `history trend`.
#[derive(Debug, Clone, Args)]
pub struct HistoryTrendArgs {
    /// Number of a summary by its path in `results.json`, like `latency_s.p99`.
    #[arg(long, value_name = "NAME", default_value = "latency_s.mean")]
    pub metric: String,
    /// Which entries.
    #[command(flatten)]
    pub selection: HistorySelection,
    /// SVG file to draw.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = HistoryFormat::Table)]
    pub format: HistoryFormat,
}

/// Output formats of `history trend`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HistoryFormat {
    /// A table for people.
    Table,
    /// JSON for programs.
    Json,
    /// CSV for spreadsheets.
    Csv,
}
