//! Documented defaults, for `explain`: the plan resolves them, the doc comments of the model state
//! them, and a test holds this table to those comments.

use super::node::{Data, Node};
use crate::diagnostic::KeyPath;

/// When a default is worth showing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    /// Always: the table is there even if nobody writes it.
    Always,
    /// When the table around the key was written; `*` stands for every entry.
    Written,
}

use When::{Always, Written};

/// Key path and default, in the order of the scenario's documentation.
const DEFAULTS: &[(&str, &str, When)] = &[
    ("endpoint.path", "follows the task", Always),
    ("endpoint.ready.path", "\"/health\"", Always),
    ("endpoint.ready.timeout", "\"120s\"", Always),
    ("endpoint.timeout.connect", "\"10s\"", Always),
    ("endpoint.timeout.request", "\"15m\"", Always),
    ("endpoint.timeout.job", "\"15m\"", Always),
    ("endpoint.poll.first", "\"50ms\"", Always),
    ("endpoint.poll.growth", "0.05", Always),
    ("endpoint.poll.max", "\"2s\"", Always),
    ("endpoint.stream", "false", Always),
    ("endpoint.spelling", "\"plain\"", Always),
    ("endpoint.sync_video", "false", Always),
    ("endpoint.return_stage_metrics", "false", Always),
    ("endpoint.validate", "\"header\"", Always),
    ("endpoint.allow_unknown", "false", Always),
    ("endpoint.max_reply", "\"512MB\"", Always),
    ("endpoint.ca_file", "the system's authorities", Always),
    ("endpoint.proxy", "none", Always),
    ("endpoint.http2", "false", Always),
    ("server.mode", "\"launch\"", Written),
    ("server.ready.path", "\"/health\"", Written),
    ("server.ready.timeout", "\"20m\"", Written),
    ("server.stop_grace", "\"30s\"", Written),
    ("server.restart", "\"never\"", Written),
    ("server.verify.*.json", "the whole answer", Written),
    ("variants.*.label", "the name", Written),
    ("variants.*.serve_lists", "\"repeat\" for every flag", Written),
    ("variants.*.verify.*.json", "the whole answer", Written),
    ("variants.*.gpus", "the product of the parallel degrees", Written),
    ("datasets.*.label", "the dataset's name", Written),
    ("datasets.*.profiles.*.weight", "1", Written),
    ("datasets.*.sampling", "\"weighted\"", Written),
    ("datasets.*.negative_prompt", "false", Written),
    ("datasets.*.images.count", "1", Written),
    ("datasets.*.images.width", "the request's width, else 512", Written),
    ("datasets.*.images.height", "the request's height, else 512", Written),
    ("datasets.*.videos.count", "1", Written),
    ("datasets.*.videos.width", "the request's width, else 512", Written),
    ("datasets.*.videos.height", "the request's height, else 512", Written),
    ("datasets.*.videos.num_frames", "the request's `num_frames`, else 33", Written),
    ("datasets.*.videos.fps", "the request's fps, else 24", Written),
    ("datasets.*.request_seed", "\"none\"", Written),
    ("datasets.*.allow_download", "false", Written),
    ("traffic.requests", "10", Always),
    ("traffic.max_concurrency", "1 in closed loop, none in open loop", Always),
    ("traffic.request_rate", "\"inf\"", Always),
    ("traffic.arrival", "\"poisson\"", Always),
    ("traffic.burstiness", "1", Always),
    ("traffic.trace_speed", "1", Always),
    ("traffic.seed", "42", Always),
    ("traffic.repeats", "1", Always),
    ("traffic.order", "\"interleaved\"", Always),
    ("traffic.allow_failures", "0", Always),
    ("warmup.requests", "\"match\"", Always),
    ("warmup.concurrency", "\"match\"", Always),
    ("warmup.num_inference_steps", "the measured shape", Always),
    ("warmup.num_frames", "the measured shape", Always),
    ("slo.calibration", "3", Written),
    ("slo.attainment", "0.99", Written),
    ("matrix.variant", "all", Always),
    ("matrix.dataset", "all", Always),
    ("compare.candidates", "all others", Written),
    ("compare.effect_floor", "0.01", Written),
    ("compare.metrics", "the usual ones", Written),
    ("gate.metrics", "the usual ones that the baseline has, at 0.1", Written),
    ("gate.metrics.*.tolerance", "0.1, or 0 beside an `absolute`", Written),
    ("gate.metrics.*.absolute", "0", Written),
    ("dashboard.tables.*.kind", "the name", Written),
    ("dashboard.tables.*.title", "by kind", Written),
    ("dashboard.tables.*.columns", "those of the kind", Written),
    ("dashboard.tables.*.sort", "the plan's order", Written),
    ("simulator.profile", "the one that fits the model", Always),
    ("simulator.speed", "1; 20 with `--simulate`", Always),
    ("simulator.noise", "0", Always),
    ("slurm.time", "from the plan's estimate", Written),
];

