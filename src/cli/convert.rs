//! `import` and `export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `import`.
#[derive(Debug, Clone, Args)]
pub struct ImportArgs {
    /// Format of the files.
    #[arg(value_enum)]
    pub kind: ImportKind,
    /// Files to turn into scenarios.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Folder to write to.
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    pub out: PathBuf,
    /// Overwrite existing files.
    #[arg(long)]
    pub force: bool,
}

/// Formats that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImportKind {
    /// vLLM-Omni's perf JSON: scenarios, and baselines per hardware.
    VllmOmniPerf,
}

/// Arguments of `export`.
#[derive(Debug, Clone, Args)]
pub struct ExportArgs {
    /// Format to write.
    #[arg(value_enum)]
    pub kind: ExportKind,
    /// A results folder, its `latest`, or a `results.json`.
    #[arg(value_name = "RESULTS")]
    pub results: PathBuf,
    /// Folder to write to.
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    pub out: PathBuf,
}

/// Formats that can be exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportKind {
    /// `diffusion_result_*.json`, as vLLM-Omni's nightly tools read it.
    VllmOmni,
}
