//! A results folder → entries of the history.

use jiff::Timestamp;
use serde_json::Value;

use super::super::stored::Stored;
use crate::history::{Entry, Origin};
use crate::plan::VariantPlan;
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
        let hardware = if summary.simulated {
            // what is declared says what the scenario is for, not what answered
            format!("a simulator at {}× speed", summary.speed)
        } else {
            plan.variant(&summary.variant).map_or_else(|| UNKNOWN.to_owned(), hardware)
        };
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

/// Hardware that nobody told.
const UNKNOWN: &str = "unknown";

/// Names by which people declare an accelerator.
const ACCELERATORS: [&str; 4] = ["gpu", "gpus", "accelerator", "npu"];

/// Count and name of the accelerators, from declared facts.
fn hardware(variant: &VariantPlan) -> String {
    let declared = ACCELERATORS.iter().find_map(|name| variant.environment.get(*name));
    let name = match declared {
        Some(Value::String(name)) => name.split_whitespace().collect::<Vec<_>>().join(" "),
        _ => String::new(),
    };
    if name.is_empty() { UNKNOWN.to_owned() } else { format!("{} × {name}", variant.gpus) }
}
