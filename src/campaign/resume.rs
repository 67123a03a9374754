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
    let differing = differing(&as_value(&stored), &as_value(plan)).join(", ");
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

fn as_value(plan: &Plan) -> Value {
    serde_json::to_value(plan).unwrap_or_default()
}

/// Most differences that are told one by one.
const MOST: usize = 6;
/// What follows from other parts, so that its change says nothing.
const DERIVED: [&str; 6] = ["limits", "plan_hash", "key", "workload_key", "config_key", "estimate_s"];

/// What differs, down to single values; entries of lists go by their id or name where they have one.
fn differing(old: &Value, new: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", old, new, &mut found);
    let more = found.len().saturating_sub(MOST);
    found.truncate(MOST);
    if more > 0 {
        found.push(format!("{more} more"));
    }
    found
}

fn compare(path: &str, old: &Value, new: &Value, found: &mut Vec<String>) {
    let (before, after) = (entries(old), entries(new));
    if old == new {
        return;
    }
    if before.is_empty() || after.is_empty() {
        found.push(format!("`{path}` ({} there, {} now)", shown(old), shown(new)));
        return;
    }
    for (name, was) in &before {
        let at = joined(path, name);
        match after.iter().find(|(other, _)| other == name) {
            _ if DERIVED.contains(&name.as_str()) => {}
            Some((_, is)) => compare(&at, was, is, found),
            None => found.push(format!("`{at}` (there only)")),
        }
    }
    let added = after.iter().filter(|(name, _)| before.iter().all(|(other, _)| other != name));
    let added = added.filter(|(name, _)| !DERIVED.contains(&name.as_str()));
    found.extend(added.map(|(name, _)| format!("`{}` (now only)", joined(path, name))));
}

/// The named entries of a table or a list; none for a plain value.
fn entries(value: &Value) -> Vec<(String, &Value)> {
    let named = |entry: &Value, number: usize| {
        let name = entry.get("id").or_else(|| entry.get("name")).and_then(Value::as_str);
        name.map_or_else(|| number.to_string(), str::to_owned)
    };
    match value {
        Value::Object(table) => table.iter().map(|(name, entry)| (name.clone(), entry)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(number, entry)| (named(entry, number), entry)).collect(),
        _ => Vec::new(),
    }
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// A value short enough for a message.
fn shown(value: &Value) -> String {
    match value {
        Value::Object(table) => format!("a table of {}", table.len()),
        Value::Array(list) => format!("a list of {}", list.len()),
        plain => plain.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_differs_is_told_down_to_its_values() {
        let old = json!({
            "plan_hash": "a", "model": "m", "datasets": { "A": { "n": 1 }, "B": 2 },
            "runs": [{ "id": "v/A/c1", "key": "x", "traffic": { "requests": 10, "rate": null } }]
        });
        let new = json!({
            "plan_hash": "b", "model": "m", "datasets": { "A": { "n": 1 }, "C": 2 },
            "runs": [{ "id": "v/A/c1", "key": "y", "traffic": { "requests": 11, "rate": [1, 2] } }]
        });
        let wanted = [
            "`datasets.B` (there only)",
            "`datasets.C` (now only)",
            "`runs.v/A/c1.traffic.requests` (10 there, 11 now)",
            "`runs.v/A/c1.traffic.rate` (null there, a list of 2 now)",
        ];
        assert_eq!(differing(&old, &new), wanted);
    }

    #[test]
    fn many_differences_are_counted() {
        let numbered = |step: usize| Value::from((0..10).map(|n| n * step).collect::<Vec<_>>());
        let told = differing(&json!({ "list": numbered(1) }), &json!({ "list": numbered(2) }));
        assert_eq!(told.len(), MOST + 1);
        assert_eq!(told.last().map(String::as_str), Some("3 more"));
    }

    #[test]
    fn equal_plans_differ_in_nothing() {
        let plan = json!({ "plan_hash": "a", "model": "m" });
        assert!(differing(&plan, &plan).is_empty());
    }
}
