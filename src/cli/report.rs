//! `report` and `dashboard`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::ScenarioArgs;

/// Arguments of `report`.
#[derive(Debug, Clone, Args)]
pub struct ReportArgs {
    /// Results folders, links to them like `latest`, or the `results.json` in them; several are read together.
    #[arg(required = true, value_name = "RESULTS")]
    pub results: Vec<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = ReportFormat::Terminal)]
    pub format: ReportFormat,
    /// File to write instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Which table; without one the format's whole report is written.
    #[arg(long, value_enum, value_name = "KIND")]
    pub table: Option<ReportTable>,
    /// Only rows for which this holds, like `variant=seqs-8`, `max_concurrency>=4` or `id=*/A/*`; may be given often.
    #[arg(long = "where", value_name = "EXPR")]
    pub filters: Vec<String>,
    /// One row per combination of these keys, separated by commas; numbers become means.
    #[arg(long, value_name = "KEYS", value_delimiter = ',')]
    pub group_by: Vec<String>,
    /// Order of rows: keys separated by commas, `-` before one for the largest first.
    #[arg(long, value_name = "KEYS", value_delimiter = ',', allow_hyphen_values = true)]
    pub sort: Vec<String>,
    /// Columns: keys separated by commas, such as `id,latency_s.p95,peak_memory_mb.max`.
    #[arg(long, value_name = "KEYS", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Append Markdown to the file that `GITHUB_STEP_SUMMARY` names.
    #[arg(long)]
    pub github_summary: bool,
}

/// Output formats of `report`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Tables for people.
    Terminal,
    /// Markdown as in `results.md`.
    Markdown,
    /// CSV as in `results.csv`.
    Csv,
    /// JSON as in `results.json`.
    Json,
    /// One HTML file that needs no network.
    Html,
    /// JSON for github-action-benchmark.
    GithubActionBenchmark,
    /// `OpenMetrics` text.
    Openmetrics,
}

/// Tables that `report` and a page can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportTable {
    /// The dashboards' results table.
    Results,
    /// Rates.
    Throughput,
    /// Throughput, latency and memory over concurrency.
    Envelope,
    /// A row per class of requests.
    Classes,
    /// A row per stage that the server tells.
    Stages,
    /// Peak memory that the server tells.
    Memory,
    /// Latency against steps, frames and prompt length.
    Sensitivity,
}

/// Arguments of `dashboard`.
#[derive(Debug, Clone, Args)]
pub struct DashboardArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Results folder [default: the scenario's latest below `results`].
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    /// Write nothing; show what would change, and end with 1 when something would.
    #[arg(long)]
    pub check: bool,
    /// Put markers around the tables that are recognised in a page typed by hand.
    #[arg(long)]
    pub adopt: bool,
    /// Accept what is otherwise refused.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub allow: Vec<Allowance>,
}

/// What `dashboard` can be told to accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Allowance {
    /// Results of a simulator, which are labelled.
    Simulated,
}
