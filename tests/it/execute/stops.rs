//! The user's stop: in good order at the first signal, at once at the second.

use std::time::{Duration, Instant};

use omni_bench::execute::Stop;
use omni_bench::record::Status;

use super::setup::{Setup, job, picture};
use crate::support::fake::{Answer, Fake};

/// Runs `setup` and gives the signal after `ms`.
async fn stopped_after(ms: u64, setup: Setup, server: &Fake, signal: fn(&Stop)) -> super::setup::Outcome {
    let stop = setup.stop.clone();
    let (outcome, ()) = tokio::join!(setup.run(server), async {
        tokio::time::sleep(Duration::from_millis(ms)).await;
        signal(&stop);
    });
    outcome
}

/// A server whose jobs never end.
async fn endless_jobs() -> Fake {
    Fake::start(|seen| match seen.method.as_str() {
        "POST" => job(&format!("video_gen_{}", seen.nth), "queued"),
        "DELETE" => Answer::json(200, r#"{"deleted":true}"#),
        _ => job(seen.path.rsplit('/').next().unwrap(), "in_progress"),
    })
    .await
}

/// Case C27.
#[tokio::test]
async fn a_stop_deletes_the_jobs_it_knows_and_starts_no_others() {
    let server = endless_jobs().await;
    let begun = Instant::now();
    let outcome = stopped_after(300, Setup::videos(9, 4), &server, Stop::request).await;
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert!(outcome.driven().interrupted);
    assert_eq!(outcome.driven().counts.cancelled, 9);
    assert_eq!(server.calls("POST", "/v1/videos").len(), 4);
    let mut deleted: Vec<String> = server.calls("DELETE", "/").into_iter().map(|seen| seen.path).collect();
    deleted.sort();
    assert_eq!(deleted, [1, 2, 3, 4].map(|n| format!("/v1/videos/video_gen_{n}")));
    assert_eq!(outcome.jobs.iter().filter(|job| !job.live).count(), 4);
    let sent = outcome.records.iter().filter(|record| record.sent_us.is_some()).count();
    assert_eq!(sent, 4);
    assert!(outcome.error(8).starts_with("cancelled: ") && outcome.error(8).contains("before the request was sent"));
}

#[tokio::test]
async fn a_stop_cancels_running_requests_and_keeps_what_is_done() {
    let server = Fake::start(|seen| if seen.nth <= 2 { picture() } else { Answer::hang() }).await;
    let outcome = stopped_after(300, Setup::images(6, 2), &server, Stop::request).await;
    let counts = outcome.driven().counts;
    assert_eq!((counts.ok, counts.cancelled), (2, 4));
    assert!(outcome.driven().interrupted);
    assert_eq!(server.seen().len(), 4);
    // the server learns of it as its clients go away
    let waiting = async {
        while server.gone() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waiting).await.expect("cancelled requests close their connections");
}

#[tokio::test]
async fn a_stop_of_an_open_loop_records_what_was_never_due() {
    let server = Fake::start(|_| picture()).await;
    let due_s = vec![0.0, 0.01, 3600.0, 3601.0];
    let setup = Setup { due_s: Some(due_s), cap: None, ..Setup::images(4, 1) };
    let outcome = stopped_after(300, setup, &server, Stop::request).await;
    let counts = outcome.driven().counts;
    assert_eq!((counts.ok, counts.cancelled), (2, 2));
    assert_eq!(outcome.records[2].due_us, 3_600_000_000);
    assert_eq!((outcome.records[2].sent_us, outcome.records[2].latency_us), (None, None));
}

#[tokio::test]
async fn a_stop_waits_a_little_for_a_create_call_and_deletes_its_job() {
    let server = Fake::start(|seen| match seen.method.as_str() {
        "POST" => job("late", "queued").after(600),
        "DELETE" => Answer::json(200, r#"{"deleted":true}"#),
        _ => job("late", "in_progress"),
    })
    .await;
    let outcome = stopped_after(200, Setup::videos(1, 1), &server, Stop::request).await;
    assert_eq!(outcome.records[0].status, Status::Cancelled);
    assert_eq!(outcome.records[0].job_id.as_deref(), Some("late"));
    assert_eq!(server.calls("DELETE", "/v1/videos/late").len(), 1);
    assert!(server.calls("GET", "/").is_empty());
}

#[tokio::test]
async fn the_second_signal_abandons_everything_at_once() {
    let server = Fake::start(|seen| match seen.method.as_str() {
        "POST" => job(&format!("video_gen_{}", seen.nth), "queued"),
        "DELETE" => Answer::hang(),
        _ => job("x", "in_progress"),
    })
    .await;
    let begun = Instant::now();
    let outcome = stopped_after(200, Setup::videos(5, 2), &server, |stop| {
        stop.request();
        stop.now();
    })
    .await;
    // deleting jobs after a first signal would be given five seconds
    assert!(begun.elapsed() < Duration::from_secs(4));
    assert_eq!(outcome.driven().counts.cancelled, 5);
    assert!(outcome.jobs.iter().all(|job| job.live), "what may be left on the server is on file");
}

#[tokio::test]
async fn a_stop_in_the_warm_up_measures_nothing() {
    let server = Fake::start(|_| Answer::hang()).await;
    let outcome = stopped_after(200, Setup { warmup: 1, ..Setup::images(3, 1) }, &server, Stop::request).await;
    assert!(outcome.driven().interrupted);
    assert_eq!((outcome.driven().started_at, outcome.driven().counts.cancelled), (None, 3));
    assert_eq!(server.seen().len(), 1);
    assert_eq!(outcome.warmup[0].status, Status::Cancelled);
}
