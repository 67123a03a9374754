//! `diffusion_result_*.json`: a list with a record per run, as vLLM-Omni's nightly tools read it. Keys,
//! units and names are those of its perf runner; what was not measured is null, and a run without
//! numbers has no record instead of one of zeros.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::columns;
use crate::plan::{Plan, RunPlan, VariantPlan};
use crate::summarize::{Results, StageTime, Summary};
use crate::units::{Rate, SafeName};

/// What is known of a run besides its numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFacts {
    /// Start of the measured phase, `YYYYMMDD-HHMMSS` in UTC.
    pub timestamp: Option<String>,
    /// The server's log.
    pub log_file: Option<String>,
}

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffusionFile {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The results of a plan as one file per hardware. `facts` are by run id.
pub fn vllm_omni(
    plan: &Plan,
    results: &Results,
    facts: &IndexMap<String, RunFacts>,
) -> serde_json::Result<Vec<DiffusionFile>> {
    let mut files: IndexMap<Option<String>, Vec<(Option<&String>, Value)>> = IndexMap::new();
    for summary in &results.runs {
        let known = plan.run(&summary.id).and_then(|run| Some((run, plan.variant(&run.variant)?)));
        let Some((run, variant)) = known else { continue };
        let facts = facts.get(&summary.id);
        let record = Recorder { plan, run, variant, summary }.record(facts);
        let timestamp = facts.and_then(|facts| facts.timestamp.as_ref());
        files.entry(columns::hardware(variant)).or_default().push((timestamp, record));
    }
    files.into_iter().map(|(hardware, records)| file(plan, results, hardware.as_deref(), &records)).collect()
}

fn file(
    plan: &Plan,
    results: &Results,
    hardware: Option<&str>,
    records: &[(Option<&String>, Value)],
) -> serde_json::Result<DiffusionFile> {
    let mut name = format!("diffusion_result_{}", plan.scenario);
    // what the readers take for a file without hardware was measured on an H100
    if let Some(hardware) = hardware.filter(|hardware| *hardware != "H100") {
        name = format!("{name}_{}", SafeName::lossy(hardware));
    }
    if results.simulated {
        name.push_str("_simulated");
    }
    if let Some(first) = records.iter().filter_map(|(timestamp, _)| *timestamp).min() {
        name = format!("{name}_{first}");
    }
    let list: Vec<&Value> = records.iter().map(|(_, record)| record).collect();
    Ok(DiffusionFile { name: format!("{name}.json"), text: serde_json::to_string_pretty(&list)? + "\n" })
}

struct Recorder<'a> {
    plan: &'a Plan,
    run: &'a RunPlan,
    variant: &'a VariantPlan,
    summary: &'a Summary,
}

