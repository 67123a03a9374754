//! Video jobs through the whole tool: how each can end, what is deleted, and what Ctrl-C leaves.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use omni_bench::catalog::{ErrorClass, Flag};
use omni_bench::record::Status;
use rustix::process::{Pid, Signal, kill_process};

use super::setup::{Asks, Bench, Ran, clip, deleted, error, job, measure, number, outcomes, warns};
use crate::support::fake::Answer;

/// Seconds after which something that must come about has not.
const PATIENCE: Duration = Duration::from_mins(1);

#[test]
fn every_way_a_job_can_end_is_told_apart() {
    let bench = Bench::new(|seen| {
        let (nth, ended) = (seen.nth, |number: usize| job(&number.to_string(), "completed"));
        match Asks::of(seen) {
            Asks::Create => job(&nth.to_string(), "queued"),
            // a failed job's state comes with its error's status
            Asks::Status(1) => Answer::json(
                400,
                r#"{"id":"1","object":"video","status":"failed","error":{"code":400,"message":"num_frames must be 17n+5"}}"#,
            ),
            Asks::Status(2) if nth > 1 => error(404, "Video not found"),
            Asks::Status(3) if nth < 3 => job("3", "thinking"),
            Asks::Status(4) => error(502, "bad gateway"),
            Asks::Status(5) if nth < 5 => error(502, "bad gateway"),
            Asks::Status(2 | 10) => job("2", "in_progress"),
            Asks::Status(number) => ended(number),
            Asks::Content(6) => Answer::bytes(200, "video/mp4", ""),
            Asks::Content(7) => Answer::json(200, r#"{"error":"x"}"#),
            Asks::Content(8) if nth == 1 => error(404, "Generation is still in-progress"),
            Asks::Content(9) => clip().torn(144),
            Asks::Content(11) => error(404, "Generation is still in-progress"),
            Asks::Content(12) => error(302, "moved").header("location", "http://example.invalid/clip"),
            Asks::Content(_) => clip(),
            Asks::Delete(_) => deleted(),
        }
    });
    let ran = bench.videos("20ms", "[traffic]\nrequests = 12\n[endpoint.timeout]\njob = \"1s\"");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let run = ran.run();
    assert_eq!(outcomes(run), [3, 8, 1, 0]);
    let records = ran.records(run["id"].as_str().unwrap());
    let classes: Vec<Option<ErrorClass>> =
        records.iter().map(|record| record.error.as_ref().map(|error| error.class)).collect();
    let wanted = [
        Some(ErrorClass::JobFailed),
        Some(ErrorClass::JobLost),
        None,
        Some(ErrorClass::PollError),
        None,
        Some(ErrorClass::Content),
        Some(ErrorClass::Content),
        None,
        Some(ErrorClass::Io),
        Some(ErrorClass::JobTimeout),
        Some(ErrorClass::Content),
        Some(ErrorClass::Content),
    ];
    assert_eq!(classes, wanted);
    assert_eq!(records[0].error.as_ref().unwrap().message, "num_frames must be 17n+5");
    assert!(ran.stdout.contains("num_frames must be 17n+5"), "{}", ran.stdout);
    assert_eq!(records[0].polls.len(), 1, "a failed job is not asked again");
    assert_eq!(records[2].polls[0].status, "thinking", "an unknown state is waited out");
    assert_eq!(records[3].polls.len(), 5, "the budget for bad answers is bounded");
    assert_eq!(records[9].status, Status::Censored);
    let mut deletions = BTreeMap::<String, usize>::new();
    for seen in bench.server.calls("DELETE", "/v1/videos/") {
        *deletions.entry(seen.path).or_default() += 1;
    }
    assert_eq!(deletions.len(), 12, "every job is deleted, whatever became of it: {deletions:?}");
    assert!(deletions.values().all(|count| *count == 1), "{deletions:?}");
}

#[test]
fn a_job_that_ended_at_the_limit_counts_and_one_that_did_not_is_deleted_with_patience() {
    let begun = Mutex::new(None);
    let bench = Bench::new(move |seen| match Asks::of(seen) {
        Asks::Create => {
            begun.lock().unwrap().get_or_insert_with(Instant::now);
            job(&seen.nth.to_string(), "queued")
        }
        // polls come about 300 and 600 ms after the creation; the limit is between them
        Asks::Status(1) if begun.lock().unwrap().unwrap().elapsed() > Duration::from_millis(450) => {
            job("1", "completed")
        }
        Asks::Status(number) => job(&number.to_string(), "in_progress"),
        Asks::Content(_) => clip(),
        Asks::Delete(2) if seen.nth < 3 => error(409, "Cancellation in progress"),
        Asks::Delete(1) => error(404, "Video not found"),
        Asks::Delete(_) => deleted(),
    });
    let limit = "[traffic]\nrequests = 2\nmax_concurrency = 2\n[endpoint.timeout]\njob = \"500ms\"";
    let ran = bench.videos("300ms", limit);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert_eq!(outcomes(ran.run()), [1, 0, 1, 0]);
    let mut records = ran.records("v/A/c2");
    // the order of two creations at once is open
    records.sort_by_key(|record| record.job_id.clone());
    assert_eq!((records[0].status, records[1].status), (Status::Ok, Status::Censored));
    assert_eq!(
        records[1].error.as_ref().map(|error| (error.class, error.message.as_str())),
        Some((ErrorClass::JobTimeout, "the job was not finished within 500ms; its last state was `in_progress`"))
    );
    let deletions = bench.server.calls("DELETE", "/v1/videos/2");
    assert_eq!(deletions.len(), 3, "asked again while the cancellation is in progress");
    assert!(records.iter().all(|record| !record.flags.contains(&Flag::CleanupFailed)), "404 is gone as well");
    let waited = deletions[2].at.duration_since(deletions[0].at);
    assert!(waited >= Duration::from_millis(700), "{waited:?}");
    let polled = Duration::from_micros(records[1].polls.last().unwrap().at_us);
    let done = Duration::from_micros(records[1].done_us);
    assert!(
        done.saturating_sub(polled) < Duration::from_millis(200),
        "deletion is outside the latency: {done:?} {polled:?}"
    );
}

#[test]
fn trouble_with_a_deletion_is_a_remark_and_not_a_failure() {
    let bench = Bench::new(|seen| match Asks::of(seen) {
        Asks::Create => job(&seen.nth.to_string(), "queued"),
        Asks::Status(number) => job(&number.to_string(), "completed"),
        Asks::Content(_) => clip(),
        Asks::Delete(1) => error(500, "no"),
        Asks::Delete(2) => Answer::hang(),
        Asks::Delete(_) => error(404, "Video not found"),
    });
    let ran =
        bench.videos("20ms", "[traffic]\nrequests = 3\nmax_concurrency = 3\n[endpoint.timeout]\nrequest = \"2s\"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(outcomes(ran.run()), [3, 0, 0, 0]);
    // requests at once may be created in another order than their numbers
    let records = ran.records("v/A/c3");
    for record in &records {
        let trouble = matches!(record.job_id.as_deref(), Some("1" | "2"));
        assert_eq!(record.flags.contains(&Flag::CleanupFailed), trouble, "{:?}", record.job_id);
        assert!(record.latency_us.unwrap() < 2_000_000, "a hanging deletion is not in the latency");
    }
    assert!(warns(ran.run(), "flagged") && ran.stdout.contains("cleanup_failed 2"), "{}", ran.stdout);
}

#[test]
fn the_time_of_a_job_is_known_to_a_poll_and_a_coarse_poll_is_told() {
    for (poll, gap_ms) in [("100ms", 100.0), ("2s", 2_000.0)] {
        measure(&format!("poll every {poll}"), |figures| {
            let end = Mutex::new(None);
            let bench = Bench::new(move |seen| match Asks::of(seen) {
                Asks::Create => {
                    *end.lock().unwrap() = Some(Instant::now() + Duration::from_millis(250));
                    job("1", "queued")
                }
                Asks::Status(_) if end.lock().unwrap().unwrap() > Instant::now() => job("1", "in_progress"),
                Asks::Status(_) => job("1", "completed"),
                Asks::Content(_) => clip(),
                Asks::Delete(_) => deleted(),
            });
            let ran = bench.videos(poll, "[traffic]\nrequests = 1");
            assert_eq!((ran.code, outcomes(ran.run())), (0, [1, 0, 0, 0]), "{}", ran.stderr);
            let record = &ran.records("v/A/c1")[0];
            let ms = |us: u64| Duration::from_micros(us).as_secs_f64() * 1e3;
            let job_ms = ms(record.first_terminal_us.unwrap() - record.created_us.unwrap());
            let [low, high] = record.job_bounds_us.unwrap();
            // the create reply itself takes a moment to arrive
            figures.within("job time (ms)", job_ms, 249.0..=250.0 + gap_ms + 50.0);
            figures.within("uncertainty (ms)", ms(high - low), gap_ms * 0.9..=gap_ms + 60.0);
            assert!(low <= high && high == record.first_terminal_us.unwrap());
            assert!(warns(ran.run(), "coarse_polls"), "a gap above a tenth of the job time: {}", ran.run());
            assert!(number(ran.run(), "/latency_s/mean") * 1e3 >= job_ms);
        });
    }
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what} did not come about");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn ctrl_c_deletes_the_jobs_that_run_and_keeps_what_happened() {
    let bench = Bench::new(|seen| match Asks::of(seen) {
        Asks::Create => job(&seen.nth.to_string(), "queued"),
        Asks::Status(number) => job(&number.to_string(), if number <= 2 { "completed" } else { "in_progress" }),
        Asks::Content(_) => clip(),
        Asks::Delete(_) => deleted(),
    });
    let child = bench.videos_command("20ms", "[traffic]\nrequests = 9\nmax_concurrency = 4").spawn().unwrap();
    let polled = |number: u32| !bench.server.calls("GET", &format!("/v1/videos/{number}")).is_empty();
    until("four jobs in progress", || (3..=6).all(polled));
    let begun = Instant::now();
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::INT).unwrap();
    let ran = Ran::of(bench.sandbox.path(), &child.wait_with_output().unwrap());
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(ran.code, 130, "{}", ran.stderr);
    assert_eq!(bench.server.calls("POST", "/v1/videos").len(), 6, "no new jobs");
    let mut deleted: Vec<String> = bench.server.calls("DELETE", "/").into_iter().map(|seen| seen.path).collect();
    deleted.sort();
    assert_eq!(deleted, [1, 2, 3, 4, 5, 6].map(|number| format!("/v1/videos/{number}")));
    let run = ran.run();
    assert_eq!((outcomes(run), &run["validity"]), ([2, 0, 0, 7], &"invalid".into()));
    assert!(warns(run, "interrupted"), "{run}");
    let records = ran.records("v/A/c4");
    assert_eq!(records.iter().filter(|record| record.sent_us.is_some()).count(), 6);
    assert!(ran.text("runs/v/A/c4/run.json").contains("interrupted"));
}

