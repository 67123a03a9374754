//! Plans, runs and records by hand.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use omni_bench::catalog::{Api, ErrorClass, Flag, Task};
use omni_bench::plan::{
    Arrivals, EndpointPlan, Plan, Point, PollPlan, ReadyPlan, RunPlan, SloPlan, TimeoutPlan, TrafficPlan, VariantPlan,
    WarmupPlan,
};
use omni_bench::record::{
    Asked, Claim, Output, OutputKind, Record, RequestError, RunManifest, RunState, ServerFacts, Status,
};
use omni_bench::scenario::model::{Order, Parallel, RequestSeed, Sampling, Validate};
use omni_bench::summarize::{Results, RunFiles, Summary, results, summarize};
use omni_bench::units::{ByteSize, Limit, Rate, Span};
use omni_bench::workload::{Dataset, Facts, Origin, WeightedProfile};
use serde_json::{Value, json};

pub(crate) fn variant(name: &str, parallel: Parallel, gpus: u32) -> VariantPlan {
    let mut serve_args = IndexMap::new();
    serve_args.extend(parallel.cfg.map(|degree| ("cfg-parallel-size".to_owned(), json!(degree))));
    serve_args.extend(parallel.ulysses.map(|degree| ("ulysses-degree".to_owned(), json!(degree))));
    VariantPlan {
        name: name.to_owned(),
        label: name.to_owned(),
        parallel,
        serve_args,
        serve_lists: IndexMap::new(),
        gpus,
        config_key: "c0c0c0c0c0c0c0c0".to_owned(),
        endpoint: EndpointPlan {
            url: Some("http://localhost:8091".to_owned()),
            api: Api::Generations,
            api_key_env: None,
            headers: IndexMap::new(),
            extra_body: IndexMap::new(),
            ready: ReadyPlan { path: "/health".to_owned(), timeout: Span::seconds(120) },
            timeout: TimeoutPlan {
                connect: Limit::After(Span::seconds(10)),
                request: Limit::After(Span::seconds(900)),
                job: Limit::After(Span::seconds(900)),
            },
            poll: PollPlan { first: Span::millis(50), growth: 0.05, max: Span::seconds(2) },
            stream: false,
            spelling: omni_bench::catalog::Spelling::Plain,
            sync_video: false,
            return_stage_metrics: false,
            bot_task: None,
            validate: Validate::Header,
            allow_unknown: false,
            max_reply: ByteSize::megabytes(512),
            ca_file: None,
            proxy: None,
            http2: false,
        },
        environment: IndexMap::new(),
        verify: Vec::new(),
    }
}

pub(crate) fn dataset(name: &str, label: &str, profiles: &[Value]) -> Dataset {
    let profiles = profiles
        .iter()
        .map(|fields| WeightedProfile { fields: serde_json::from_value(fields.clone()).unwrap(), weight: 1.0 });
    Dataset {
        name: name.to_owned(),
        label: label.to_owned(),
        description: None,
        origin: Origin::Random { profiles: profiles.collect(), sampling: Sampling::Weighted },
        negative_prompt: true,
        defaults: IndexMap::new(),
        overrides: IndexMap::new(),
        images: None,
        videos: None,
        request_seed: RequestSeed::None,
        facts: Facts { hash: "d0d0d0d0d0d0d0d0".to_owned(), ..Facts::default() },
    }
}

/// A closed-loop run of a variant on a dataset.
pub(crate) fn run(variant: &str, dataset: &str, requests: u64, cap: u32) -> RunPlan {
    RunPlan {
        id: format!("{variant}/{dataset}/c{cap}"),
        key: "aaaaaaaaaaaaaaaa".to_owned(),
        workload_key: "bbbbbbbbbbbbbbbb".to_owned(),
        config_key: "c0c0c0c0c0c0c0c0".to_owned(),
        variant: variant.to_owned(),
        dataset: dataset.to_owned(),
        traffic: TrafficPlan {
            requests,
            max_concurrency: Some(cap),
            request_rate: Rate::Infinite,
            arrivals: Arrivals::Closed,
            seed: 42,
        },
        point: Point::default(),
        warmup: WarmupPlan {
            requests: cap,
            concurrency: cap,
            num_inference_steps: None,
            num_frames: None,
            matched: true,
        },
        repeat: 1,
        gpus: 4,
        estimate_s: None,
    }
}

