//! Completing a results folder: whether a plan may, and what the folder then holds.

use serde_json::Value;

use crate::plan::{Plan, Step};
use crate::record::{ReadError, ResultsDir};

/// Why a folder cannot be completed by a plan.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It belongs to another plan.
    #[error(
        "`{folder}` holds results of another plan, which differs in {differing}; \
         start a new folder by leaving out `--resume`"
    )]
    OtherPlan {
        /// The folder.
        folder: String,
        /// Parts of `plan.json` that differ.
        differing: String,
    },
}

/// The plan of the folder together with this one, which may select other runs of the same scenario.
pub fn resumed(dir: &ResultsDir, plan: &Plan) -> Result<Plan, ResumeError> {
    let stored = dir.read_plan()?;
    if stored.plan_hash == plan.plan_hash {
        return Ok(united(stored, plan));
    }
    let differing = differing(&as_object(&stored), &as_object(plan)).join(", ");
    let differing = if differing.is_empty() { "its hash only".into() } else { differing };
    Err(ResumeError::OtherPlan { folder: dir.path().display().to_string(), differing })
}

/// Both selections of one scenario. Runs that are new come after those that are there.
fn united(mut stored: Plan, plan: &Plan) -> Plan {
    if stored.runs.iter().all(|run| plan.run(&run.id).is_some()) {
        return plan.clone();
    }
    let new: Vec<_> = plan.runs.iter().filter(|run| stored.run(&run.id).is_none()).cloned().collect();
    if new.is_empty() {
        return stored;
    }
    let is_new = |step: &&Step| match step {
        Step::Run { id } => stored.run(id).is_none(),
        Step::StartServer { .. } | Step::StopServer { .. } => true,
    };
    let steps: Vec<Step> = plan.steps.iter().filter(is_new).cloned().collect();
    let variants: Vec<_> =
        plan.variants.iter().filter(|variant| stored.variant(&variant.name).is_none()).cloned().collect();
    stored.runs.extend(new);
    stored.steps.extend(steps);
    stored.starts += plan.starts;
    stored.variants.extend(variants);
    for (name, dataset) in &plan.datasets {
        stored.datasets.entry(name.clone()).or_insert_with(|| dataset.clone());
    }
    stored
}

fn as_object(plan: &Plan) -> serde_json::Map<String, Value> {
    match serde_json::to_value(plan) {
        Ok(Value::Object(parts)) => parts,
        _ => serde_json::Map::new(),
    }
}

/// Names of the parts that differ; of tables, the entries that do.
fn differing(old: &serde_json::Map<String, Value>, new: &serde_json::Map<String, Value>) -> Vec<String> {
    let mut names = Vec::new();
    for (name, value) in new.iter().filter(|(name, _)| *name != "plan_hash") {
        match (old.get(name), value) {
            (Some(before), after) if before == after => {}
            (Some(Value::Object(before)), Value::Object(after)) => {
                let entries = before.keys().chain(after.keys().filter(|key| !before.contains_key(*key)));
                let changed = entries.filter(|key| before.get(*key) != after.get(*key));
                names.extend(changed.map(|key| format!("`{name}.{key}`")));
            }
            _ => names.push(format!("`{name}`")),
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parts(value: &Value) -> serde_json::Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn what_differs_is_named_down_to_the_entries_of_tables() {
        let old = parts(&json!({ "plan_hash": "a", "model": "m", "datasets": { "A": 1, "B": 2 }, "runs": [1] }));
        let new = parts(&json!({ "plan_hash": "b", "model": "m", "datasets": { "A": 1, "C": 2 }, "runs": [1, 2] }));
        assert_eq!(differing(&old, &new), ["`datasets.B`", "`datasets.C`", "`runs`"]);
    }

    #[test]
    fn equal_plans_differ_in_nothing() {
        let plan = parts(&json!({ "plan_hash": "a", "model": "m" }));
        assert!(differing(&plan, &plan).is_empty());
    }
}
