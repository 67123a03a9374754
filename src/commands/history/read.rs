//! A results folder → entries of the history.

use jiff::Timestamp;

use super::super::hardware;
use super::super::stored::Stored;
use crate::history::{Entry, Origin};
use crate::record::RunManifest;

/// An entry per run with numbers, and the ids of runs whose start is not known.
pub(super) fn entries(stored: &Stored) -> serde_json::Result<(Vec<Entry>, Vec<String>)> {
    let (plan, mut entries, mut left_out) = (&stored.plan, Vec::new(), Vec::new());
    for summary in &stored.results.runs {
        let manifest = stored.manifests.iter().find(|manifest| manifest.id == summary.id);
        let Some((manifest, time)) = manifest.and_then(|manifest| Some((manifest, start(manifest)?))) else {
            left_out.push(summary.id.clone());
            continue;
        };
        let hardware = hardware::of_line(
            plan.variant(&summary.variant),
            stored.machine(&summary.variant),
            summary.simulated,
            summary.speed,
        );
        let origin = Origin {
            time,
            scenario: stored.results.scenario.clone(),
            plan_hash: plan.plan_hash.clone(),
            results: stored.name.clone(),
            model: manifest.model.clone(),
            task: plan.task.to_string(),
            hardware,
        };
        entries.push(Entry::new(origin, summary)?);
    }
    Ok((entries, left_out))
}

fn start(manifest: &RunManifest) -> Option<Timestamp> {
    manifest.started_at.as_deref()?.parse().ok()
}
