//! A comparison → tables and sentences: what differs, how sure that is, and what cannot be claimed.

use serde_json::Value as Json;

use super::number::{ABSENT, fixed};
use super::parity::{self, OutputParity};
use super::sections::{self, Section};
use super::table::{Align, Cell, Column, Table, Value};
use super::text::{counted, distinct};
use crate::catalog::Unit;
use crate::compare::{
    AlarmRate, Basis, Comparison, DifferenceKind, Geomean, KeyDifference, Level, MetricChange, PointComparison,
    RankTestName, Scaling, SelfTest,
};

/// The comparison for a terminal of that width.
pub fn comparison_terminal(
    comparison: &Comparison,
    parity: Option<&OutputParity>,
    color: bool,
    width: Option<u16>,
) -> String {
    sections::terminal(&title(comparison), &content(comparison, parity), color, width)
}

/// The comparison as Markdown.
pub fn comparison_markdown(comparison: &Comparison, parity: Option<&OutputParity>) -> String {
    sections::markdown(&title(comparison), &content(comparison, parity))
}

/// The comparison as a part of an HTML page.
pub fn comparison_html(comparison: &Comparison, parity: Option<&OutputParity>) -> String {
    sections::html(&title(comparison), &content(comparison, parity))
}

fn title(comparison: &Comparison) -> String {
    let simulated = if comparison.simulated { " (simulated, not a measurement)" } else { "" };
    format!("{} compared with {}{simulated}", comparison.candidate, comparison.baseline)
}

fn content(comparison: &Comparison, parity: Option<&OutputParity>) -> Vec<Section> {
    // what is drawn comes before how fast it is
    let lines = parity.map(|parity| parity.text.clone()).into_iter().chain(comparison.notes.iter().cloned());
    let mut sections = vec![Section { lines: lines.collect(), ..Section::default() }];
    sections.extend(differences(&comparison.differences));
    if !comparison.differing.is_empty() {
        return sections;
    }
    let lines = |title: &str, lines: Vec<String>| Section { title: title.to_owned(), lines, table: Table::default() };
    if !comparison.excluded.is_empty() {
        let excluded = comparison.excluded.iter().map(|pair| format!("{}: {}", pair.id, pair.reason));
        sections.push(lines("not compared", excluded.collect()));
    }
    if !comparison.unpaired.is_empty() {
        sections.push(lines("in one arm only", comparison.unpaired.clone()));
    }
    sections.extend(parity.map(parity::section));
    sections.extend(comparison.runs.iter().flat_map(point));
    if !comparison.levels.is_empty() {
        sections.push(levels(&comparison.levels));
    }
    if !comparison.geomean.is_empty() {
        sections.push(geomean(comparison));
    }
    sections
}

/// Keys that differ, those that were refused first.
fn differences(differences: &[KeyDifference]) -> Vec<Section> {
    let columns = vec![
        Column::text("key", "Key"),
        Column::text("baseline", "Baseline"),
        Column::text("candidate", "Candidate"),
        Column::text("ids", "Runs"),
    ];
    let of = |kind: DifferenceKind, title: &str| {
        let rows: Vec<Vec<Cell>> = differences
            .iter()
            .filter(|difference| difference.kind == kind)
            .map(|difference| {
                vec![
                    difference.key.as_str().into(),
                    shown(&difference.key, &difference.baseline).into(),
                    shown(&difference.key, &difference.candidate).into(),
                    few(&difference.ids).into(),
                ]
            })
            .collect();
        let table = Table { columns: columns.clone(), rows, notes: Vec::new() };
        (!table.rows.is_empty()).then(|| Section { title: title.to_owned(), lines: Vec::new(), table })
    };
    [
        (DifferenceKind::Refused, "not comparable: these differ"),
        (DifferenceKind::Allowed, "allowed to differ"),
        (DifferenceKind::Configuration, "configuration"),
    ]
    .into_iter()
    .filter_map(|(kind, title)| of(kind, title))
    .collect()
}

