//! The figures of every run, and of every class of runs that mix several: the tables behind the
//! dashboards' one, for the terminal and below the results table.

use super::number::fixed;
use super::official::{Basis, SECONDS, percentile};
use super::table::{Cell, Column, Table, Value};
use crate::catalog::Medium;
use crate::plan::Plan;
use crate::summarize::{ClassSummary, Results, Slo, Summary};

/// A column of seconds, as the dashboards have them.
pub(crate) fn in_seconds(key: &str, header: &str) -> Column {
    Column::number(key, header, SECONDS).unit("s")
}

fn is_open_loop(run: &Summary) -> bool {
    run.headline == "response_time"
}

/// A row per run; what no run measured has no column, but memory, which most servers tell.
pub(crate) fn runs(plan: &Plan, results: &Results) -> Table {
    let medium = plan.task.medium();
    let open_loop = results.runs.iter().any(is_open_loop);
    let mut table = Table { columns: run_columns(medium, open_loop), ..Table::default() };
    for summary in &results.runs {
        let row = run_row(medium, open_loop, summary, &mut table);
        table.rows.push(row);
    }
    table.without_empty_columns(&["peak_memory_mb.max"])
}

fn run_columns(medium: Medium, open_loop: bool) -> Vec<Column> {
    let mut columns = vec![
        Column::text("id", "Run"),
        Column::number("completed", "OK", 0),
        Column::number("throughput_per_s", "Req/s", 4),
    ];
    if open_loop {
        columns.push(Column::number("offered_per_s", "Offered/s", 4));
        columns.push(in_seconds("response_time_s.mean", "Mean Response"));
        columns.push(Column::number("mean_interval_s", "95 % Interval", 4).unit("s"));
        columns.push(in_seconds("response_time_s.p50", "P50 Response"));
        columns.push(in_seconds("response_time_s.p99", "P99 Response"));
        columns.push(in_seconds("queue_s.mean", "Mean Queue"));
    }
    columns.push(in_seconds("latency_s.mean", if open_loop { "Mean Latency" } else { "Mean" }));
    if !open_loop {
        columns.push(Column::number("mean_interval_s", "95 % Interval", 4).unit("s"));
        columns.push(in_seconds("latency_s.p50", "P50"));
        columns.push(in_seconds("latency_s.p95", "P95"));
    }
    columns.push(in_seconds("latency_s.p99", if open_loop { "P99 Latency" } else { "P99" }));
    columns.extend(match medium {
        Medium::Image => vec![Column::number("images_per_s", "Images/s", 4)],
        Medium::Video => {
            vec![Column::number("video_s_per_s", "Video", 4).unit("s/s"), Column::number("rtf.mean", "RTF", 2)]
        }
    });
    columns.push(Column::number("peak_memory_mb.max", "Memory", 0).unit("MB"));
    columns.push(Column::number("slo.met", "SLO Met", 0));
    columns.push(Column::number("goodput_per_s", "Goodput/s", 4));
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
    ];
    let interval = interval(summary.mean_interval_s);
    if open_loop {
        let response = &summary.response_time_s;
        row.push(summary.offered_per_s.into());
        row.push(response.mean.into());
        row.push(interval);
        row.push(percentile(basis, response, "p50", table));
        row.push(percentile(basis, response, "p99", table));
        row.push(summary.queue_s.mean.into());
        row.push(latency.mean.into());
    } else {
        row.push(latency.mean.into());
        row.push(interval);
        row.push(percentile(basis, latency, "p50", table));
        row.push(percentile(basis, latency, "p95", table));
    }
    row.push(percentile(basis, latency, "p99", table));
    match medium {
        Medium::Image => row.push(summary.images_per_s.into()),
        Medium::Video => {
            row.push(summary.video_s_per_s.into());
            row.push(rtf(summary, table));
        }
    }
    row.push(memory(summary, table));
    row.push(summary.slo.as_ref().map_or(Value::Absent.into(), |slo| attained(slo, table)));
    row.push(summary.goodput_per_s.into());
    row.push(summary.validity.name().into());
    row
}

/// Successes per second, with a note when a limit of the client decided how many there are.
pub(crate) fn throughput(summary: &Summary, table: &mut Table) -> Cell {
    let mut cell = Cell::from(summary.throughput_per_s);
    if !summary.throughput_comparable {
        cell.marks.push(table.note("not comparable: a limit of the client cut requests".to_owned()));
    }
    cell
}

