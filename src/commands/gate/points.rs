//! Stored results → what a gate judges: every point of the plan, whether or not it has numbers.

use indexmap::IndexMap;
use serde_json::Value;

use crate::commands::compare::all_points;
use crate::commands::stored::Stored;
use crate::compare::Fingerprint;
use crate::gate::Measured;
use crate::plan::RunPlan;
use crate::record::ReadError;
use crate::summarize::Summary;

/// The key of the hardware among the facts of a point.
const HARDWARE: &str = "gpu";

/// The points of the plan, each with its repeats and with what went wrong.
pub(crate) fn points(stored: &Stored) -> Result<Vec<Measured>, ReadError> {
    let mut facts: IndexMap<String, Fingerprint> =
        all_points(stored)?.into_iter().map(|point| (point.id, point.fingerprint)).collect();
    let mut groups: IndexMap<String, Vec<&RunPlan>> = IndexMap::new();
    for run in &stored.plan.runs {
        groups.entry(point_id(run).to_owned()).or_default().push(run);
    }
    let measured = groups.into_iter().filter_map(|(id, runs)| {
        let fingerprint = facts.shift_remove(&id).unwrap_or_default();
        point(stored, id, &runs, fingerprint)
    });
    Ok(measured.collect())
}

/// The id of a run without its repeat.
pub(crate) fn point_id(run: &RunPlan) -> &str {
    run.id.strip_suffix(&format!(".r{}", run.repeat)).unwrap_or(&run.id)
}

fn point(stored: &Stored, id: String, runs: &[&RunPlan], fingerprint: Fingerprint) -> Option<Measured> {
    let first = runs.first()?;
    let repeats: Vec<Summary> = runs
        .iter()
        .filter_map(|run| stored.results.runs.iter().find(|summary| summary.id == run.id))
        .cloned()
        .collect();
    let mut facts: IndexMap<String, Value> = fingerprint.conditions;
    let hardware = facts.shift_remove(HARDWARE).and_then(|gpu| gpu.as_str().map(str::to_owned));
    facts.shift_remove("simulated");
    facts.extend(fingerprint.configuration);
    if let Some(rate) = error_rate(&repeats) {
        facts.insert("error_rate".to_owned(), rate.into());
    }
    Some(Measured {
        key: first.key.clone(),
        workload_key: first.workload_key.clone(),
        config_key: first.config_key.clone(),
        hardware,
        simulated: stored.plan.simulated || repeats.iter().any(|repeat| repeat.simulated),
        facts,
        fault: runs.iter().find_map(|run| fault(stored, run)),
        repeats,
        id,
    })
}

/// Why a run did not run as planned.
fn fault(stored: &Stored, run: &RunPlan) -> Option<String> {
    let Some(summary) = stored.results.runs.iter().find(|summary| summary.id == run.id) else {
        let told = stored.results.not_run.iter().find(|missing| missing.id == run.id);
        let why = told.map_or("it was not carried out", |missing| missing.reason.as_str());
        return Some(format!("`{}` has no numbers: {why}", run.id));
    };
    let missed = summary.requests.saturating_sub(summary.completed);
    (missed > stored.plan.allow_failures).then(|| {
        let first = summary.errors.first().map(|error| format!("; first {}: {}", error.class, error.message));
        format!("`{}`: {missed} of {} requests did not succeed{}", run.id, summary.requests, first.unwrap_or_default())
    })
}

/// Requests without success by requests, over the repeats.
#[expect(clippy::cast_precision_loss, reason = "counts of requests are far below 2^53")]
pub(super) fn error_rate(repeats: &[Summary]) -> Option<f64> {
    let requests: u64 = repeats.iter().map(|repeat| repeat.requests).sum();
    let completed: u64 = repeats.iter().map(|repeat| repeat.completed).sum();
    (requests > 0).then(|| requests.saturating_sub(completed) as f64 / requests as f64)
}
