//! Closed and open loop: who is sent when, and over what.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use omni_bench::record::{Record, Status};

use super::setup::{Setup, picture, seconds};
use crate::support::fake::Fake;

fn ms(us: impl Iterator<Item = u64>) -> Vec<f64> {
    us.map(|us| seconds(us) * 1e3).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / f64::from(u32::try_from(values.len()).unwrap())
}

fn near(value: f64, wanted: f64, share: f64) -> bool {
    (value - wanted).abs() <= wanted * share
}

/// A server with one worker: work is held as absolute deadlines, not as sleeps added up.
fn one_worker(service: Duration) -> impl Fn() -> Instant {
    let free = Mutex::new(Instant::now());
    move || {
        let mut free = free.lock().unwrap();
        *free = (*free).max(Instant::now()) + service;
        *free
    }
}

#[tokio::test]
async fn a_closed_loop_keeps_exactly_the_cap_in_flight() {
    let server = Fake::start(|_| picture().after(30)).await;
    let outcome = Setup::images(12, 3).run(&server).await;
    assert_eq!(outcome.driven().counts.ok, 12);
    assert!(!outcome.driven().interrupted);
    assert_eq!(server.peak(), 3);
    assert_eq!(server.connections(), 3, "connections are kept, one per slot");
    let ends: Vec<u64> = outcome.records.iter().map(|record| record.done_us).collect();
    for record in &outcome.records {
        let first = record.index < 3;
        assert_eq!(record.due_us == 0, first);
        assert!(first || ends.contains(&record.due_us), "a slot is free when its request is done");
        assert!(record.sent_us.unwrap() - record.due_us < 100_000);
    }
}

#[tokio::test]
async fn bodies_are_sent_with_their_length_and_never_chunked() {
    let server = Fake::start(|_| picture()).await;
    Setup::images(3, 1).run(&server).await;
    let seen = server.seen();
    assert_eq!(seen.len(), 3);
    for (index, request) in seen.iter().enumerate() {
        assert!(request.is("POST", "/v1/images/generations"));
        assert_eq!(request.header("content-length"), Some(request.body.len().to_string().as_str()));
        assert_eq!(request.header("transfer-encoding"), None);
        assert_eq!(request.header("content-type"), Some("application/json"));
        let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap();
        assert_eq!(body["prompt"], format!("prompt {index} of req"));
    }
}

#[tokio::test]
async fn records_carry_what_was_asked_and_what_came() {
    let server = Fake::start(|_| picture().header("x-request-id", "abc").after(20)).await;
    let outcome = Setup::images(1, 1).run(&server).await;
    let record = &outcome.records[0];
    assert_eq!((record.request_id.as_str(), record.class.as_str()), ("req-0001", "64x48-s50"));
    assert_eq!((record.asked.width, record.asked.height, record.asked.n), (Some(64), Some(48), 1));
    assert_eq!(record.seed, Some(0));
    assert_eq!(record.server_request_id.as_deref(), Some("abc"));
    assert_eq!((record.status, record.attempts, record.outputs.len()), (Status::Ok, 1, 1));
    assert!(record.bytes > 100);
    assert!(record.latency_us.unwrap() >= 20_000 && record.headers_us.is_some() && record.body_done_us.is_some());
    let driven = outcome.driven();
    assert!(driven.started_at.unwrap() <= driven.ended_at.unwrap());
}

#[tokio::test]
async fn an_open_loop_keeps_its_absolute_schedule() {
    let server = Fake::start(|_| picture()).await;
    let due_s: Vec<f64> = (0..400).map(|i| f64::from(i) / 200.0).collect();
    let setup = Setup { due_s: Some(due_s), cap: None, ..Setup::images(400, 1) };
    let outcome = setup.run(&server).await;
    let due: Vec<u64> = outcome.records.iter().map(|record| record.due_us).collect();
    assert_eq!(due, (0..400).map(|i| i * 5_000).collect::<Vec<u64>>());
    let late: Vec<f64> = ms(outcome.records.iter().map(|record| record.sent_us.unwrap() - record.due_us));
    assert!(late.last().unwrap() < &50.0, "lateness does not add up: {late:?}");
    let first = outcome.records[0].sent_us.unwrap();
    let span_s = seconds(outcome.records[399].sent_us.unwrap() - first);
    assert!(near(399.0 / span_s, 200.0, 0.02));
}

#[tokio::test]
async fn an_open_loop_without_a_cap_does_not_wait_for_replies() {
    let server = Fake::start(|_| picture().after(400)).await;
    let setup = Setup { due_s: Some(vec![0.0, 0.01, 0.02, 0.03, 0.04, 0.05]), cap: None, ..Setup::images(6, 1) };
    let outcome = setup.run(&server).await;
    assert_eq!(outcome.driven().counts.ok, 6);
    assert_eq!(server.peak(), 6);
}

#[tokio::test]
async fn waiting_for_a_slot_shows_in_response_time_and_not_in_latency() {
    let work = one_worker(Duration::from_millis(500));
    let server = Fake::start(move |_| picture().at(work())).await;
    let due_s = (0..8).map(|i| f64::from(i) / 10.0).collect();
    let outcome = Setup { due_s: Some(due_s), ..Setup::images(8, 1) }.run(&server).await;
    let latency = ms(outcome.records.iter().map(|record| record.latency_us.unwrap()));
    let response = ms(outcome.records.iter().map(|record| record.response_time_us.unwrap()));
    let queue: Vec<f64> = response.iter().zip(&latency).map(|(response, latency)| response - latency).collect();
    assert!(near(mean(&latency), 500.0, 0.04), "{latency:?}");
    assert!(near(mean(&queue), 1400.0, 0.04), "{queue:?}");
    assert!(near(mean(&response), 1900.0, 0.04), "{response:?}");
    let wall = outcome.records.iter().map(|record: &Record| record.done_us).max().unwrap();
    assert!(near(seconds(wall), 4.0, 0.04));
    assert_eq!(server.peak(), 1);
}

#[tokio::test]
async fn a_simulated_run_records_modelled_time() {
    let server = Fake::start(|_| picture().after(100)).await;
    let setup = Setup { due_s: Some(vec![0.0, 10.0]), cap: None, speed: 50.0, ..Setup::images(2, 1) };
    let begun = Instant::now();
    let outcome = setup.run(&server).await;
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(outcome.records[1].due_us, 10_000_000);
    for record in &outcome.records {
        let latency_s = seconds(record.latency_us.unwrap());
        assert!((5.0..10.0).contains(&latency_s), "100 ms on the wall are 5 s at speed 50, not {latency_s}");
    }
}
