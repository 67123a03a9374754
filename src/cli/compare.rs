//! `compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `compare`.
#[derive(Debug, Clone, Args)]
pub struct CompareArgs {
    /// The baseline: a results folder, a link to it like `latest`, its `results.json`, a folder under its
    /// `runs/`, or `FOLDER:RUN` for some of its runs. Alone, two variants of it are compared.
    #[arg(value_name = "A", required_unless_present = "self_test", conflicts_with = "self_test")]
    pub baseline: Option<String>,
    /// What is compared with it.
    #[arg(value_name = "B")]
    pub candidate: Option<String>,
    /// Variants of A to compare, the baseline first [default: those of its `[compare]`].
    #[arg(long, num_args = 2.., value_name = "VARIANT", conflicts_with_all = ["candidate", "self_test"])]
    pub variants: Vec<String>,
    /// How often equal runs are told apart: draw two arms from the repeats of each variant.
    #[arg(long = "self", value_name = "RESULTS")]
    pub self_test: Option<String>,
    /// Let a key differ, like `num_inference_steps`; may be given often.
    #[arg(long, value_name = "KEY")]
    pub allow: Vec<String>,
    /// Do not compare the outputs that `run --save-media` kept.
    #[arg(long, conflicts_with = "self_test")]
    pub no_parity: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t = CompareFormat::Terminal)]
    pub format: CompareFormat,
    /// Write to a file instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Output formats of `compare`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// Tables for people.
    Terminal,
    /// Markdown, as for a pull request.
    Markdown,
    /// JSON for programs; `schema comparison` describes it.
    Json,
    /// A part of an HTML page.
    Html,
}
