//! The keys of a perf JSON as the runner knows them, and the spellings it would trip over.

use indexmap::IndexMap;
use serde_json::Value;

use super::super::document::{Findings, Node};
use crate::diagnostic::nearest;

/// Keys of a case.
pub(super) const CASE: [&str; 9] = [
    "test_name",
    "mark",
    "description",
    "server_type",
    "benchmark_endpoint",
    "benchmark_backend",
    "server_params",
    "benchmark_params",
    "skip_reason",
];

/// Keys of an entry that mean something here.
pub(super) const ENTRY: [&str; 31] = [
    "name",
    "enabled",
    "dataset",
    "dataset-path",
    "task",
    "width",
    "height",
    "num-frames",
    "fps",
    "num-inference-steps",
    "num-prompts",
    "max-concurrency",
    "request-rate",
    "num-input-images",
    "enable-negative-prompt",
    "seed",
    "backend",
    "endpoint",
    "bot-task",
    "extra-body",
    "random-request-config",
    "random-request-seed",
    "warmup-requests",
    "warmup-concurrency",
    "warmup-num-inference-steps",
    "baseline",
    "baseline-tolerance",
    "slo",
    "slo-scale",
    "return-stage-metrics",
    "video-job-timeout",
];

/// Keys of an entry that change nothing about what is measured.
const QUIET: [&str; 4] = ["eval_phase", "disable-tqdm", "save-dir", "output-file"];

/// The entries of a table by their hyphenated names. Underscores are a trap, because the flag made of
/// them is another one; two spellings of one key clash, and the later one counts, as on a command line.
pub(super) fn hyphenated<'a>(table: &Node<'a>, reader: &str, findings: &mut Findings) -> IndexMap<String, Node<'a>> {
    let mut found: IndexMap<String, Node<'a>> = IndexMap::new();
    let mut spelled: IndexMap<String, String> = IndexMap::new();
    for (key, node) in table.entries() {
        let plain = if key == "eval_phase" { key.to_owned() } else { key.replace('_', "-") };
        if plain != key && table.value.get(&plain).is_none_or(Value::is_null) {
            findings.note(
                &node,
                format!("`{key}` is written with underscores; {reader} knows `{plain}`, so it is read as that"),
            );
        }
        if let Some(earlier) = spelled.insert(plain.clone(), key.to_owned()) {
            let same = found.get(&plain).is_some_and(|other| other.value == node.value);
            let what = if same { "with the same value" } else { "with another value; the later one counts" };
            findings.note(&node, format!("`{key}` and `{earlier}` are the same key, {what}"));
        }
        // an entry keeps the place of its first spelling
        found.insert(plain, node);
    }
    found
}

/// Notes the keys of an entry that no one reads.
pub(super) fn unknown(entry: &IndexMap<String, Node<'_>>, findings: &mut Findings) {
    for (key, node) in entry {
        let known = ENTRY.contains(&key.as_str()) || QUIET.contains(&key.as_str());
        if known || key.ends_with("-inline") || node.value.is_null() {
            continue;
        }
        let near = nearest(key, ENTRY).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        findings.note(node, format!("`{key}` is not known and is left out{near}"));
    }
}
