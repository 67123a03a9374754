//! Results → tables and sentences for a terminal.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, Color, ColumnConstraint, ContentArrangement};

use super::caption;
use super::number::superscript;
use super::official::{Basis, SECONDS, percentile};
use super::table::{Align, Cell, Column, Table, Value};
use super::text::Text;
use crate::catalog::{Medium, Validity};
use crate::plan::Plan;
use crate::summarize::{Results, Summary};

/// The results for people: a table of runs, one of classes where a run has several, then footnotes,
/// warnings and errors. `width` wraps the tables; `None` lets them be as wide as they are.
pub fn terminal(plan: &Plan, results: &Results, color: bool, width: Option<u16>) -> String {
    let runs = runs(plan, results);
    let mut text = Text::default();
    text.add(format!("{} ({}, {})\n", plan.title, plan.model, plan.task));
    if let Some(simulated) = caption::simulated(results) {
        text.add(format!("{simulated}\n"));
    }
    if runs.rows.is_empty() {
        text.add("\nno run has results\n");
    } else {
        text.add(format!("\nlatency and rates by run\n{}", render(&runs, color, width)));
    }
    footnotes(&runs, &mut text);
    let classes = classes(results);
    if !classes.rows.is_empty() {
        text.add(format!("\nlatency by class\n{}", render(&classes, color, width)));
        footnotes(&classes, &mut text);
    }
    for client in caption::clients(results) {
        text.add(format!("\nclient: {client}\n"));
    }
    let lists = [("warnings", warnings(results)), ("errors", errors(results)), ("not run", not_run(results))];
    for (title, lines) in lists.into_iter().filter(|(_, lines)| !lines.is_empty()) {
        text.add(format!("\n{title}\n"));
        for line in lines {
            text.add(format!("  {line}\n"));
        }
    }
    text.finish()
}

fn footnotes(table: &Table, text: &mut Text) {
    for (place, note) in table.notes.iter().enumerate() {
        text.add(format!("{} {note}\n", superscript(place + 1)));
    }
}