/// `low–high` of a mean.
fn interval(ends: Option<[f64; 2]>) -> Cell {
    let text = |[low, high]: [f64; 2]| format!("{}–{}", fixed(low, SECONDS), fixed(high, SECONDS));
    ends.map_or(Value::Absent, |ends| text(ends).into()).into()
}

/// The real-time factor, with a note when its generation time is not the model's own.
pub(crate) fn rtf(summary: &Summary, table: &mut Table) -> Cell {
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

/// The largest peak memory, with a note when not every request told one.
pub(crate) fn memory(summary: &Summary, table: &mut Table) -> Cell {
    let Some(memory) = summary.peak_memory_mb else { return Value::Absent.into() };
    let mut cell = Cell::from(Some(memory.max));
    if memory.n < summary.completed {
        let text = format!("peak memory was told by {} of {} requests", memory.n, summary.completed);
        cell.marks.push(table.note(text));
    }
    cell
}

/// `met/of`, with a note when that is less than was wanted, or targets are not measured ones.
fn attained(slo: &Slo, table: &mut Table) -> Cell {
    let mut cell = Cell::from(format!("{}/{}", slo.met, slo.of));
    if slo.attainment < slo.wanted {
        cell.marks.push(table.note(format!("fewer than the {} % that were to meet their target", percent(slo.wanted))));
    }
    if let Some(fit) = slo.fit {
        cell.marks.push(table.note(format!(
            "targets of classes that were not calibrated come from a line through {} that were, {} s off on average",
            fit.n,
            fixed(fit.residual_s, 3)
        )));
    }
    if slo.without_target > 0 {
        cell.marks.push(table.note("requests without a target are left out".to_owned()));
    }
    cell
}

/// A share in percent, without digits that say nothing.
pub(crate) fn percent(share: f64) -> f64 {
    (share * 1e6).round() / 1e4
}

/// A row per class of the runs that have several; no rows when there are none.
pub(crate) fn classes(results: &Results) -> Table {
    let open_loop = results.runs.iter().any(is_open_loop);
    let mut columns =
        vec![Column::text("id", "Run"), Column::text("class", "Class"), Column::number("completed", "OK", 0)];
    if open_loop {
        columns.push(in_seconds("response_time_s.mean", "Mean Response"));
        columns.push(in_seconds("response_time_s.p99", "P99 Response"));
    }
    columns.push(in_seconds("latency_s.mean", "Mean"));
    if !open_loop {
        columns.push(Column::number("mean_interval_s", "95 % Interval", 4).unit("s"));
    }
    columns.push(in_seconds("latency_s.p50", "P50"));
    columns.push(in_seconds("latency_s.p99", "P99"));
    columns.push(in_seconds("latency_s.max", "Max"));
    columns.push(in_seconds("slo_target_s", "SLO Target"));
    columns.push(Column::number("slo_met", "SLO Met", 0));
    let mut table = Table { columns, ..Table::default() };
    for run in results.runs.iter().filter(|run| run.classes.len() > 1) {
        for (name, class) in &run.classes {
            let row = class_row(&run.id, name, class, open_loop, &mut table);
            table.rows.push(row);
        }
    }
    if table.rows.is_empty() { table } else { table.without_empty_columns(&[]) }
}

fn class_row(run: &str, name: &str, class: &ClassSummary, open_loop: bool, table: &mut Table) -> Vec<Cell> {
    let (latency, response) = (&class.latency_s, &class.response_time_s);
    let basis = Basis { completed: class.completed, censored: class.censored, counted: false };
    let mut row: Vec<Cell> = vec![run.into(), name.into(), format!("{}/{}", class.completed, class.requests).into()];
    if open_loop {
        row.push(response.mean.into());
        row.push(percentile(basis, response, "p99", table));
    }
    row.push(latency.mean.into());
    if !open_loop {
        row.push(interval(class.mean_interval_s));
    }
    row.push(percentile(basis, latency, "p50", table));
    row.push(percentile(basis, latency, "p99", table));
    row.push(latency.max.into());
    row.push(class.slo_target_s.into());
    row.push(if class.slo_of > 0 {
        format!("{}/{}", class.slo_met, class.slo_of).into()
    } else {
        Value::Absent.into()
    });
    row
}

/// Every warning as a line: run, kind, what was seen.
pub(crate) fn warnings(results: &Results) -> Vec<String> {
    let of = |run: &Summary| -> Vec<String> {
        run.warnings.iter().map(|warning| format!("{}: {}: {}", run.id, warning.kind, warning.text)).collect()
    };
    results.runs.iter().flat_map(of).collect()
}

/// Every kind of failure as a line: run, count, class, message, the first requests.
pub(crate) fn errors(results: &Results) -> Vec<String> {
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