pub(super) fn shown(key: &str, value: &Json) -> String {
    match value {
        // what a layout leaves out is off
        Json::Null if key.starts_with("parallel.") || key.starts_with("serve_args.") => "not set".to_owned(),
        Json::Null => "unknown".to_owned(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn few(ids: &[String]) -> String {
    match ids {
        [first, _, _, ..] => format!("{first} and {} more", ids.len() - 1),
        some => some.join(", "),
    }
}

fn point(run: &PointComparison) -> Vec<Section> {
    let [repeats, others] = run.repeats;
    let repeats =
        if repeats == others { counted(repeats, "repeat") } else { format!("{repeats} and {others} repeats") };
    let pairing = if run.paired { "paired by index" } else { "not paired" };
    let size = format!("{repeats}, {} and {} requests, {pairing}", run.requests[0], run.requests[1]);
    let mut lines = vec![size, run.order.text.clone()];
    lines.extend(rank_tests(&run.metrics));
    let title =
        if run.id == run.candidate_id { run.id.clone() } else { format!("{} → {}", run.id, run.candidate_id) };
    let mut sections = vec![Section { title: title.clone(), lines, table: changes(&run.metrics) }];
    for (class, metrics) in &run.classes {
        let table = changes(metrics);
        sections.push(Section { title: format!("{title}, class {class}"), lines: Vec::new(), table });
    }
    if !run.stages.is_empty() {
        let title = format!("{title}, as the server tells; stages may contain each other");
        sections.push(Section { title, lines: Vec::new(), table: changes(&run.stages) });
    }
    sections
}

/// Which rank tests the column holds, in words.
fn rank_tests(metrics: &[MetricChange]) -> Option<String> {
    let name = |test: RankTestName| match test {
        RankTestName::WilcoxonSignedRank => "Wilcoxon's signed-rank test",
        RankTestName::MannWhitney => "the Mann–Whitney test",
    };
    let names = distinct(metrics.iter().filter_map(|metric| Some(name(metric.rank?.test).to_owned())));
    (!names.is_empty()).then(|| {
        format!("rank p: {}, of requests or batches within these runs, for tails of repeats", names.join(" and "))
    })
}

/// A row per metric.
fn changes(metrics: &[MetricChange]) -> Table {
    let right = |key: &str, header: &str| Column { align: Align::Right, ..Column::text(key, header) };
    let mut table = Table {
        columns: vec![
            Column::text("metric", "Metric"),
            right("baseline", "Baseline"),
            right("candidate", "Candidate"),
            right("difference", "Difference"),
            right("change", "Change"),
            right("interval", "95 % Interval"),
            right("poll_bounds", "Poll Gaps"),
            right("p_adjusted", "p (Holm)"),
            right("rank", "Rank p"),
            Column::text("verdict", "Verdict"),
        ],
        ..Table::default()
    };
    for metric in metrics {
        let mut name = Cell::from(format!("{}{}", metric.label, unit(metric.unit)));
        if let Some(note) = &metric.note {
            name.marks.push(table.note(note.clone()));
        }
        let polls = match metric.poll_bounds {
            Some([low, high]) => Value::Text(format!("{} to {}", share(low), share(high))),
            None => Value::Absent,
        };
        let mut polls = Cell::from(polls);
        if metric.poll_bounds.is_some() {
            let text = "jobs ended at some time between two polls, which leaves room for so much".to_owned();
            polls.marks.push(table.note(text));
        }
        let row = vec![
            name,
            values(metric.baseline, metric.baseline_spread, metric.unit).into(),
            values(metric.candidate, metric.candidate_spread, metric.unit).into(),
            signed(metric.difference, places(metric.unit)).into(),
            change(metric).into(),
            interval(metric).into(),
            polls,
            metric.p_adjusted.map_or_else(|| ABSENT.to_owned(), p).into(),
            metric.rank.map_or_else(|| ABSENT.to_owned(), |rank| p(rank.p)).into(),
            verdict(metric).into(),
        ];
        table.rows.push(row);
    }
    table.without_empty_columns(&[])
}

/// `+20.0 % (worse)`.
fn change(metric: &MetricChange) -> String {
    let amount = metric.change.map_or_else(|| ABSENT.to_owned(), share);
    format!("{amount} ({})", metric.direction.name())
}

fn interval(metric: &MetricChange) -> String {
    match (metric.low, metric.high) {
        (Some(low), Some(high)) => format!("{} to {}", share(low), share(high)),
        _ => ABSENT.to_owned(),
    }
}

/// What may be said about a change; `~` begins what is not significant.
fn verdict(metric: &MetricChange) -> String {
    match (metric.doubt, metric.basis) {
        (Some(doubt), _) => format!("~ {}", doubt.text()),
        (None, Basis::WithinThisRun) => format!("{} within this run", metric.direction.name()),
        (None, Basis::AcrossRepeats | Basis::None) => metric.direction.name().to_owned(),
    }
}

/// The mean, with the ends of its repeats.
fn values(mean: f64, spread: Option<[f64; 2]>, unit: Unit) -> String {
    let places = places(unit);
    match spread {
        Some([low, high]) => format!("{} ({}–{})", fixed(mean, places), fixed(low, places), fixed(high, places)),
        None => fixed(mean, places),
    }
}

pub(super) const fn places(unit: Unit) -> usize {
    match unit {
        Unit::Seconds | Unit::PerSecond | Unit::Fraction | Unit::Ratio => 4,
        Unit::Milliseconds | Unit::PerHourPerGpu => 1,
        Unit::Megabytes | Unit::Count | Unit::Pixels => 0,
    }
}

pub(super) const fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Seconds => " (s)",
        Unit::Milliseconds => " (ms)",
        Unit::Megabytes => " (MB)",
        Unit::PerHourPerGpu => " per hour and GPU",
        Unit::PerSecond | Unit::Fraction | Unit::Ratio | Unit::Count | Unit::Pixels => "",
    }
}

/// A number with its sign.
fn signed(value: f64, places: usize) -> String {
    let sign = if value < 0.0 { "−" } else { "+" };
    format!("{sign}{}", fixed(value.abs(), places))
}

/// A relative change as people say it: two decimals below 10 %, else one.
pub(super) fn share(change: f64) -> String {
    let percent = 100.0 * change;
    format!("{} %", signed(percent, if percent.abs() < 9.995 { 2 } else { 1 }))
}

fn p(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { fixed(p, 3) }
}

fn levels(levels: &[Level]) -> Section {
    let mut columns = vec![Column::text("sweep", "Sweep"), Column::number("concurrency", "c", 0)];
    for (key, name) in [("baseline", "Baseline"), ("candidate", "Candidate")] {
        columns.push(Column::number(format!("{key}.throughput_per_s"), format!("{name} Req/s"), 4));
        columns.push(Column::number(format!("{key}.gain"), "Gain", 2));
        columns.push(Column::number(format!("{key}.efficiency"), "Efficiency", 2));
        columns.push(Column::text(format!("{key}.remark"), "Remark"));
    }
    columns.push(Column { align: Align::Right, ..Column::text("speed_up", "Speed-up") });
    let arm = |scaling: &Scaling| -> [Cell; 4] {
        [
            Some(scaling.throughput_per_s).into(),
            Some(scaling.gain).into(),
            Some(scaling.efficiency).into(),
            scaling.remark.clone().unwrap_or_default().into(),
        ]
    };
    let rows = levels.iter().map(|level| {
        let mut row: Vec<Cell> = vec![level.sweep.as_str().into(), Some(u64::from(level.concurrency)).into()];
        row.extend(arm(&level.baseline));
        row.extend(arm(&level.candidate));
        let mark = if level.significant { "" } else { "~ " };
        row.push(format!("{mark}{}×", fixed(level.speed_up, 2)).into());
        row
    });
    let notes = vec![
        "gain: throughput by that of the lowest level; efficiency: gain by the growth of c; speed-up: candidate by \
         baseline, ~ when not significant"
            .to_owned(),
    ];
    let table = Table { columns, rows: rows.collect(), notes };
    Section { title: "by concurrency".to_owned(), lines: Vec::new(), table }
}

fn geomean(comparison: &Comparison) -> Section {
    let columns = vec![
        Column::text("metric", "Metric"),
        Column::number("points", "Points", 0),
        Column { align: Align::Right, ..Column::text("change", "Change") },
        Column::number("better", "Significantly Better", 0),
        Column::number("worse", "Significantly Worse", 0),
    ];
    let row = |(name, mean): (&String, &Geomean)| -> Vec<Cell> {
        vec![
            name.as_str().into(),
            Some(mean.points).into(),
            format!("{} ({})", share(mean.change), mean.direction.name()).into(),
            Some(mean.significant[0]).into(),
            Some(mean.significant[1]).into(),
        ]
    };
    let rows = comparison.geomean.iter().map(row).collect();
    let table = Table { columns, rows, notes: Vec::new() };
    Section { title: "geometric mean over runs".to_owned(), lines: Vec::new(), table }
}

/// A self-test for a terminal of that width.
pub fn self_test_terminal(found: &SelfTest, color: bool, width: Option<u16>) -> String {
    sections::terminal(&self_test_title(found), &self_test(found), color, width)
}

/// A self-test as Markdown.
pub fn self_test_markdown(found: &SelfTest) -> String {
    sections::markdown(&self_test_title(found), &self_test(found))
}

/// A self-test as a part of an HTML page.
pub fn self_test_html(found: &SelfTest) -> String {
    sections::html(&self_test_title(found), &self_test(found))
}

fn self_test_title(found: &SelfTest) -> String {
    format!("false alarms of {}: equal arms told apart, of {} pairs drawn", found.name, found.trials)
}

fn self_test(found: &SelfTest) -> Vec<Section> {
    let columns = vec![
        Column::text("metric", "Metric"),
        Column::number("alarms", "False Alarms", 0),
        Column { align: Align::Right, ..Column::text("rate", "Rate") },
        Column { align: Align::Right, ..Column::text("interval", "95 % Interval") },
    ];
    let percent = |rate: f64| format!("{:.1} %", 100.0 * rate);
    let row = |name: &str, rate: &AlarmRate| -> Vec<Cell> {
        let interval = format!("{} to {}", percent(rate.low), percent(rate.high));
        vec![name.into(), Some(rate.alarms).into(), percent(rate.rate).into(), interval.into()]
    };
    let mut sections: Vec<Section> = found
        .points
        .iter()
        .map(|point| {
            let mut rows: Vec<Vec<Cell>> = point.metrics.iter().map(|(name, rate)| row(name, rate)).collect();
            rows.push(row("any of them", &point.any));
            let reach = match point.basis {
                Basis::AcrossRepeats => "judged over repeats: 5 % is what to expect at most",
                Basis::WithinThisRun | Basis::None => {
                    "judged within this run: what is above 5 % is how much such marks overclaim about other runs"
                }
            };
            let line = format!("{} in each arm; {reach}", counted(point.repeats, "repeat"));
            let table = Table { columns: columns.clone(), rows, notes: Vec::new() };
            Section { title: point.id.clone(), lines: vec![line], table }
        })
        .collect();
    if !found.single.is_empty() {
        let line = format!("one repeat, nothing to draw from: {}", few(&found.single));
        sections.push(Section { title: String::new(), lines: vec![line], table: Table::default() });
    }
    sections
}
