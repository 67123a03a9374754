//! What was planned: variants, datasets, settings.

use serde_json::Value as Json;

use super::grid::{Field, Grid};
use crate::catalog::DEGREES;
use crate::plan::{Plan, SloTarget, VariantPlan};
use crate::report::caption;
use crate::report::figures::percent;
use crate::report::official::{degree, degree_header};
use crate::report::text::{counted, distinct, inline};

/// Settings that hold for the whole plan.
pub(super) fn facts(plan: &Plan) -> Vec<(&'static str, String)> {
    let servers = match (&plan.server, plan.simulated) {
        (_, true) => "the embedded simulator".to_owned(),
        (Some(_), false) => format!("started by omni-bench, {}", counted(plan.starts.into(), "start")),
        (None, false) => "already running".to_owned(),
    };
    let slo = plan.slo.map(|slo| {
        let target = match slo.target {
            SloTarget::Latency(span) => span.to_string(),
            SloTarget::Scale { factor, calibration } => {
                format!("{factor} × the median of {}", counted(calibration.into(), "calibration request"))
            }
            SloTarget::RowOnly => "as each row says".to_owned(),
        };
        format!("{target}, to be met by {} %", percent(slo.attainment))
    });
    let facts = [
        ("Planned", Some(counted(plan.runs.len() as u64, "run"))),
        ("Arrivals", Some(distinct(plan.runs.iter().map(caption::arrival)).join(", "))),
        ("Repeats", Some(plan.repeats.to_string())),
        ("Servers", Some(servers)),
        ("SLO", slo),
        ("Failed requests allowed per run", Some(plan.allow_failures.to_string())),
        ("Tags", (!plan.tags.is_empty()).then(|| plan.tags.join(", "))),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Variants and datasets.
pub(super) fn tables(plan: &Plan) -> Vec<Grid> {
    let mut variants =
        Grid::of_words("Variants", &["Variant", "Label", "GPUs", "Layout", "Serve arguments", "Endpoint"]);
    variants.rows = plan.variants.iter().map(variant).collect();
    let mut datasets = Grid::of_words("Datasets", &["Dataset", "Label", "Description", "Source", "Requests", "Hash"]);
    datasets.rows = plan
        .datasets
        .iter()
        .map(|(name, dataset)| {
            // as `plan.json` holds it, which is the record of what was planned
            let stored = serde_json::to_value(dataset).unwrap_or_default();
            let text = |pointer: &str| stored.pointer(pointer).map(words).unwrap_or_default();
            let description = dataset.description.as_deref().map(inline).unwrap_or_default();
            let cells = [
                name.clone(),
                inline(&dataset.label),
                description,
                text("/origin/source"),
                requests(&stored),
                text("/facts/hash"),
            ];
            cells.into_iter().map(Field::text).collect()
        })
        .collect();
    [variants, datasets].into_iter().filter(|table| !table.rows.is_empty()).collect()
}

fn variant(variant: &VariantPlan) -> Vec<Field> {
    let layout = DEGREES.iter().map(|spec| (degree_header(spec.key), degree(variant, spec.key)));
    let layout: Vec<String> =
        layout.filter(|(_, value)| value != "Off").map(|(name, value)| format!("{name} {value}")).collect();
    let serve = variant.serve_args.iter().map(|(flag, value)| match value {
        Json::Bool(true) => format!("--{flag}"),
        value => format!("--{flag} {}", words(value)),
    });
    let cells = [
        variant.name.clone(),
        inline(&variant.label),
        variant.gpus.to_string(),
        if layout.is_empty() { "no parallelism".to_owned() } else { layout.join(", ") },
        if variant.serve_args.is_empty() { "none".to_owned() } else { serve.collect::<Vec<_>>().join(" ") },
        variant.endpoint.path().to_owned(),
    ];
    cells.into_iter().map(Field::text).collect()
}

/// Profiles with their weights, or files.
fn requests(stored: &Json) -> String {
    let profiles = stored.pointer("/origin/profiles").and_then(Json::as_array);
    let Some(profiles) = profiles else {
        return stored.pointer("/origin/files").map(words).unwrap_or_default();
    };
    let profiles = profiles.iter().take(50).map(|profile| {
        let fields = profile.get("fields").and_then(Json::as_object);
        let fields = fields.into_iter().flatten().map(|(name, value)| format!("{name} {}", words(value)));
        let weight = profile.get("weight").map(words).unwrap_or_default();
        format!("{} (weight {weight})", fields.collect::<Vec<_>>().join(", "))
    });
    profiles.collect::<Vec<_>>().join("; ")
}

/// A value without quotes.
fn words(value: &Json) -> String {
    match value {
        Json::String(text) => inline(text),
        Json::Array(values) => values.iter().map(words).collect::<Vec<_>>().join(", "),
        // a weight of 1 is written as people write it
        Json::Number(number) => number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string()),
        other => other.to_string(),
    }
}

/// The plan as it is stored, without runs and steps, which would be most of it.
pub(super) fn stored(plan: &Plan) -> String {
    let mut stored = serde_json::to_value(plan).unwrap_or_default();
    if let Some(fields) = stored.as_object_mut() {
        fields.shift_remove("runs");
        fields.shift_remove("steps");
    }
    serde_json::to_string_pretty(&stored).unwrap_or_default()
}
