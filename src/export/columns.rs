//! The reporting columns of a diffusion record, in the words of the runner that used to write them.

use indexmap::IndexMap;
use serde_json::Value;

use crate::plan::VariantPlan;
use crate::summarize::Summary;

/// Serve arguments that the parallelism column names; the last two it used to leave out.
const PARALLELISM: [&str; 11] = [
    "num-gpus",
    "usp",
    "ulysses-degree",
    "ring",
    "ring-degree",
    "cfg-parallel-size",
    "vae-patch-parallel-size",
    "vae-use-tiling",
    "tensor-parallel-size",
    "use-hsdp",
    "text-encoder-tp-size",
];
/// Serve arguments that move weights off the device.
const OFFLOAD: [&str; 3] = ["enable-cpu-offload", "enable-layerwise-offload", "enable-distributed-layerwise-offload"];
/// Hardware labels by which files are named.
const LABELS: [&str; 9] = ["H100", "H200", "L4", "B200", "MI325", "B60", "S5000", "A2", "A3"];

/// An argument that is given and not off.
fn on<'a>(variant: &'a VariantPlan, key: &str) -> Option<&'a Value> {
    variant.serve_args.get(key).filter(|value| !matches!(value, Value::Null | Value::Bool(false)))
}

fn text(value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// `usp=2,cfg-parallel-size=2`, or `none`.
pub(super) fn parallelism(variant: &VariantPlan) -> String {
    let parts = PARALLELISM.iter().filter_map(|key| Some(format!("{key}={}", text(on(variant, key)?))));
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(",") }
}

pub(super) fn offload(variant: &VariantPlan) -> String {
    let parts: Vec<&str> = OFFLOAD.into_iter().filter(|key| on(variant, key).is_some()).collect();
    if parts.is_empty() { "disabled".to_owned() } else { format!("enabled({})", parts.join(";")) }
}

/// The value of an argument, or `disabled`.
pub(super) fn or_disabled(variant: &VariantPlan, key: &str) -> String {
    on(variant, key).map_or_else(|| "disabled".to_owned(), text)
}

pub(super) fn compile(variant: &VariantPlan) -> &'static str {
    if on(variant, "enforce-eager").is_some() { "disabled" } else { "enabled" }
}

pub(super) fn attention(variant: &VariantPlan) -> String {
    on(variant, "diffusion-attention-backend").map_or_else(String::new, text)
}

/// The declared hardware: its label when the name holds one, else the name; `None` when nothing is declared.
pub(super) fn hardware(variant: &VariantPlan) -> Option<String> {
    let name = variant.environment.get("gpu")?.as_str()?;
    let words: Vec<&str> = name.split(|letter: char| !letter.is_ascii_alphanumeric()).collect();
    let label = LABELS.into_iter().find(|label| words.contains(label));
    Some(label.unwrap_or(name).to_owned())
}

/// `512x512` when all requests have that size, `mixed(3 shapes)` when they differ; `None` when the
/// server chooses.
pub(super) fn resolution(summary: &Summary) -> Option<String> {
    let sizes = parts(summary, |part| part.split_once('x').is_some_and(|(width, _)| width.parse::<u32>().is_ok()));
    match sizes.keys().collect::<Vec<_>>().as_slice() {
        [] => None,
        [only] if summary.classes.len() == 1 => Some((*only).clone()),
        _ => Some(format!("mixed({} shapes)", summary.classes.len())),
    }
}

/// The steps of every request when they are the same.
pub(super) fn steps(summary: &Summary) -> Option<u64> {
    let steps = parts(summary, |part| part.strip_prefix('s').is_some_and(|steps| steps.parse::<u64>().is_ok()));
    match steps.iter().collect::<Vec<_>>().as_slice() {
        [(only, count)] if **count == summary.classes.len() => only.strip_prefix('s')?.parse().ok(),
        _ => None,
    }
}

/// Parts of the classes' names that are of a kind, with how many classes have them.
fn parts(summary: &Summary, is: impl Fn(&str) -> bool) -> IndexMap<String, usize> {
    let mut found = IndexMap::new();
    for part in summary.classes.keys().filter_map(|class| class.split('-').find(|part| is(part))) {
        *found.entry(part.to_owned()).or_default() += 1;
    }
    found
}