/// The defaults of keys that the document does not have.
pub(super) fn absent(document: &Node) -> impl Iterator<Item = (KeyPath, &'static str)> {
    DEFAULTS.iter().flat_map(move |(pattern, value, when)| {
        let steps: Vec<&str> = pattern.split('.').collect();
        let (key, table) = steps.split_last().map_or(("", &[][..]), |(key, table)| (*key, table));
        let tables = match when {
            Always => vec![table.iter().fold(KeyPath::root(), |path, step| path.key(*step))],
            Written => written(document, table),
        };
        let absent = tables.into_iter().map(|path| path.key(key)).filter(|path| document.at(path).is_none());
        absent.map(|path| (path, *value)).collect::<Vec<_>>()
    })
}

/// A nested table of a written one, like `server.ready`, counts as written.
fn written(document: &Node, table: &[&str]) -> Vec<KeyPath> {
    let outer = table.iter().position(|step| *step == "ready").map_or(table, |end| table.split_at(end).0);
    let inner = table.strip_prefix(outer).unwrap_or_default();
    let reached = document.matching(outer).into_iter().filter(|(_, node)| matches!(node.data, Data::Table(_)));
    reached.map(|(path, _)| inner.iter().fold(path, |path, step| path.key(*step))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use schemars::schema_for;
    use serde_json::Value;

    use super::DEFAULTS;
    use crate::scenario::Scenario;

    /// Every key of the scenario with its description; `*` for names and list elements.
    fn descriptions(schema: &Value, root: &Value, path: &str, found: &mut BTreeMap<String, String>) {
        let inner = |step: &str| if path.is_empty() { step.to_owned() } else { format!("{path}.{step}") };
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            descriptions(root.pointer(name.trim_start_matches('#')).unwrap(), root, path, found);
        }
        for choice in schema.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
            descriptions(choice, root, path, found);
        }
        for (key, entry) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let text = entry.get("description").and_then(Value::as_str).unwrap_or_default();
            found.insert(inner(key), text.to_owned());
            descriptions(entry, root, &inner(key), found);
        }
        for others in ["additionalProperties", "items"].iter().filter_map(|key| schema.get(*key)) {
            descriptions(others, root, &inner("*"), found);
        }
    }

    #[test]
    fn the_table_says_what_the_documentation_of_each_key_says() {
        let root = schema_for!(Scenario).to_value();
        let mut documented = BTreeMap::new();
        descriptions(&root, &root, "", &mut documented);
        for (key, value, _) in DEFAULTS {
            let text = documented.get(*key).unwrap_or_else(|| panic!("there is no key `{key}`"));
            // `server.ready` shares its type with `endpoint.ready`: its timeout is told beside the other
            let word = value.trim_matches('"').split([';', ',']).next().unwrap();
            let told = text.contains(word) || text.contains("efault") && word.contains(' ') || text.contains("absent");
            assert!(told, "`{key}` defaults to {value}, but its description says: {text}");
        }
        let tables = ["matrix", "server.ready", "variants"];
        let missing: Vec<&String> = documented
            .iter()
            .filter(|(key, _)| !tables.contains(&key.as_str()))
            // a fault that nobody wrote is not committed: no rate of one is shown
            .filter(|(key, _)| !key.starts_with("simulator.faults."))
            .filter(|(key, text)| text.to_lowercase().contains("default") && !key.starts_with("variants.*.endpoint"))
            .map(|(key, _)| key)
            .filter(|key| !DEFAULTS.iter().any(|(known, ..)| known == key))
            .collect();
        assert!(missing.is_empty(), "documented defaults that `explain` does not know: {missing:?}");
    }
}
