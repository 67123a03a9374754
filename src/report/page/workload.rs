//! Sections 1, 5 and 6: what is measured, the workload, and what the figures mean.

use serde_json::{Map, Value as Json};

use super::service::code;
use crate::catalog::Medium;
use crate::plan::{Axis, Plan};
use crate::report::caption;
use crate::report::escape::prose;
use crate::report::markdown::render;
use crate::report::official::{axis_value, dataset_label};
use crate::report::table::{Column, Table};
use crate::report::text::{Text, distinct};
use crate::summarize::Results;

/// 1: the model, the task and the matrix in a few lines.
pub(super) fn overview(plan: &Plan, results: &Results) -> String {
    let mut text = Text::default();
    if let Some(description) = &plan.description {
        text.add(format!("{}\n\n", description.trim()));
    }
    let mut add = |name: &str, value: String| {
        if !value.is_empty() {
            text.add(format!("- {name}: {}\n", prose(&value)));
        }
    };
    let axis = |axis: Axis| caption::values(plan, |run| axis_value(axis, plan, run)).join(", ");
    let paths = distinct(plan.variants.iter().map(|variant| format!("`{}`", variant.endpoint.path())));
    add("Model", plan.model.clone());
    add("Task", format!("{} ({})", plan.task, medium_words(plan.task.medium())));
    add("Endpoint", paths.join(", "));
    add("Server configurations", axis(Axis::Variant));
    add("Datasets", axis(Axis::Dataset));
    add("Max concurrency", axis(Axis::MaxConcurrency));
    add("Arrivals", distinct(plan.runs.iter().map(caption::arrival)).join(", "));
    add("Runs", runs(plan, results));
    add("Tags", plan.tags.join(", "));
    add("Kind of numbers", caption::simulated(results).unwrap_or_else(|| "measured".to_owned()));
    text.finish()
}

const fn medium_words(medium: Medium) -> &'static str {
    match medium {
        Medium::Image => "makes pictures",
        Medium::Video => "makes videos",
    }
}

fn runs(plan: &Plan, results: &Results) -> String {
    let mut text = Text::default();
    text.add(format!("{} planned, {} with results", plan.runs.len(), results.runs.len()));
    for validity in crate::catalog::Validity::ALL {
        let count = results.runs.iter().filter(|run| run.validity == *validity).count();
        if count > 0 {
            text.add(format!(", {count} {validity}"));
        }
    }
    text.finish()
}

/// 5: each dataset with its requests' fields.
pub(super) fn datasets(plan: &Plan) -> String {
    let mut text = Text::default();
    for (name, dataset) in &plan.datasets {
        text.add(format!("**{}**", prose(dataset_label(plan, name))));
        if let Some(description) = &dataset.description {
            text.add(format!(" ({})", prose(description)));
        }
        text.add(":\n\n");
        // as `plan.json` holds it, which is the record of what was planned
        let stored = serde_json::to_value(dataset).unwrap_or_default();
        let json = serde_json::to_string_pretty(&settings(&stored)).unwrap_or_default();
        text.add(code("json", &json));
        text.add(format!("\n{}\n\n", facts(&stored)));
    }
    if plan.datasets.is_empty() {
        text.add("The plan has no datasets.\n");
    }
    text.finish()
}

/// The profiles as a scenario writes them, or the whole settings of data that has rows.
fn settings(stored: &Json) -> Json {
    let origin = stored.get("origin").unwrap_or(&Json::Null);
    if let Some(profiles) = origin.get("profiles").and_then(Json::as_array) {
        return profiles.iter().map(profile).collect();
    }
    let mut map: Map<String, Json> = origin.as_object().cloned().unwrap_or_default();
    for key in ["defaults", "overrides"] {
        if let Some(Json::Object(fields)) =
            stored.get(key).filter(|value| value.as_object().is_some_and(|o| !o.is_empty()))
        {
            map.insert(key.to_owned(), Json::Object(fields.clone()));
        }
    }
    Json::Object(map)
}

fn profile(stored: &Json) -> Json {
    let mut fields = stored.get("fields").and_then(Json::as_object).cloned().unwrap_or_default();
    let weight = stored.get("weight").and_then(Json::as_f64).unwrap_or_default();
    fields.insert("weight".to_owned(), whole(weight).map_or_else(|| weight.into(), Json::from));
    Json::Object(fields)
}

