//! Results with records, made by hand.

use std::collections::BTreeMap;

use omni_bench::catalog::{ErrorClass, Task};
use omni_bench::plan::{Axis, Plan};
use omni_bench::record::Record;
use omni_bench::report::{self, Chart, HtmlInput, PageFacts};
use omni_bench::scenario::model::Parallel;
use omni_bench::summarize::Results;
use serde_json::json;

use crate::report::build::{self, all, failed, image, us};

/// What a results folder holds.
pub(super) struct Stored {
    pub(super) plan: Plan,
    pub(super) results: Results,
    pub(super) records: BTreeMap<String, Vec<Record>>,
}

impl Stored {
    /// The summaries of these records, which are the plan's runs in order.
    pub(super) fn of(plan: Plan, records: Vec<Vec<Record>>) -> Self {
        let results = all(&plan, &records);
        let records = plan.runs.iter().map(|run| run.id.clone()).zip(records).collect();
        Self { plan, results, records }
    }

    /// So many requests per run of every variant at every concurrency: two shapes, stages, waiting, and
    /// a failure in every hundred.
    pub(super) fn sweep(variants: &[&str], loads: &[u32], requests: usize) -> Self {
        let small = json!({"width": 512, "height": 512, "num_inference_steps": 20});
        let large = json!({"width": 1024, "height": 1024, "num_inference_steps": 25});
        let mut runs = Vec::new();
        let mut records = Vec::new();
        for (variant, place) in variants.iter().zip(0_u32..) {
            for load in loads {
                runs.push(build::run(variant, "A", requests as u64, *load));
                records.push(requests_of(place, *load, requests));
            }
        }
        let variants = variants.iter().map(|name| build::variant(name, Parallel::default(), 4)).collect();
        let mut plan = build::plan(Task::T2i, variants, vec![build::dataset("A", "Dataset A", &[small, large])], runs);
        plan.varying = vec![Axis::Variant, Axis::MaxConcurrency];
        plan.allow_failures = requests as u64;
        Self::of(plan, records)
    }

    pub(super) fn charts(&self) -> Vec<Chart> {
        report::charts(&self.plan, &self.results, &|id| self.records.get(id).cloned().unwrap_or_default(), &|_| {
            Vec::new()
        })
        .unwrap()
    }

    /// The charts' names.
    pub(super) fn names(&self) -> Vec<String> {
        self.charts().into_iter().map(|chart| chart.name).collect()
    }

    /// The chart of that name.
    pub(super) fn chart(&self, name: &str) -> Chart {
        let charts = self.charts();
        let names: Vec<&str> = charts.iter().map(|chart| chart.name.as_str()).collect();
        charts.iter().find(|chart| chart.name == name).unwrap_or_else(|| panic!("{name} is not in {names:?}")).clone()
    }

    pub(super) fn html(&self) -> String {
        self.html_with(None, &[])
    }

    pub(super) fn html_with(&self, trend: Option<&str>, comparison: &[String]) -> String {
        let manifests = self.plan.runs.iter().map(build::manifest).collect();
        let facts = PageFacts { results_folder: "results/by-hand".to_owned(), manifests, ..PageFacts::default() };
        report::html(&HtmlInput {
            plan: &self.plan,
            results: &self.results,
            facts: &facts,
            records: &|id| self.records.get(id).cloned().unwrap_or_default(),
            telemetry: &|_| Vec::new(),
            trend,
            comparison,
        })
        .unwrap()
    }
}

/// A closed loop: each slot sends its next request when its last one is done.
fn requests_of(variant: u32, load: u32, requests: usize) -> Vec<Record> {
    let mut free = vec![0.0_f64; load as usize];
    let mut records = Vec::new();
    for (index, number) in (0..requests).zip(0_u32..) {
        let slot = (0..free.len()).min_by(|a, b| free[*a].total_cmp(&free[*b])).unwrap();
        // a spread that looks like noise and is the same every time
        let noise = (number.wrapping_mul(2_654_435_761) >> 8) & 0xffff;
        let is_large = index % 3 == 2;
        let shape = if is_large { 3.0 } else { 1.0 };
        let crowd = 1.0 + f64::from(load - 1) * (0.45 - 0.04 * f64::from(variant)).max(0.05);
        let latency = shape * crowd * (2.0 + f64::from(noise) / 65_536.0);
        let (due, sent) = (free[slot], free[slot] + 0.02);
        let mut record = image(index, sent, sent + latency);
        if is_large {
            record.class = "1024x1024-s25".to_owned();
            record.asked.width = Some(1024);
            record.asked.height = Some(1024);
        }
        record.due_us = us(due);
        record.first_byte_us = Some(us(sent + 0.93 * latency));
        record.response_time_us = Some(record.done_us - record.due_us);
        record.generation_ms = Some(latency * 900.0);
        record.stage_ms = BTreeMap::from([
            ("text_encoder_gen_ms".to_owned(), latency * 60.0),
            ("diffusion_gen_ms".to_owned(), latency * 700.0),
            ("vae_gen_ms".to_owned(), latency * 120.0),
        ]);
        if index % 100 == 41 {
            record = failed(record, ErrorClass::HttpStatus, "no memory left on the device");
        }
        free[slot] = sent + latency;
        records.push(record);
    }
    records
}
