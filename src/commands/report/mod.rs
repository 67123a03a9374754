//! `report`: stored results → any table or format, without running anything.

mod formats;
mod output;

use std::borrow::Cow;
use std::path::Path;

use indexmap::IndexSet;

use super::stored::{self, Stored};
use super::{Ui, failure::Failure};
use crate::catalog::TableKind;
use crate::cli::{ReportArgs, ReportFormat};
use crate::exit::Exit;
use crate::report::{self, Query, QueryError, Source, Table, Titled, Wanted};
use crate::summarize::Results;

pub(super) fn run(args: &ReportArgs, ui: Ui) -> Exit {
    match carry_out(args, ui) {
        Ok(exit) => exit,
        Err(failure) => failure.tell(ui),
    }
}

fn carry_out(args: &ReportArgs, ui: Ui) -> Result<Exit, Failure> {
    // what is mistyped is told before anything is read
    let query = Query::new(&wanted(args)).map_err(|errors| refused(&errors))?;
    let summary = args.github_summary.then(output::summary_file).transpose()?;
    let folders = read(&args.results)?;
    let sources: Vec<Source<'_>> = folders.iter().map(|(name, stored)| stored.source(name)).collect();
    let report = Report::of(args, &query, &sources)?;
    if let Some(note) = report.nothing() {
        ui.note(note);
    }
    if let Some(file) = summary {
        output::append(&file, &report.summary(), ui)?;
    }
    // a file has no colours and no width
    let (color, width) = if args.output.is_some() { (false, None) } else { (ui.color_out, output::width()) };
    let text = report.text(args, color, width, &folders)?;
    output::write(&text, args.output.as_deref(), ui)
}

/// Whether rows are to be shown as one table, or everything there is.
fn is_one_table(args: &ReportArgs) -> bool {
    args.table.is_some() || [&args.columns, &args.group_by, &args.sort].iter().any(|list| !list.is_empty())
}

fn wanted(args: &ReportArgs) -> Wanted<'_> {
    Wanted {
        kind: args.table.unwrap_or(TableKind::Results),
        columns: &args.columns,
        filters: &args.filters,
        group_by: &args.group_by,
        sort: &args.sort,
    }
}

fn refused(errors: &[QueryError]) -> Failure {
    let line = |error: &QueryError| {
        let hint = error.hint.as_ref().map(|hint| format!("\n  {hint}")).unwrap_or_default();
        format!("{}: {}{hint}", error.list.option(), error.message)
    };
    Failure::new(Exit::Usage, errors.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// Reads every folder, with a name that tells it from the others.
fn read(arguments: &[impl AsRef<Path>]) -> Result<Vec<(String, Stored)>, Failure> {
    let mut folders: Vec<(String, Stored)> = Vec::new();
    for argument in arguments {
        let argument = argument.as_ref();
        let stored = stored::read(argument).map_err(Failure::results)?;
        let place = fs_err::canonicalize(stored.dir.path()).map_err(Failure::results)?;
        let same = |other: &Stored| fs_err::canonicalize(other.dir.path()).is_ok_and(|path| path == place);
        if folders.iter().any(|(_, other)| same(other)) {
            return Err(Failure::new(Exit::Usage, format!("`{}` is named twice", argument.display())));
        }
        folders.push((stored.name.clone(), stored));
    }
    let names: Vec<String> = folders.iter().map(|(name, _)| name.clone()).collect();
    for (name, stored) in &mut folders {
        if names.iter().filter(|other| *other == name).count() > 1 {
            *name = stored.dir.path().display().to_string();
        }
    }
    Ok(folders)
}

/// What is to be written.
enum Report<'a> {
    /// One table.
    Table(TableKind, Table, &'a [Source<'a>]),
    /// Everything about the runs that were chosen.
    Whole(Vec<Results>, &'a [Source<'a>]),
}

