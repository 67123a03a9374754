//! `baseline` and `gate`.

use clap::Args;

/// Arguments of `baseline`.
#[derive(Debug, Clone, Args)]
pub struct BaselineArgs {}

/// Arguments of `gate`.
#[derive(Debug, Clone, Args)]
pub struct GateArgs {}
