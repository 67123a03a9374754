//! `import` and `export`.

use clap::Args;

/// Arguments of `import`.
#[derive(Debug, Clone, Args)]
pub struct ImportArgs {}

/// Arguments of `export`.
#[derive(Debug, Clone, Args)]
pub struct ExportArgs {}
