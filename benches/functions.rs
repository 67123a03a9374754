//! What single functions cost: `cargo bench`. Whole runs are measured by `cargo run --release --example client_cost`.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot be set up has nothing to say")]

use std::hint::black_box;

use base64_simd::STANDARD;
use divan::counter::{BytesCount, ItemsCount};
use divan::{AllocProfiler, Bencher};
use indexmap::IndexMap;
use omni_bench::catalog::{Api, Spelling, Task};
use omni_bench::endpoint::{Judge, Reply, Verdict, Wire};
use omni_bench::media::{ImageFormat, decode_image, write_image};
use omni_bench::plan::{Hosting, Plan, PlanInput, phases, plan};
use omni_bench::record::{Journal, Record, RunManifest};
use omni_bench::report;
use omni_bench::scenario::Scenario;
use omni_bench::summarize::{Results, Row, Sample, Summary, mean_interval, quantile_interval, results, summarize_rows};
use omni_bench::workload::{Data, Request, Sources, load};
use serde_json::json;

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

/// Sides of pictures whose replies have about a kilobyte and eight megabytes.
const SIDES: [u32; 2] = [16, 1440];
/// A reply comes in pieces of about this size.
const PIECE: usize = 64 * 1024;

const HEAD: &str = "name = 'cost'\n[model]\nid = 'Qwen/Qwen-Image'\ntask = 't2i'\n[endpoint]\nurl = 'http://127.0.0.1:1'\n\
                    [datasets.A]\nprofiles = [{ width = 512, height = 512, num_inference_steps = 20 }]\n";

fn main() {
    divan::main();
}

fn picture(side: u32) -> Vec<u8> {
    write_image(ImageFormat::Png, side, side, 7).unwrap()
}

fn reply(side: u32) -> Vec<u8> {
    json!({"created": 1, "data": [{"b64_json": STANDARD.encode_to_string(picture(side))}], "metrics": {}})
        .to_string()
        .into_bytes()
}

fn wire() -> Wire {
    Wire {
        api: Api::Generations,
        task: Task::T2i,
        model: "m".to_owned(),
        extra_body: IndexMap::new(),
        bot_task: None,
        return_stage_metrics: false,
        stream: false,
        spelling: Spelling::default(),
        sync_video: false,
        check_media: true,
        keep_pictures: false,
        max_reply: 1 << 30,
    }
}

fn loaded(text: &str) -> (Scenario, Data) {
    let scenario: Scenario = toml::from_str(text).unwrap();
    let data = load(&scenario, &Sources::default()).unwrap();
    (scenario, data)
}

fn planned(scenario: &Scenario, data: &Data) -> Plan {
    plan(&PlanInput { scenario, data, hosting: Hosting::Given, only: &[], repeats: None, estimate: None }).unwrap()
}

fn some_plan(requests: usize) -> (Plan, Data) {
    let (scenario, data) = loaded(&format!("{HEAD}[traffic]\nrequests = {requests}\nmax_concurrency = 64\n"));
    (planned(&scenario, &data), data)
}

fn request() -> Request {
    let (plan, data) = some_plan(1);
    phases(&plan, plan.runs.first().unwrap(), &data).measured.request(0).unwrap()
}

fn record(number: usize) -> Record {
    let sent = number / 64 * 60_000;
    let latency = 40_000 + number * 7919 % 20_000;
    serde_json::from_value(json!({
        "index": number, "row": 0, "class": "512x512-s20", "request_id": format!("req-{:04}", number + 1), "status": "ok",
        "due_us": sent, "sent_us": sent + 20, "done_us": sent + 20 + latency, "latency_us": latency,
        "response_time_us": latency + 20, "polls": [], "bytes": 1_048_576, "flags": [], "stage_ms": {}, "attempts": 1,
        "asked": {"width": 512, "height": 512, "num_inference_steps": 20, "num_frames": null, "fps": null, "n": 1},
        "outputs": [{"kind": "png", "width": 512, "height": 512, "bytes": 786_432, "blake3": format!("{number:064x}")}],
    }))
    .unwrap()
}

fn manifest(plan: &Plan) -> RunManifest {
    let run = plan.runs.first().unwrap();
    serde_json::from_value(json!({
        "format": 1, "id": run.id, "key": run.key, "plan_hash": plan.plan_hash, "state": "complete", "reason": null,
        "attempt": 1, "claim": {"host": "here", "pid": 1, "at": "2026-09-01T10:00:00Z"},
        "started_at": "2026-09-01T10:00:00Z", "ended_at": "2026-09-01T10:10:00Z",
        "server": {"folder": null, "url": "http://127.0.0.1:1", "models": null, "version": null},
        "model": "m", "simulated": false, "speed": 1.0, "client": null,
    }))
    .unwrap()
}

