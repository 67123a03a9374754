//! `report` and `dashboard`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::ScenarioArgs;
use crate::catalog::TableKind;

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
    #[arg(long, value_name = "KIND", value_parser = table_kinds())]
    pub table: Option<TableKind>,
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
    /// In `--format github-action-benchmark`: metrics of which less is better, or more; its tools take one kind a file.
    #[arg(long, value_enum, default_value_t = BenchmarkDirection::Smaller)]
    pub better: BenchmarkDirection,
    /// In `--format html`: show how the runs went in this history file.
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
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

/// Which metrics a file for github-action-benchmark holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BenchmarkDirection {
    /// Latencies, memory, failures, for `customSmallerIsBetter`.
    Smaller,
    /// Throughput, attainment, for `customBiggerIsBetter`.
    Bigger,
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

/// Reads a kind of table by its name, and lists the names in the help.
fn table_kinds() -> impl TypedValueParser<Value = TableKind> {
    PossibleValuesParser::new(TableKind::ALL.iter().map(|kind| kind.name())).try_map(|name| name.parse::<TableKind>())
}
