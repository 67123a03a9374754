//! Tables and whole reports over one results folder or several, in the formats that are made of tables.

use std::borrow::Cow;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::escape::{self, prose};
use super::query;
use super::source::Source;
use super::table::{Cell, Table, Value};
use super::text::Text;
use super::{caption, csv, figures, markdown, terminal};
use crate::catalog::TableKind;
use crate::summarize::Results;

/// Version of the JSON of tables.
const TABLE_FORMAT: u32 = 1;

/// A table with what stands around it.
#[derive(Debug)]
pub(crate) struct Titled<'a> {
    /// Which table.
    pub(crate) kind: TableKind,
    /// Heading.
    pub(crate) title: Cow<'a, str>,
    /// The table.
    pub(crate) table: &'a Table,
    /// What it was made from.
    pub(crate) sources: &'a [Source<'a>],
}

impl Titled<'_> {
    /// For people at a terminal.
    pub(crate) fn terminal(&self, color: bool, width: Option<u16>) -> String {
        let mut text = Text::default();
        for line in captions(self.sources) {
            text.add(format!("{}\n", escape::terminal(&line)));
        }
        text.add(format!("\n{}\n{}", self.title.to_lowercase(), terminal::render(self.table, color, width)));
        terminal::footnotes(self.table, &mut text);
        text.finish()
    }

    /// Markdown without a heading.
    pub(crate) fn markdown(&self) -> String {
        let mut text = Text::default();
        text.add(markdown::render(self.table));
        for line in captions(self.sources) {
            text.add(format!("\n{}\n", prose(&line)));
        }
        markdown::footnotes(self.table, &mut text);
        text.finish()
    }

    /// JSON for programs.
    pub(crate) fn json(&self) -> Result<String, serde_json::Error> {
        let columns = &self.table.columns;
        let row = |row: &Vec<Cell>| -> IndexMap<String, Json> {
            columns.iter().zip(row).map(|(column, cell)| (column.key.clone(), plain(cell))).collect()
        };
        let table = TableJson {
            format: TABLE_FORMAT,
            table: self.kind,
            simulated: self.sources.iter().any(|source| source.results.simulated),
            sources: self.sources.iter().map(SourceJson::of).collect(),
            columns: columns
                .iter()
                .map(|column| ColumnJson { key: column.key.clone(), heading: column.heading() })
                .collect(),
            rows: self.table.rows.iter().map(row).collect(),
            notes: self.table.notes.clone(),
        };
        serde_json::to_string_pretty(&table).map(|text| text + "\n")
    }
}

fn plain(cell: &Cell) -> Json {
    match &cell.value {
        Value::Text(text) | Value::Markdown(text) => text.as_str().into(),
        Value::Count(count) => (*count).into(),
        Value::Number(number) => (*number).into(),
        Value::Above(_) | Value::Absent => Json::Null,
    }
}

/// A table of `report --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TableJson {
    /// Version of this format.
    format: u32,
    /// Kind of the table.
    table: TableKind,
    /// Whether some of its numbers come from a simulator.
    simulated: bool,
    /// The results folders it was made from.
    sources: Vec<SourceJson>,
    /// The columns in their order.
    columns: Vec<ColumnJson>,
    /// A value per column by its key; null when it was not measured or only bounded.
    rows: Vec<IndexMap<String, Json>>,
    /// What is to be known about some of the values.
    notes: Vec<String>,
}

/// A results folder of a table.
#[derive(Debug, Serialize, JsonSchema)]
struct SourceJson {
    /// Name of the folder.
    folder: String,
    /// Scenario.
    scenario: String,
    /// Hash of the plan.
    plan_hash: String,
    /// Whether a simulator answered.
    simulated: bool,
    /// Time base of a simulation; 1 otherwise.
    speed: f64,
}

impl SourceJson {
    fn of(source: &Source<'_>) -> Self {
        let results = source.results;
        Self {
            folder: source.name.to_owned(),
            scenario: results.scenario.clone(),
            plan_hash: results.plan_hash.clone(),
            simulated: results.simulated,
            speed: results.speed,
        }
    }
}

/// A column of a table.
#[derive(Debug, Serialize, JsonSchema)]
struct ColumnJson {
    /// Key.
    key: String,
    /// Heading with its unit.
    heading: String,
}

