//! Entries → one metric of them over time. Pure.

use indexmap::{IndexMap, IndexSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figure::paths;
use super::{Entry, Figure, HistoryError};
use crate::catalog::{self, Direction, Unit, Validity};
use crate::diagnostic::nearest;

/// Version of `history trend --format json`.
pub const TREND_FORMAT: u32 = 1;

/// One metric over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trend {
    /// Version of this format.
    pub format: u32,
    /// Path of the metric in a summary.
    pub metric: String,
    /// Its name for people.
    pub label: String,
    /// Its unit; null when the tool has no word for this metric.
    pub unit: Option<Unit>,
    /// Which way is better.
    pub direction: Direction,
    /// Lines, in the order in which they begin.
    pub series: Vec<Series>,
}

/// Runs of one key on one hardware.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Hash of workload and configuration.
    pub key: String,
    /// Names and count of the GPUs; `unknown` when nobody told them.
    pub hardware: String,
    /// Whether a simulator answered; such numbers are not measurements.
    pub simulated: bool,
    /// Time base of the simulation; 1 otherwise.
    pub speed: f64,
    /// Scenario of the newest entry.
    pub scenario: String,
    /// Run id of the newest entry, without its repeat.
    pub name: String,
    /// Oldest first.
    pub points: Vec<Point>,
}

/// The metric of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// Start of the run, RFC 3339 UTC.
    pub time: String,
    /// The same in seconds since 1970.
    pub unix_s: f64,
    /// The number; null when it was not measured.
    pub value: Option<f64>,
    /// Its 95 % interval within the run; null when there is none.
    pub interval: Option<[f64; 2]>,
    /// Observations it rests on; null when they are not known.
    pub n: Option<u64>,
    /// Whether it may be believed.
    pub validity: Validity,
    /// Scenario.
    pub scenario: String,
    /// Run id.
    pub run: String,
    /// Name of the results folder.
    pub results: String,
}

/// One metric of these entries, which are in order of time. A name that is no metric of any of them and
/// that no list has is an error.
pub fn trend_points(entries: &[Entry], metric: &str) -> Result<Trend, HistoryError> {
    let spec = catalog::metric(metric);
    let mut lines: IndexMap<(&str, &str, bool, u64), Series> = IndexMap::new();
    let mut measured = false;
    for entry in entries {
        let line = (entry.key.as_str(), entry.origin.hardware.as_str(), entry.simulated, entry.speed.to_bits());
        let series = lines.entry(line).or_insert_with(|| Series::of(entry));
        entry.origin.scenario.clone_into(&mut series.scenario);
        series.name = name(entry);
        let figure = Figure::of(&entry.summary, metric);
        measured |= figure.is_some();
        series.points.push(point(entry, figure));
    }
    if spec.is_none() && !measured {
        return Err(unknown(entries, metric));
    }
    Ok(Trend {
        format: TREND_FORMAT,
        metric: metric.to_owned(),
        label: spec.map_or(metric, |spec| spec.label).to_owned(),
        unit: spec.map(|spec| spec.unit),
        direction: spec.map_or(Direction::Neutral, |spec| spec.direction),
        series: lines.into_values().collect(),
    })
}

impl Series {
    fn of(entry: &Entry) -> Self {
        Self {
            key: entry.key.clone(),
            hardware: entry.origin.hardware.clone(),
            simulated: entry.simulated,
            speed: entry.speed,
            scenario: entry.origin.scenario.clone(),
            name: name(entry),
            points: Vec::new(),
        }
    }
}

/// The run id without the repeat, which is in no key.
fn name(entry: &Entry) -> String {
    entry.run.strip_suffix(&format!(".r{}", entry.repeat)).unwrap_or(&entry.run).to_owned()
}

#[expect(clippy::cast_precision_loss, reason = "microseconds since 1970 are exact until the year 2255")]
fn point(entry: &Entry, figure: Option<Figure>) -> Point {
    Point {
        time: entry.origin.time.to_string(),
        unix_s: entry.origin.time.as_microsecond() as f64 / 1e6,
        value: figure.map(|figure| figure.value),
        interval: figure.and_then(|figure| figure.interval),
        n: figure.and_then(|figure| figure.n),
        validity: entry.validity,
        scenario: entry.origin.scenario.clone(),
        run: entry.run.clone(),
        results: entry.origin.results.clone(),
    }
}

fn unknown(entries: &[Entry], metric: &str) -> HistoryError {
    let told: IndexSet<String> = entries.iter().flat_map(|entry| paths(&entry.summary)).collect();
    let known = catalog::METRICS.iter().map(|spec| spec.name).chain(told.iter().map(String::as_str));
    let hint = nearest(metric, known).map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    HistoryError::UnknownMetric { name: metric.to_owned(), hint }
}