impl<'a> Report<'a> {
    fn of(args: &ReportArgs, query: &Query, sources: &'a [Source<'a>]) -> Result<Self, Failure> {
        let wrong = |errors: Vec<QueryError>| refused(&errors);
        Ok(if is_one_table(args) {
            let table = report::tabulate(query, sources).map_err(wrong)?;
            Self::Table(args.table.unwrap_or(TableKind::Results), table, sources)
        } else {
            Self::Whole(report::chosen(query, sources).map_err(wrong)?, sources)
        })
    }

    /// What is to be said when there is nothing to show.
    fn nothing(&self) -> Option<&'static str> {
        match self {
            Self::Table(kind, table, _) => table.rows.is_empty().then(|| report::nothing(*kind)),
            Self::Whole(results, _) => {
                results.iter().all(|results| results.runs.is_empty()).then(|| report::nothing(TableKind::Results))
            }
        }
    }

    /// For a page that shows other things too: with a heading.
    fn summary(&self) -> String {
        let (Self::Table(_, _, sources) | Self::Whole(_, sources)) = self;
        let titles: IndexSet<&str> = sources.iter().map(|source| source.plan.title.as_str()).collect();
        let titles: Vec<&str> = titles.into_iter().collect();
        let nothing = self.nothing().map(|note| format!("{note}\n")).unwrap_or_default();
        format!("## {}\n\n{}{nothing}", report::prose(&titles.join(", ")), self.markdown())
    }

    fn markdown(&self) -> String {
        match self {
            Self::Table(_, table, _) if table.rows.is_empty() => String::new(),
            Self::Table(kind, table, sources) => {
                format!("### {}\n\n{}", kind.title(), titled(*kind, table, sources).markdown())
            }
            Self::Whole(results, sources) => report::everything_markdown(&with(results, sources)),
        }
    }

    fn text(
        &self,
        args: &ReportArgs,
        color: bool,
        width: Option<u16>,
        folders: &[(String, Stored)],
    ) -> Result<String, Failure> {
        let wrong = |error: &dyn std::fmt::Display| Failure::new(Exit::Results, error.to_string());
        match (args.format, self) {
            (ReportFormat::Terminal, Self::Table(_, table, _)) if table.rows.is_empty() => Ok(String::new()),
            (ReportFormat::Terminal, Self::Table(kind, table, sources)) => {
                Ok(titled(*kind, table, sources).terminal(color, width))
            }
            (ReportFormat::Terminal, Self::Whole(results, sources)) => {
                Ok(report::everything_terminal(&with(results, sources), color, width))
            }
            (ReportFormat::Markdown, Self::Table(kind, table, sources)) if !table.rows.is_empty() => {
                Ok(titled(*kind, table, sources).markdown())
            }
            (ReportFormat::Markdown, _) => Ok(self.markdown()),
            (ReportFormat::Csv, Self::Table(_, table, _)) => report::table_csv(table).map_err(|error| wrong(&error)),
            (ReportFormat::Csv, Self::Whole(results, sources)) => {
                report::everything_csv(&with(results, sources)).map_err(|error| wrong(&error))
            }
            (ReportFormat::Json, Self::Table(kind, table, sources)) => {
                titled(*kind, table, sources).json().map_err(|error| wrong(&error))
            }
            (ReportFormat::Json, Self::Whole(results, sources)) => {
                report::everything_json(&with(results, sources)).map_err(|error| wrong(&error))
            }
            (ReportFormat::Html | ReportFormat::GithubActionBenchmark | ReportFormat::Openmetrics, Self::Table(..)) => {
                let message =
                    "this format is of whole runs; leave `--table`, `--columns`, `--group-by` and `--sort` out";
                Err(Failure::new(Exit::Usage, message))
            }
            (ReportFormat::Html, Self::Whole(results, _)) => formats::html(args, results, folders),
            (ReportFormat::GithubActionBenchmark, Self::Whole(results, _)) => {
                formats::github_action_benchmark(args, results)
            }
            (ReportFormat::Openmetrics, Self::Whole(results, _)) => formats::openmetrics(results),
        }
    }
}

fn titled<'t>(kind: TableKind, table: &'t Table, sources: &'t [Source<'t>]) -> Titled<'t> {
    Titled { kind, title: Cow::Borrowed(kind.title()), table, sources }
}

/// The folders with the runs that were chosen.
fn with<'a>(results: &'a [Results], sources: &'a [Source<'a>]) -> Vec<Source<'a>> {
    sources.iter().zip(results).map(|(source, results)| Source { results, ..*source }).collect()
}
