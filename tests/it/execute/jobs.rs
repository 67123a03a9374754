//! Video jobs: created, polled, fetched, deleted, and everything that can go wrong between.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use omni_bench::catalog::{ErrorClass, Flag};
use omni_bench::record::Status;

use super::setup::{Outcome, Setup, error, job, picture, seconds, video};
use crate::support::fake::{Answer, Fake, Seen};

const ID: &str = "video_gen_1";

/// A server with one job that answers the n-th poll with `state(n)`; `content` and `delete` likewise.
async fn server_with(
    poll: impl Fn(usize) -> Answer + Send + Sync + 'static,
    content: impl Fn(usize) -> Answer + Send + Sync + 'static,
    delete: impl Fn(usize) -> Answer + Send + Sync + 'static,
) -> Fake {
    Fake::start(move |seen| match (seen.method.as_str(), seen.path.as_str()) {
        ("POST", "/v1/videos") => job(ID, "queued"),
        ("GET", "/v1/videos/video_gen_1") => poll(seen.nth),
        ("GET", "/v1/videos/video_gen_1/content") => content(seen.nth),
        ("DELETE", "/v1/videos/video_gen_1") => delete(seen.nth),
        _ => error(404, "no such route"),
    })
    .await
}

fn done(_: usize) -> Answer {
    job(ID, "completed")
}

fn clip(_: usize) -> Answer {
    video()
}

