//! `*-inline` blocks: a file's content written into the perf JSON itself.

use indexmap::IndexSet;
use serde_json::{Map, Value};

use super::super::document::{Findings, Node, kind};

/// The file that an inline block holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InlineFile {
    /// `yaml` or `jsonl`.
    pub(super) extension: &'static str,
    pub(super) text: String,
}

impl InlineFile {
    /// The columns of its rows, in order of appearance; none when it holds no rows.
    pub(super) fn columns(&self) -> IndexSet<String> {
        let rows = self.text.lines().filter(|_| self.extension == "jsonl");
        let rows = rows.filter_map(|row| serde_json::from_str::<Map<String, Value>>(row).ok());
        rows.flat_map(|row| row.into_iter().map(|(column, _)| column)).collect()
    }
}

/// Reads the block under `key`. A block that cannot be read is an error: the runner would leave it in
/// place and pass `key` on as an option that the server or the script does not have.
pub(super) fn read(key: &str, block: &Node<'_>, findings: &mut Findings) -> Option<InlineFile> {
    let right = "write `{\"type\": \"yaml\" or \"jsonl\", \"content\": …}`";
    if !block.value.is_object() {
        let message = format!("`{key}` must be a table, not {}", kind(block.value));
        findings.error_hint(block, message, right);
        return None;
    }
    let Some(content) = block.get("content") else {
        findings.error_hint(block, format!("`{key}` has no `content`"), right);
        return None;
    };
    match block.get("type").as_ref().and_then(Node::text) {
        Some("yaml") => {
            // JSON is YAML, and keeps order and types as they are
            let text = serde_json::to_string_pretty(content.value).unwrap_or_default() + "\n";
            Some(InlineFile { extension: "yaml", text })
        }
        Some("jsonl") => {
            let rows: Vec<&Value> = match content.value {
                Value::Array(rows) => rows.iter().collect(),
                row => vec![row],
            };
            let lines: Vec<String> = rows.iter().map(ToString::to_string).collect();
            if rows.is_empty() {
                findings.error(&content, format!("`{key}` has no rows"));
                return None;
            }
            Some(InlineFile { extension: "jsonl", text: lines.join("\n") + "\n" })
        }
        found => {
            let at = block.get("type").unwrap_or_else(|| block.clone());
            let message = match found {
                Some(other) => format!("`{key}` has the type `{other}`; the types are `yaml` and `jsonl`"),
                None => format!("`{key}` has no `type`; the types are `yaml` and `jsonl`"),
            };
            findings.error(&at, message);
            None
        }
    }
}
