//! Results folders → the arms of a comparison, with the facts that must be equal.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use indexmap::{IndexMap, IndexSet};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use crate::commands::hardware;
use crate::commands::stored::{self, Stored};
use crate::compare::{Arm, Fingerprint, Point, Repeat};
use crate::plan::{Axis, Plan, RunPlan, VariantPlan};
use crate::record::{Machine, ReadError, Record, RunManifest};
use crate::summarize::doubt_unreadable;

/// Why there is no arm.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArmError {
    /// Files cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The selection is empty.
    #[error("`{given}` has no run `{selector}` with numbers; there are {}", known.join(", "))]
    NoRun {
        /// The argument.
        given: String,
        /// What was selected.
        selector: String,
        /// Points that there are.
        known: Vec<String>,
    },
    /// There is nothing in it.
    #[error("`{0}` has no run with numbers")]
    Empty(String),
}

/// A folder, and which of its runs.
pub(crate) struct Named {
    folder: PathBuf,
    selector: Option<String>,
}

impl Named {
    /// Understands `FOLDER`, `FOLDER:RUN` and `FOLDER/runs/RUN`.
    pub(crate) fn new(given: &str) -> Self {
        let path = Path::new(given);
        let whole = || Self { folder: path.to_owned(), selector: None };
        if path.exists() {
            let within = path.ancestors().find(|above| above.join("plan.json").is_file() && *above != path);
            let below = within.and_then(|folder| Some((folder, path.strip_prefix(folder.join("runs")).ok()?)));
            return match below.filter(|(_, rest)| !rest.as_os_str().is_empty()) {
                Some((folder, rest)) => {
                    let parts = rest.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
                    Self { folder: folder.to_owned(), selector: Some(parts.collect::<Vec<_>>().join("/")) }
                }
                None => whole(),
            };
        }
        match given.rsplit_once(':') {
            Some((folder, selector)) if Path::new(folder).exists() => {
                Self { folder: PathBuf::from(folder), selector: Some(selector.trim_matches('/').to_owned()) }
            }
            _ => whole(),
        }
    }

    /// Reads the folder.
    pub(crate) fn read(&self) -> Result<Stored, ReadError> {
        stored::read(&self.folder)
    }
}

/// The arm that an argument names.
pub(crate) fn arm(given: &str, named: &Named, stored: &Stored) -> Result<Arm, ArmError> {
    let is_chosen = |run: &RunPlan| match &named.selector {
        None => true,
        Some(selector) => {
            let below = |id: &str| id.strip_prefix(selector.as_str()).is_some_and(|rest| rest.starts_with('/'));
            run.id == *selector || point_id(run) == *selector || below(&run.id)
        }
    };
    let points = points(stored, is_chosen)?;
    if points.is_empty() {
        return Err(match &named.selector {
            Some(selector) => {
                let known: IndexSet<String> = stored.plan.runs.iter().map(point_id).collect();
                let known = known.into_iter().collect();
                ArmError::NoRun { given: given.to_owned(), selector: selector.clone(), known }
            }
            None => ArmError::Empty(given.to_owned()),
        });
    }
    Ok(Arm { name: given.to_owned(), points })
}

/// The arm of one variant.
pub(crate) fn variant_arm(stored: &Stored, variant: &str) -> Result<Arm, ArmError> {
    let points = points(stored, |run| run.variant == variant)?;
    if points.is_empty() {
        let known: IndexSet<String> = stored.results.runs.iter().map(|run| run.variant.clone()).collect();
        let given = stored.dir.path().display().to_string();
        let known = known.into_iter().collect();
        return Err(ArmError::NoRun { given, selector: variant.to_owned(), known });
    }
    Ok(Arm { name: variant.to_owned(), points })
}

/// A run's id without its repeat.
fn point_id(run: &RunPlan) -> String {
    let suffix = format!(".r{}", run.repeat);
    run.id.strip_suffix(&suffix).unwrap_or(&run.id).to_owned()
}