fn deleted(_: usize) -> Answer {
    Answer::json(200, format!(r#"{{"id":"{ID}","deleted":true,"object":"video.deleted"}}"#))
}

fn status(outcome: &Outcome) -> Status {
    outcome.records[0].status
}

#[tokio::test]
async fn a_job_is_created_polled_fetched_and_deleted() {
    let states = |n| job(ID, ["queued", "in_progress", "thinking", "completed"][n - 1]);
    let server = server_with(states, clip, deleted).await;
    let outcome = Setup::videos(1, 1).run(&server).await;
    let record = &outcome.records[0];
    assert_eq!(record.status, Status::Ok, "{}", outcome.error(0));
    assert_eq!(record.job_id.as_deref(), Some(ID));
    let words: Vec<&str> = record.polls.iter().map(|poll| poll.status.as_str()).collect();
    assert_eq!(words, ["queued", "in_progress", "thinking", "completed"], "a state nobody knows is waited out");
    let last = record.polls.last().unwrap();
    assert_eq!(record.first_terminal_us, Some(last.at_us));
    assert_eq!(record.job_bounds_us.unwrap()[0], record.polls[2].sent_us);
    assert!(record.created_us < record.first_terminal_us && record.first_terminal_us < record.content_done_us);
    assert!(record.content_done_us.unwrap() <= record.done_us);
    assert_eq!(record.bytes, 2709, "the bytes are the content's");
    assert_eq!(server.calls("DELETE", "/v1/videos/").len(), 1);
    assert!(server.seen().iter().all(|seen| seen.header("transfer-encoding").is_none()));
    let lines: Vec<(bool, Option<usize>)> = outcome.jobs.iter().map(|job| (job.live, job.index)).collect();
    assert_eq!(lines, [(true, Some(0)), (false, Some(0))]);
}

/// Case C14.
#[tokio::test]
async fn a_job_that_ended_about_its_limit_is_not_thrown_away() {
    let begun = Mutex::new(None);
    let by_time = move |_| {
        let begun = *begun.lock().unwrap().get_or_insert_with(Instant::now);
        job(ID, if begun.elapsed() < Duration::from_millis(250) { "in_progress" } else { "completed" })
    };
    let server = server_with(by_time, clip, deleted).await;
    let outcome = Setup::videos(1, 1).job_limit_ms(500).poll_every(300).run(&server).await;
    assert_eq!(status(&outcome), Status::Ok, "{}", outcome.error(0));

    let server = server_with(|_| job(ID, "in_progress"), clip, deleted).await;
    let outcome = Setup::videos(1, 1).job_limit_ms(500).poll_every(300).run(&server).await;
    assert_eq!(status(&outcome), Status::Censored);
    assert_eq!(
        outcome.error(0),
        "job_timeout: the job was not finished within 500ms; its last state was `in_progress`"
    );
    assert_eq!(outcome.records[0].polls.len(), 2);
    assert_eq!(server.calls("DELETE", "/v1/videos/").len(), 1, "the server may still be at it");
}

#[tokio::test]
async fn a_poll_that_hangs_does_not_break_the_limit() {
    let server = server_with(|_| Answer::hang(), clip, deleted).await;
    let outcome = Setup::videos(1, 1).job_limit_ms(300).run(&server).await;
    assert_eq!(
        (status(&outcome), outcome.records[0].error.as_ref().unwrap().class),
        (Status::Censored, ErrorClass::JobTimeout)
    );
    assert!(outcome.records[0].latency_us.unwrap() < 1_500_000);
}

/// Case C15.
#[tokio::test]
async fn a_failed_job_tells_its_own_reason_whatever_the_status_code() {
    let body = r#"{"id":"video_gen_1","object":"video","status":"failed","error":{"code":400,"message":"num_frames must be 17n+5"}}"#;
    for code in [200, 400, 500] {
        let server = server_with(move |_| Answer::json(code, body), clip, deleted).await;
        let outcome = Setup::videos(1, 1).run(&server).await;
        assert_eq!(status(&outcome), Status::Failed);
        assert_eq!(outcome.error(0), "job_failed: num_frames must be 17n+5");
        assert_eq!(server.calls("GET", "/v1/videos/").len(), 1, "a failed job is not polled again");
        assert_eq!(server.calls("DELETE", "/v1/videos/").len(), 1);
    }
}

/// Case C19.
#[tokio::test]
async fn content_must_be_a_whole_video() {
    type Script = fn(usize) -> Answer;
    let not_yet = |_| error(404, "Generation is still in-progress");
    let cases: [(Script, Option<ErrorClass>); 6] = [
        (|_| Answer::bytes(200, "video/mp4", ""), Some(ErrorClass::Content)),
        (|_| Answer::json(200, r#"{"error":"x"}"#), Some(ErrorClass::Content)),
        (|n| if n == 1 { error(404, "Generation is still in-progress") } else { video() }, None),
        (not_yet, Some(ErrorClass::Content)),
        (|_| video().torn(144), Some(ErrorClass::Io)),
        (|_| error(302, "moved").header("location", "http://example.invalid/clip"), Some(ErrorClass::Content)),
    ];
    for (number, (content, wanted)) in cases.into_iter().enumerate() {
        let server = server_with(done, content, deleted).await;
        let outcome = Setup::videos(1, 1).run(&server).await;
        let class = outcome.records[0].error.as_ref().map(|error| error.class);
        assert_eq!(class, wanted, "case {number}: {}", outcome.error(0));
        assert!(server.calls("GET", "/v1/videos/video_gen_1/content").len() <= 5);
        assert_eq!(server.calls("DELETE", "/v1/videos/").len(), 1);
    }
}

/// Case C21.
#[tokio::test]
async fn the_end_of_a_job_is_known_within_a_poll_gap() {
    for gap in [40, 400] {
        let begun = Mutex::new(None);
        let ready = move |_| {
            let begun = *begun.lock().unwrap().get_or_insert_with(Instant::now);
            job(ID, if begun.elapsed() < Duration::from_millis(100) { "in_progress" } else { "completed" })
        };
        let server = server_with(ready, clip, deleted).await;
        let outcome = Setup::videos(1, 1).poll_every(gap).run(&server).await;
        let [low, high] = outcome.records[0].job_bounds_us.unwrap();
        assert!((gap * 700..gap * 1_000 + 1_000_000).contains(&(high - low)), "{gap} ms: {low} to {high}");
    }
}

/// Case C26.
#[tokio::test]
async fn deletion_is_retried_while_in_progress_and_its_trouble_is_only_a_remark() {
    type Script = fn(usize) -> Answer;
    let cases: [(Script, bool, usize); 4] = [
        (|n| if n < 3 { error(409, "Cancellation in progress") } else { deleted(n) }, true, 3),
        (|_| error(404, "Video not found"), true, 1),
        (|_| error(500, "no"), false, 1),
        (|_| Answer::hang(), false, 1),
    ];
    for (delete, clean, calls) in cases {
        let server = server_with(done, clip, delete).await;
        // at speed 10 the ten seconds a deletion may take pass in one
        let outcome = Setup { speed: 10.0, ..Setup::videos(1, 1) }.run(&server).await;
        let record = &outcome.records[0];
        assert_eq!(record.status, Status::Ok, "{}", outcome.error(0));
        assert_eq!(record.flags.contains(&Flag::CleanupFailed), !clean);
        assert_eq!(server.calls("DELETE", "/v1/videos/").len(), calls);
        assert_eq!(outcome.jobs.last().unwrap().live, !clean, "what may be left is on file");
        let deleted_at = server.calls("DELETE", "/v1/videos/")[0].at;
        let fetched_at = server.calls("GET", "/v1/videos/video_gen_1/content")[0].at;
        assert!(deleted_at >= fetched_at);
        assert!(record.latency_us.unwrap() < 5_000_000, "the deletion is not part of the latency");
    }
}

#[tokio::test]
async fn a_job_that_the_server_forgot_is_lost() {
    let states = |n| if n == 1 { job(ID, "in_progress") } else { error(404, "Video not found") };
    let server = server_with(states, clip, |_| error(404, "Video not found")).await;
    let outcome = Setup::videos(1, 1).run(&server).await;
    assert_eq!(outcome.error(0), "job_lost: Video not found");
    assert!(!outcome.records[0].flags.contains(&Flag::CleanupFailed));
}

#[tokio::test]
async fn a_few_bad_polls_are_survived_and_many_are_not() {
    let states = |n| if n < 5 { error(502, "bad gateway") } else { job(ID, "completed") };
    let server = server_with(states, clip, deleted).await;
    let outcome = Setup::videos(1, 1).run(&server).await;
    assert_eq!(status(&outcome), Status::Ok, "{}", outcome.error(0));
    assert!(outcome.records[0].polls[0].status.contains("HTTP 502"));

    let server = server_with(|_| error(502, "bad gateway"), clip, deleted).await;
    let outcome = Setup::videos(1, 1).run(&server).await;
    assert!(outcome.error(0).starts_with("poll_error: "), "{}", outcome.error(0));
    assert_eq!(outcome.records[0].polls.len(), 5);
}

#[tokio::test]
async fn a_stale_connection_is_replaced_once_for_a_call_without_side_effects() {
    let server = server_with(|n| if n == 1 { Answer::reset() } else { done(n) }, clip, deleted).await;
    let outcome = Setup::videos(1, 1).run(&server).await;
    let record = &outcome.records[0];
    assert_eq!((record.status, record.attempts), (Status::Ok, 2));
    assert!(record.flags.contains(&Flag::Retried));
    assert_eq!(record.polls.len(), 1, "the poll itself did not fail");
}

#[tokio::test]
async fn a_refused_creation_leaves_nothing_to_delete() {
    let server = Fake::start(|seen| match seen.nth {
        1 => error(400, "Model mismatch: m"),
        2 => Answer::json(200, r#"{"object":"video","status":"queued"}"#),
        _ => picture(),
    })
    .await;
    let outcome = Setup::videos(2, 1).run(&server).await;
    assert_eq!(outcome.driven().counts.failed, 2);
    assert!(
        outcome.error(0).starts_with("http_status: ") && outcome.error(0).contains("Model mismatch"),
        "{}",
        outcome.error(0)
    );
    assert!(outcome.jobs.is_empty());
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn the_blocking_endpoint_answers_with_the_video_itself() {
    let server = Fake::start(|_| video().header("x-inference-time-s", "1.250").after(20)).await;
    let outcome = Setup { sync_video: true, ..Setup::videos(2, 1) }.run(&server).await;
    assert_eq!(outcome.driven().counts.ok, 2, "{}", outcome.error(0));
    assert!(server.seen().iter().all(|seen| seen.is("POST", "/v1/videos/sync")));
    let record = &outcome.records[0];
    assert_eq!((record.job_id.as_deref(), record.polls.len(), record.generation_ms), (None, 0, Some(1_250.0)));
    assert_eq!(record.outputs[0].frames, Some(33));
    assert!(outcome.jobs.is_empty());
}

/// One worker that goes on with jobs that were deleted, as real ones do.
async fn slow_server() -> Fake {
    let ends: Mutex<Vec<Instant>> = Mutex::default();
    Fake::start(move |seen: &Seen| {
        let mut ends = ends.lock().unwrap();
        let number = seen.path.split('/').nth(3).and_then(|id| id.parse::<usize>().ok());
        match (seen.method.as_str(), number) {
            ("POST", _) => {
                let free = ends.last().copied().unwrap_or(seen.at).max(seen.at);
                ends.push(free + Duration::from_micros(116_300));
                job(&(ends.len() - 1).to_string(), "queued")
            }
            ("GET", Some(_)) if seen.path.ends_with("/content") => video(),
            ("GET", Some(number)) => {
                let state = if ends[number] <= Instant::now() { "completed" } else { "in_progress" };
                job(&number.to_string(), state)
            }
            _ => Answer::json(200, r#"{"deleted":true}"#),
        }
    })
    .await
}

/// Case C13.
#[tokio::test]
async fn a_short_job_limit_is_told_and_not_sold_as_throughput() {
    let server = slow_server().await;
    let outcome = Setup::videos(16, 8).job_limit_ms(600).poll_every(5).run(&server).await;
    let counts = outcome.driven().counts;
    assert_eq!((counts.ok, counts.censored), (5, 11));
    let wall_ms = |outcome: &Outcome| seconds(outcome.records.iter().map(|record| record.done_us).max().unwrap()) * 1e3;
    assert!((1_150.0..1_500.0).contains(&wall_ms(&outcome)), "{}", wall_ms(&outcome));
    let told = "job_timeout: the job was not finished within 600ms";
    assert_eq!((0..16).filter(|index| outcome.error(*index).starts_with(told)).count(), 11);
    assert_eq!(server.calls("DELETE", "/v1/videos/").len(), 16);

    let server = slow_server().await;
    let outcome = Setup::videos(16, 8).job_limit_ms(5_000).poll_every(5).run(&server).await;
    assert_eq!(outcome.driven().counts.ok, 16);
    assert!((1_800.0..2_100.0).contains(&wall_ms(&outcome)), "{}", wall_ms(&outcome));
    let mut latencies: Vec<f64> =
        outcome.records.iter().map(|record| seconds(record.latency_us.unwrap()) * 1e3).collect();
    latencies.sort_by(f64::total_cmp);
    let mean_ms = latencies.iter().sum::<f64>() / 16.0;
    assert!((700.0..820.0).contains(&mean_ms), "{mean_ms}");
    // half of the requests and more wait for seven others: both percentiles are 8 × 116.3 ms
    for latency in [latencies[7], latencies[15]] {
        assert!((900.0..1_050.0).contains(&latency), "{latencies:?}");
    }
}