#[test]
fn a_second_ctrl_c_ends_at_once() {
    let bench = Bench::new(|seen| match Asks::of(seen) {
        Asks::Create => job(&seen.nth.to_string(), "queued"),
        Asks::Status(number) => job(&number.to_string(), "in_progress"),
        Asks::Content(_) | Asks::Delete(_) => Answer::hang(),
    });
    let child = bench.videos_command("20ms", "[traffic]\nrequests = 4\nmax_concurrency = 4").spawn().unwrap();
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    until("four jobs", || bench.server.calls("POST", "/v1/videos").len() == 4);
    kill_process(pid, Signal::INT).unwrap();
    until("deletions", || bench.server.calls("DELETE", "/").len() == 4);
    let begun = Instant::now();
    kill_process(pid, Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    assert_eq!(output.status.code(), Some(130));
}

#[test]
fn submit_wait_content_and_delete_are_told_apart_and_deleting_is_in_no_latency() {
    measure("phases of a job", |figures| {
        let end = Mutex::new(None);
        let bench = Bench::new(move |seen| match Asks::of(seen) {
            Asks::Create => {
                *end.lock().unwrap() = Some(Instant::now() + Duration::from_millis(400));
                job("1", "queued").after(100)
            }
            Asks::Status(_) if end.lock().unwrap().unwrap() > Instant::now() => job("1", "in_progress"),
            Asks::Status(_) => job("1", "completed"),
            Asks::Content(_) => clip().after(200),
            Asks::Delete(_) => deleted().after(500),
        });
        let ran = bench.videos("20ms", "[traffic]\nrequests = 1");
        assert_eq!((ran.code, outcomes(ran.run())), (0, [1, 0, 0, 0]), "{}", ran.stderr);
        for (phase, ms) in [("submit", 100.0), ("wait", 300.0), ("content", 200.0), ("delete", 500.0)] {
            let mean = number(ran.run(), &format!("/job_phases_s/{phase}/mean")) * 1e3;
            figures.within(&format!("{phase} (ms)"), mean, ms - 1.0..=ms + 80.0);
        }
        let latency = number(ran.run(), "/latency_s/mean") * 1e3;
        figures.within("latency without deleting (ms)", latency, 599.0..=760.0);
        let record = &ran.records("v/A/c1")[0];
        assert!(record.deleted_us.unwrap() > record.done_us);
    });
}
