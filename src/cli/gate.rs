//! `baseline` and `gate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `baseline`.
#[derive(Debug, Clone, Args)]
pub struct BaselineArgs {
    /// A results folder, its `latest`, or a `results.json`.
    #[arg(value_name = "RESULTS")]
    pub results: PathBuf,
    /// File to write.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// Arguments of `gate`.
#[derive(Debug, Clone, Args)]
pub struct GateArgs {
    /// A results folder, its `latest`, or a `results.json`.
    #[arg(value_name = "RESULTS")]
    pub results: PathBuf,
    /// Baseline file, as `baseline` and `import` write it [default: that of the scenario's `[gate]`].
    #[arg(long, value_name = "FILE", required_unless_present_any = ["scenario", "history"])]
    pub baseline: Option<PathBuf>,
    /// Database of `history`: the baseline of a run is the median of its last comparable runs there, of at
    /// least 3.
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    pub history: Option<PathBuf>,
    /// So many of the last comparable runs.
    #[arg(long, value_name = "K", requires = "history", default_value_t = 10, value_parser = clap::value_parser!(u32).range(3..))]
    pub last: u32,
    /// Take tolerances, limits and baseline from the `[gate]` of this scenario.
    #[arg(long, value_name = "FILE")]
    pub scenario: Option<PathBuf>,
    /// Relative change for the worse that passes where `[gate]` names no other [default: 0.1].
    #[arg(long, value_name = "SHARE")]
    pub tolerance: Option<f64>,
    /// Let a key differ from the baseline, like `gpu` or `simulated`; may be given often.
    #[arg(long, value_name = "KEY")]
    pub allow: Vec<String>,
    /// End with 0 when there is nothing to compare with; the verdict says so all the same.
    #[arg(long)]
    pub allow_no_baseline: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t = GateFormat::Terminal)]
    pub format: GateFormat,
    /// File to write instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Append Markdown to the file that `GITHUB_STEP_SUMMARY` names.
    #[arg(long)]
    pub github_summary: bool,
}

/// Output formats of `gate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GateFormat {
    /// Tables for people.
    Terminal,
    /// JSON for programs; `schema verdict` describes it.
    Json,
    /// Markdown, as for a pull request.
    Markdown,
    /// `JUnit` XML: a suite per run, a case per metric.
    Junit,
}
