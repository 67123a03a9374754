//! The figures of the run as the Python client gives them: the same JSON keys, the same sections in
//! the same order. What was not measured is null and `n/a`.

use serde_json::{Map, Value, json};

use super::scenario;
use super::wanted::Wanted;
use crate::catalog::{Api, ErrorClass};
use crate::plan::{Arrivals, Plan};
use crate::record::{Record, RequestError, Status};
use crate::summarize::{Distribution, StageTime, Summary};
use crate::units::Rate;

/// Width of a label.
const LABEL: usize = 40;
/// Width of the title and of the lines between sections.
const RULE: usize = 50;
/// Width of the last line.
const LAST_RULE: usize = 60;
/// Failures that are printed; the file has all.
const MOST_FAILURES: usize = 10;

/// What there is to tell about the run.
pub(super) struct Figures<'a> {
    pub(super) wanted: &'a Wanted<'a>,
    pub(super) plan: &'a Plan,
    /// `None` for a run that did not get to its measured requests.
    pub(super) summary: Option<&'a Summary>,
    /// Why it did not.
    pub(super) not_run: Option<&'a str>,
    pub(super) records: &'a [Record],
}

impl Figures<'_> {
    /// The object of `--output-file`.
    pub(super) fn json(&self) -> Value {
        let Wanted { args, api, .. } = self.wanted;
        let summary = self.summary;
        let latency = self.latency();
        let memory = summary.and_then(|summary| summary.peak_memory_mb);
        let stages = |pick: fn(&StageTime) -> f64| -> Map<String, Value> {
            let stages = summary.into_iter().flat_map(|summary| &summary.stage_ms);
            stages.map(|(name, time)| (name.clone(), json!(as_told(name, pick(time))))).collect()
        };
        let mut object = json!({
            "duration": summary.and_then(|summary| summary.duration_s),
            "completed_requests": self.completed(),
            "failed_requests": self.failed(),
            "request_errors": self.errors().collect::<Vec<_>>(),
            "throughput_qps": summary.and_then(|summary| summary.throughput_per_s),
            "latency_mean": latency.mean,
            "latency_median": latency.p50,
            "latency_p99": latency.p99,
            "latency_p95": latency.p95,
            "latency_p50": latency.p50,
            "peak_memory_mb_max": memory.map(|memory| memory.max),
            "peak_memory_mb_mean": memory.map(|memory| memory.mean),
            "peak_memory_mb_median": memory.map(|memory| memory.median),
            "stage_durations_mean": stages(|time| time.mean),
            "stage_durations_p50": stages(|time| time.p50),
            "stage_durations_p99": stages(|time| time.p99),
        });
        let mut add = |key: &str, value: Value| {
            object.as_object_mut().map(|object| object.insert(key.to_owned(), value));
        };
        if args.slo {
            let slo = summary.and_then(|summary| summary.slo.as_ref());
            add("slo_attainment_rate", json!(slo.map(|slo| slo.attainment)));
            add("slo_met_success", json!(slo.map(|slo| slo.met)));
            add("slo_scale", json!(args.slo_scale));
        }
        add("endpoint", json!(api.path()));
        add("model", json!(args.model));
        add("dataset", json!(scenario::name(args.dataset)));
        add("task", json!(args.task));
        if *api == Api::Videos {
            add("video_job_timeout", json!(args.video_job_timeout));
        }
        if let Some(bot_task) = self.wanted.named_bot_task() {
            add("bot_task", bot_task);
        }
        if self.plan.simulated {
            add("simulated", json!(true));
            add("speed", json!(self.plan.speed));
        }
        object
    }

    /// The sections as they are printed.
    pub(super) fn text(&self) -> String {
        let mut out = format!("\n{:=^RULE$}\n", " Serving Benchmark Result ");
        self.configuration(&mut out);
        rule(&mut out);
        self.traffic(&mut out);
        rule(&mut out);
        self.performance(&mut out);
        self.slo(&mut out);
        self.memory(&mut out);
        self.stages(&mut out);
        line(&mut out, &format!("\n{:=<LAST_RULE$}", ""));
        out
    }

    fn configuration(&self, out: &mut String) {
        let Wanted { args, api, .. } = self.wanted;
        if self.plan.simulated {
            row(out, "Simulated:", &format!("{}x speed, not a measurement", self.plan.speed));
        }
        row(out, "Endpoint:", api.path());
        row(out, "Model:", &args.model);
        row(out, "Dataset:", scenario::name(args.dataset));
        row(out, "Task:", args.task.name());
    }

    fn traffic(&self, out: &mut String) {
        let args = self.wanted.args;
        row(out, "Benchmark duration (s):", &fixed(self.summary.and_then(|summary| summary.duration_s), 2));
        let traffic = self.plan.runs.first().map(|run| &run.traffic);
        let rate = match (args.request_rate, traffic.map(|traffic| traffic.arrivals)) {
            (_, Some(Arrivals::Trace { .. })) => "trace".to_owned(),
            (Rate::PerSecond(rate), _) => format!("{rate:?}"),
            (Rate::Infinite, _) => "inf".to_owned(),
        };
        row(out, "Request rate:", &rate);
        row(out, "Max request concurrency:", &args.max_concurrency.unwrap_or(1).to_string());
        let requests = traffic.map_or(args.num_prompts, |traffic| traffic.requests);
        row(out, "Successful requests:", &format!("{}/{requests}", self.completed()));
        row(out, "Failed requests:", &self.failed().to_string());
        for error in self.errors().take(MOST_FAILURES) {
            let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            line(out, &format!("Request {} failed: {}", text("request_id"), text("error")));
        }
        if self.errors().nth(MOST_FAILURES).is_some() {
            line(out, &format!("These are the first {MOST_FAILURES}; --output-file has all."));
        }
        if let Some(why) = self.not_run {
            line(out, &format!("Nothing was measured: {why}"));
        }
    }

    fn performance(&self, out: &mut String) {
        let latency = self.latency();
        row(out, "Request throughput (req/s):", &fixed(self.summary.and_then(|summary| summary.throughput_per_s), 2));
        // of requests that were cut only a lower bound is known
        let percentile = |value: Option<f64>| match (value, latency.at_least) {
            (None, Some(bound)) => format!("≥ {bound:.4}"),
            _ => fixed(value, 4),
        };
        row(out, "Latency Mean (s):", &fixed(latency.mean, 4));
        row(out, "Latency Median (s):", &percentile(latency.p50));
        row(out, "Latency P99 (s):", &percentile(latency.p99));
        row(out, "Latency P95 (s):", &percentile(latency.p95));
    }

    fn slo(&self, out: &mut String) {
        if !self.wanted.args.slo {
            return;
        }
        let slo = self.summary.and_then(|summary| summary.slo.as_ref());
        let or_not = |text: Option<String>| text.unwrap_or_else(|| "n/a".to_owned());
        rule(out);
        row(out, "SLO Attainment Rate (all):", &or_not(slo.map(|slo| format!("{:.2}%", slo.attainment * 100.0))));
        row(out, "SLO Met (success count):", &or_not(slo.map(|slo| slo.met.to_string())));
        row(out, "SLO Scale:", &format!("{:?}", self.wanted.args.slo_scale));
    }

    fn memory(&self, out: &mut String) {
        let Some(memory) = self.summary.and_then(|summary| summary.peak_memory_mb) else { return };
        rule(out);
        row(out, "Peak Memory Max (MB):", &fixed(Some(memory.max), 2));
        row(out, "Peak Memory Mean (MB):", &fixed(Some(memory.mean), 2));
        row(out, "Peak Memory Median (MB):", &fixed(Some(memory.median), 2));
    }

    fn stages(&self, out: &mut String) {
        let Some(stages) = self.summary.map(|summary| &summary.stage_ms).filter(|stages| !stages.is_empty()) else {
            return;
        };
        rule(out);
        out.push_str("Stage Durations Mean (s):\n");
        for (name, time) in stages {
            row(out, &format!("  {name}:"), &fixed(Some(time.mean / 1e3), 4));
        }
    }

    fn latency(&self) -> Distribution {
        self.summary.map(|summary| summary.latency_s).unwrap_or_default()
    }

    fn completed(&self) -> u64 {
        self.summary.map_or(0, |summary| summary.completed)
    }

    /// A request that was cut did not succeed.
    fn failed(&self) -> u64 {
        self.summary.map_or(0, |summary| summary.failed + summary.censored)
    }

    /// What became of the requests that did not succeed, in the order of requests.
    fn errors(&self) -> impl Iterator<Item = Value> {
        let mut lost: Vec<&Record> =
            self.records.iter().filter(|r| matches!(r.status, Status::Failed | Status::Censored)).collect();
        lost.sort_by_key(|record| record.index);
        lost.into_iter()
            .map(|record| json!({ "request_id": record.request_id, "error": record.error.as_ref().map(told) }))
    }
}

/// An error in words, an HTTP status as the Python client spells it.
fn told(error: &RequestError) -> String {
    let message = &error.message;
    match error.http_status.filter(|_| error.class == ErrorClass::HttpStatus).map(|status| format!("HTTP {status}")) {
        Some(status) if message.starts_with(&status) => message.clone(),
        Some(status) => format!("{status}: {message}"),
        None => format!("{}: {message}", error.class),
    }
}

/// A stage time in the unit that its name stands for: milliseconds when it says so, else seconds.
fn as_told(name: &str, ms: f64) -> f64 {
    if name.ends_with("_ms") { ms } else { ms / 1e3 }
}

fn fixed(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "n/a".to_owned(), |value| format!("{value:.digits$}"))
}

fn row(out: &mut String, label: &str, value: &str) {
    line(out, &format!("{label:<LABEL$} {value}"));
}

fn line(out: &mut String, text: &str) {
    out.extend([text, "\n"]);
}

fn rule(out: &mut String) {
    line(out, &format!("{:-<RULE$}", ""));
}