/// A number without decimals as one that is written without them.
#[expect(clippy::cast_possible_truncation, reason = "the bounds are within the type")]
fn whole(number: f64) -> Option<i64> {
    (number.fract().abs() < f64::EPSILON && number.abs() < 1e9).then_some(number as i64)
}

/// What is known about the data, in a sentence.
fn facts(stored: &Json) -> String {
    let mut parts = Vec::new();
    let at = |pointer: &str| stored.pointer(pointer).filter(|value| !value.is_null());
    let text = |pointer: &str| at(pointer).map(super::service::words);
    parts.extend(text("/origin/source").map(|source| format!("source `{source}`")));
    parts.extend(text("/origin/sampling").map(|sampling| format!("{sampling} sampling")));
    parts.extend(text("/facts/rows").map(|rows| format!("{rows} rows")));
    parts.extend(
        text("/facts/bad_rows").filter(|rows| rows != "0").map(|rows| format!("{rows} unreadable rows left out")),
    );
    parts.extend((at("/negative_prompt") == Some(&Json::Bool(true))).then(|| "with a negative prompt".to_owned()));
    parts.extend(text("/images/count").map(|count| format!("{count} reference images per request")));
    parts.extend(text("/request_seed").map(|seed| match seed.as_str() {
        "none" => "no seed is sent".to_owned(),
        "fixed" => "the same seed in every request".to_owned(),
        "per_request" => "a seed of its own in every request".to_owned(),
        other => format!("request seed `{other}`"),
    }));
    parts.extend(text("/facts/sha256").map(|sum| format!("SHA-256 `{sum}`")));
    parts.extend(text("/facts/hash").map(|hash| format!("hash `{hash}`")));
    format!("Data: {}.", parts.join(", "))
}

/// Every figure a page or its tables can show: name, meaning, unit, and for which medium.
const METRICS: &[(&str, &str, &str, Option<Medium>)] = &[
    ("Mean Latency", "sent → reply consumed, parsed and judged; mean over successes", "s", None),
    (
        "P99 Latency",
        "99th percentile of the same, linear interpolation; marked when too few requests support it",
        "s",
        None,
    ),
    ("Response time", "due → done: latency and the wait for a free slot; the headline in open loop", "s", None),
    ("Queue", "due → sent: the wait for a free slot of the client", "s", None),
    (
        "95 % Interval",
        "of the mean, within this run: Student's t, from 20 requests on BCa, of a mix by class",
        "s",
        None,
    ),
    ("Req/s", "throughput: successes / (first sent → last end of any request)", "requests/s", None),
    ("Images/s", "pictures received over the same time", "1/s", Some(Medium::Image)),
    ("Denoise Step", "as the server tells it, else its generation time / steps; mean", "ms", Some(Medium::Image)),
    ("Video", "length of the clips received over the same time", "s/s", Some(Medium::Video)),
    ("Frames/s", "frames received over the same time", "1/s", Some(Medium::Video)),
    ("RTF", "generation time / clip length; the basis of the generation time is stated", "1", Some(Medium::Video)),
    ("Generation", "time that the server tells for making the outputs", "ms", None),
    ("Megapixel Steps/s", "width × height × frames × steps × outputs / 10⁶ over the same time", "1/s", None),
    ("Outputs/h/GPU", "outputs × 3600 / time / GPUs", "1/h", None),
    ("Peak Concur.", "most requests in flight at one instant", "requests", None),
    ("Memory", "largest peak memory that the server reports", "MB", None),
];

/// 6: what the figures mean.
pub(super) fn metrics(plan: &Plan, results: &Results) -> String {
    let medium = plan.task.medium();
    let mut table = Table {
        columns: vec![
            Column::text("metric", "Metric"),
            Column::text("description", "Description"),
            Column::text("unit", "Unit"),
        ],
        ..Table::default()
    };
    let mut add = |name: &str, meaning: &str, unit: &str| {
        table.rows.push(vec![name.into(), meaning.into(), unit.into()]);
    };
    for (name, meaning, unit, only) in METRICS {
        if only.is_none_or(|only| only == medium) {
            add(name, meaning, unit);
        }
    }
    if results.runs.iter().any(|run| run.kaplan_meier) {
        add(
            "≥",
            "a percentile that lies above the time at which a limit of the client cut requests (Kaplan–Meier)",
            "s",
        );
    }
    if plan.slo.is_some() || results.runs.iter().any(|run| run.slo.is_some()) {
        add("SLO Met", "requests within their target / requests with one; failed and cut ones are missed", "requests");
        add("Goodput/s", "requests within their target over the same time", "requests/s");
    }
    render(&table)
}
