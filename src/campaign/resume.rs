//! Whether a results folder may be completed by a plan.

use serde_json::Value;

use crate::plan::Plan;
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

/// Checks that the folder's plan is this plan.
pub fn check_resume(dir: &ResultsDir, plan: &Plan) -> Result<(), ResumeError> {
    let stored = dir.read_plan()?;
    if stored.plan_hash == plan.plan_hash {
        return Ok(());
    }
    let differing = differing(&as_object(&stored), &as_object(plan)).join(", ");
    let differing = if differing.is_empty() { "its hash only".into() } else { differing };
    Err(ResumeError::OtherPlan { folder: dir.path().display().to_string(), differing })
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