fn render(table: &Table, color: bool, width: Option<u16>) -> String {
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
            let text = cell.show(column);
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

/// A row per run; what no run measured has no column.
fn runs(plan: &Plan, results: &Results) -> Table {
    let open_loop = results.runs.iter().any(|run| run.headline == "response_time");
    let mut table = Table { columns: run_columns(plan.task.medium(), open_loop), ..Table::default() };
    for summary in &results.runs {
        let row = run_row(plan.task.medium(), open_loop, summary, &mut table);
        table.rows.push(row);
    }
    table.without_empty_columns()
}

fn run_columns(medium: Medium, open_loop: bool) -> Vec<Column> {
    let seconds = |key: &str, header: &str| Column::number(key, header, SECONDS).unit("s");
    let mut columns = vec![
        Column::text("id", "Run"),
        Column::number("completed", "OK", 0),
        Column::number("throughput_per_s", "Req/s", 4),
        seconds("latency_s.mean", "Mean"),
        seconds("latency_s.p50", "P50"),
        seconds("latency_s.p95", "P95"),
        seconds("latency_s.p99", "P99"),
    ];
    if open_loop {
        columns.push(Column::number("offered_per_s", "Offered/s", 4));
        columns.push(seconds("response_time_s.mean", "Mean Response"));
        columns.push(seconds("response_time_s.p99", "P99 Response"));
    }
    columns.extend(match medium {
        Medium::Image => vec![Column::number("images_per_s", "Images/s", 4)],
        Medium::Video => {
            vec![Column::number("video_s_per_s", "Video", 4).unit("s/s"), Column::number("rtf.mean", "RTF", 2)]
        }
    });
    columns.push(Column::number("peak_memory_mb.max", "Memory", 0).unit("MB"));
    columns.push(Column::number("slo.attainment", "SLO", 0));
    columns.push(Column::text("validity", "Validity"));
    columns
}

fn run_row(medium: Medium, open_loop: bool, summary: &Summary, table: &mut Table) -> Vec<Cell> {
    let latency = &summary.latency_s;
    let basis = Basis { completed: summary.completed, censored: summary.censored, counted: false };
    let mut row: Vec<Cell> = vec![
        summary.id.as_str().into(),
        format!("{}/{}", summary.completed, summary.requests).into(),
        throughput(summary, table),
        latency.mean.into(),
        percentile(basis, latency, "p50", table),
        percentile(basis, latency, "p95", table),
        percentile(basis, latency, "p99", table),
    ];
    if open_loop {
        row.push(summary.offered_per_s.into());
        row.push(summary.response_time_s.mean.into());
        row.push(percentile(basis, &summary.response_time_s, "p99", table));
    }
    match medium {
        Medium::Image => row.push(summary.images_per_s.into()),
        Medium::Video => {
            row.push(summary.video_s_per_s.into());
            row.push(rtf(summary, table));
        }
    }
    row.push(summary.peak_memory_mb.map(|memory| memory.max).into());
    row.push(summary.slo.as_ref().map_or(Value::Absent, |slo| format!("{}/{}", slo.met, slo.of).into()).into());
    row.push(summary.validity.name().into());
    row
}

/// Successes per second, with a note when a limit of the client decided how many there are.
fn throughput(summary: &Summary, table: &mut Table) -> Cell {
    let mut cell = Cell::from(summary.throughput_per_s);
    if !summary.throughput_comparable {
        cell.marks.push(table.note("not comparable: a limit of the client cut requests".to_owned()));
    }
    cell
}

/// The real-time factor, with a note when its generation time is not the model's own.
fn rtf(summary: &Summary, table: &mut Table) -> Cell {
    let Some(rtf) = &summary.rtf else { return Value::Absent.into() };
    let mut cell = Cell::from(Some(rtf.mean));
    let basis = match rtf.basis.as_str() {
        "stage" => return cell,
        "inference_time_s" => "the server's inference time, which includes its queue",
        "latency" => "end-to-end latency, because the server tells no generation time",
        _ => "generation times of different kinds",
    };
    cell.marks.push(table.note(format!("RTF from {basis}")));
    cell
}

/// A row per class of the runs that have several; no rows when there are none.
fn classes(results: &Results) -> Table {
    let seconds = |key: &str, header: &str| Column::number(key, header, SECONDS).unit("s");
    let mut table = Table {
        columns: vec![
            Column::text("id", "Run"),
            Column::text("class", "Class"),
            Column::number("completed", "OK", 0),
            seconds("latency_s.mean", "Mean"),
            seconds("latency_s.p50", "P50"),
            seconds("latency_s.p99", "P99"),
            seconds("latency_s.max", "Max"),
            seconds("slo_target_s", "SLO Target"),
            Column::number("slo_attainment", "SLO Attainment", 2),
        ],
        ..Table::default()
    };
    for run in results.runs.iter().filter(|run| run.classes.len() > 1) {
        for (name, class) in &run.classes {
            let latency = &class.latency_s;
            let basis = Basis { completed: class.completed, censored: class.censored, counted: false };
            let row = vec![
                run.id.as_str().into(),
                name.as_str().into(),
                format!("{}/{}", class.completed, class.requests).into(),
                latency.mean.into(),
                percentile(basis, latency, "p50", &mut table),
                percentile(basis, latency, "p99", &mut table),
                latency.max.into(),
                class.slo_target_s.into(),
                class.slo_attainment.into(),
            ];
            table.rows.push(row);
        }
    }
    if table.rows.is_empty() { table } else { table.without_empty_columns() }
}

fn warnings(results: &Results) -> Vec<String> {
    let of = |run: &Summary| -> Vec<String> {
        run.warnings.iter().map(|warning| format!("{}: {}: {}", run.id, warning.kind, warning.text)).collect()
    };
    results.runs.iter().flat_map(of).collect()
}

fn errors(results: &Results) -> Vec<String> {
    let of = |run: &Summary| -> Vec<String> {
        run.errors
            .iter()
            .map(|error| {
                let more = if error.count > error.request_ids.len() as u64 { ", …" } else { "" };
                let requests = error.request_ids.join(", ");
                format!("{}: {} × {}: {} ({requests}{more})", run.id, error.count, error.class, error.message)
            })
            .collect()
    };
    results.runs.iter().flat_map(of).collect()
}

fn not_run(results: &Results) -> Vec<String> {
    results.not_run.iter().map(|run| format!("{}: {}", run.id, run.reason)).collect()
}
