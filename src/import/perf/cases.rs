//! The cases of a perf JSON: `$ref`s resolved, servers of the same name merged, entries that are
//! switched off left out.

use indexmap::IndexMap;
use serde_json::Value;

use super::super::document::{Document, Findings, Node, kind};
use super::keys;

/// One server with its entries.
#[derive(Debug)]
pub(super) struct Case<'a> {
    pub(super) name: &'a str,
    pub(super) node: Node<'a>,
    pub(super) description: Option<&'a str>,
    pub(super) marks: Marks,
    pub(super) model: &'a str,
    pub(super) serve_args: Option<Node<'a>>,
    /// The endpoint that the case names, with its place.
    pub(super) endpoint: Option<Node<'a>>,
    pub(super) entries: Vec<Node<'a>>,
}

/// What the marks of a case say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// Hardware label by platform.
    pub(super) hardware: IndexMap<String, String>,
    pub(super) cards: Option<u32>,
    pub(super) words: Vec<String>,
}

/// Files that entries are taken from, by the text of the `$ref`.
pub(super) type References = IndexMap<String, Document>;

/// Reads every file that a `$ref` names.
pub(super) fn references(
    root: &Node<'_>,
    read: &dyn Fn(&str) -> Result<String, String>,
    findings: &mut Findings,
) -> References {
    let mut found = References::new();
    for case in root.items() {
        let Some(reference) = case.get("benchmark_params").and_then(|params| params.get("$ref")) else { continue };
        let Some(name) = reference.text() else {
            findings.error(&reference, "`$ref` must be the name of a file");
            continue;
        };
        if found.contains_key(name) {
            continue;
        }
        match read(name) {
            Ok(text) => {
                if let Some(document) = Document::parse(name, &text, findings) {
                    found.insert(name.to_owned(), document);
                }
            }
            Err(error) => findings.error(&reference, error),
        }
    }
    found
}

/// The diffusion cases of a file.
pub(super) fn read<'a>(root: &Node<'a>, references: &'a References, findings: &mut Findings) -> Vec<Case<'a>> {
    let mut cases: IndexMap<&str, Case<'a>> = IndexMap::new();
    if !root.value.is_array() {
        findings.error(root, format!("a perf JSON is a list of cases, not {}", kind(root.value)));
    }
    for node in root.items() {
        let Some(case) = case(&node, references, findings) else { continue };
        match cases.get_mut(case.name) {
            None => {
                cases.insert(case.name, case);
            }
            Some(first) => {
                let server = |case: &Case<'_>| case.node.get("server_params").map(|node| node.value.clone());
                if server(first) != server(&case) {
                    let message = format!(
                        "`{}` is already the name of a case with another server; the runner starts the first one and runs these entries against it",
                        case.name
                    );
                    findings.note(&node, message);
                }
                first.entries.extend(case.entries);
            }
        }
    }
    let cases: Vec<Case<'a>> = cases.into_values().filter(|case| !case.entries.is_empty()).collect();
    if cases.is_empty() && findings.errors.is_empty() {
        findings.error(root, "there is no diffusion case with an entry in this file");
    }
    cases
}

fn case<'a>(node: &Node<'a>, references: &'a References, findings: &mut Findings) -> Option<Case<'a>> {
    if !node.value.is_object() {
        findings.error(node, format!("a case is a table, not {}", kind(node.value)));
        return None;
    }
    let marks = marks(node, findings);
    let is_diffusion = node.get("server_type").is_some() || marks.words.iter().any(|word| word == "diffusion");
    let name = node.get("test_name").and_then(|name| name.text()).filter(|name| !name.is_empty());
    if !is_diffusion {
        findings.note(
            node,
            format!("`{}` is not a diffusion case and is left out", name.unwrap_or("a case without a name")),
        );
        return None;
    }
    if let Some(kind) = node.get("server_type").filter(|kind| kind.text() != Some("vllm-omni")) {
        findings.error(&kind, format!("the server type `{}` is not known; the only one is `vllm-omni`", kind.value));
    }
    for (key, value) in node.entries().filter(|(key, _)| !keys::CASE.contains(key)) {
        findings.note(&value, format!("`{key}` is not known and is left out"));
    }
    let server = node.get("server_params");
    let model = server.as_ref().and_then(|server| server.get("model")).and_then(|model| model.text());
    let serve_args = server.as_ref().and_then(|server| server.get("serve_args"));
    if let Some(wrong) = serve_args.as_ref().filter(|args| !args.value.is_object()) {
        findings.error(wrong, format!("`serve_args` is a table, not {}", kind(wrong.value)));
    }
    let entries = entries(node, references, findings);
    let (Some(name), Some(model)) = (name, model) else {
        let missing = if name.is_none() { "test_name" } else { "server_params.model" };
        findings.error(node, format!("the case has no `{missing}`"));
        return None;
    };
    Some(Case {
        name,
        node: node.clone(),
        description: node.get("description").and_then(|text| text.text()),
        marks,
        model,
        serve_args,
        endpoint: endpoint(node, findings),
        entries,
    })
}

