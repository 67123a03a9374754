//! Entries and trends as text: tables for people, CSV for spreadsheets.

use comfy_table::{CellAlignment, Table, presets};

use crate::catalog::Direction;
use crate::history::{Entry, Point, Series, Trend, significant, symbol};

/// What stands for a figure that was not measured.
const ABSENT: &str = "n/a";

/// The entries, one line each.
pub(super) fn list(entries: &[Entry]) -> String {
    if entries.is_empty() {
        return "no entries\n".to_owned();
    }
    let rows = entries.iter().map(|entry| {
        [
            minute(&entry.origin.time.to_string()),
            entry.origin.scenario.clone(),
            entry.run.clone(),
            entry.origin.hardware.clone(),
            entry.completed.to_string(),
            validity(entry.validity.name(), entry.simulated),
            short(&entry.key),
            entry.origin.results.clone(),
        ]
    });
    let headings = ["time (UTC)", "scenario", "run", "hardware", "n", "validity", "key", "results"];
    let count = if entries.len() == 1 { "1 entry".to_owned() } else { format!("{} entries", entries.len()) };
    format!("{}\n{count}\n", table(headings, rows, &[4]))
}

/// A table per line of the trend.
pub(super) fn trend(trend: &Trend) -> String {
    if trend.series.is_empty() {
        return "no entries\n".to_owned();
    }
    let better = match trend.direction {
        Direction::LowerIsBetter => ", lower is better",
        Direction::HigherIsBetter => ", higher is better",
        Direction::Neutral => "",
    };
    let head = format!("{}{better}\n", heading(trend));
    let blocks = trend.series.iter().map(|series| format!("\n{}\n{}", name(series), lines(trend, series)));
    [head].into_iter().chain(blocks).collect()
}

fn name(series: &Series) -> String {
    let note = if series.simulated { "; simulated, not a measurement" } else { "" };
    format!("{} {} on {}{note}", series.scenario, series.name, series.hardware)
}

fn lines(trend: &Trend, series: &Series) -> String {
    let rows = series.points.iter().map(|point| {
        [
            minute(&point.time),
            point.value.map_or_else(|| ABSENT.to_owned(), significant),
            point
                .interval
                .map_or_else(String::new, |[low, high]| format!("{} to {}", significant(low), significant(high))),
            point.n.map_or_else(|| ABSENT.to_owned(), |n| n.to_string()),
            validity(point.validity.name(), series.simulated),
            short(&series.key),
            point.run.clone(),
            point.results.clone(),
        ]
    });
    let value = heading(trend);
    table(["time (UTC)", &value, "95 % interval", "n", "validity", "key", "run", "results"], rows, &[1, 3])
}

fn heading(trend: &Trend) -> String {
    match trend.unit.and_then(symbol) {
        Some(unit) => format!("{} ({unit})", trend.label),
        None => trend.label.clone(),
    }
}

fn validity(name: &str, simulated: bool) -> String {
    if simulated { format!("{name}, simulated") } else { name.to_owned() }
}

/// Enough of a key to tell it from others.
fn short(key: &str) -> String {
    key.chars().take(8).collect()
}

/// `2026-09-01T10:00:05.123456Z` → `2026-09-01 10:00:05`.
fn minute(time: &str) -> String {
    let whole = time.trim_end_matches('Z').split('.').next().unwrap_or(time);
    whole.replace('T', " ")
}

fn table<const N: usize>(headings: [&str; N], rows: impl Iterator<Item = [String; N]>, numbers: &[usize]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(headings);
    for row in rows {
        // one entry is one line, whatever it says
        table.add_row(row.map(|cell| cell.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    for place in numbers {
        if let Some(column) = table.column_mut(*place) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The trend as CSV (RFC 4180), a line per run.
pub(super) fn csv(trend: &Trend) -> Result<String, Box<dyn std::error::Error>> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    writer.write_record([
        "time",
        "metric",
        "value",
        "low",
        "high",
        "n",
        "validity",
        "simulated",
        "speed",
        "key",
        "hardware",
        "scenario",
        "run",
        "results",
    ])?;
    for series in &trend.series {
        for point in &series.points {
            writer.write_record(record(trend, series, point))?;
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

fn record(trend: &Trend, series: &Series, point: &Point) -> [String; 14] {
    let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    [
        point.time.clone(),
        word(&trend.metric),
        number(point.value),
        number(point.interval.map(|[low, _]| low)),
        number(point.interval.map(|[_, high]| high)),
        point.n.map(|n| n.to_string()).unwrap_or_default(),
        point.validity.name().to_owned(),
        series.simulated.to_string(),
        series.speed.to_string(),
        word(&series.key),
        word(&series.hardware),
        word(&point.scenario),
        word(&point.run),
        word(&point.results),
    ]
}

/// Words that a spreadsheet does not take for a formula.
fn word(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text.to_owned() }
}
