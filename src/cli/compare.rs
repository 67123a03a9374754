//! `compare`.

use clap::Args;

/// Arguments of `compare`.
#[derive(Debug, Clone, Args)]
pub struct CompareArgs {}