fn summary(plan: &Plan, rows: &[Row]) -> Summary {
    summarize_rows(plan, plan.runs.first().unwrap(), &manifest(plan), rows, &[], &[])
}

#[divan::bench(args = SIDES)]
fn judge(bencher: Bencher<'_, '_>, side: u32) {
    let (wire, request, body) = (wire(), request(), reply(side));
    let head = Reply {
        status: 200,
        content_type: Some("application/json".to_owned()),
        content_length: None,
        ..Reply::default()
    };
    bencher.counter(BytesCount::new(body.len())).bench(|| -> Verdict {
        let mut judge = Judge::reply(&wire, &request, &head, None);
        body.chunks(PIECE).for_each(|piece| judge.feed(piece));
        let verdict = judge.finish();
        assert!(verdict.error.is_none());
        verdict
    });
}

#[divan::bench(args = SIDES)]
fn base64_alone(bencher: Bencher<'_, '_>, side: u32) {
    let text = STANDARD.encode_to_string(picture(side));
    bencher.counter(BytesCount::new(text.len())).bench(|| STANDARD.decode_to_vec(black_box(&text)));
}

#[divan::bench(args = SIDES)]
fn hash_alone(bencher: Bencher<'_, '_>, side: u32) {
    let bytes = picture(side);
    bencher.counter(BytesCount::new(bytes.len())).bench(|| blake3::hash(black_box(&bytes)));
}

#[divan::bench(args = [100, 1_000, 5_000, 50_000])]
fn mean_with_interval(bencher: Bencher<'_, '_>, n: u32) {
    let values: Vec<f64> = (0..n).map(|i| f64::from(i * 7919 % 10_007)).collect();
    bencher.bench(|| mean_interval(&Sample::new(values.clone()).unwrap()));
}

#[divan::bench(args = [1_000, 1_000_000])]
fn percentile_with_interval(bencher: Bencher<'_, '_>, n: u32) {
    let sample = Sample::new((0..n).map(|i| f64::from(i * 7919 % 10_007)).collect()).unwrap();
    bencher.bench(|| (sample.quantile(0.99), quantile_interval(&sample, 0.99)));
}

#[divan::bench]
fn journal_of_1000_records(bencher: Bencher<'_, '_>) {
    let records: Vec<Record> = (0..1000).map(record).collect();
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(&folder.path().join("records.jsonl")).unwrap();
    bencher.counter(ItemsCount::new(records.len())).bench_local(|| journal.append(&records));
}

#[divan::bench]
fn row_from_a_line(bencher: Bencher<'_, '_>) {
    let line = serde_json::to_string(&record(1)).unwrap();
    bencher.counter(BytesCount::new(line.len())).bench(|| serde_json::from_str::<Row>(black_box(&line)));
}

#[divan::bench(sample_count = 5)]
fn plan_of_100_000_runs(bencher: Bencher<'_, '_>) {
    let numbers = |count: u32| (1..=count).map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
    let (scenario, data) =
        loaded(&format!("{HEAD}[matrix]\nmax_concurrency = [{}]\nseed = [{}]\n", numbers(250), numbers(400)));
    bencher.bench(|| planned(&scenario, &data));
}

#[divan::bench(sample_count = 10, args = [1_000, 100_000])]
fn summary_of_rows(bencher: Bencher<'_, '_>, requests: usize) {
    let (plan, _) = some_plan(requests);
    let rows: Vec<Row> = (0..requests).map(|number| Row::from(&record(number))).collect();
    bencher.counter(ItemsCount::new(requests)).bench(|| summary(&plan, &rows));
}

#[divan::bench]
fn requests_made(bencher: Bencher<'_, '_>) {
    let (plan, data) = some_plan(1_000);
    let requests = phases(&plan, plan.runs.first().unwrap(), &data).measured;
    bencher.counter(ItemsCount::new(requests.len())).bench(|| requests.each().count());
}

fn some_results() -> (Plan, Results) {
    let (plan, _) = some_plan(1_000);
    let rows: Vec<Row> = (0..1_000).map(|number| Row::from(&record(number))).collect();
    let results = results(&plan, vec![summary(&plan, &rows)], Vec::new());
    (plan, results)
}

#[divan::bench]
fn report_markdown(bencher: Bencher<'_, '_>) {
    let (plan, results) = some_results();
    bencher.bench(|| report::markdown(&plan, &results));
}

#[divan::bench]
fn report_json(bencher: Bencher<'_, '_>) {
    let (_, results) = some_results();
    bencher.bench(|| report::json(&results));
}

#[divan::bench(sample_count = 10)]
fn picture_written(bencher: Bencher<'_, '_>) {
    bencher.bench(|| picture(1024));
}

#[divan::bench(sample_count = 10)]
fn picture_decoded(bencher: Bencher<'_, '_>) {
    let bytes = picture(1024);
    bencher.bench(|| decode_image(black_box(&bytes)));
}