/// The same as an open loop at a constant rate.
pub(crate) fn open_loop(mut run: RunPlan, rate: f64, cap: Option<u32>) -> RunPlan {
    run.id = format!("{}-rate{rate}", run.id);
    run.traffic.request_rate = Rate::PerSecond(rate);
    run.traffic.arrivals = Arrivals::Constant;
    run.traffic.max_concurrency = cap;
    run
}

pub(crate) fn plan(task: Task, variants: Vec<VariantPlan>, datasets: Vec<Dataset>, runs: Vec<RunPlan>) -> Plan {
    Plan {
        format: 1,
        tool_version: "0.1.0".to_owned(),
        scenario: "by-hand".to_owned(),
        title: "Qwen-Image".to_owned(),
        description: None,
        tags: Vec::new(),
        plan_hash: "1234".repeat(16),
        model: "Qwen/Qwen-Image".to_owned(),
        task,
        simulated: false,
        speed: 1.0,
        simulator_profile: None,
        simulator_noise: 0.0,
        simulator_faults: Vec::new(),
        environment: IndexMap::new(),
        server: None,
        variants,
        datasets: datasets.into_iter().map(|dataset| (dataset.name.clone(), dataset)).collect(),
        varying: Vec::new(),
        repeats: 1,
        order: Order::Interleaved,
        runs,
        steps: Vec::new(),
        starts: 0,
        slo: None,
        allow_failures: 0,
        compare: None,
        page: None,
        limits: None,
    }
}

/// A plan of one image run of so many requests at concurrency 1.
pub(crate) fn image_plan(requests: u64) -> Plan {
    let fields = json!({"width": 512, "height": 512, "num_inference_steps": 20});
    plan(
        Task::T2i,
        vec![variant("base", Parallel::default(), 1)],
        vec![dataset("A", "Dataset A", &[fields])],
        vec![RunPlan { gpus: 1, ..run("base", "A", requests, 1) }],
    )
}

/// A plan of one video run of so many requests at concurrency 1.
pub(crate) fn video_plan(requests: u64) -> Plan {
    let fields = json!({"width": 854, "height": 480, "num_inference_steps": 3, "num_frames": 33, "fps": 24});
    plan(
        Task::T2v,
        vec![variant("base", Parallel::default(), 1)],
        vec![dataset("A", "Dataset A", &[fields])],
        vec![RunPlan { gpus: 1, ..run("base", "A", requests, 1) }],
    )
}

/// A successful image request from `sent_s` to `done_s`; due when sent.
pub(crate) fn image(index: usize, sent_s: f64, done_s: f64) -> Record {
    let (sent, done) = (us(sent_s), us(done_s));
    Record {
        index,
        row: 0,
        class: "512x512-s20".to_owned(),
        request_id: format!("req-{:04}", index + 1),
        job_id: None,
        server_request_id: None,
        status: Status::Ok,
        error: None,
        due_us: sent,
        sent_us: Some(sent),
        headers_us: Some(done),
        first_byte_us: Some(done),
        body_done_us: Some(done),
        done_us: done,
        latency_us: Some(done - sent),
        response_time_us: Some(done - sent),
        created_us: None,
        first_terminal_us: None,
        content_done_us: None,
        deleted_us: None,
        polls: Vec::new(),
        job_bounds_us: None,
        asked: Asked { width: Some(512), height: Some(512), num_inference_steps: Some(20), n: 1, ..Asked::default() },
        bytes: 1000,
        outputs: vec![picture(index, 0, 512)],
        stream: None,
        judged_us: None,
        flags: Vec::new(),
        generation_ms: None,
        stage_ms: BTreeMap::new(),
        peak_memory_mb: None,
        slo_ms: None,
        seed: None,
        attempts: 1,
    }
}

pub(crate) fn picture(index: usize, place: usize, side: u32) -> Output {
    Output {
        kind: OutputKind::Png,
        width: Some(side),
        height: Some(side),
        frames: None,
        fps: None,
        duration_s: None,
        bytes: 900,
        blake3: format!("{index:032x}{place:032x}"),
    }
}

