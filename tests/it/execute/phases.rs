//! Warm-up and calibration come first, are kept apart, and must succeed.

use std::collections::BTreeSet;
use std::sync::Mutex;

use omni_bench::execute::DriveError;

use super::setup::{Setup, error, picture};
use crate::support::fake::{Fake, Seen};

fn text(seen: &Seen) -> String {
    String::from_utf8_lossy(&seen.body).into_owned()
}

#[tokio::test]
async fn warm_up_takes_the_cold_start_and_leaks_nothing() {
    // the first request at each new level of load is slow, as a server that compiles on demand is
    for cap in [1, 4] {
        let warmed = Mutex::new(BTreeSet::new());
        let server = Fake::start(move |seen| {
            let cold = text(seen).contains("warmup") && warmed.lock().unwrap().len() < cap as usize;
            warmed.lock().unwrap().insert(seen.connection);
            picture().after(if cold { 500 } else { 10 })
        })
        .await;
        let setup = Setup { warmup: 4, warmup_concurrency: cap, ..Setup::images(20, cap) };
        let outcome = setup.run(&server).await;
        assert_eq!((outcome.warmup.len(), outcome.records.len()), (4, 20));
        assert!(outcome.records.iter().all(|record| record.latency_us.unwrap() < 250_000));
        assert!(outcome.records.iter().all(|record| record.request_id.starts_with("req-")));
        assert!(outcome.warmup.iter().any(|record| record.latency_us.unwrap() >= 500_000));
        assert!(outcome.warmup.iter().all(|record| record.request_id.starts_with("warmup-")));
        assert_eq!(outcome.driven().counts.ok, 20);
        assert!(
            outcome.records[0].due_us == 0 && outcome.records[0].sent_us.unwrap() < 250_000,
            "t0 is after the warm-up"
        );
    }
}

#[tokio::test]
async fn warm_up_has_its_own_concurrency() {
    let server = Fake::start(|_| picture().after(20)).await;
    let setup = Setup { warmup: 6, warmup_concurrency: 2, ..Setup::images(1, 1) };
    setup.run(&server).await;
    assert_eq!(server.peak(), 2);
}

#[tokio::test]
async fn a_failed_warm_up_stops_the_run_with_the_servers_words() {
    let server =
        Fake::start(
            |seen| {
                if text(seen).contains("warmup") { error(500, "second stage needs 20 steps") } else { picture() }
            },
        )
        .await;
    let setup = Setup { warmup: 8, warmup_concurrency: 2, warmup_steps: 2, ..Setup::images(5, 2) };
    let outcome = setup.run(&server).await;
    assert!(matches!(outcome.failed(), DriveError::Warmup(_)));
    let message = outcome.failed().to_string();
    assert_eq!(message, "warmup failed: HTTP 500: second stage needs 20 steps");
    assert!(outcome.records.is_empty(), "nothing was measured");
    assert!(server.seen().len() <= 4, "no further requests: {}", server.seen().len());
    assert!(!outcome.warmup.is_empty());
}

#[tokio::test]
async fn calibration_runs_alone_between_warm_up_and_load() {
    let server = Fake::start(|_| picture().after(15)).await;
    let setup = Setup { warmup: 2, calibration: 4, ..Setup::images(1, 1) };
    let outcome = setup.run(&server).await;
    assert_eq!((outcome.warmup.len(), outcome.calibration.len(), outcome.records.len()), (2, 4, 1));
    assert_eq!(server.peak(), 1);
    let order: Vec<&str> =
        ["warmup", "warmup", "calibration", "calibration", "calibration", "calibration", "req"].into();
    for (seen, stem) in server.seen().iter().zip(order) {
        assert!(text(seen).contains(stem));
    }
}

#[tokio::test]
async fn a_failed_calibration_stops_the_run() {
    let server = Fake::start(|seen| if seen.nth == 2 { error(400, "too large") } else { picture() }).await;
    let outcome = Setup { calibration: 3, ..Setup::images(2, 1) }.run(&server).await;
    assert_eq!(outcome.failed().to_string(), "calibration failed: HTTP 400: too large");
    assert_eq!(outcome.calibration.len(), 2);
    assert!(outcome.records.is_empty());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_stops_the_run_and_says_so() {
    let server = Fake::start(|_| picture().after(5)).await;
    let mut setup = Setup::images(50, 1);
    setup.spoil = Some(|dir| std::os::unix::fs::symlink("/dev/full", dir.records()).unwrap());
    let folder_error = setup.run_unread(&server).await.unwrap_err();
    assert!(matches!(folder_error, DriveError::Io(_)), "{folder_error}");
    assert!(folder_error.to_string().contains("records.jsonl"), "{folder_error}");
    assert!(server.seen().len() < 5, "nothing more is sent once results are lost");
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_known_before_the_first_request() {
    let server = Fake::start(|_| picture()).await;
    let mut setup = Setup::images(1, 1);
    setup.spoil = Some(|dir| fs_err::create_dir(dir.records()).unwrap());
    let error = setup.run_unread(&server).await.unwrap_err();
    assert!(matches!(error, DriveError::Io(_)), "{error}");
    assert!(server.seen().is_empty());
}