fn points(stored: &Stored, is_chosen: impl Fn(&RunPlan) -> bool) -> Result<Vec<Point>, ReadError> {
    let mut groups: IndexMap<String, Vec<&RunPlan>> = IndexMap::new();
    for run in stored.plan.runs.iter().filter(|run| is_chosen(run)) {
        groups.entry(point_id(run)).or_default().push(run);
    }
    let mut points = Vec::new();
    for (id, runs) in groups {
        let mut repeats = Vec::new();
        for run in &runs {
            repeats.extend(repeat(stored, run)?);
        }
        let Some(run) = runs.first().copied().filter(|_| !repeats.is_empty()) else { continue };
        let prefix = format!("{}/", run.variant);
        points.push(Point {
            place: id.strip_prefix(&prefix).unwrap_or(&id).to_owned(),
            variant: run.variant.clone(),
            workload_key: run.workload_key.clone(),
            sweep: (!run.traffic.arrivals.is_open_loop()).then(|| sweep(&stored.plan, run)),
            concurrency: run.traffic.max_concurrency,
            fingerprint: fingerprint(stored, run, &runs, &repeats),
            repeats,
            id,
        });
    }
    Ok(points)
}

fn repeat(stored: &Stored, run: &RunPlan) -> Result<Option<Repeat>, ReadError> {
    let Some(summary) = stored.results.runs.iter().find(|summary| summary.id == run.id) else { return Ok(None) };
    let started = manifest(stored, &run.id).and_then(|manifest| manifest.started_at.as_deref());
    let read = stored::journal::<Record>(&stored.dir.run(&run.id).records())?;
    let mut summary = summary.clone();
    doubt_unreadable(&mut summary, read.skipped);
    Ok(Some(Repeat {
        number: run.repeat,
        started_us: started.and_then(|at| Some(at.parse::<Timestamp>().ok()?.as_microsecond())),
        summary,
        records: read.items,
    }))
}

fn manifest<'a>(stored: &'a Stored, id: &str) -> Option<&'a RunManifest> {
    stored.manifests.iter().find(|manifest| manifest.id == id)
}

/// What the levels of a sweep have in common, in words.
fn sweep(plan: &Plan, run: &RunPlan) -> String {
    let varies = |axis: Axis| plan.varying.contains(&axis);
    let parts = [
        (Axis::Size, run.point.size.map(|size| size.to_string())),
        (Axis::NumInferenceSteps, run.point.num_inference_steps.map(|steps| format!("{steps} steps"))),
        (Axis::NumFrames, run.point.num_frames.map(|frames| format!("{frames} frames"))),
        (Axis::Seed, Some(format!("seed {}", run.traffic.seed))),
    ];
    let more = parts.into_iter().filter(|(axis, _)| varies(*axis)).filter_map(|(_, text)| text);
    std::iter::once(run.dataset.clone()).chain(more).collect::<Vec<_>>().join(", ")
}

