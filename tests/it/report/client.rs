//! What a run says about the client that carried it out.

use indexmap::IndexMap;
use omni_bench::catalog::{Validity, WarningKind};
use omni_bench::plan::Plan;
use omni_bench::record::{ClientProbe, Record, RunManifest, Spread};
use omni_bench::report::{PageFacts, page, terminal};
use omni_bench::summarize::{Results, RunFiles, Summary, results, summarize};

use super::build::{image_plan, in_turn, manifest, open_loop, summary};

fn probe(added_ms: (f64, f64), max_rate_per_s: f64, timer_ms: (f64, f64)) -> ClientProbe {
    let spread = |(p50, p99)| Spread { p50, p99 };
    ClientProbe {
        format: 1,
        measured_at: "2026-09-01T10:00:00Z".to_owned(),
        added_latency_ms: spread(added_ms),
        max_rate_per_s,
        timer_error_ms: spread(timer_ms),
    }
}

fn quick() -> ClientProbe {
    probe((0.2, 1.0), 5000.0, (0.1, 0.4))
}

/// The summary of the plan's only run by this client, at this speed.
fn by(client: ClientProbe, speed: f64, plan: &Plan, records: &[Record]) -> Summary {
    let run = &plan.runs[0];
    let manifest = RunManifest { simulated: true, speed, client: Some(client), ..manifest(run) };
    summarize(plan, run, &RunFiles { manifest: &manifest, records, calibration: &[], warmup: &[], telemetry: &[] })
}

fn is_bound(summary: &Summary) -> bool {
    let warned = summary.warnings.iter().any(|warning| warning.kind == WarningKind::ClientBound);
    assert_eq!(summary.client.unwrap().could_be_bottleneck, warned);
    assert_eq!(summary.validity, if warned { Validity::Suspect } else { Validity::Valid }, "{:?}", summary.warnings);
    warned
}

#[test]
fn a_run_far_slower_than_its_client_is_valid_and_carries_the_figures() {
    let summary = by(quick(), 1.0, &image_plan(10), &in_turn(&[0.5; 10]));
    assert!(!is_bound(&summary));
    let client = summary.client.unwrap();
    assert_eq!(
        (client.max_rate_per_s, client.added_latency_ms, client.timer_error_ms.p99),
        (5000.0, quick().added_latency_ms, 0.4)
    );
    assert!((client.rate_share.unwrap() - 2.0 / 5000.0).abs() < 1e-12);
    assert!((client.latency_share.unwrap() - 0.0004).abs() < 1e-12);
    assert!((client.tail_share.unwrap() - 0.002).abs() < 1e-12);
    assert_eq!(summary.metric("client.added_latency_ms.p50"), Some(0.2));
}

#[test]
fn a_run_at_more_than_half_of_the_clients_rate_is_suspect() {
    let run = |rate| by(probe((0.001, 0.002), rate, (0.1, 0.4)), 1.0, &image_plan(10), &in_turn(&[0.5; 10]));
    assert!(!is_bound(&run(4.1)));
    assert!(is_bound(&run(3.9)));
}

#[test]
fn polls_and_the_other_calls_of_a_job_count_towards_the_rate() {
    let mut records = in_turn(&[0.5; 10]);
    for record in &mut records {
        record.job_id = Some("video_1".to_owned());
        record.content_done_us = Some(record.done_us);
        record.polls = vec![omni_bench::record::Poll { sent_us: 0, at_us: 1, status: "queued".to_owned() }; 7];
    }
    let summary = by(quick(), 1.0, &image_plan(10), &records);
    assert!((summary.client.unwrap().rate_share.unwrap() - 20.0 / 5000.0).abs() < 1e-12);
}

#[test]
fn a_client_that_adds_a_part_of_the_latency_is_suspect() {
    let run = |added| by(probe(added, 5000.0, (0.1, 0.4)), 1.0, &image_plan(10), &in_turn(&[0.5; 10]));
    assert!(!is_bound(&run((24.0, 90.0))));
    assert!(is_bound(&run((26.0, 90.0))));
    assert!(is_bound(&run((24.0, 110.0))));
}

#[test]
fn a_simulated_run_is_judged_by_its_time_on_the_wall() {
    let run = |speed| by(quick(), speed, &image_plan(10), &in_turn(&[2.0; 10]));
    let twenty = run(20.0);
    assert!(!is_bound(&twenty));
    assert!((twenty.client.unwrap().latency_share.unwrap() - 0.002).abs() < 1e-12);
    assert!(is_bound(&run(2000.0)));
}

#[test]
fn a_coarse_timer_matters_in_open_loop_only() {
    let coarse = || probe((0.2, 1.0), 5000.0, (3.0, 9.0));
    let closed = image_plan(10);
    assert!(!is_bound(&by(coarse(), 1.0, &closed, &in_turn(&[0.1; 10]))));
    let mut open = image_plan(10);
    open.runs[0] = open_loop(open.runs[0].clone(), 10.0, None);
    assert!(is_bound(&by(coarse(), 1.0, &open, &in_turn(&[0.1; 10]))));
    assert!(!is_bound(&by(quick(), 1.0, &open, &in_turn(&[0.1; 10]))));
}

#[test]
fn a_run_whose_client_was_not_measured_says_so_by_null() {
    let summary = summary(&image_plan(10), &in_turn(&[0.5; 10]));
    assert_eq!((summary.client, summary.validity), (None, Validity::Valid));
}

/// The checklist's line about the client, and the terminal's.
fn lines(plan: &Plan, results: &Results) -> (String, Option<String>) {
    let facts = PageFacts {
        environments: Vec::new(),
        scenario_file: String::new(),
        results_folder: String::new(),
        manifests: Vec::new(),
        launch: IndexMap::new(),
        verified: IndexMap::new(),
    };
    let page = page(plan, results, &facts, None).unwrap();
    let item = page.lines().find(|line| line.contains("Client not the bottleneck")).unwrap().to_owned();
    let told =
        terminal(plan, results, false, None).lines().find(|line| line.starts_with("client: ")).map(str::to_owned);
    (item, told)
}

#[test]
fn page_and_terminal_tell_what_the_client_costs() {
    let plan = image_plan(10);
    let of = |summary| results(&plan, vec![summary], Vec::new());
    let figures = "takes 0.200 ms (P99 1.000 ms) for a small request, reaches 5000 exchanges/s, \
                   timer late by 0.100 ms (P99 0.400 ms)";
    let (item, told) = lines(&plan, &of(by(quick(), 1.0, &plan, &in_turn(&[0.5; 10]))));
    assert_eq!(item, format!("- [x] Client not the bottleneck: {figures}"));
    assert_eq!(told, Some(format!("client: {figures}")));
    let (item, told) = lines(&plan, &of(by(quick(), 1.0, &plan, &in_turn(&[0.001; 10]))));
    assert_eq!(item, "- [ ] Client not the bottleneck: it may have been in `base/A/c1`");
    assert_eq!(told, Some(format!("client: {figures}")));
    let (item, told) = lines(&plan, &of(summary(&plan, &in_turn(&[0.5; 10]))));
    assert_eq!(item, "- [ ] Client not the bottleneck: the client was not measured");
    assert_eq!(told, None);
}
