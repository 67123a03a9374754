//! `compare`, `baseline` and `gate`.

use clap::Args;

/// Arguments of `compare`.
#[derive(Debug, Clone, Args)]
pub struct CompareArgs {}

/// Arguments of `baseline`.
#[derive(Debug, Clone, Args)]
pub struct BaselineArgs {}

/// Arguments of `gate`.
#[derive(Debug, Clone, Args)]
pub struct GateArgs {}
