//! `report` and `dashboard`.

use clap::Args;

/// Arguments of `report`.
#[derive(Debug, Clone, Args)]
pub struct ReportArgs {}

/// Arguments of `dashboard`.
#[derive(Debug, Clone, Args)]
pub struct DashboardArgs {}
