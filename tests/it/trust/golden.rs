//! Servers of one worker, whose latencies follow from arithmetic.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::setup::{Asks, Bench, clip, deleted, job, measure, number, one_worker, outcomes, picture, warns};

const SWEEP: &str = r#"
[warmup]
requests = 0

[matrix]
max_concurrency = [1, 2, 4, 8]
requests = [2, 4, 8, 16]
zip = [["max_concurrency", "requests"]]
"#;

#[test]
fn a_serialised_server_has_the_latencies_of_its_queue_and_is_named() {
    measure("serialised server", |figures| {
        let work = one_worker(Duration::from_millis(200));
        let bench = Bench::new(move |_| picture().at(work()));
        let ran = bench.images(SWEEP, &[]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let wanted = [(1, 0.200, 0.200), (2, 0.350, 0.400), (4, 0.650, 0.800), (8, 1.250, 1.600)];
        assert_eq!(ran.runs().len(), wanted.len());
        for (run, (cap, mean_s, p50_s)) in ran.runs().iter().zip(wanted) {
            assert_eq!((&run["max_concurrency"], outcomes(run)), (&cap.into(), [2 * cap, 0, 0, 0]));
            figures.near(&format!("c={cap} mean"), number(run, "/latency_s/mean"), mean_s, 0.03);
            figures.near(&format!("c={cap} p50"), number(run, "/latency_s/p50"), p50_s, 0.03);
            figures.near(&format!("c={cap} throughput"), number(run, "/throughput_per_s"), 5.0, 0.03);
            assert_eq!(warns(run, "serialised"), cap > 1, "{run}");
        }
        assert!(ran.stdout.contains("worked off one after the other"), "{}", ran.stdout);
    });
}

#[test]
fn a_parallel_server_is_not_called_serialised() {
    let bench = Bench::new(|_| picture().after(150));
    let ran = bench.images(SWEEP, &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for run in ran.runs() {
        assert_eq!(outcomes(run)[0], run["requests"].as_u64().unwrap());
        assert!(!warns(run, "serialised"), "{run}");
    }
}

#[test]
fn the_wait_for_a_slot_is_in_the_response_time_and_stands_beside_it() {
    measure("10/s at one slot of 500 ms", |figures| {
        let work = one_worker(Duration::from_millis(500));
        let bench = Bench::new(move |_| picture().at(work()));
        let traffic = "[traffic]\nrequests = 8\nmax_concurrency = 1\nrequest_rate = 10\narrival = \"constant\"";
        let ran = bench.images(traffic, &[]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let run = ran.run();
        assert_eq!((outcomes(run), &run["headline"]), ([8, 0, 0, 0], &"response_time".into()));
        figures.near("latency mean", number(run, "/latency_s/mean"), 0.500, 0.02);
        figures.near("response mean", number(run, "/response_time_s/mean"), 1.900, 0.02);
        figures.near("response p50", number(run, "/response_time_s/p50"), 1.900, 0.02);
        figures.near("response p99", number(run, "/response_time_s/p99"), 3.272, 0.02);
        figures.near("queue mean", number(run, "/queue_s/mean"), 1.400, 0.02);
        figures.near("queue p50", number(run, "/queue_s/p50"), 1.400, 0.02);
        figures.near("queue p99", number(run, "/queue_s/p99"), 2.772, 0.02);
        figures.near("lateness p99", number(run, "/lateness_ms/p99"), 2772.0, 0.02);
        figures.near("duration", number(run, "/duration_s"), 4.0, 0.02);
        figures.near("throughput", number(run, "/throughput_per_s"), 2.0, 0.02);
        figures.near("offered", number(run, "/offered_per_s"), 10.0, 1e-9);
        let together = number(run, "/queue_s/mean") + number(run, "/latency_s/mean");
        assert!((together - number(run, "/response_time_s/mean")).abs() < 1e-9, "{run}");
        let late = run["warnings"].as_array().unwrap().iter().find(|warning| warning["kind"] == "below_offered");
        assert!(late.unwrap()["text"].as_str().unwrap().contains("impossible"), "a cap below the rate is told: {run}");
        assert_eq!(bench.server.peak(), 1);
    });
}

/// A server that works off video jobs one at a time and goes on with those that were deleted, as
/// real ones do.
fn stubborn_worker() -> Bench {
    let ends: Mutex<Vec<Instant>> = Mutex::default();
    let work = one_worker(Duration::from_micros(116_300));
    Bench::new(move |seen| {
        let mut ends = ends.lock().unwrap();
        match Asks::of(seen) {
            Asks::Create => {
                ends.push(work());
                job(&ends.len().to_string(), "queued")
            }
            Asks::Status(number) => {
                let done = ends[number - 1] <= Instant::now();
                job(&number.to_string(), if done { "completed" } else { "in_progress" })
            }
            Asks::Content(_) => clip(),
            Asks::Delete(_) => deleted(),
        }
    })
}

const EIGHT: &str = "[traffic]\nrequests = 16\nmax_concurrency = 8\n[endpoint.timeout]\njob =";

#[test]
fn a_short_job_limit_is_named_and_not_sold_as_throughput() {
    measure("job limit 600 ms", |figures| {
        let bench = stubborn_worker();
        let ran = bench.videos("20ms", &format!("{EIGHT} \"600ms\""));
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        let run = ran.run();
        assert_eq!((&run["requests"], &run["throughput_comparable"]), (&16.into(), &false.into()));
        let censored = number(run, "/censored");
        figures.within("completed", number(run, "/completed"), 5.0..=5.0);
        figures.within("censored", censored, 11.0..=11.0);
        figures.near("duration", number(run, "/duration_s"), 1.2, 0.1);
        figures.near("naive throughput", number(run, "/throughput_per_s"), 4.17, 0.1);
        assert_eq!((&run["failed"], &run["cancelled"], &run["validity"]), (&0.into(), &0.into(), &"invalid".into()));
        let errors = run["errors"].as_array().unwrap();
        assert!(errors.iter().all(|error| error["class"] == "job_timeout"), "{errors:?}");
        let named = format!("{censored} of 16 requests were cut by a limit of the client");
        for text in [&ran.stdout, &ran.text("results.md")] {
            assert!(text.contains(&named) && text.contains("not comparable"), "{text}");
        }
        assert_eq!(bench.server.calls("DELETE", "/v1/videos/").len(), 16, "cut jobs are deleted too");
        assert_eq!(ran.journal(run["id"].as_str().unwrap(), "records.jsonl").len(), 16);
    });
}

#[test]
fn a_long_job_limit_lets_the_same_load_finish() {
    measure("job limit 5 s", |figures| {
        let ran = stubborn_worker().videos("20ms", &format!("{EIGHT} \"5s\""));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let run = ran.run();
        assert_eq!((outcomes(run), &run["throughput_comparable"]), ([16, 0, 0, 0], &true.into()));
        // a job's end is seen up to a poll after it, and so is the start of its successor
        figures.near("duration", number(run, "/duration_s"), 1.8608, 0.05);
        figures.near("throughput", number(run, "/throughput_per_s"), 8.60, 0.05);
        figures.near("mean", number(run, "/latency_s/mean"), 0.7269, 0.06);
        figures.near("p50", number(run, "/latency_s/p50"), 0.9304, 0.05);
        figures.near("p99", number(run, "/latency_s/p99"), 0.9304, 0.08);
        assert!(!ran.stdout.contains("not comparable"), "{}", ran.stdout);
    });
}
