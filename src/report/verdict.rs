//! A gate's verdict → tables and sentences: what passed, what did not, and what could not be said.

use super::comparison::{places, share, shown, unit};
use super::number::{ABSENT, fixed};
use super::sections::{self, Section};
use super::table::{Align, Cell, Column, Table};
use super::text::counted;
use crate::catalog::{Unit, metric};
use crate::gate::{MetricVerdict, RunVerdict, Trend, Verdict, VerdictKind};

/// The verdict for a terminal of that width.
pub fn verdict_terminal(verdict: &Verdict, color: bool, width: Option<u16>) -> String {
    sections::terminal(&title(verdict), &content(verdict), color, width)
}

/// The verdict as Markdown, as for a pull request.
pub fn verdict_markdown(verdict: &Verdict) -> String {
    sections::markdown(&title(verdict), &content(verdict))
}

fn title(verdict: &Verdict) -> String {
    let against = verdict.baseline.as_ref().map(|name| format!(" against {name}")).unwrap_or_default();
    let simulated = if verdict.simulated { " (simulated, not a measurement)" } else { "" };
    format!("Gate{against}: {}{simulated}", verdict.verdict.words())
}

fn content(verdict: &Verdict) -> Vec<Section> {
    let mut sections = vec![Section { lines: verdict.notes.clone(), ..Section::default() }];
    let told: Vec<String> = verdict.runs.iter().flat_map(run).collect();
    if !told.is_empty() {
        sections.push(Section { title: "runs".to_owned(), lines: told, table: Table::default() });
    }
    if !verdict.metrics.is_empty() {
        sections.push(Section { title: "metrics".to_owned(), lines: Vec::new(), table: metrics(&verdict.metrics) });
    }
    let mut counts = Vec::new();
    for kind in [
        VerdictKind::RunFailed,
        VerdictKind::Regression,
        VerdictKind::NotComparable,
        VerdictKind::NoBaseline,
        VerdictKind::Pass,
    ] {
        let count = verdict.runs.iter().filter(|run| run.verdict == kind).count();
        if count > 0 {
            counts.push(format!("{count} {}", kind.words()));
        }
    }
    let all = counted(verdict.runs.len() as u64, "run");
    sections.push(Section { lines: vec![format!("{all}: {}", counts.join(", "))], ..Section::default() });
    sections
}

/// What is to say about a run besides its metrics.
fn run(run: &RunVerdict) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(reason) = &run.reason {
        lines.push(format!("{}: {}: {reason}", run.id, run.verdict.words()));
    }
    for difference in &run.differences {
        let allowed = if difference.allowed { "allowed to differ" } else { "differs" };
        let (theirs, ours) = (shown(&difference.key, &difference.baseline), shown(&difference.key, &difference.value));
        lines.push(format!("{}: `{}` {allowed}: {theirs} in the baseline, {ours} here", run.id, difference.key));
    }
    lines.extend(run.notes.iter().map(|note| format!("{}: {note}", run.id)));
    lines
}

fn metrics(metrics: &[MetricVerdict]) -> Table {
    let number = |key: &str, header: &str| Column { align: Align::Right, ..Column::text(key, header) };
    let mut table = Table {
        columns: vec![
            Column::text("id", "Run"),
            Column::text("metric", "Metric"),
            number("value", "Value"),
            number("baseline", "Baseline"),
            number("limit", "Limit"),
            number("change", "Change"),
            Column::text("verdict", "Verdict"),
        ],
        ..Table::default()
    };
    for metric in metrics {
        let number =
            |value: Option<f64>| value.map_or_else(|| ABSENT.to_owned(), |value| fixed(value, places(metric.unit)));
        let mut outcome = Cell::from(metric.verdict.words());
        if let Some(note) = &metric.note {
            outcome.marks.push(table.note(note.clone()));
        }
        table.rows.push(vec![
            metric.id.as_str().into(),
            heading(&metric.metric, metric.unit).into(),
            value(metric).into(),
            number(metric.baseline).into(),
            number(metric.limit).into(),
            change(metric).into(),
            outcome,
        ]);
    }
    table
}

fn heading(name: &str, of: Unit) -> String {
    let label = metric(name).map_or(name, |spec| spec.label);
    match of {
        Unit::PerSecond => format!("{label}/s"),
        _ => format!("{label}{}", unit(of)),
    }
}

/// The value with its interval.
pub(super) fn value(metric: &MetricVerdict) -> String {
    let show = |value: f64| fixed(value, places(metric.unit));
    match (metric.value, metric.low, metric.high) {
        (Some(value), Some(low), Some(high)) => format!("{} ({}–{})", show(value), show(low), show(high)),
        (Some(value), ..) => show(value),
        (None, ..) => ABSENT.to_owned(),
    }
}

/// `+20.0 % (worse)`.
pub(super) fn change(metric: &MetricVerdict) -> String {
    match (metric.change, metric.direction) {
        (Some(change), Some(Trend::Worse)) => format!("{} (worse)", share(change)),
        (Some(change), Some(Trend::Better)) => format!("{} (better)", share(change)),
        (Some(_), Some(Trend::Same)) => "same".to_owned(),
        _ => ABSENT.to_owned(),
    }
}
