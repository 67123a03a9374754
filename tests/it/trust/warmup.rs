//! Warm-up through the whole tool: per level, kept apart, and fatal when it fails.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::setup::{Bench, error, measure, number, outcomes, picture, warns};
use crate::support::fake::{Answer, Seen};

/// A server whose first request at each new level of load takes half a second, later ones 40 ms.
fn compiles_on_demand() -> impl Fn(&Seen) -> Answer {
    let state = Mutex::new((Vec::<Instant>::new(), BTreeSet::new()));
    move |_| {
        let mut state = state.lock().unwrap();
        let (running, known) = &mut *state;
        let now = Instant::now();
        running.retain(|end| *end > now);
        let cold = known.insert(running.len());
        let end = now + Duration::from_millis(if cold { 500 } else { 40 });
        running.push(end);
        picture().at(end)
    }
}

#[test]
fn each_level_is_warmed_up_by_itself_and_nothing_of_it_is_measured() {
    measure("warm-up per level", |figures| {
        let bench = Bench::new(compiles_on_demand());
        let ran = bench.images("[traffic]\nrequests = 24\n[matrix]\nmax_concurrency = [1, 4]", &[]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        for (run, cap) in ran.runs().iter().zip([1_usize, 4]) {
            assert_eq!(outcomes(run), [24, 0, 0, 0]);
            let id = run["id"].as_str().unwrap();
            let (warmup, records) = (ran.journal(id, "warmup.jsonl"), ran.records(id));
            assert_eq!((warmup.len(), records.len()), (cap, 24));
            assert!(records.iter().all(|record| record.request_id.starts_with("req-")));
            assert!(warmup.iter().all(|record| record.request_id.starts_with("warmup-")));
            let slowest = warmup.iter().filter_map(|record| record.latency_us).max().unwrap();
            assert!(slowest >= 500_000, "the warm-up meets the cold server: {slowest}");
            assert_eq!(records[0].due_us, 0, "the run's time begins after its warm-up");
            figures.within(&format!("c={cap} p99"), number(run, "/latency_s/p99"), 0.040..=0.250);
            assert!(!warns(run, "unmatched_warmup"), "{run}");
        }
    });
}

fn steps(seen: &Seen) -> u64 {
    serde_json::from_slice::<Value>(&seen.body).unwrap()["num_inference_steps"].as_u64().unwrap()
}

const REDUCED: &str = "[traffic]\nrequests = 6\n[warmup]\nnum_inference_steps = 2";

#[test]
fn a_reduced_warm_up_that_breaks_the_server_stops_the_run_and_says_so() {
    let broken = Mutex::new(None);
    let bench = Bench::new(move |seen| {
        let mut broken = broken.lock().unwrap();
        if steps(seen) < 20 {
            *broken = Some(Instant::now());
            return error(500, "second stage failed");
        }
        match *broken {
            Some(at) if at.elapsed() < Duration::from_secs(1) => error(503, "restarting"),
            _ => picture(),
        }
    });
    let ran = bench.images(REDUCED, &[]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.runs().is_empty());
    let reason = ran.results["not_run"][0]["reason"].as_str().unwrap();
    assert_eq!(reason, "warmup failed: HTTP 500: second stage failed");
    assert!(ran.stderr.contains(reason), "{}", ran.stderr);
    assert_eq!(bench.server.calls("POST", "/v1/").len(), 1, "nothing is measured against a broken server");
}

#[test]
fn a_reduced_warm_up_that_works_is_told_and_the_default_has_the_measured_shape() {
    let bench = Bench::new(|_| picture());
    let ran = bench.images(REDUCED, &[]);
    assert_eq!((ran.code, outcomes(ran.run())), (0, [6, 0, 0, 0]), "{}", ran.stderr);
    assert!(warns(ran.run(), "unmatched_warmup"), "{}", ran.run());
    assert!(ran.stdout.contains("unmatched_warmup"), "{}", ran.stdout);
    let told: Vec<u64> = bench.server.calls("POST", "/v1/").iter().map(steps).collect();
    assert_eq!(told, [2, 50, 50, 50, 50, 50, 50]);

    let bench = Bench::new(|_| picture());
    let ran = bench.images("[traffic]\nrequests = 6", &[]);
    assert_eq!((ran.code, outcomes(ran.run())), (0, [6, 0, 0, 0]), "{}", ran.stderr);
    assert!(!warns(ran.run(), "unmatched_warmup"), "{}", ran.run());
    assert!(bench.server.calls("POST", "/v1/").iter().all(|seen| steps(seen) == 50));
}
