//! Arms by hand: runs of a closed loop with the latencies that a test wants.

use std::time::Duration;

use omni_bench::compare::{Arm, Fingerprint, Point, Repeat};
use omni_bench::plan::{self, Hosting, Plan, PlanInput};
use omni_bench::record::{
    Asked, Claim, MANIFEST_FORMAT, Output, OutputKind, Record, RunManifest, RunState, ServerFacts, Status,
};
use omni_bench::scenario::Scenario;
use omni_bench::summarize::{RunFiles, Summary, summarize};
use omni_bench::workload;
use serde_json::json;

/// A plan of one closed-loop run of one class.
pub(super) fn plan(requests: usize, concurrency: usize, more: &str) -> Plan {
    let text = format!(
        "name = 'by-hand'\n[model]\nid = 'm'\ntask = 't2i'\n[endpoint]\nurl = 'http://localhost:8091'\n\
         [datasets.A]\nprofiles = [{{ width = 512, height = 512, num_inference_steps = 20 }}]\n\
         [traffic]\nrequests = {requests}\nmax_concurrency = {concurrency}\n{more}"
    );
    let scenario: Scenario = toml::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let data = workload::load(&scenario, &workload::Sources::default()).unwrap();
    let input = PlanInput {
        scenario: &scenario,
        data: &data,
        hosting: Hosting::Given,
        only: &[],
        repeats: None,
        estimate: None,
    };
    plan::plan(&input).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

/// The record of another request at another time.
fn timed(template: Record, index: usize, sent_us: u64, latency_us: u64) -> Record {
    let done_us = sent_us + latency_us;
    Record {
        index,
        due_us: sent_us,
        sent_us: Some(sent_us),
        done_us,
        latency_us: Some(latency_us),
        response_time_us: Some(latency_us),
        ..template
    }
}

fn template() -> Record {
    let value = json!({
        "index": 0, "row": 0, "class": "512x512-s20", "request_id": "r", "job_id": null, "server_request_id": null,
        "status": "ok", "error": null, "due_us": 0, "done_us": 0, "polls": [], "bytes": 1, "outputs": [],
        "flags": [], "stage_ms": {}, "asked": asked(), "attempts": 1,
    });
    let output = Output {
        kind: OutputKind::Png,
        width: Some(512),
        height: Some(512),
        frames: None,
        fps: None,
        duration_s: None,
        bytes: 1,
        blake3: "00".to_owned(),
    };
    // what is left out is null
    Record { outputs: vec![output], ..serde_json::from_value(value).unwrap() }
}

fn asked() -> Asked {
    Asked { width: Some(512), height: Some(512), num_inference_steps: Some(20), num_frames: None, fps: None, n: 1 }
}

/// Seconds as whole microseconds.
pub(super) fn micros(seconds: f64) -> u64 {
    u64::try_from(Duration::from_secs_f64(seconds).as_micros()).unwrap()
}

/// Requests one after the other, with these latencies in seconds.
pub(super) fn in_turn(latencies_s: &[f64]) -> Vec<Record> {
    let mut at = 0;
    let template = template();
    let next = |(index, latency): (usize, &f64)| {
        let made = timed(template.clone(), index, at, micros(*latency));
        at = made.done_us;
        made
    };
    latencies_s.iter().enumerate().map(next).collect()
}

/// Cuts a request off at its time.
pub(super) fn cut(record: &mut Record) {
    record.status = Status::Censored;
}

/// Makes a request fail.
pub(super) fn fail(record: &mut Record) {
    record.status = Status::Failed;
}

/// The summary of these records of the plan's first run.
pub(super) fn summary(plan: &Plan, records: &[Record]) -> Summary {
    let run = &plan.runs[0];
    let manifest = RunManifest {
        format: MANIFEST_FORMAT,
        id: run.id.clone(),
        key: run.key.clone(),
        plan_hash: plan.plan_hash.clone(),
        state: RunState::Complete,
        reason: None,
        attempt: 1,
        claim: Claim { host: "here".into(), pid: 1, at: "2026-11-30T16:19:00Z".into() },
        started_at: None,
        ended_at: None,
        server: ServerFacts::default(),
        model: "m".into(),
        simulated: false,
        speed: 1.0,
        client: None,
    };
    summarize(plan, run, &RunFiles { manifest: &manifest, records, calibration: &[], warmup: &[], telemetry: &[] })
}

/// The k-th repeat, run at a place in time.
pub(super) fn repeat(plan: &Plan, number: u32, started: i64, records: Vec<Record>) -> Repeat {
    Repeat { number, started_us: Some(started), summary: summary(plan, &records), records }
}

/// A point whose runs ask the same as those of every other.
pub(super) fn point(plan: &Plan, repeats: Vec<Repeat>) -> Point {
    let run = &plan.runs[0];
    Point {
        id: run.id.clone(),
        place: run.id.split_once('/').unwrap().1.to_owned(),
        variant: run.variant.clone(),
        workload_key: run.workload_key.clone(),
        sweep: Some("A".to_owned()),
        concurrency: run.traffic.max_concurrency,
        fingerprint: Fingerprint::default(),
        repeats,
    }
}

/// An arm of one point.
pub(super) fn arm(name: &str, point: Point) -> Arm {
    Arm { name: name.to_owned(), points: vec![point] }
}

/// Two arms of repeats that took turns, A B, B A, …, each run given by its latencies in seconds.
pub(super) fn alternating(plan: &Plan, a: &[Vec<f64>], b: &[Vec<f64>]) -> [Arm; 2] {
    let side = |runs: &[Vec<f64>], second: bool| {
        let repeats = runs.iter().zip(1_u32..).map(|(latencies, number)| {
            let late = second == (number % 2 == 1);
            repeat(plan, number, i64::from(2 * number) + i64::from(late), in_turn(latencies))
        });
        point(plan, repeats.collect())
    };
    [arm("A", side(a, false)), arm("B", side(b, true))]
}

/// Seeded normal numbers.
pub(super) struct Normal(u64);

impl Normal {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn uniform(&mut self) -> f64 {
        // SplitMix64
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let bits = u32::try_from((z ^ (z >> 31)) >> 32).unwrap();
        (f64::from(bits) + 0.5) / 4_294_967_296.0
    }

    pub(super) fn next(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
