//! `run --gate`, with re-runs of what failed and with the history as baseline, against a server whose
//! speed the test sets.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::support::Sandbox;
use crate::support::fake::{Answer, Fake, Seen};

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAEAAAAAwCAAAAACEICPDAAAAJUlEQVR42u3MQREAAAwCIJtb3RD77SAA6VEEAoFAIBAIBALB12AMd/RMfhbwEQAAAABJRU5ErkJggg==";
const FAST_MS: u64 = 50;
const SLOW_MS: u64 = 1000;
/// Slow for good.
const ALWAYS: u64 = u64::MAX;
/// Answers with errors.
const BROKEN: u64 = u64::MAX - 1;

/// A scenario, its server, and a baseline that was measured while the server was fast.
struct Bench {
    sandbox: Sandbox,
    server: Fake,
    /// Requests that are still answered slowly.
    slow: Arc<AtomicU64>,
}

struct Told {
    code: Option<i32>,
    out: String,
    err: String,
}

fn answer(seen: &Seen, slow: &AtomicU64) -> Answer {
    match (seen.method.as_str(), seen.path.as_str()) {
        (_, "/health") => Answer::json(200, "{}"),
        (_, "/v1/models") => Answer::json(200, r#"{"data":[{"id":"Qwen/Qwen-Image"}]}"#),
        ("POST", "/v1/images/generations") => {
            let image = Answer::json(200, json!({ "created": 1, "data": [{ "b64_json": PNG }] }).to_string());
            match slow.load(Ordering::SeqCst) {
                0 => image.after(FAST_MS),
                ALWAYS => image.after(SLOW_MS),
                BROKEN => Answer::json(500, r#"{"error":{"message":"out of memory"}}"#),
                left => {
                    slow.store(left - 1, Ordering::SeqCst);
                    image.after(SLOW_MS)
                }
            }
        }
        _ => Answer::json(404, "{}"),
    }
}

impl Bench {
    async fn new() -> Self {
        let slow = Arc::<AtomicU64>::default();
        let shared = Arc::clone(&slow);
        let server = Fake::start(move |seen| answer(seen, &shared)).await;
        let bench = Self { sandbox: Sandbox::new(), server, slow };
        bench.write(
            "gated.toml",
            &bench.scenario("[gate]\nbaseline = \"base.json\"\nmetrics = { \"latency_s.mean\" = { tolerance = 5.0 } }"),
        );
        bench.write("plain.toml", &bench.scenario(""));
        let run = bench.run(&["plain.toml"]);
        assert_eq!(run.code, Some(0), "{}", run.err);
        let made = bench.sandbox.omni_bench(&["baseline", "results/gated/latest", "-o", "base.json"]);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        bench
    }

    fn scenario(&self, gate: &str) -> String {
        let url = &self.server.url;
        format!(
            r#"
name = "gated"
[model]
id = "Qwen/Qwen-Image"
task = "t2i"
[endpoint]
url = "{url}"
path = "/v1/images/generations"
[environment]
gpu = "H100"
[datasets.A]
profiles = [{{ width = 64, height = 48, num_inference_steps = 2 }}]
[traffic]
requests = 4
[warmup]
requests = 0
[matrix]
max_concurrency = [1, 2]
{gate}
"#
        )
    }

    fn write(&self, name: &str, text: &str) {
        fs_err::write(self.sandbox.path().join(name), text).unwrap();
    }

    fn omni_bench(&self, arguments: &[&str]) -> Told {
        let output = self.sandbox.omni_bench(arguments);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Told { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    fn run(&self, arguments: &[&str]) -> Told {
        self.omni_bench(&[&["run"], arguments].concat())
    }

    fn slow(&self, requests: u64) {
        self.slow.store(requests, Ordering::SeqCst);
    }

    fn sent(&self) -> usize {
        self.server.calls("POST", "/v1/images").len()
    }

    fn folder(&self) -> PathBuf {
        fs_err::canonicalize(self.sandbox.path().join("results/gated/latest")).unwrap()
    }

    /// Ids and mean latencies of a folder's `results.json`.
    fn means(&self, folder: &str) -> Vec<(String, f64)> {
        let file = self.folder().join(folder).join("results.json");
        let results: Value = serde_json::from_slice(&fs_err::read(file).unwrap()).unwrap();
        let mean = |run: &Value| (run["id"].as_str().unwrap().to_owned(), run["latency_s"]["mean"].as_f64().unwrap());
        results["runs"].as_array().unwrap().iter().map(mean).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_passes_ends_with_0_and_tells_the_verdict_after_its_tables() {
    let bench = Bench::new().await;
    let told = bench.run(&["gated.toml", "--gate", "--confirm", "2"]);
    assert_eq!(told.code, Some(0), "{}\n{}", told.out, told.err);
    let (tables, verdict) = told.out.split_once("\nGate against ").unwrap_or_else(|| panic!("{}", told.out));
    assert!(
        !tables.trim().is_empty() && verdict.contains(": pass") && verdict.contains("2 runs: 2 pass"),
        "{}",
        told.out
    );
    assert!(!bench.folder().join("confirm-1").exists(), "nothing failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_slow_once_is_cleared_by_measuring_it_alone_again() {
    let bench = Bench::new().await;
    let before = bench.sent();
    bench.slow(4);
    let told = bench.run(&["gated.toml", "--gate", "--confirm", "2"]);
    assert_eq!(told.code, Some(0), "{}\n{}", told.out, told.err);
    assert_eq!(bench.sent() - before, 4 + 4 + 4, "only the run that failed is measured again, once");
    assert!(
        told.out
            .contains("default/A/c1: cleared by `confirm-1`, whose figures are shown; at first `latency_s.mean` 1."),
        "{}",
        told.out
    );
    assert!(told.out.contains("2 runs: 2 pass"), "{}", told.out);
    let again = bench.means("confirm-1");
    assert_eq!(again.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["default/A/c1"]);
    let first = bench.means("");
    assert!(first[0].1 > 0.9 && again[0].1 < 0.5, "the first measurement stays: {first:?} {again:?}");
    assert!(!bench.folder().join("confirm-2").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_regression_survives_every_confirmation() {
    let bench = Bench::new().await;
    bench.slow(ALWAYS);
    let told = bench.run(&["gated.toml", "--gate", "--confirm", "2", "--only", "*/A/c1"]);
    assert_eq!(told.code, Some(1), "{}\n{}", told.out, told.err);
    assert!(
        told.out.contains("not cleared by any re-run; `confirm-1` failed too: `latency_s.mean` 1."),
        "{}",
        told.out
    );
    assert!(told.out.contains("`confirm-2` failed too") && told.out.contains("1 run: 1 regression"), "{}", told.out);
    let folder = bench.folder();
    let kept = fs_err::read(folder.join("confirm-1/results.json")).unwrap();
    let latest = folder.to_string_lossy().into_owned();
    let told = bench.run(&["gated.toml", "--gate", "--confirm", "1", "--only", "*/A/c1", "--resume", &latest]);
    assert_eq!(told.code, Some(1), "{}", told.err);
    assert!(told.out.contains("`confirm-3` failed too"), "{}", told.out);
    assert_eq!(fs_err::read(folder.join("confirm-1/results.json")).unwrap(), kept, "nothing is overwritten");
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_runs_end_with_3_and_other_hardware_with_4_and_neither_is_measured_again() {
    let bench = Bench::new().await;
    bench.slow(BROKEN);
    let told = bench.run(&["gated.toml", "--gate", "--confirm", "2"]);
    assert_eq!((told.code, told.out.contains("2 runs: 2 run failed")), (Some(3), true), "{}", told.out);
    assert!(!bench.folder().join("confirm-1").exists());
    bench.slow(0);
    let other = fs_err::read_to_string(bench.sandbox.path().join("base.json")).unwrap().replace("\"H100\"", "\"H200\"");
    bench.write("base.json", &other);
    let told = bench.run(&["gated.toml", "--gate", "--confirm", "2"]);
    assert_eq!((told.code, told.out.contains("2 runs: 2 not comparable")), (Some(4), true), "{}", told.out);
    assert!(!bench.folder().join("confirm-1").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gate_that_cannot_judge_is_told_before_anything_is_sent_and_one_that_is_not_asked_judges_nothing() {
    let bench = Bench::new().await;
    let (sent, folder) = (bench.sent(), bench.folder());
    bench.write("empty.toml", &bench.scenario("[gate]"));
    bench.write("gone.toml", &bench.scenario("[gate]\nbaseline = \"gone.json\""));
    for (scenario, why) in [
        ("plain.toml", "`--gate` needs a `[gate]`"),
        ("empty.toml", "neither a `baseline` nor `limits`"),
        ("gone.toml", "gone.json"),
    ] {
        let told = bench.run(&[scenario, "--gate"]);
        assert_eq!((told.code, told.err.contains(why)), (Some(2), true), "{scenario}: {}", told.err);
    }
    assert_eq!((bench.sent(), bench.folder()), (sent, folder), "nothing was sent or written");
    assert_eq!(bench.run(&["gated.toml", "--confirm", "2"]).code, Some(2), "`--confirm` belongs to `--gate`");
    bench.slow(ALWAYS);
    let told = bench.run(&["gated.toml", "--only", "*/A/c1"]);
    assert_eq!((told.code, told.out.contains("Gate")), (Some(0), false), "{}", told.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_median_of_the_last_runs_in_the_history_is_a_baseline_once_there_are_three() {
    let bench = Bench::new().await;
    let add = || {
        let added = bench.omni_bench(&["history", "add", "results/gated/latest", "--db", "past.sqlite"]);
        assert_eq!(added.code, Some(0), "{}", added.err);
    };
    let gate = |more: &[&str]| {
        bench.omni_bench(
            &[&["gate", "results/gated/latest", "--history", "past.sqlite", "--tolerance", "5"], more].concat(),
        )
    };
    add();
    let told = gate(&[]);
    assert_eq!(told.code, Some(4), "{}", told.out);
    assert!(told.out.contains("the history has no comparable runs, fewer than the 3"), "not its own: {}", told.out);
    assert_eq!(gate(&["--allow-no-baseline"]).code, Some(0));
    // one slow night in between does not move the median
    for slow in [ALWAYS, 0] {
        bench.slow(slow);
        assert_eq!(bench.run(&["plain.toml"]).code, Some(0));
        add();
    }
    let told = gate(&[]);
    assert_eq!((told.code, told.out.contains("2 comparable runs from ")), (Some(4), true), "{}", told.out);
    assert_eq!(bench.run(&["plain.toml"]).code, Some(0));
    let told = gate(&["--last", "3"]);
    assert_eq!(told.code, Some(0), "{}", told.out);
    assert!(told.out.contains("Gate against the median of the last 3 runs in past.sqlite: pass"), "{}", told.out);
    assert!(told.out.contains("the baseline is the median of 3 comparable runs from 2"), "{}", told.out);
    bench.slow(ALWAYS);
    assert_eq!(bench.run(&["plain.toml"]).code, Some(0));
    assert_eq!(gate(&["--last", "3"]).code, Some(1));
    let both = gate(&["--baseline", "base.json"]);
    assert_eq!((both.code, both.err.contains("cannot be used with")), (Some(2), true), "{}", both.err);
}

#[test]
fn a_simulated_history_is_a_baseline_of_simulated_results_when_it_is_allowed() {
    let sandbox = Sandbox::with_scenarios();
    let run = |arguments: &[&str]| sandbox.omni_bench(arguments);
    let small = ["run", "s.toml", "--simulate", "--speed", "500", "-q"];
    let scenario = "name = \"s\"\n[model]\nid = \"Qwen/Qwen-Image\"\ntask = \"t2i\"\n[datasets.A]\n\
        profiles = [{ width = 256, height = 256, num_inference_steps = 2 }]\n[traffic]\nrequests = 2\n";
    fs_err::write(sandbox.path().join("s.toml"), scenario).unwrap();
    for _ in 0..3 {
        assert!(run(&small).status.success());
        let added = run(&["history", "add", "results/s/latest", "--db", "h.sqlite", "--allow", "simulated"]);
        assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    }
    assert!(run(&small).status.success());
    let gate = ["gate", "results/s/latest", "--history", "h.sqlite", "--tolerance", "9"];
    let refused = run(&gate);
    assert_eq!(refused.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&refused.stdout).contains("only with `--allow simulated`"));
    let allowed = run(&[&gate[..], &["--allow", "simulated"]].concat());
    let out = String::from_utf8_lossy(&allowed.stdout);
    assert_eq!(allowed.status.code(), Some(0), "{out}");
    assert!(out.contains("simulated, not a measurement") && out.contains("3 comparable runs"), "{out}");
}
