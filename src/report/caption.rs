//! What is the same for every row of a results table, in words.

use super::number::fixed;
use super::official::{dataset_label, degree, degree_header, degrees, further_degrees};
use super::table::{Cell, Value};
use super::text::{counted, distinct};
use crate::catalog::{DEGREES, WarningKind};
use crate::plan::{Axis, Plan, RunPlan};
use crate::record::Spread;
use crate::summarize::{ClientFigures, Results};

/// `simulated (20× speed), not a measurement`; `None` for a measurement.
pub(crate) fn simulated(results: &Results) -> Option<String> {
    let mut warnings = results.runs.iter().flat_map(|run| &run.warnings);
    let faults =
        if warnings.any(|warning| warning.kind == WarningKind::FaultsInjected) { ", faults injected" } else { "" };
    results.simulated.then(|| format!("simulated ({}× speed{faults}), not a measurement", results.speed))
}

/// What the client itself costs, a sentence per client that carried runs out.
pub(crate) fn clients(results: &Results) -> Vec<String> {
    let of = |client: &ClientFigures| {
        let spread = |spread: Spread| format!("{} ms (P99 {} ms)", fixed(spread.p50, 3), fixed(spread.p99, 3));
        format!(
            "takes {} for a small request, reaches {} exchanges/s, timer late by {}",
            spread(client.added_latency_ms),
            fixed(client.max_rate_per_s, 0),
            spread(client.timer_error_ms)
        )
    };
    distinct(results.runs.iter().filter_map(|run| run.client.as_ref()).map(of))
}

/// The caption of the results table.
pub(crate) fn caption(plan: &Plan, results: &Results) -> String {
    let mut parts = vec![format!("{} ({}, {})", plan.title, plan.model, plan.task)];
    parts.extend(simulated(results));
    parts.extend(constant_layout(plan));
    parts.extend(constant_axes(plan));
    parts.push(warmup(plan));
    let mut text = format!("{}.", parts.join("; "));
    if results.runs.iter().any(|run| run.headline == "response_time") {
        text.push_str(
            " Open loop: the headline is the response time, due → done, with the wait for a free slot; \
             Mean and P99 Latency are sent → done and leave that wait out.",
        );
    } else {
        text.push_str(" Latency is sent → reply consumed and judged, over the requests that succeeded.");
    }
    text.push_str(&mixed(plan, results));
    text
}

/// What a table is about, without how its latencies are taken.
pub(crate) fn short(plan: &Plan, results: &Results) -> String {
    let mut parts = vec![format!("{} ({}, {})", plan.title, plan.model, plan.task)];
    parts.extend(simulated(results));
    parts.extend(constant_layout(plan));
    format!("{}.", parts.join("; "))
}

/// Which datasets have figures over requests of different shapes, which depend on the mix.
fn mixed(plan: &Plan, results: &Results) -> String {
    let mixed = results.runs.iter().filter(|run| run.classes.len() > 1);
    let labels = distinct(mixed.map(|run| dataset_label(plan, &run.dataset).to_owned()));
    if labels.is_empty() {
        return String::new();
    }
    format!(" {}: a mix of shapes; the figures depend on the mix, those by class do not.", labels.join(", "))
}

/// The variant when there is one, and degrees without a column that are on.
fn constant_layout(plan: &Plan) -> Vec<String> {
    let [first, others @ ..] = plan.variants.as_slice() else { return Vec::new() };
    let shown = degrees(plan.task.medium());
    let varying = further_degrees(plan);
    let mut parts: Vec<String> = DEGREES
        .iter()
        .filter(|spec| !shown.contains(&spec.key) && !varying.contains(&spec.key))
        .map(|spec| (degree_header(spec.key), degree(first, spec.key)))
        .filter(|(_, value)| value != "Off")
        .map(|(header, value)| format!("{header} {value}"))
        .collect();
    if others.is_empty() {
        parts.insert(0, format!("variant {}, {}", first.label, counted(first.gpus.into(), "GPU")));
    }
    parts
}

/// Axes that have one value in all runs.
fn constant_axes(plan: &Plan) -> Vec<String> {
    let Some(run) = plan.runs.first() else { return Vec::new() };
    let constant = |axis: Axis| !plan.varying.contains(&axis);
    let mut parts = Vec::new();
    if constant(Axis::Requests) && plan.runs.iter().all(|other| other.traffic.requests == run.traffic.requests) {
        parts.push(format!("{} per run", counted(run.traffic.requests, "request")));
    }
    if constant(Axis::RequestRate) {
        parts.push(arrival(run));
    }
    let shapes = [
        (Axis::Size, run.point.size.map(|size| format!("size {size}"))),
        (Axis::NumInferenceSteps, run.point.num_inference_steps.map(|steps| format!("{steps} steps"))),
        (Axis::NumFrames, run.point.num_frames.map(|frames| format!("{frames} frames"))),
    ];
    parts.extend(shapes.into_iter().filter(|(axis, _)| constant(*axis)).filter_map(|(_, text)| text));
    if constant(Axis::Seed) {
        parts.push(format!("seed {}", run.traffic.seed));
    }
    parts
}

/// How requests come in, in a few words.
pub(crate) fn arrival(run: &RunPlan) -> String {
    match (run.traffic.arrivals.is_open_loop(), run.traffic.request_rate.per_second()) {
        (false, _) => "closed loop".to_owned(),
        (true, Some(rate)) => format!("open loop at {rate} requests/s"),
        (true, None) => "open loop at the time stamps of the data".to_owned(),
    }
}

/// The warm-up in a few words.
fn warmup(plan: &Plan) -> String {
    let Some(run) = plan.runs.first() else { return "no runs".to_owned() };
    if plan.runs.iter().all(|run| run.warmup.matched) {
        "warm-up at each run's concurrency and shapes".to_owned()
    } else if plan.runs.iter().all(|other| other.warmup == run.warmup) {
        format!("warm-up of {}, {} in flight", counted(run.warmup.requests.into(), "request"), run.warmup.concurrency)
    } else {
        "warm-up by run".to_owned()
    }
}

/// The values of the runs, each once, in the plan's order; what is absent is left out.
pub(crate) fn values(plan: &Plan, of: impl Fn(&RunPlan) -> Value) -> Vec<String> {
    distinct(plan.runs.iter().map(|run| Cell::from(of(run)).raw()).filter(|text| !text.is_empty()))
}
