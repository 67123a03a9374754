//! What can be typed; no behaviour.

mod bench;
mod cluster;
mod compare;
mod convert;
mod gate;
mod history;
mod report;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use bench::{BenchArgs, BenchDataset};
pub use cluster::{CancelArgs, StatusArgs, StatusFormat, SubmitArgs};
pub use compare::{CompareArgs, CompareFormat};
pub use convert::{ExportArgs, ExportKind, ImportArgs, ImportKind};
pub use gate::{BaselineArgs, GateArgs, GateFormat};
pub use history::{
    HistoryAction, HistoryAddArgs, HistoryAllowance, HistoryArgs, HistoryFile, HistoryFormat, HistorySelection,
    HistoryTrendArgs,
};
pub use report::{Allowance, BenchmarkDirection, DashboardArgs, ReportArgs, ReportFormat};

/// Says how fast an image or video model server is.
#[derive(Debug, Parser)]
#[command(name = "omni-bench", version, max_term_width = 100, disable_help_subcommand = true)]
pub struct Cli {
    /// Talk less: no progress, no notes.
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Log what is done; twice for every exchange with the server.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// When to use colour.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub color: Color,
    /// Never draw a progress bar.
    #[arg(long, global = true)]
    pub no_progress: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Carry out a scenario: plan, warm up, drive, record, and write tables and the page.
    Run(RunArgs),
    /// Show what a scenario would do, without sending anything.
    Plan(PlanArgs),
    /// Check a scenario and report every problem at once.
    Validate(ScenarioArgs),
    /// Print every resolved value of a scenario with the layer it came from.
    Explain(ExplainArgs),
    /// Carry out one run without a scenario file, with the flags of vLLM-Omni's serving benchmark.
    Bench(Box<BenchArgs>),
    /// Render stored results, without running anything.
    Report(ReportArgs),
    /// Rewrite the generated parts of a scenario's page.
    Dashboard(DashboardArgs),
    /// Say whether two stored results differ.
    Compare(CompareArgs),
    /// Keep results as a baseline.
    Baseline(BaselineArgs),
    /// Judge results against a baseline.
    Gate(GateArgs),
    /// Keep summaries in a database, and look at them over time.
    History(HistoryArgs),
    /// Turn a foreign file into a scenario.
    Import(ImportArgs),
    /// Write results in a foreign format.
    Export(ExportArgs),
    /// Carry out a scenario on a Slurm cluster.
    Submit(SubmitArgs),
    /// Say how far the runs of a submission are.
    Status(StatusArgs),
    /// Take back what a submission has in the queue.
    Cancel(CancelArgs),
    /// Write a commented scenario to start from.
    Init(InitArgs),
    /// Print the JSON Schema of a file format.
    Schema(SchemaArgs),
    /// Serve the simulator on its own.
    Simulate(SimulateArgs),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
}

/// A scenario and what is laid over it.
#[derive(Debug, Clone, Args)]
pub struct ScenarioArgs {
    /// Scenario file, TOML or YAML.
    pub scenario: PathBuf,
    /// Set a key, like `traffic.requests=20` or `variants.seqs-8.gpus=4`; may be given often.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// Which runs of a scenario, and against what.
#[derive(Debug, Clone, Args)]
pub struct PlanningArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Only runs whose id matches; `*` stays within a segment, `**` crosses; may be given often.
    #[arg(long, value_name = "GLOB")]
    pub only: Vec<String>,
    /// Answer from the embedded simulator; replaces `[server]` and `url`.
    #[arg(long)]
    pub simulate: bool,
    /// Time base of the simulator [default: the scenario's, else 20].
    #[arg(long, requires = "simulate", value_name = "N")]
    pub speed: Option<f64>,
    /// Ignore `[server]` and use `url`.
    #[arg(long, conflicts_with = "simulate")]
    pub no_server: bool,
    /// Repeats of each run.
    #[arg(long, value_name = "N")]
    pub repeats: Option<u32>,
}

impl PlanningArgs {
    /// Every run of a scenario, as a plain `run` would carry it out.
    pub const fn all_of(scenario: ScenarioArgs) -> Self {
        Self { scenario, only: Vec::new(), simulate: false, speed: None, no_server: false, repeats: None }
    }
}

/// Arguments of `plan`.
#[derive(Debug, Clone, Args)]
pub struct PlanArgs {
    /// What is planned.
    #[command(flatten)]
    pub planning: PlanningArgs,
    /// Output format.
    #[arg(long, value_enum, default_value_t = PlanFormat::Table)]
    pub format: PlanFormat,
    /// Tell how small a difference this plan could show.
    #[arg(long)]
    pub detectable: bool,
    /// Earlier results that tell how much runs scatter [default: the simulator's noise].
    #[arg(long, requires = "detectable", value_name = "RESULTS")]
    pub from: Option<PathBuf>,
    /// A change that should be seen, like `5%`: how many requests or repeats it takes.
    #[arg(long, requires = "detectable", value_name = "CHANGE")]
    pub effect: Option<String>,
}

