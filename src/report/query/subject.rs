//! What a row is about: a run, or a class or a stage of one, and its value for every key.

use indexmap::IndexMap;
use serde_json::Value as Json;

use crate::catalog::{DEGREES, TableKind};
use crate::plan::{RunPlan, VariantPlan};
use crate::record::{ResultsDir, RunDir, RunManifest};
use crate::report::official::{dataset_label, degree};
use crate::report::source::Source;
use crate::report::table::Value;
use crate::summarize::{ClassSummary, StageTime, Summary};

/// Which part of a run a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Run,
    Class,
    Stage,
}

impl Scope {
    /// The rows of a kind of table.
    pub(crate) const fn of(kind: TableKind) -> Self {
        match kind {
            TableKind::Results | TableKind::Throughput | TableKind::Envelope | TableKind::Memory => Self::Run,
            TableKind::Classes | TableKind::Sensitivity => Self::Class,
            TableKind::Stages => Self::Stage,
        }
    }
}

/// The part itself.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'a> {
    Run,
    Class(&'a str, &'a ClassSummary),
    Stage(&'a str),
}

/// What a row is about.
#[derive(Debug, Clone)]
pub(crate) struct Subject<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) summary: &'a Summary,
    pub(crate) part: Part<'a>,
    figures: IndexMap<String, f64>,
}

impl<'a> Subject<'a> {
    /// Everything of this scope in the results, in their order.
    pub(crate) fn all(sources: &[Source<'a>], scope: Scope) -> Vec<Self> {
        let runs = sources.iter().flat_map(|source| source.results.runs.iter().map(move |run| (*source, run)));
        runs.flat_map(|(source, run)| Self::parts(source, run, scope)).collect()
    }

    fn parts(source: Source<'a>, summary: &'a Summary, scope: Scope) -> Vec<Self> {
        let of = |part: Part<'a>, figures| Self { source, summary, part, figures };
        match scope {
            Scope::Run => vec![of(Part::Run, of_run(summary))],
            Scope::Class => {
                let classes = summary.classes.iter();
                classes.map(|(name, class)| of(Part::Class(name, class), of_class(name, class))).collect()
            }
            Scope::Stage => {
                let stages = summary.stage_ms.iter();
                stages.map(|(name, stage)| of(Part::Stage(name), of_stage(stage))).collect()
            }
        }
    }

    /// Every number of the row by its key.
    pub(crate) const fn figures(&self) -> &IndexMap<String, f64> {
        &self.figures
    }

    pub(crate) fn run(&self) -> Option<&'a RunPlan> {
        self.source.plan.run(&self.summary.id)
    }