/// A successful video request: so many frames at so many per second, as the container says.
pub(crate) fn video(index: usize, sent_s: f64, done_s: f64, frames: u32, fps: f64) -> Record {
    let mut record = image(index, sent_s, done_s);
    record.class = format!("854x480-s3-f{frames}");
    record.job_id = Some(format!("video_{index}"));
    record.asked = Asked {
        width: Some(854),
        height: Some(480),
        num_inference_steps: Some(3),
        num_frames: Some(frames),
        fps: Some(fps),
        n: 1,
    };
    record.outputs = vec![Output {
        kind: OutputKind::Mp4,
        width: Some(854),
        height: Some(480),
        frames: Some(frames.into()),
        fps: Some(fps),
        duration_s: Some(f64::from(frames) / fps),
        ..picture(index, 0, 1)
    }];
    record
}

/// The same request, failed.
pub(crate) fn failed(mut record: Record, class: ErrorClass, message: &str) -> Record {
    record.status = Status::Failed;
    record.error = Some(RequestError::new(class, message));
    record.outputs.clear();
    record
}

/// The same request, cut by a limit of the client.
pub(crate) fn censored(record: Record, message: &str) -> Record {
    Record { status: Status::Censored, ..failed(record, ErrorClass::Timeout, message) }
}

/// The same request with a remark.
pub(crate) fn flagged(mut record: Record, flag: Flag) -> Record {
    record.flags.push(flag);
    record
}

/// Requests of these latencies one after another.
pub(crate) fn in_turn(latencies_s: &[f64]) -> Vec<Record> {
    let mut sent = 0.0;
    latencies_s
        .iter()
        .enumerate()
        .map(|(index, latency)| {
            let record = image(index, sent, sent + latency);
            sent += latency;
            record
        })
        .collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times of tests are small and positive")]
pub(crate) fn us(time_s: f64) -> u64 {
    (time_s * 1e6).round() as u64
}

pub(crate) fn manifest(run: &RunPlan) -> RunManifest {
    RunManifest {
        format: 1,
        id: run.id.clone(),
        key: run.key.clone(),
        plan_hash: "1234".repeat(16),
        state: RunState::Complete,
        reason: None,
        attempt: 1,
        claim: Claim { host: "node".to_owned(), pid: 1, at: "2026-09-01T10:00:00Z".to_owned() },
        started_at: Some("2026-09-01T10:00:05Z".to_owned()),
        ended_at: Some("2026-09-01T10:01:05Z".to_owned()),
        server: ServerFacts {
            folder: None,
            url: "http://localhost:8091".to_owned(),
            models: Some(vec!["Qwen/Qwen-Image".to_owned()]),
            version: Some(json!({"version": "0.11.0"})),
            background: None,
            slurm: None,
        },
        model: "Qwen/Qwen-Image".to_owned(),
        simulated: false,
        speed: 1.0,
        client: None,
    }
}

/// The summary of a plan's only run.
pub(crate) fn summary(plan: &Plan, records: &[Record]) -> Summary {
    calibrated(plan, records, &[])
}

/// The same with calibration records.
pub(crate) fn calibrated(plan: &Plan, records: &[Record], calibration: &[Record]) -> Summary {
    let run = &plan.runs[0];
    summarize(plan, run, &RunFiles { manifest: &manifest(run), records, calibration, warmup: &[], telemetry: &[] })
}

/// Results of a plan whose runs have these records, in order.
pub(crate) fn all(plan: &Plan, records: &[Vec<Record>]) -> Results {
    let summaries = plan.runs.iter().zip(records).map(|(run, records)| {
        summarize(
            plan,
            run,
            &RunFiles { manifest: &manifest(run), records, calibration: &[], warmup: &[], telemetry: &[] },
        )
    });
    results(plan, summaries.collect(), Vec::new())
}

pub(crate) fn with_slo(mut plan: Plan, target: omni_bench::plan::SloTarget) -> Plan {
    plan.slo = Some(SloPlan { target, attainment: 0.99 });
    plan
}
