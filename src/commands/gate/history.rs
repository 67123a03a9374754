//! The history → a baseline: for each point the median of its last comparable runs.

use std::path::Path;

use indexmap::IndexMap;
use jiff::Timestamp;

use super::super::failure::Failure;
use super::points::error_rate;
use crate::commands::hardware;
use crate::commands::stored::Stored;
use crate::gate::{BASELINE_FORMAT, Baseline, BaselineEntry, BaselineSource, LEAST_RUNS, Measured};
use crate::history::{Condition, ConditionError, Entry, Filter, History};
use crate::summarize::Summary;

/// Shares of failed requests that differ by more leave other requests to compare.
const ERROR_RATES: f64 = 0.01;

/// A baseline of what was measured before, and what there is to say about each point.
pub(super) struct Earlier {
    pub(super) baseline: Baseline,
    pub(super) notes: IndexMap<String, String>,
}

/// Looks up the last runs of each point. Simulated runs are no baseline unless `simulated` allows it, and
/// then only of simulated results.
pub(super) fn earlier(
    (file, last): (&Path, u32),
    stored: &Stored,
    points: &[Measured],
    simulated: bool,
) -> Result<Earlier, Failure> {
    let history = History::open_existing(file)?;
    let (mut entries, mut notes) = (Vec::new(), IndexMap::new());
    for point in points {
        if point.simulated && !simulated {
            let note = "simulated results have a simulated history as baseline only with `--allow simulated`";
            notes.insert(point.id.clone(), note.to_owned());
            continue;
        }
        let found = comparable(&history, stored, point, last)?;
        let summaries: Vec<Summary> = found.iter().map(|(_, summary)| summary.clone()).collect();
        let note = match BaselineEntry::median_of(point, &summaries) {
            Some(entry) => {
                entries.push(entry);
                format!("the baseline is the median of {}", told(&found))
            }
            None => format!("the history has {}, fewer than the {LEAST_RUNS} that make a baseline", told(&found)),
        };
        notes.insert(point.id.clone(), note);
    }
    let source = BaselineSource {
        kind: "history".to_owned(),
        name: format!("the median of the last {last} runs in {}", file.display()),
        scenario: stored.plan.scenario.clone(),
    };
    let tool_version = env!("CARGO_PKG_VERSION").to_owned();
    Ok(Earlier { baseline: Baseline { format: BASELINE_FORMAT, tool_version, source, entries }, notes })
}

/// The last runs of a point's line, oldest first: neither invalid nor cut, with as many failures as the
/// point has, and none of the results themselves.
fn comparable(
    history: &History,
    stored: &Stored,
    point: &Measured,
    last: u32,
) -> Result<Vec<(Timestamp, Summary)>, Failure> {
    let filter = usable(filter(stored, point)).map_err(Failure::usage)?;
    let entries = history.select(&filter)?;
    let others = entries.iter().filter(|entry| !is_own(stored, entry));
    // a summary that this version cannot read says nothing to it
    let read = others.filter_map(|entry| Some((entry.origin.time, entry.typed().ok()?)));
    let rate = error_rate(&point.repeats);
    let alike = read.filter(|(_, summary)| {
        let theirs = error_rate(std::slice::from_ref(summary));
        rate.zip(theirs).is_some_and(|(ours, theirs)| (ours - theirs).abs() <= ERROR_RATES)
    });
    let mut found: Vec<_> = alike.collect();
    let surplus = found.len().saturating_sub(usize::try_from(last).unwrap_or(usize::MAX));
    found.drain(..surplus);
    Ok(found)
}

/// The line of a point: its key on its hardware.
fn filter(stored: &Stored, point: &Measured) -> Filter {
    let variant = stored.plan.runs.iter().find(|run| run.key == point.key).map(|run| run.variant.as_str());
    let variant = variant.and_then(|name| stored.plan.variant(name));
    let machine = variant.and_then(|variant| stored.machine(&variant.name));
    let speed = point.repeats.first().map_or(stored.plan.speed, |repeat| repeat.speed);
    let hardware = hardware::of_line(variant, machine, point.simulated, speed);
    Filter::line(&point.key, &hardware, point.simulated)
}

fn usable(mut filter: Filter) -> Result<Filter, ConditionError> {
    for condition in ["validity!=invalid", "censored=0", "completed>0"] {
        filter.conditions.push(Condition::parse(condition)?);
    }
    Ok(filter)
}

/// Whether an entry is a run of these very results, which would be judged by themselves.
fn is_own(stored: &Stored, entry: &Entry) -> bool {
    let start = |text: &str| text.parse::<Timestamp>().ok().map(Timestamp::as_microsecond);
    entry.origin.plan_hash == stored.plan.plan_hash
        && stored.manifests.iter().any(|manifest| {
            manifest.id == entry.run
                && manifest.started_at.as_deref().and_then(start) == Some(entry.origin.time.as_microsecond())
        })
}

/// `5 runs from 2026-09-01T10:00:00Z to 2026-09-05T10:00:00Z (4 d)`.
fn told(found: &[(Timestamp, Summary)]) -> String {
    let (Some((first, _)), Some((last, _))) = (found.first(), found.last()) else {
        return "no comparable runs".to_owned();
    };
    let span = match last.duration_since(*first).as_secs() {
        seconds @ ..7_200 => format!("{} min", seconds / 60),
        seconds @ ..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} d", seconds / 86_400),
    };
    let moment = |time: &Timestamp| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    match found.len() {
        1 => format!("1 comparable run, of {}", moment(first)),
        count => format!("{count} comparable runs from {} to {} ({span})", moment(first), moment(last)),
    }
}