    pub(crate) fn variant(&self) -> Option<&'a VariantPlan> {
        self.source.plan.variant(&self.summary.variant)
    }

    /// The path from the page to the summary of the row's run, when rows link to it.
    pub(crate) fn link(&self) -> Option<String> {
        let folder = self.source.links?;
        let run = RunDir::path(&ResultsDir::at("").run(&self.summary.id)).join("summary.json");
        let parts: Vec<_> = run.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        Some(format!("{folder}{}", parts.join("/")))
    }

    pub(crate) fn is_open_loop(&self) -> bool {
        self.summary.headline == "response_time"
    }

    /// The value of a key; absent when it was not measured, or is not known.
    pub(crate) fn value(&self, key: &str) -> Value {
        self.word(key).unwrap_or_else(|| self.figures.get(key).copied().into())
    }

    /// The value of a key that is not one of the numbers.
    fn word(&self, key: &str) -> Option<Value> {
        let (plan, summary) = (self.source.plan, self.summary);
        Some(match key {
            "folder" => self.source.name.into(),
            "scenario" => plan.scenario.as_str().into(),
            "title" => plan.title.as_str().into(),
            "model" => self.model().into(),
            "task" => plan.task.name().into(),
            "plan_hash" => plan.plan_hash.as_str().into(),
            "tool_version" => plan.tool_version.as_str().into(),
            "id" => summary.id.as_str().into(),
            "key" => summary.key.as_str().into(),
            "workload_key" => summary.workload_key.as_str().into(),
            "config_key" => summary.config_key.as_str().into(),
            "variant" => summary.variant.as_str().into(),
            "variant_label" => self.variant().map_or(&summary.variant, |variant| &variant.label).as_str().into(),
            "dataset" => summary.dataset.as_str().into(),
            "dataset_label" => dataset_label(plan, &summary.dataset).into(),
            "max_concurrency" => summary.max_concurrency.map_or("none".into(), |cap| Value::Count(cap.into())),
            "request_rate" => summary.request_rate.to_string().into(),
            "size" => self.shape().size.map_or(Value::Absent, Into::into),
            "num_inference_steps" => self.shape().steps.into(),
            "num_frames" => self.shape().frames.into(),
            "seed" => self.run().map(|run| run.traffic.seed).into(),
            "repeat" => Value::Count(summary.repeat.into()),
            "gpus" => Value::Count(summary.gpus.into()),
            "headline" => summary.headline.as_str().into(),
            "validity" => summary.validity.name().into(),
            "warnings" => joined(summary.warnings.iter().map(|warning| warning.kind.name()), " "),
            "reasons" => joined(summary.warnings.iter().map(|warning| warning.text.as_str()), "; "),
            "simulated" => summary.simulated.to_string().into(),
            "kaplan_meier" => summary.kaplan_meier.to_string().into(),
            "throughput_comparable" => summary.throughput_comparable.to_string().into(),
            "rtf.basis" => summary.rtf.as_ref().map_or(Value::Absent, |rtf| rtf.basis.as_str().into()),
            "slo.basis" => summary.slo.as_ref().map_or(Value::Absent, |slo| slo.basis.as_str().into()),
            "started_at" => self.started_at().map_or(Value::Absent, Into::into),
            "shape" => self.shapes(),
            "prompt_chars" => self.prompt_chars(),
            "class" | "stage" => match self.part {
                Part::Class(name, _) | Part::Stage(name) => name.into(),
                Part::Run => return None,
            },
            other => return self.declared(other),
        })
    }

    /// A degree of the parallel layout, or a fact of `[environment]`.
    fn declared(&self, key: &str) -> Option<Value> {
        let variant = self.variant();
        if let Some(name) = key.strip_prefix("environment.") {
            let fact = variant.and_then(|variant| variant.environment.get(name));
            return Some(fact.map_or(Value::Absent, |fact| match fact {
                Json::String(text) => text.as_str().into(),
                other => other.to_string().into(),
            }));
        }
        let spec = DEGREES.iter().find(|spec| spec.key == key)?;
        Some(variant.map_or(Value::Absent, |variant| degree(variant, spec.key).into()))
    }

    fn manifest(&self) -> Option<&'a RunManifest> {
        self.source.manifests.iter().find(|manifest| manifest.id == self.summary.id)
    }

    fn model(&self) -> &'a str {
        self.manifest().map_or(&self.source.plan.model, |manifest| &manifest.model)
    }

    fn started_at(&self) -> Option<&'a str> {
        self.manifest()?.started_at.as_deref()
    }

    /// The shape of a class; of a run, what an axis sets, else the shape that all its requests have.
    fn shape(&self) -> ShapeText {
        if let Part::Class(name, _) = self.part {
            return shape_of(name);
        }
        let classes = &self.summary.classes;
        let only = classes.first().filter(|_| classes.len() == 1);
        let shape = only.map(|(name, _)| shape_of(name)).unwrap_or_default();
        let point = self.run().map(|run| run.point).unwrap_or_default();
        ShapeText {
            size: point.size.map(|size| size.to_string()).or(shape.size),
            steps: point.num_inference_steps.map(u64::from).or(shape.steps),
            frames: point.num_frames.map(u64::from).or(shape.frames),
        }
    }

    /// The class of the requests, or how many there are of.
    fn shapes(&self) -> Value {
        let classes = &self.summary.classes;
        match (self.part, classes.first()) {
            (Part::Class(name, _), _) => name.into(),
            (_, None) => Value::Absent,
            (_, Some((name, _))) if classes.len() == 1 => name.as_str().into(),
            _ => format!("mixed({} shapes)", classes.len()).into(),
        }
    }

    /// Length of the prompts in characters, when the plan has them: a number, or the least and the most.
    fn prompt_chars(&self) -> Value {
        let Some(dataset) = self.source.plan.datasets.get(&self.summary.dataset) else { return Value::Absent };
        // as `plan.json` holds it, which is the record of what was planned
        let stored = serde_json::to_value(dataset).unwrap_or_default();
        let length =
            |fields: Option<&Json>| fields?.get("prompt").and_then(Json::as_str).map(|prompt| prompt.chars().count());
        let [defaults, overrides] = ["defaults", "overrides"].map(|key| length(stored.get(key)));
        let profiles = stored.pointer("/origin/profiles").and_then(Json::as_array);
        let of = |profile: &Json| overrides.or_else(|| length(profile.get("fields"))).or(defaults);
        // prompts that are made up differ by their number alone, and those of a trace are not in the plan
        let lengths = profiles.and_then(|profiles| profiles.iter().map(of).collect::<Option<Vec<usize>>>());
        let lengths = lengths.unwrap_or_default();
        match (lengths.iter().min(), lengths.iter().max()) {
            (Some(least), Some(most)) if least == most => Value::Count(*least as u64),
            (Some(least), Some(most)) => format!("{least}–{most}").into(),
            _ => Value::Absent,
        }
    }
}