/// Output formats of `plan`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// A table for people.
    Table,
    /// JSON for programs.
    Json,
}

/// Arguments of `explain`.
#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Output format.
    #[arg(long, value_enum, default_value_t = PlanFormat::Table)]
    pub format: PlanFormat,
}

/// Arguments of `run`.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// What is planned.
    #[command(flatten)]
    pub planning: PlanningArgs,
    /// Folder of all results.
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub out: PathBuf,
    /// Complete an earlier results folder.
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,
    /// Keep the pictures and videos that come back.
    #[arg(long)]
    pub save_media: bool,
    /// Stop at the first run that fails.
    #[arg(long)]
    pub fail_fast: bool,
    /// Judge the results by the scenario's `[gate]`, as `gate` does.
    #[arg(long)]
    pub gate: bool,
    /// Measure runs that fail the gate again, up to N times; one that then passes is cleared.
    #[arg(long, requires = "gate", value_name = "N", default_value_t = 0)]
    pub confirm: u32,
    /// This is an element of a submission: tables and the page are left to its last job.
    #[arg(long, hide = true, requires = "resume")]
    pub element: bool,
}

/// Arguments of `init`.
#[derive(Debug, Clone, Args)]
pub struct InitArgs {
    /// File to write; `.yaml` or `.yml` makes YAML.
    #[arg(default_value = "scenario.toml")]
    pub file: PathBuf,
    /// Overwrite an existing file.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `schema`.
#[derive(Debug, Clone, Args)]
pub struct SchemaArgs {
    /// Which format.
    #[arg(value_enum)]
    pub name: SchemaName,
}

/// Formats that have a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaName {
    /// A scenario file.
    Scenario,
    /// A line of `records.jsonl`.
    Record,
    /// `results.json`.
    Summary,
    /// What `report --format json` prints of one table.
    Table,
    /// What `report --format json` prints of several folders.
    Folders,
    /// `history trend --format json`.
    Trend,
    /// A baseline file.
    Baseline,
    /// What `gate --format json` prints.
    Verdict,
    /// What `compare --format json` prints.
    Comparison,
    /// What `status --format json` prints.
    Status,
}

/// Arguments of `simulate`.
#[derive(Debug, Clone, Args)]
pub struct SimulateArgs {
    /// Port; 0 picks a free one.
    #[arg(long, default_value_t = 8091)]
    pub port: u16,
    /// Address to bind.
    #[arg(long, default_value = "127.0.0.1")]
    pub host: String,
    /// Model id to serve [default: the scenario's, else Qwen/Qwen-Image].
    #[arg(long)]
    pub model: Option<String>,
    /// Time base: answer this much faster than modelled [default: the scenario's, else 1].
    #[arg(long)]
    pub speed: Option<f64>,
    /// Cost model by name [default: the scenario's, else the one that fits the model].
    #[arg(long)]
    pub profile: Option<String>,
    /// Relative spread of service times [default: the scenario's, else 0].
    #[arg(long)]
    pub noise: Option<f64>,
    /// Seed of everything random.
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
    /// Answer at once from prepared bodies, without a cost model.
    #[arg(long)]
    pub null: bool,
    /// Draw PNG pictures that compress no better than photographs, so that replies are as large as real ones.
    #[arg(long)]
    pub detailed: bool,
    /// Commit a fault for a share of the requests, like `stall=0.01`, or for all of them; may be given often. The
    /// kinds are the keys of `[simulator.faults]`.
    #[arg(long = "fault", value_name = "KIND[=RATE]")]
    pub faults: Vec<String>,
    /// Commit all faults, at the rates of the chaos mix.
    #[arg(long)]
    pub chaos: bool,
    /// Take model, layout and simulator settings from a scenario.
    #[arg(long, value_name = "FILE")]
    pub scenario: Option<PathBuf>,
    /// Variant of the scenario.
    #[arg(long)]
    pub variant: Option<String>,
    /// Serve flags as a vLLM-Omni server takes them (`--cfg-parallel-size 2 --max-num-seqs 8 --step-execution …`);
    /// `--cache-backend NAME` draws colours a little off, as real caches do, and makes nothing faster.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "SERVE_FLAGS")]
    pub serve_flags: Vec<String>,
}

/// Arguments of `completions`.
#[derive(Debug, Clone, Args)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
