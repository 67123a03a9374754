//! `bench`: the flags of the serving benchmark that people have scripts for.

use clap::Args;

/// Arguments of `bench`.
#[derive(Debug, Clone, Args)]
pub struct BenchArgs {}
