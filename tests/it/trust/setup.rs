//! A scripted server on a runtime of its own, a scenario for it, the binary, and what it left.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use omni_bench::record::{Record, read_journal};
use serde_json::Value;

use crate::support::Sandbox;
use crate::support::fake::{Answer, Fake, Seen};

/// A picture of 64 × 48 pixels, base64.
const PNG_64X48: &str = "iVBORw0KGgoAAAANSUhEUgAAAEAAAAAwCAAAAACEICPDAAAAJUlEQVR42u3MQREAAAwCIJtb3RD77SAA6VEEAoFAIBAIBALB12AMd/RMfhbwEQAAAABJRU5ErkJggg==";

/// How often a measurement is taken again when a busy machine may have spoiled it.
const TRIES: usize = 3;

pub(super) fn picture() -> Answer {
    Answer::json(200, picture_json())
}

/// The body of a reply with a picture of 64 × 48 pixels.
pub(super) fn picture_json() -> String {
    format!(r#"{{"created":1,"data":[{{"b64_json":"{PNG_64X48}"}}]}}"#)
}

/// A video of 64 × 64 pixels and 33 frames.
pub(super) fn clip() -> Answer {
    Answer::bytes(200, "video/mp4", include_bytes!("../../fixtures/clip_64x64_33f_24fps.mp4").as_slice())
}

pub(super) fn job(id: &str, status: &str) -> Answer {
    Answer::json(200, format!(r#"{{"id":"{id}","object":"video","status":"{status}","progress":0,"error":null}}"#))
}

pub(super) fn deleted() -> Answer {
    Answer::json(200, r#"{"deleted":true}"#)
}

pub(super) fn error(status: u16, message: &str) -> Answer {
    Answer::json(
        status,
        format!(r#"{{"error":{{"message":"{message}","type":"Error","param":null,"code":{status}}}}}"#),
    )
}

/// What a call to the video endpoint is about; jobs are numbered from 1 in the order of their creation.
pub(super) enum Asks {
    Create,
    Status(usize),
    Content(usize),
    Delete(usize),
}

impl Asks {
    /// Reads a call about a job whose id is its number.
    pub(super) fn of(seen: &Seen) -> Self {
        let number = || seen.path.split('/').nth(3).and_then(|id| id.parse().ok()).unwrap();
        match seen.method.as_str() {
            "POST" => Self::Create,
            "DELETE" => Self::Delete(number()),
            _ if seen.path.ends_with("/content") => Self::Content(number()),
            _ => Self::Status(number()),
        }
    }
}

/// One worker: each call queues a piece of work and tells when it will be done. The times are absolute,
/// so that a late call does not add up.
pub(super) fn one_worker(service: Duration) -> impl Fn() -> Instant {
    let free = Mutex::new(Instant::now());
    move || {
        let mut free = free.lock().unwrap();
        *free = (*free).max(Instant::now()) + service;
        *free
    }
}

/// A server and a folder to run the binary in.
pub(super) struct Bench {
    pub(super) server: Fake,
    pub(super) sandbox: Sandbox,
    _runtime: tokio::runtime::Runtime,
}

impl Bench {
    /// A server of model `m` that is ready and answers everything else by the script.
    pub(super) fn new(script: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(Fake::start(move |seen| match seen.path.as_str() {
            "/health" => Answer::json(200, "{}"),
            "/v1/models" => Answer::json(200, r#"{"data":[{"id":"m"}]}"#),
            "/version" | "/metrics" => Answer::json(404, "{}"),
            _ => script(seen),
        }));
        Self { server, sandbox: Sandbox::new(), _runtime: runtime }
    }

    /// The binary on a scenario of pictures of 64 × 48 in 50 steps; `more` continues the file.
    pub(super) fn images(&self, more: &str, arguments: &[&str]) -> Ran {
        self.run("t2i", "{ width = 64, height = 48, num_inference_steps = 50 }", more, arguments)
    }

    /// The binary on a scenario of videos of 64 × 64 and 33 frames, without warm-up, polled this often.
    pub(super) fn videos(&self, poll: &str, more: &str) -> Ran {
        Ran::of(self.sandbox.path(), &self.videos_command(poll, more).output().unwrap())
    }

    pub(super) fn videos_command(&self, poll: &str, more: &str) -> Command {
        let profile = "{ width = 64, height = 64, num_inference_steps = 4, num_frames = 33, fps = 24 }";
        let fixed =
            format!("[warmup]\nrequests = 0\n[endpoint.poll]\nfirst = \"{poll}\"\ngrowth = 0\nmax = \"{poll}\"");
        self.command("t2v", profile, &format!("{fixed}\n{more}"), &[])
    }

    pub(super) fn run(&self, task: &str, profile: &str, more: &str, arguments: &[&str]) -> Ran {
        Ran::of(self.sandbox.path(), &self.command(task, profile, more, arguments).output().unwrap())
    }

    fn command(&self, task: &str, profile: &str, more: &str, arguments: &[&str]) -> Command {
        let dataset = format!("[datasets.A]\nsource = \"random\"\nprofiles = [{profile}]");
        self.command_on(task, &dataset, more, arguments)
    }

    /// The same on a dataset written out.
    pub(super) fn run_on(&self, dataset: &str, more: &str, arguments: &[&str]) -> Ran {
        Ran::of(self.sandbox.path(), &self.command_on("t2i", dataset, more, arguments).output().unwrap())
    }

    fn command_on(&self, task: &str, dataset: &str, more: &str, arguments: &[&str]) -> Command {
        command_at(&self.server.url, &self.sandbox, task, dataset, more, arguments)
    }

    /// The last `count` requests for pictures: those after the warm-up.
    pub(super) fn last_posts(&self, count: usize) -> Vec<Seen> {
        let mut posts = self.server.calls("POST", "/v1/");
        posts.split_off(posts.len() - count)
    }
}

/// The binary on a scenario for model `m` at `url`, written to the folder.
pub(super) fn command_at(
    url: &str,
    sandbox: &Sandbox,
    task: &str,
    dataset: &str,
    more: &str,
    arguments: &[&str],
) -> Command {
    let text = format!(
        "name = \"s\"\n[model]\nid = \"m\"\ntask = \"{task}\"\n[endpoint]\nurl = \"{url}\"\n\
         [[variants]]\nname = \"v\"\n{dataset}\n{more}\n"
    );
    fs_err::write(sandbox.path().join("s.toml"), text).unwrap();
    let mut command = sandbox.command(&["run", "s.toml"]);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What a run of the binary left.
pub(super) struct Ran {
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) results: Value,
    pub(super) folder: PathBuf,
}

impl Ran {
    pub(super) fn of(sandbox: &Path, output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        let folder = sandbox.join("results/s/latest");
        let results = fs_err::read(folder.join("results.json")).map_or(Value::Null, |json| {
            serde_json::from_slice(&json).unwrap() // absent when the scenario was refused
        });
        let ran = Self { code: output.status.code().unwrap(), stdout, stderr, results, folder };
        ran.check_sums();
        ran
    }

    /// What holds for every run, on every exit path.
    fn check_sums(&self) {
        for run in self.results["runs"].as_array().into_iter().flatten() {
            let outcomes = ["completed", "failed", "censored", "cancelled"].map(|key| run[key].as_u64().unwrap());
            assert_eq!(outcomes.iter().sum::<u64>(), run["requests"].as_u64().unwrap(), "{outcomes:?}");
            let records = self.records(run["id"].as_str().unwrap());
            assert_eq!(records.len() as u64, run["requests"].as_u64().unwrap(), "every request has its record");
            let told: u64 =
                run["errors"].as_array().unwrap().iter().map(|error| error["count"].as_u64().unwrap()).sum();
            assert_eq!(told, outcomes[1] + outcomes[2], "every failed and censored request is told");
        }
    }

    /// The only run, or the first.
    pub(super) fn run(&self) -> &Value {
        assert!(self.results["runs"][0].is_object(), "{}{}", self.stdout, self.stderr);
        &self.results["runs"][0]
    }

    pub(super) fn runs(&self) -> &[Value] {
        self.results["runs"].as_array().unwrap()
    }

    /// Records of a run by index.
    pub(super) fn records(&self, id: &str) -> Vec<Record> {
        self.journal(id, "records.jsonl")
    }

    pub(super) fn journal(&self, id: &str, file: &str) -> Vec<Record> {
        let path = self.folder.join("runs").join(id).join(file);
        let mut records = read_journal::<Record>(&path).unwrap().items;
        records.sort_by_key(|record| record.index);
        records
    }

    /// A file of the results folder.
    pub(super) fn text(&self, file: &str) -> String {
        fs_err::read_to_string(self.folder.join(file)).unwrap()
    }
}

/// (completed, failed, censored, cancelled) of a run.
pub(super) fn outcomes(run: &Value) -> [u64; 4] {
    ["completed", "failed", "censored", "cancelled"].map(|key| run[key].as_u64().unwrap())
}

/// Whether a run has a warning of this kind.
pub(super) fn warns(run: &Value, kind: &str) -> bool {
    run["warnings"].as_array().unwrap().iter().any(|warning| warning["kind"] == kind)
}

/// A number at a path like `/latency_s/mean`.
pub(super) fn number(run: &Value, pointer: &str) -> f64 {
    run.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("no number at {pointer}: {run}"))
}

/// What was measured and should be what; what is off is told together.
#[derive(Default)]
pub(super) struct Figures {
    seen: Vec<String>,
    off: Vec<String>,
}

impl Figures {
    /// A value that should be within a share of the wanted one.
    pub(super) fn near(&mut self, what: &str, value: f64, wanted: f64, share: f64) {
        self.within(what, value, wanted * (1.0 - share)..=wanted * (1.0 + share));
    }

    pub(super) fn within(&mut self, what: &str, value: f64, range: std::ops::RangeInclusive<f64>) {
        self.seen.push(format!("{what} {value:.3}"));
        if !range.contains(&value) {
            self.off.push(format!("{what} is {value:.3}, not in {range:.3?}"));
        }
    }
}

/// Takes a measurement and prints its figures. Other load on the machine delays clients and servers, so
/// figures that are off are measured again a few times before they count; a fault of the tool stays.
pub(super) fn measure(title: &str, mut trial: impl FnMut(&mut Figures)) {
    let mut told = Vec::new();
    for _ in 0..TRIES {
        let mut figures = Figures::default();
        trial(&mut figures);
        println!("{title}: {}", figures.seen.join(", "));
        if figures.off.is_empty() {
            return;
        }
        told.push(figures.off.join("; "));
    }
    panic!("{title}: {}", told.join("\n"));
}
