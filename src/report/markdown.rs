//! A table → Markdown, and the text of `results.md`.

use super::caption;
use super::escape::{self, prose};
use super::figures::{classes, errors, runs, warnings};
use super::number::superscript;
use super::query;
use super::source::Source;
use super::table::{Align, Cell, Column, Table, Value};
use super::telemetry::telemetry;
use super::text::Text;
use super::work::{stages, work};
use crate::catalog::TableKind;
use crate::plan::Plan;
use crate::summarize::Results;

/// `results.md`: the dashboards' results table with its caption and footnotes, then every run's
/// figures.
pub fn markdown(plan: &Plan, results: &Results) -> String {
    let figures = if results.runs.is_empty() { String::new() } else { format!("\n{}", figures(plan, results)) };
    format!("{}{figures}", table(Source::unnamed(plan, results)))
}

/// The dashboards' results table, its caption and footnotes.
pub(crate) fn table(source: Source<'_>) -> String {
    let (plan, results) = (source.plan, source.results);
    let table = query::standard(TableKind::Results, &[source]);
    let mut text = Text::default();
    text.add(render(&table));
    text.add(format!("\n{}\n", prose(&caption::caption(plan, results))));
    footnotes(&table, &mut text);
    if results.runs.is_empty() {
        text.add("\nNo run has results.\n");
    }
    for run in &results.not_run {
        text.add(format!("\nNot run: `{}`: {}\n", run.id, prose(&run.reason)));
    }
    text.finish()
}

/// Figures by run, and by class where a run mixes several, then warnings and errors.
pub(crate) fn figures(plan: &Plan, results: &Results) -> String {
    if results.runs.is_empty() {
        return "No run has results.\n".to_owned();
    }
    let mut parts = Vec::new();
    let tables = [
        ("By run", runs(plan, results)),
        ("By class of requests", classes(results)),
        ("Work done and what the server tells", work(plan, results)),
        ("Stage times; stages may contain each other", stages(results)),
        ("Servers and GPUs while the runs went on", telemetry(results)),
    ];
    for (title, table) in tables {
        if !table.rows.is_empty() {
            let mut text = Text::default();
            text.add(format!("**{title}**\n\n{}", render(&table)));
            footnotes(&table, &mut text);
            parts.push(text.finish());
        }
    }
    for (title, lines) in [("Warnings", warnings(results)), ("Errors", errors(results))] {
        if !lines.is_empty() {
            let list: Vec<String> = lines.iter().map(|line| format!("- {}\n", prose(line))).collect();
            parts.push(format!("**{title}**\n\n{}", list.concat()));
        }
    }
    parts.join("\n")
}

pub(crate) fn footnotes(table: &Table, text: &mut Text) {
    for (place, note) in table.notes.iter().enumerate() {
        text.add(format!("\n{} {}\n", superscript(place + 1), prose(note)));
    }
}

/// The table in GitHub's Markdown, one line per row.
pub(crate) fn render(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = Text::default();
    text.add(line(table.columns.iter().map(|column| escape::cell(&column.heading())).collect()));
    text.add(line(
        table
            .columns
            .iter()
            .map(|column| match column.align {
                Align::Left => "---".to_owned(),
                Align::Right => "---:".to_owned(),
            })
            .collect(),
    ));
    for row in &table.rows {
        text.add(line(row.iter().zip(&table.columns).map(|(cell, column)| shown(cell, column)).collect()));
    }
    text.finish()
}

/// A cell with its link and its marks.
fn shown(cell: &Cell, column: &Column) -> String {
    let words = match (&cell.value, &cell.link) {
        (Value::Markdown(text), _) => text.clone(),
        (_, Some(path)) => format!("[{}]({})", escape::link_text(&cell.words(column)), escape::link(path)),
        (_, None) => escape::cell(&cell.words(column)),
    };
    format!("{words}{}", cell.footmarks())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipes_and_line_breaks_stay_inside_their_cell() {
        let table = Table {
            columns: vec![Column::text("a", "A|B"), Column::number("b", "Time", 1).unit("s")],
            rows: vec![vec![Cell::from("x|y\nz"), Cell::from(Some(1.25))]],
            notes: Vec::new(),
        };
        assert_eq!(render(&table), "| A\\|B | Time (s) |\n| --- | ---: |\n| x\\|y z | 1.2 |\n");
    }
}
