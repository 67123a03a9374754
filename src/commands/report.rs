//! `report`: stored results → any table or format, without running anything.

use super::{Ui, stored};
use crate::cli::{ReportArgs, ReportFormat};
use crate::exit::Exit;
use crate::report;

pub(super) fn run(args: &ReportArgs, ui: Ui) -> Exit {
    let Some(path) = args.results.first() else { return Exit::Usage };
    let stored = match stored::read(path) {
        Ok(stored) => stored,
        Err(error) => {
            ui.error(&error.to_string());
            return Exit::Results;
        }
    };
    let (plan, results) = (&stored.plan, &stored.results);
    let text = match args.format {
        ReportFormat::Terminal => Ok(report::terminal(plan, results, ui.color_out, None)),
        ReportFormat::Markdown => Ok(report::markdown(plan, results)),
        ReportFormat::Csv => report::csv(plan, results).map_err(|error| error.to_string()),
        ReportFormat::Json => report::json(results).map_err(|error| error.to_string()),
        ReportFormat::Html | ReportFormat::GithubActionBenchmark | ReportFormat::Openmetrics => {
            Err("this format is not available in this version".to_owned())
        }
    };
    match text {
        Ok(text) => ui.print(&text),
        Err(error) => {
            ui.error(&error);
            Exit::Usage
        }
    }
}