/// The facts of a point's runs.
fn fingerprint(stored: &Stored, run: &RunPlan, runs: &[&RunPlan], repeats: &[Repeat]) -> Fingerprint {
    let plan = &stored.plan;
    let variant = plan.variant(&run.variant);
    let manifests: Vec<&RunManifest> = runs.iter().filter_map(|run| manifest(stored, &run.id)).collect();
    let of_manifests = |of: &dyn Fn(&RunManifest) -> Value| one(manifests.iter().map(|manifest| of(manifest)));
    let mut conditions: IndexMap<String, Value> = IndexMap::new();
    let mut fact = |key: &str, value: Value| conditions.insert(key.to_owned(), value);
    fact("model", of_manifests(&|manifest| json!(manifest.model)));
    fact("task", value(&plan.task));
    fact("endpoint", variant.map_or(Value::Null, |variant| json!(variant.endpoint.path())));
    fact("request_fields", variant.map_or(Value::Null, request_fields));
    fact("dataset", plan.datasets.get(&run.dataset).map_or(Value::Null, |dataset| json!(dataset.facts.hash)));
    asked(repeats, &mut fact);
    fact("requests", json!(run.traffic.requests));
    fact("max_concurrency", run.traffic.max_concurrency.map_or_else(|| json!("no cap"), |cap| json!(cap)));
    fact("request_rate", value(&run.traffic.request_rate));
    fact("arrivals", value(&run.traffic.arrivals));
    fact("seed", json!(run.traffic.seed));
    fact("warmup", value(&run.warmup));
    let simulated = plan.simulated || manifests.iter().any(|manifest| manifest.simulated);
    fact("simulated", json!(simulated));
    if simulated {
        fact(
            "simulator",
            json!({ "profile": plan.simulator_profile, "noise": plan.simulator_noise, "faults": plan.simulator_faults }),
        );
    }
    let declared = variant.map_or(&plan.environment, |variant| &variant.environment);
    let (told_by, name) = hardware::accelerator(declared).unzip();
    let machine = stored.machine(&run.variant);
    fact("gpu", value(&name.or_else(|| machine.and_then(Machine::gpu_model))));
    for (key, value) in declared.iter().filter(|(key, _)| told_by != Some(key.as_str())) {
        fact(&format!("environment.{key}"), value.clone());
    }
    for (key, value) in hardware::filled(declared, machine) {
        fact(&format!("environment.{key}"), json!(value));
    }
    fact("server.models", of_manifests(&|manifest| value(&manifest.server.models)));
    fact("server.version", of_manifests(&|manifest| version(manifest)));
    let mut configuration: IndexMap<String, Value> = IndexMap::new();
    if let Some(variant) = variant {
        for (key, part) in [("parallel", value(&variant.parallel)), ("serve_args", value(&variant.serve_args))] {
            // an argument or switch that is off makes no flag
            let is_on = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
            let Value::Object(map) = part else { continue };
            let set = map.into_iter().filter(|(_, value)| is_on(value));
            configuration.extend(set.map(|(name, value)| (format!("{key}.{name}"), value)));
        }
    }
    configuration.insert("gpus".to_owned(), json!(run.gpus));
    Fingerprint { conditions, configuration }
}

/// Shapes, steps and frames of the requests as they were sent.
fn asked(repeats: &[Repeat], fact: &mut impl FnMut(&str, Value) -> Option<Value>) {
    let all = || repeats.iter().flat_map(|repeat| &repeat.records).map(|record| &record.asked);
    let set = |values: BTreeSet<Option<u32>>| one(values.into_iter().map(|value| json!(value)));
    let sizes: BTreeSet<_> = all().map(|asked| (asked.width, asked.height)).collect();
    let size = |(width, height): (Option<u32>, Option<u32>)| match (width, height) {
        (Some(width), Some(height)) => json!(format!("{width}x{height}")),
        _ => Value::Null,
    };
    fact("size", one(sizes.into_iter().map(size)));
    fact("num_inference_steps", set(all().map(|asked| asked.num_inference_steps).collect()));
    if all().any(|asked| asked.num_frames.is_some()) {
        fact("num_frames", set(all().map(|asked| asked.num_frames).collect()));
    }
}

fn request_fields(variant: &VariantPlan) -> Value {
    let endpoint = &variant.endpoint;
    json!({
        "extra_body": endpoint.extra_body,
        "bot_task": endpoint.bot_task,
        "return_stage_metrics": endpoint.return_stage_metrics,
        "stream": endpoint.stream,
    })
}

/// What the server said of its version; a simulator's speed is no part of it, because times are modelled.
fn version(manifest: &RunManifest) -> Value {
    match &manifest.server.version {
        Some(Value::Object(map)) if manifest.simulated => {
            map.iter().filter(|(key, _)| *key != "speed").map(|(key, value)| (key.clone(), value.clone())).collect()
        }
        Some(version) => version.clone(),
        None => Value::Null,
    }
}

/// The value that all have, or a list of those that there are; null when there are none.
fn one(values: impl Iterator<Item = Value>) -> Value {
    let mut distinct: Vec<Value> = Vec::new();
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    if distinct.len() > 1 { Value::Array(distinct) } else { distinct.pop().unwrap_or_default() }
}

fn value(part: &impl Serialize) -> Value {
    // plain data always has a JSON form
    serde_json::to_value(part).unwrap_or_default()
}

/// Every point of a folder that has numbers.
pub(crate) fn all_points(stored: &Stored) -> Result<Vec<Point>, ReadError> {
    points(stored, |_| true)
}