/// The endpoint of the case under its name or its older one.
fn endpoint<'a>(node: &Node<'a>, findings: &mut Findings) -> Option<Node<'a>> {
    let (new, old) = (node.get("benchmark_endpoint"), node.get("benchmark_backend"));
    if let (Some(new), Some(old)) = (&new, &old)
        && new.value != old.value
    {
        let message = format!(
            "`benchmark_backend` is the older spelling of `benchmark_endpoint`, which says {}; that one counts",
            new.value
        );
        findings.note(old, message);
    }
    new.or(old)
}

fn entries<'a>(node: &Node<'a>, references: &'a References, findings: &mut Findings) -> Vec<Node<'a>> {
    let Some(params) = node.get("benchmark_params") else {
        findings.error(node, "the case has no `benchmark_params`");
        return Vec::new();
    };
    let list = match params.get("$ref") {
        Some(reference) => {
            let document = reference.text().and_then(|name| references.get(name));
            // a file that could not be read has been told
            let Some(document) = document else { return Vec::new() };
            document.root()
        }
        None => params,
    };
    let right = "give a list of entries, or `{\"$ref\": \"file.json\"}`";
    if !list.value.is_array() {
        findings.error_hint(&list, format!("`benchmark_params` is a list, not {}", kind(list.value)), right);
    }
    let mut found = Vec::new();
    for entry in list.items() {
        if !entry.value.is_object() {
            findings.error_hint(&entry, format!("an entry is a table, not {}", kind(entry.value)), right);
        } else if entry.value.get("enabled") == Some(&Value::Bool(false)) {
            findings.note(&entry, "this entry is switched off (`enabled` is false) and is left out");
        } else {
            found.push(entry);
        }
    }
    found
}

fn marks(node: &Node<'_>, findings: &mut Findings) -> Marks {
    let mut marks = Marks::default();
    let Some(mark) = node.get("mark") else { return marks };
    if mark.value.is_object() {
        findings.note(&mark, "`mark` is a table, the old form that the runner rejects; write a list");
        hardware(&mark, &mut marks, findings);
        marks.words.extend(
            mark.get("marks")
                .into_iter()
                .flat_map(|list| list.items())
                .filter_map(|word| word.text().map(str::to_owned)),
        );
        return marks;
    }
    for item in mark.items() {
        match item.text() {
            Some(word) => marks.words.push(word.to_owned()),
            None if item.value.is_object() => hardware(&item, &mut marks, findings),
            None => findings.note(&item, format!("a mark is a word or a table, not {}", kind(item.value))),
        }
    }
    marks
}

fn hardware(item: &Node<'_>, marks: &mut Marks, findings: &mut Findings) {
    let Some(hardware) = item.get("hardware_marks") else { return };
    for (platform, label) in hardware.get("res").iter().flat_map(Node::entries) {
        match label.text() {
            Some(text) => {
                marks.hardware.insert(platform.to_owned(), text.to_owned());
            }
            None => findings.note(&label, format!("a hardware label is text, not {}", kind(label.value))),
        }
    }
    marks.cards =
        hardware.get("num_cards").and_then(|cards| cards.value.as_u64()?.try_into().ok()).filter(|cards| *cards > 0);
}
