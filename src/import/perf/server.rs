//! A case's server → a variant: the parallel layout as degrees, everything else as serve arguments in
//! the file's order.

use indexmap::IndexMap;
use serde_json::Value;

use super::super::document::{Findings, Node};
use super::cases::Case;
use super::inline::{self, InlineFile};
use super::keys;
use crate::catalog::{DEGREES, DegreeSpec};
use crate::scenario::model::Parallel;

/// What profiles the pipeline; the runner then asks chat for stage metrics.
const PROFILER: &str = "enable-diffusion-pipeline-profiler";

/// A server as a variant needs it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Server {
    pub(super) parallel: Parallel,
    /// GPUs when they are not the product of the degrees.
    pub(super) gpus: Option<u32>,
    pub(super) serve_args: IndexMap<String, Value>,
    /// Files that arguments name, by argument.
    pub(super) files: IndexMap<String, InlineFile>,
    pub(super) profiled: bool,
}

/// Reads the serve arguments of a case.
pub(super) fn read(case: &Case<'_>, findings: &mut Findings) -> Server {
    let mut server = Server::default();
    let Some(table) = &case.serve_args else {
        server.gpus = gpus(case, &server, findings);
        return server;
    };
    let mut degrees: IndexMap<&'static str, (String, Value)> = IndexMap::new();
    for (key, node) in keys::hyphenated(table, "the server", findings) {
        if let Some(flag) = key.strip_suffix("-inline") {
            if let Some(file) = inline::read(&key, &node, findings) {
                if table.value.get(flag).is_some() {
                    findings.note(&node, format!("`{key}` replaces `{flag}`, which is there too"));
                }
                server.serve_args.insert(flag.to_owned(), Value::Null);
                server.files.insert(flag.to_owned(), file);
            }
            continue;
        }
        if server.files.contains_key(&key) {
            continue;
        }
        let spec = DEGREES.iter().find(|spec| spec.flag == key || spec.aliases.contains(&key.as_str()));
        if let Some((spec, value)) = spec.and_then(|spec| Some((spec, degree(spec, node.value)?))) {
            if let Some((earlier, other)) = degrees.insert(spec.key, (key.clone(), value.clone())) {
                let what =
                    if other == value { "with the same value" } else { "with another value; the later one counts" };
                findings.note(&node, format!("`{key}` and `{earlier}` set the same degree, {what}"));
            }
        } else {
            server.profiled |= key == PROFILER && node.value == &Value::Bool(true);
            if let Some(value) = argument(&key, &node, findings) {
                server.serve_args.insert(key, value);
            }
        }
    }
    for (key, (_, value)) in degrees {
        set(&mut server.parallel, key, &value);
    }
    server.gpus = gpus(case, &server, findings);
    server
}

/// A value that a degree can have.
fn degree(spec: &DegreeSpec, value: &Value) -> Option<Value> {
    if spec.switch {
        return value.is_boolean().then(|| value.clone());
    }
    let number = value.as_str().map_or_else(|| value.as_u64(), |text| text.parse().ok())?;
    u32::try_from(number).ok().filter(|number| *number > 0).map(Value::from)
}

/// An argument as a scenario can hold it, so that the command line stays the same.
fn argument(key: &str, node: &Node<'_>, findings: &mut Findings) -> Option<Value> {
    match node.value {
        Value::Null => {
            findings.note(
                node,
                format!("`{key}` is null, which the runner would pass on as the word `None`; it is left out"),
            );
            None
        }
        Value::Array(_) => {
            findings.note(
                node,
                format!(
                    "`{key}` is a list, which the runner would pass on as Python text; the flag is repeated instead"
                ),
            );
            Some(node.value.clone())
        }
        // TOML has no null; the server gets the object as JSON text in any case
        Value::Object(_) if holds_null(node.value) => Some(Value::String(node.value.to_string())),
        value => Some(value.clone()),
    }
}

/// Whether a null stands somewhere within.
pub(super) fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(holds_null),
        Value::Object(map) => map.values().any(holds_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn set(parallel: &mut Parallel, key: &str, value: &Value) {
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    match key {
        "cfg" => parallel.cfg = number,
        "ulysses" => parallel.ulysses = number,
        "ring" => parallel.ring = number,
        "tensor" => parallel.tensor = number,
        "pipeline" => parallel.pipeline = number,
        "data" => parallel.data = number,
        "vae_patch" => parallel.vae_patch = number,
        "text_encoder_tensor" => parallel.text_encoder_tensor = number,
        "hsdp" => parallel.hsdp = value.as_bool(),
        _ => {}
    }
}

/// The cards of the marks, else `num-gpus`; nothing when the degrees say the same.
fn gpus(case: &Case<'_>, server: &Server, findings: &mut Findings) -> Option<u32> {
    let degrees = DEGREES.iter().filter(|spec| spec.multiplies_gpus);
    let product: u32 = degrees.filter_map(|spec| server.parallel.degree(spec.key)).fold(1, u32::saturating_mul);
    let flag = server.serve_args.get("num-gpus").and_then(Value::as_u64).and_then(|gpus| u32::try_from(gpus).ok());
    if let (Some(cards), Some(flag)) = (case.marks.cards, flag)
        && cards != flag
    {
        findings.note(&case.node, format!("the marks say {cards} cards, `num-gpus` says {flag}; the marks count"));
    }
    if let Some(cards) = case.marks.cards.filter(|cards| *cards < product) {
        findings.note(&case.node, format!("the marks say {cards} cards, the parallel degrees multiply to {product}"));
    }
    case.marks.cards.or(flag).filter(|gpus| *gpus > 0 && *gpus != product)
}
