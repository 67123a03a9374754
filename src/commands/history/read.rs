//! A results folder → entries of the history.

use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

use crate::history::{Entry, Origin};
use crate::plan::{Plan, VariantPlan};
use crate::record::{ReadError, ResultsDir, RunManifest, read_json};
use crate::summarize::{RESULTS_FORMAT, Results};

/// What a results folder holds.
pub(super) struct Stored {
    /// The name of the folder.
    pub(super) name: String,
    /// `plan.json`.
    pub(super) plan: Plan,
    /// `results.json`.
    pub(super) results: Results,
    /// `run.json` of the runs that have one.
    pub(super) manifests: Vec<RunManifest>,
}

/// Reads what a RESULTS argument names.
pub(super) fn read(argument: &Path) -> Result<Stored, ReadError> {
    let dir = ResultsDir::resolve(argument)?;
    let plan = dir.read_plan()?;
    let path = dir.results_json();
    let wrong = |message: String| ReadError::Json { path: path.clone(), message };
    let value: Value = read_json(&path)?.ok_or_else(|| wrong("there is no such file".to_owned()))?;
    match value.get("format").and_then(Value::as_u64) {
        Some(format) if format == u64::from(RESULTS_FORMAT) => {}
        Some(format) => return Err(wrong(format!("format {format} is not known to this version of omni-bench"))),
        None => return Err(wrong("it has no `format`".to_owned())),
    }
    let results: Results = serde_json::from_value(value).map_err(|error| wrong(error.to_string()))?;
    let mut manifests = Vec::new();
    for run in &results.runs {
        manifests.extend(dir.run(&run.id).read_manifest()?);
    }
    let name = std::path::absolute(dir.path())?.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(Stored { name: name.unwrap_or_default(), plan, results, manifests })
}

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