/// What there is to say when a table of that kind has no rows.
pub(crate) const fn nothing(kind: TableKind) -> &'static str {
    match kind {
        TableKind::Results => "no run has results that match",
        TableKind::Throughput | TableKind::Envelope => "no run that matches has a rate or a latency",
        TableKind::Classes => "no class of requests matches",
        TableKind::Stages => "no run that matches has stage times: the servers told none",
        TableKind::Memory => "no run that matches has a peak memory: the servers told none",
        TableKind::Sensitivity => {
            "the runs that match do not differ in steps, frames or length of prompts, so there is nothing to compare"
        }
    }
}

/// What the tables are about, a line per folder.
fn captions(sources: &[Source<'_>]) -> Vec<String> {
    let of = |source: &Source<'_>| {
        let text = caption::short(source.plan, source.results);
        if sources.len() > 1 { format!("`{}`: {text}", source.name) } else { text }
    };
    sources.iter().map(of).collect()
}

/// Everything for a terminal: of one folder as `run` shows it, of several in one table.
pub(crate) fn everything_terminal(sources: &[Source<'_>], color: bool, width: Option<u16>) -> String {
    if let [source] = sources {
        return terminal::terminal(source.plan, source.results, color, width);
    }
    let table = query::standard(TableKind::Results, sources);
    let titled = Titled { kind: TableKind::Results, title: "Results".into(), table: &table, sources };
    let mut text = Text::default();
    text.add(titled.terminal(color, width));
    for (title, lines) in remarks(sources) {
        text.add(format!("\n{}\n", title.to_lowercase()));
        for line in lines {
            text.add(format!("  {}\n", escape::terminal(&line)));
        }
    }
    text.finish()
}

/// Everything as Markdown: of one folder as `results.md`, of several in one table.
pub(crate) fn everything_markdown(sources: &[Source<'_>]) -> String {
    if let [source] = sources {
        return markdown::markdown(source.plan, source.results);
    }
    let table = query::standard(TableKind::Results, sources);
    let titled = Titled { kind: TableKind::Results, title: "Results".into(), table: &table, sources };
    let mut text = Text::default();
    text.add(titled.markdown());
    for (title, lines) in remarks(sources) {
        text.add(format!("\n**{title}**\n\n"));
        for line in lines {
            text.add(format!("- {}\n", prose(&line)));
        }
    }
    text.finish()
}

/// Everything as CSV: as `results.csv`, with the folder before it when there are several.
pub(crate) fn everything_csv(sources: &[Source<'_>]) -> Result<String, ::csv::Error> {
    csv::render(&csv::table(sources))
}

/// `results.json` of several folders.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FoldersJson<'a> {
    /// Version of this format.
    format: u32,
    /// The folders in the order in which they were named.
    folders: Vec<FolderJson<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FolderJson<'a> {
    /// Name of the folder.
    folder: &'a str,
    /// Its `results.json`.
    results: &'a Results,
}

/// Everything as JSON: of one folder as `results.json`, of several as a list of those.
pub(crate) fn everything_json(sources: &[Source<'_>]) -> Result<String, serde_json::Error> {
    if let [source] = sources {
        return super::json(source.results);
    }
    let folders = sources.iter().map(|source| FolderJson { folder: source.name, results: source.results }).collect();
    serde_json::to_string_pretty(&FoldersJson { format: TABLE_FORMAT, folders }).map(|text| text + "\n")
}

/// Warnings, errors and runs without numbers of every folder, where there are some.
fn remarks(sources: &[Source<'_>]) -> Vec<(&'static str, Vec<String>)> {
    let all = |of: fn(&Results) -> Vec<String>| -> Vec<String> {
        let lines = |source: &Source<'_>| -> Vec<String> {
            of(source.results).into_iter().map(|line| format!("{}: {line}", source.name)).collect()
        };
        sources.iter().flat_map(lines).collect()
    };
    let lists =
        [("Warnings", all(figures::warnings)), ("Errors", all(figures::errors)), ("Not run", all(terminal::not_run))];
    lists.into_iter().filter(|(_, lines)| !lines.is_empty()).collect()
}