impl Recorder<'_> {
    fn record(&self, facts: Option<&RunFacts>) -> Value {
        let (summary, variant, path) = (self.summary, self.variant, self.variant.endpoint.path());
        let declared = |key: &str| variant.environment.get(key).cloned().unwrap_or_default();
        let mut record = Map::new();
        let mut put = |key: &str, value: Value| record.insert(key.to_owned(), value);
        put("test_name", self.test_name().into());
        put("endpoint", path.into());
        put("timestamp", json!(facts.and_then(|facts| facts.timestamp.as_ref())));
        put("server_params", json!({ "model": self.plan.model, "serve_args": variant.serve_args }));
        put("benchmark_params", self.params());
        put("baseline", json!({}));
        put("result", self.result());
        put("log_file", json!(facts.and_then(|facts| facts.log_file.as_ref())));
        put("Model", self.plan.model.as_str().into());
        put("Framework", if summary.simulated { "omni-bench simulator" } else { "vllm-omni" }.into());
        put("API Endpoint", path.into());
        put("Hardware", json!(columns::hardware(variant)));
        put("Deployment", "".into());
        put("Task", self.plan.task.name().into());
        put("Dataset", self.source());
        put("resolution", json!(columns::resolution(summary)));
        put("Parallelism", columns::parallelism(variant).into());
        put("max_concurrency", json!(summary.max_concurrency));
        put("Cache", columns::or_disabled(variant, "cache-backend").into());
        put("Quantization", columns::or_disabled(variant, "quantization").into());
        put("offload", columns::offload(variant).into());
        put("compile", columns::compile(variant).into());
        put("Attn_backend", columns::attention(variant).into());
        put("num_inference_steps", json!(columns::steps(summary)));
        put("completed", summary.completed.into());
        put("failed", self.not_completed().into());
        for (key, value) in self.metrics() {
            put(key, value);
        }
        put("commit_sha", declared("commit_sha"));
        put("build_id", declared("build_id"));
        put("build_url", declared("build_url"));
        put("source_file", self.plan.scenario.as_str().into());
        put("simulated", summary.simulated.into());
        put("validity", summary.validity.name().into());
        put("run_id", summary.id.as_str().into());
        put("run_key", summary.key.as_str().into());
        Value::Object(record)
    }

    /// The variant when it has one run, else the run without its repeat: the readers group by this name
    /// alone and would compare different workloads with each other.
    fn test_name(&self) -> String {
        let runs = self.plan.runs.iter().filter(|run| run.variant == self.run.variant && run.repeat == 1);
        if runs.count() == 1 {
            return self.run.variant.clone();
        }
        let repeat = format!(".r{}", self.run.repeat);
        self.run.id.strip_suffix(&repeat).unwrap_or(&self.run.id).to_owned()
    }

    /// The dataset as `plan.json` has it.
    fn dataset(&self) -> Value {
        self.plan.datasets.get(&self.run.dataset).and_then(|set| serde_json::to_value(set).ok()).unwrap_or_default()
    }

    /// Where its requests come from, such as `random`.
    fn source(&self) -> Value {
        self.dataset().pointer("/origin/source").cloned().unwrap_or_default()
    }

    fn not_completed(&self) -> u64 {
        self.summary.requests.saturating_sub(self.summary.completed)
    }

    /// The options that the runner would have given its script.
    fn params(&self) -> Value {
        let (run, mut params) = (self.run, Map::new());
        let mut put = |key: &str, value: Value| {
            if !value.is_null() {
                params.insert(key.to_owned(), value);
            }
        };
        put("name", run.dataset.as_str().into());
        put("dataset", self.source());
        put("task", self.plan.task.name().into());
        let dataset = self.dataset();
        let profiles = dataset.pointer("/origin/profiles").and_then(Value::as_array);
        match profiles.map(Vec::as_slice).unwrap_or_default() {
            [] => {}
            [only] => {
                for (key, value) in only.get("fields").and_then(Value::as_object).into_iter().flatten() {
                    put(&key.replace('_', "-"), value.clone());
                }
            }
            several => put("random-request-config", several.iter().map(weighted).collect()),
        }
        if dataset.get("negative_prompt") == Some(&Value::Bool(true)) {
            put("enable-negative-prompt", true.into());
        }
        if let Some(defaults) = dataset.get("defaults").and_then(Value::as_object).filter(|map| !map.is_empty()) {
            put("extra-body", defaults.clone().into());
        }
        let point = run.point;
        put("width", json!(point.size.map(|size| size.width)));
        put("height", json!(point.size.map(|size| size.height)));
        put("num-inference-steps", json!(point.num_inference_steps));
        put("num-frames", json!(point.num_frames));
        put("num-prompts", run.traffic.requests.into());
        put(
            "request-rate",
            match run.traffic.request_rate {
                Rate::Infinite => "inf".into(),
                Rate::PerSecond(rate) => rate.into(),
            },
        );
        put("max-concurrency", json!(run.traffic.max_concurrency));
        put("warmup-requests", run.warmup.requests.into());
        put("warmup-concurrency", run.warmup.concurrency.into());
        put("warmup-num-inference-steps", json!(run.warmup.num_inference_steps));
        Value::Object(params)
    }

    /// The script's metrics.
    fn result(&self) -> Value {
        let summary = self.summary;
        let mut result = Map::new();
        let mut put = |key: &str, value: Value| result.insert(key.to_owned(), value);
        put("duration", json!(summary.duration_s));
        put("completed_requests", summary.completed.into());
        put("failed_requests", self.not_completed().into());
        for (key, value) in self.metrics() {
            put(key, value);
        }
        if let Some(slo) = &summary.slo {
            put("slo_attainment_rate", slo.attainment.into());
            put("slo_met_success", slo.met.into());
            put("slo_scale", json!(slo.scale));
        }
        put("endpoint", self.variant.endpoint.path().into());
        put("model", self.plan.model.as_str().into());
        put("dataset", self.source());
        put("task", self.plan.task.name().into());
        if let Some(bot_task) = &self.variant.endpoint.bot_task {
            put("bot_task", bot_task.as_str().into());
        }
        put("baseline", json!({}));
        Value::Object(result)
    }

    /// The metrics that stand in the record and in its result alike.
    fn metrics(&self) -> [(&'static str, Value); 12] {
        let (latency, memory) = (self.summary.latency_s, self.summary.peak_memory_mb);
        [
            ("throughput_qps", json!(self.summary.throughput_per_s)),
            ("latency_mean", json!(latency.mean)),
            ("latency_median", json!(latency.p50)),
            ("latency_p50", json!(latency.p50)),
            ("latency_p95", json!(latency.p95)),
            ("latency_p99", json!(latency.p99)),
            ("peak_memory_mb_max", json!(memory.map(|memory| memory.max))),
            ("peak_memory_mb_mean", json!(memory.map(|memory| memory.mean))),
            ("peak_memory_mb_median", json!(memory.map(|memory| memory.median))),
            ("stage_durations_mean", self.stages(|stage| stage.mean)),
            ("stage_durations_p50", self.stages(|stage| stage.p50)),
            ("stage_durations_p99", self.stages(|stage| stage.p99)),
        ]
    }

    /// Stage times in the units of their names: `…_ms` in milliseconds, all others in seconds.
    fn stages(&self, of: impl Fn(&StageTime) -> f64) -> Value {
        let stage = |(name, stage): (&String, &StageTime)| {
            let ms = of(stage);
            (name.clone(), json!(if name.ends_with("_ms") { ms } else { ms / 1e3 }))
        };
        Value::Object(self.summary.stage_ms.iter().map(stage).collect())
    }
}

/// A profile as the script takes it.
fn weighted(profile: &Value) -> Value {
    let mut fields = profile.get("fields").cloned().unwrap_or_default();
    if let (Some(fields), Some(weight)) = (fields.as_object_mut(), profile.get("weight")) {
        fields.insert("weight".to_owned(), weight.clone());
    }
    fields
}