fn joined<'a>(texts: impl Iterator<Item = &'a str>, by: &str) -> Value {
    texts.collect::<Vec<_>>().join(by).into()
}

/// The parts of a shape, as they are printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ShapeText {
    pub(crate) size: Option<String>,
    pub(crate) steps: Option<u64>,
    pub(crate) frames: Option<u64>,
}

/// The shape that the name of a class tells, like `854x480-s3-f80`; what the name leaves open is absent.
pub(crate) fn shape_of(class: &str) -> ShapeText {
    let mut shape = ShapeText::default();
    for part in class.split('-') {
        if let Some(steps) = part.strip_prefix('s').and_then(|steps| steps.parse().ok()) {
            shape.steps = Some(steps);
        } else if let Some(frames) = part.strip_prefix('f').and_then(|frames| frames.parse().ok()) {
            shape.frames = Some(frames);
        } else if part.split_once('x').is_some_and(|(w, h)| w.parse::<u32>().is_ok() && h.parse::<u32>().is_ok()) {
            shape.size = Some(part.to_owned());
        }
    }
    shape
}

fn of_run(summary: &Summary) -> IndexMap<String, f64> {
    let mut figures = summary.figures();
    figures.extend(summary.throughput_per_s.map(|rate| ("throughput_per_hour".to_owned(), rate * 3600.0)));
    figures
}

fn of_class(name: &str, class: &ClassSummary) -> IndexMap<String, f64> {
    let mut figures = numbers(&serde_json::to_value(class).unwrap_or_default());
    let steps = shape_of(name).steps.and_then(|steps| u32::try_from(steps).ok()).filter(|steps| *steps > 0);
    let per_step = class.latency_s.mean.zip(steps).map(|(mean, steps)| mean / f64::from(steps));
    figures.extend(per_step.map(|latency| ("latency_per_step_s".to_owned(), latency)));
    figures
}

fn of_stage(stage: &StageTime) -> IndexMap<String, f64> {
    let figures = numbers(&serde_json::to_value(stage).unwrap_or_default());
    figures.into_iter().map(|(key, number)| (format!("stage_ms.{key}"), number)).collect()
}

/// Every number in a value by its path, dots between levels.
fn numbers(value: &Json) -> IndexMap<String, f64> {
    fn collect(value: &Json, path: &str, found: &mut IndexMap<String, f64>) {
        match value {
            Json::Number(number) => found.extend(number.as_f64().map(|number| (path.to_owned(), number))),
            Json::Object(map) => {
                for (key, value) in map {
                    collect(value, &if path.is_empty() { key.clone() } else { format!("{path}.{key}") }, found);
                }
            }
            Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) => {}
        }
    }
    let mut found = IndexMap::new();
    collect(value, "", &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_class_tells_its_shape() {
        let all = ShapeText { size: Some("854x480".to_owned()), steps: Some(3), frames: Some(80) };
        assert_eq!(shape_of("854x480-s3-f80"), all);
        assert_eq!(shape_of("s20"), ShapeText { steps: Some(20), ..ShapeText::default() });
        assert_eq!(shape_of("default"), ShapeText::default());
    }
}
