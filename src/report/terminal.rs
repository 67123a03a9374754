//! Results → tables and sentences for a terminal.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, Color, ColumnConstraint, ContentArrangement};

use super::caption;
use super::escape;
use super::figures::{classes, errors, runs, warnings};
use super::number::superscript;
use super::table::{Align, Column, Table};
use super::telemetry::{has_gpus, telemetry};
use super::text::Text;
use crate::catalog::Validity;
use crate::plan::Plan;
use crate::summarize::{NotRun, Results};

/// Columns in the order in which they go when a terminal is too narrow for all; `results.md` and
/// `results.csv` have them.
const EXPENDABLE: &[&str] = &[
    "mean_interval_s",
    "queue_s.mean",
    "images_per_s",
    "latency_s.max",
    "goodput_per_s",
    "latency_s.p95",
    "offered_per_s",
    "peak_memory_mb.max",
    "response_time_s.p50",
    "slo_target_s",
    "video_s_per_s",
    "telemetry.running.max",
    "telemetry.waiting.max",
    "telemetry.gpu_memory_mb.mean",
    "telemetry.power_w",
    "telemetry.joules_per_request",
];

/// The results for people: a table of runs, one of classes where a run has several, then footnotes,
/// warnings and errors. Tables wider than `width` lose columns, then wrap; `None` lets them be as wide
/// as they are.
pub fn terminal(plan: &Plan, results: &Results, color: bool, width: Option<u16>) -> String {
    let runs = fit(runs(plan, results), width);
    let mut text = Text::default();
    text.add(escape::terminal(&format!("{} ({}, {})\n", plan.title, plan.model, plan.task)));
    if let Some(simulated) = caption::simulated(results) {
        text.add(format!("{simulated}\n"));
    }
    if runs.rows.is_empty() {
        text.add("\nno run has results\n");
    } else {
        text.add(format!("\nlatency and rates by run\n{}", render(&runs, color, width)));
    }
    footnotes(&runs, &mut text);
    let classes = fit(classes(results), width);
    if !classes.rows.is_empty() {
        text.add(format!("\nlatency by class\n{}", render(&classes, color, width)));
        footnotes(&classes, &mut text);
    }
    if has_gpus(results) {
        let gpus = fit(telemetry(results), width);
        text.add(format!("\nservers and GPUs while the runs went on\n{}", render(&gpus, color, width)));
        footnotes(&gpus, &mut text);
    }
    for client in caption::clients(results) {
        text.add(format!("\nclient: {client}\n"));
    }
    let lists = [("warnings", warnings(results)), ("errors", errors(results)), ("not run", not_run(results))];
    for (title, lines) in lists.into_iter().filter(|(_, lines)| !lines.is_empty()) {
        text.add(format!("\n{title}\n"));
        for line in lines {
            text.add(format!("  {}\n", escape::terminal(&line)));
        }
    }
    text.finish()
}

pub(crate) fn footnotes(table: &Table, text: &mut Text) {
    for (place, note) in table.notes.iter().enumerate() {
        text.add(format!("{} {}\n", superscript(place + 1), escape::terminal(note)));
    }
}

/// The table without the columns that matter least, until it fits.
fn fit(mut table: Table, width: Option<u16>) -> Table {
    let Some(width) = width.map(usize::from) else { return table };
    for key in EXPENDABLE {
        let widest = render(&table, false, None).lines().map(|line| line.chars().count()).max();
        if widest.is_none_or(|widest| widest <= width) {
            break;
        }
        table = table.without_column(key);
    }
    table
}

pub(crate) fn render(table: &Table, color: bool, width: Option<u16>) -> String {
    let mut drawn = comfy_table::Table::new();
    drawn.load_style(UTF8_FULL_CONDENSED).force_no_tty();
    if color {
        drawn.enforce_styling();
    }
    if let Some(width) = width {
        drawn.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    drawn.set_header(table.columns.iter().map(Column::heading));
    if let Some(names) = drawn.column_mut(0) {
        // a broken run id cannot be copied
        names.set_constraint(ColumnConstraint::ContentWidth);
    }
    for row in &table.rows {
        drawn.add_row(row.iter().zip(&table.columns).map(|(cell, column)| {
            let text = escape::terminal(&cell.show(column));
            let tone = if column.key == "validity" { tone(&text) } else { None };
            let drawn = comfy_table::Cell::new(text).set_alignment(match column.align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
            match tone {
                Some(tone) => drawn.fg(tone),
                None => drawn,
            }
        }));
    }
    drawn.trim_fmt() + "\n"
}

fn tone(validity: &str) -> Option<Color> {
    Validity::ALL.iter().find(|known| known.name() == validity).map(|known| match known {
        Validity::Valid => Color::Green,
        Validity::Suspect => Color::Yellow,
        Validity::Invalid => Color::Red,
    })
}

/// Runs without numbers, those with the same reason in one line.
pub(crate) fn not_run(results: &Results) -> Vec<String> {
    let of_one_reason = results.not_run.chunk_by(|run, next| run.reason == next.reason);
    let line = |runs: &[NotRun]| {
        let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
        runs.first().map(|run| format!("{}: {}", ids.join(", "), run.reason))
    };
    of_one_reason.filter_map(line).collect()
}
