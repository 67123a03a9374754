//! `history`.

use clap::Args;

/// Arguments of `history`.
#[derive(Debug, Clone, Args)]
pub struct HistoryArgs {}
