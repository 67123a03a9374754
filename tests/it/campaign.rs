//! Campaigns through the built binary: folders, resume, servers, interrupts, exit codes.

#![cfg(test)]
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::Served;

const BINARY: &str = env!("CARGO_BIN_EXE_omni-bench");

/// Seconds after which something that must come about has not.
const PATIENCE: Duration = Duration::from_mins(1);

const SCENARIO: &str = r#"
name = "small"

[model]
id = "Qwen/Qwen-Image"
task = "t2i"

[[variants]]
name = "v"

[datasets.A]
source = "random"
profiles = [{ width = 64, height = 64, num_inference_steps = 2 }]

[traffic]
requests = 4

[matrix]
max_concurrency = [1, 2, 3]
"#;

/// A folder with a scenario in it.
struct Bench(TempDir);

impl Bench {
    fn new(scenario: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join("small.toml"), scenario).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command.current_dir(self.0.path()).args(["run", "small.toml"]).args(arguments).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn latest(&self) -> PathBuf {
        self.path("results/small/latest")
    }

    fn results(&self) -> Value {
        json(&self.latest().join("results.json"))
    }

    /// State of a run, once it has one.
    fn state(&self, run: &str) -> Option<String> {
        let text = fs_err::read(self.latest().join("runs").join(run).join("run.json")).ok()?;
        Some(serde_json::from_slice::<Value>(&text).unwrap()["state"].as_str().unwrap().to_owned())
    }
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs_err::read(path).unwrap()).unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("{}", talk(output)))
}

fn talk(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "{what} did not come about");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Every file below a folder with its bytes, by relative path.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs_err::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push((path.strip_prefix(folder).unwrap().to_owned(), fs_err::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

fn refuses(url: &str) -> bool {
    std::net::TcpStream::connect(url.trim_start_matches("http://")).is_err()
}

fn free_url() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

/// A server that is healthy and answers every POST with this error.
struct Broken {
    url: String,
    _tasks: tokio::task::JoinSet<()>,
    _runtime: tokio::runtime::Runtime,
}

impl Broken {
    fn start(models: &'static str) -> Self {
        use axum::http::StatusCode;
        use axum::routing::get;

        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let failure = || async {
            (StatusCode::INTERNAL_SERVER_ERROR, r#"{"error":{"message":"out of memory on GPU 0","code":500}}"#)
        };
        let router = axum::Router::new()
            .route("/health", get(|| async { "{}" }))
            .route("/v1/models", get(move || async move { models }))
            .fallback(failure);
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn_on(async move { axum::serve(listener, router).await.unwrap() }, runtime.handle());
        Self { url, _tasks: tasks, _runtime: runtime }
    }
}

const QWEN: &str = r#"{"data":[{"id":"Qwen/Qwen-Image"}]}"#;

fn with_url(url: &str) -> String {
    SCENARIO.replace("[[variants]]", &format!("[endpoint]\nurl = \"{url}\"\n\n[[variants]]"))
}

/// The scenario with a server that is this binary's simulator, for two variants.
fn with_server(extra: &str) -> String {
    let server = format!(
        "[server]\ncommand = [\"{BINARY}\", \"simulate\", \"--port\", \"{{{{ port }}}}\", \"--speed\", \"100\"]\n\
         stop_grace = \"10s\"\n{extra}\n\n[[variants]]\nname = \"first\"\n\n[[variants]]\nname = \"second\"\n\
         serve_args = {{ max-num-seqs = 2, step-execution = true }}"
    );
    SCENARIO.replace("[[variants]]\nname = \"v\"", &server).replace("[1, 2, 3]", "[1]")
}

#[test]
fn a_simulated_run_leaves_the_documented_files() {
    let bench = Bench::new(SCENARIO);
    let output = bench.run(&["--simulate", "--speed", "500"]);
    assert_eq!(code(&output), 0, "{}", talk(&output));
    let names: Vec<String> = contents(&bench.latest()).iter().map(|(path, _)| path.display().to_string()).collect();
    let mut expected: Vec<String> =
        ["plan.json", "results.csv", "results.json", "results.md", "servers/v-1/environment.json"]
            .map(str::to_owned)
            .to_vec();
    for run in ["c1", "c2", "c3"] {
        for file in ["records.jsonl", "request.json", "run.json", "summary.json", "warmup.jsonl"] {
            expected.push(format!("runs/v/A/{run}/{file}"));
        }
    }
    expected.sort();
    assert_eq!(names, expected);
    let results = bench.results();
    assert_eq!(results["simulated"], true);
    assert_eq!(results["speed"], 500.0);
    assert_eq!(results["runs"].as_array().unwrap().len(), 3);
    for run in results["runs"].as_array().unwrap() {
        assert_eq!((&run["requests"], &run["completed"]), (&4.into(), &4.into()));
    }
    for text in [String::from_utf8_lossy(&output.stdout).into_owned(), read(&bench.latest().join("results.md"))] {
        assert!(text.contains("simulated"), "{text}");
    }
    let manifest = json(&bench.latest().join("runs/v/A/c1/run.json"));
    assert_eq!((&manifest["state"], &manifest["simulated"]), (&"complete".into(), &true.into()));
    assert!(manifest["started_at"].is_string() && manifest["ended_at"].is_string());
}

fn read(path: &Path) -> String {
    fs_err::read_to_string(path).unwrap()
}

#[test]
fn a_killed_campaign_is_completed_and_what_was_complete_is_not_touched() {
    let slow = SCENARIO.replace("requests = 4", "requests = 12");
    let bench = Bench::new(&slow);
    let arguments = ["--simulate", "--speed", "5"];
    let mut child = bench.spawn(&arguments);
    until("the second run", || bench.state("v/A/c2").filter(|state| state == "running"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(bench.state("v/A/c1").as_deref(), Some("complete"));
    let folder = fs_err::canonicalize(bench.latest()).unwrap();
    let before = contents(&folder.join("runs/v/A/c1"));
    let half = contents(&folder.join("runs/v/A/c2"));

    let folder_text = folder.display().to_string();
    let other = bench.run(&["--simulate", "--speed", "5", "--resume", &folder_text, "--set", "traffic.seed=7"]);
    assert_eq!(code(&other), 2, "{}", talk(&other));
    assert!(talk(&other).contains("another plan") && talk(&other).contains("`runs`"), "{}", talk(&other));

    let resumed = bench.run(&["--simulate", "--speed", "5", "--resume", &folder_text]);
    assert_eq!(code(&resumed), 0, "{}", talk(&resumed));
    assert_eq!(contents(&folder.join("runs/v/A/c1")), before);
    assert_eq!(contents(&folder.join("runs/v/A/c2.attempt-1")), half);
    assert_eq!(json(&folder.join("runs/v/A/c2/run.json"))["attempt"], 2);
    assert!(talk(&resumed).contains("c2.attempt-1"), "{}", talk(&resumed));
    assert_eq!(bench.results()["runs"].as_array().unwrap().len(), 3);

    let again = contents(&folder.join("runs"));
    let idle = bench.run(&["--simulate", "--speed", "5", "--resume", &folder_text]);
    assert_eq!(code(&idle), 0, "{}", talk(&idle));
    assert_eq!(contents(&folder.join("runs")), again);
}

#[test]
fn started_servers_follow_one_another_and_are_gone_afterwards() {
    let bench = Bench::new(&with_server(""));
    let output = bench.run(&[]);
    assert_eq!(code(&output), 0, "{}", talk(&output));
    let environment = |variant: &str| json(&bench.latest().join(format!("servers/{variant}-1/environment.json")));
    let (first, second) = (environment("first"), environment("second"));
    assert!(first["ready_at"].as_str().unwrap() < second["ready_at"].as_str().unwrap());
    for server in [&first, &second] {
        assert!(refuses(server["url"].as_str().unwrap()));
    }
    let words = second["command"].as_array().unwrap();
    assert!(words.iter().any(|word| word == "--max-num-seqs") && words.iter().any(|word| word == "--step-execution"));
    assert!(read(&bench.latest().join("servers/first-1/server.log")).contains("listening on"));
    assert_eq!(bench.results()["simulated"], true);
    assert_eq!(bench.results()["speed"], 100.0);
}

#[test]
fn a_server_that_cannot_start_costs_its_own_runs_only() {
    let script = "test {{ variant }} = first && { echo no such GPU; exit 9; }; exec \\\"$0\\\" simulate --port {{ port }} --speed 100";
    let scenario = with_server("");
    let command = scenario.lines().find(|line| line.starts_with("command")).unwrap();
    let scenario = scenario.replace(command, &format!("command = [\"sh\", \"-c\", \"{script}\", \"{BINARY}\"]"));
    let bench = Bench::new(&scenario);
    let output = bench.run(&[]);
    assert_eq!(code(&output), 3, "{}", talk(&output));
    assert!(talk(&output).contains("no such GPU") && talk(&output).contains("exit status: 9"), "{}", talk(&output));
    let results = bench.results();
    assert_eq!(results["runs"][0]["id"], "second/A/c1");
    assert_eq!(results["not_run"][0]["id"], "first/A/c1");
    assert!(results["not_run"][0]["reason"].as_str().unwrap().contains("no such GPU"));

    let fast = bench.run(&["--fail-fast"]);
    assert_eq!(code(&fast), 3);
    assert!(bench.results()["runs"].as_array().unwrap().is_empty());
}

#[test]
fn killing_the_tool_leaves_no_server() {
    let bench = Bench::new(&with_server("").replace("requests = 4", "requests = 100000"));
    let mut child = bench.spawn(&[]);
    let path = bench.latest().join("servers/first-1/environment.json");
    until("the server", || path.is_file().then_some(()));
    let url = json(&path)["url"].as_str().unwrap().to_owned();
    assert!(!refuses(&url));
    child.kill().unwrap();
    child.wait().unwrap();
    until("the server's end", || refuses(&url).then_some(()));
}

#[test]
fn an_interrupt_keeps_the_records_stops_the_server_and_ends_with_130() {
    let bench = Bench::new(&with_server("").replace("requests = 4", "requests = 100000"));
    let child = bench.spawn(&[]);
    let records = bench.latest().join("runs/first/A/c1/records.jsonl");
    until("a record", || fs_err::read(&records).ok().filter(|bytes| !bytes.is_empty()));
    signal(&child, rustix::process::Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{}", talk(&output));
    assert_eq!(bench.state("first/A/c1").as_deref(), Some("interrupted"));
    let results = bench.results();
    let run = &results["runs"][0];
    let count = |key: &str| run[key].as_u64().unwrap();
    assert!(count("completed") > 0 && count("cancelled") > 0);
    assert_eq!(count("completed") + count("failed") + count("censored") + count("cancelled"), 100_000);
    assert_eq!(results["not_run"][0]["id"], "second/A/c1");
    let environment = json(&bench.latest().join("servers/first-1/environment.json"));
    assert!(refuses(environment["url"].as_str().unwrap()));
}

#[test]
fn a_second_interrupt_does_not_wait() {
    let bench = Bench::new(SCENARIO);
    let child = bench.spawn(&["--simulate", "--speed", "0.01"]);
    until("the run", || bench.state("v/A/c1"));
    signal(&child, rustix::process::Signal::INT);
    std::thread::sleep(Duration::from_millis(100));
    signal(&child, rustix::process::Signal::TERM);
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{}", talk(&output));
}

#[test]
fn a_server_that_fails_every_request_gives_nulls_and_its_own_words() {
    let server = Broken::start(QWEN);
    let bench = Bench::new(&with_url(&server.url).replace("[traffic]", "[warmup]\nrequests = 0\n\n[traffic]"));
    let output = bench.run(&[]);
    assert_eq!(code(&output), 3, "{}", talk(&output));
    assert!(talk(&output).contains("out of memory on GPU 0"), "{}", talk(&output));
    let run = &bench.results()["runs"][0];
    assert_eq!((&run["completed"], &run["failed"]), (&0.into(), &4.into()));
    assert!(run["latency_s"]["mean"].is_null() && run["latency_s"]["p99"].is_null());
    assert_eq!(run["errors"][0]["message"], "out of memory on GPU 0");
}

#[test]
fn a_warm_up_that_fails_stops_the_run_with_the_servers_words() {
    let server = Broken::start(QWEN);
    let bench = Bench::new(&with_url(&server.url));
    let output = bench.run(&[]);
    assert_eq!(code(&output), 3, "{}", talk(&output));
    let results = bench.results();
    assert!(results["runs"].as_array().unwrap().is_empty());
    assert_eq!(results["not_run"].as_array().unwrap().len(), 3);
    assert!(results["not_run"][0]["reason"].as_str().unwrap().contains("out of memory on GPU 0"), "{results}");
    assert_eq!(bench.state("v/A/c1").as_deref(), Some("failed"));
}

#[test]
fn a_server_with_another_model_is_refused_before_any_load() {
    let server = Broken::start(r#"{"data":[{"id":"other/model"}]}"#);
    let bench = Bench::new(&with_url(&server.url));
    let output = bench.run(&[]);
    assert_eq!(code(&output), 3, "{}", talk(&output));
    let text = talk(&output);
    assert_eq!(text.matches("does not serve `Qwen/Qwen-Image`; it serves `other/model`").count(), 1, "{text}");
    assert!(!bench.latest().join("runs/v").exists());
}

#[test]
fn an_unreachable_server_is_one_clear_error_and_no_row() {
    let url = free_url();
    let bench = Bench::new(&with_url(&url));
    let output = bench.run(&["--set", "endpoint.ready.timeout=300ms"]);
    assert_eq!(code(&output), 3, "{}", talk(&output));
    let text = talk(&output);
    assert!(
        text.contains(&url) && text.contains("connection refused") && text.contains("endpoint.ready.timeout"),
        "{text}"
    );
    assert_eq!(text.matches("was not ready after").count(), 1, "{text}");
    let results = bench.results();
    assert!(results["runs"].as_array().unwrap().is_empty());
    assert_eq!(results["not_run"].as_array().unwrap().len(), 3);
}

#[test]
fn a_folder_that_cannot_be_written_is_named_before_anything_is_sent() {
    let bench = Bench::new(SCENARIO);
    fs_err::write(bench.path("file"), "").unwrap();
    let output = bench.run(&["--simulate", "--out", "file/results"]);
    assert_eq!(code(&output), 5, "{}", talk(&output));
    assert!(talk(&output).contains("file/results"), "{}", talk(&output));
    assert!(output.stdout.is_empty());
}

#[test]
fn a_key_is_never_written_and_an_unset_header_is_an_error() {
    let server = Broken::start(QWEN);
    let endpoint = format!(
        "url = \"{}\"\napi_key_env = \"SMALL_KEY\"\nheaders = {{ X-Team = \"SMALL_TEAM\" }}\n\n[[variants]]",
        server.url
    );
    let bench = Bench::new(&SCENARIO.replace("[[variants]]", &format!("[endpoint]\n{endpoint}")));
    let unset = bench.command(&[]).env_remove("SMALL_TEAM").output().unwrap();
    assert_eq!(code(&unset), 2, "{}", talk(&unset));
    assert!(talk(&unset).contains("`SMALL_TEAM`"), "{}", talk(&unset));

    let output =
        bench.command(&[]).env("SMALL_KEY", "sk-hidden-1").env("SMALL_TEAM", "team-hidden-2").output().unwrap();
    assert_eq!(code(&output), 3, "{}", talk(&output));
    let mut texts: Vec<Vec<u8>> = contents(&bench.latest()).into_iter().map(|(_, bytes)| bytes).collect();
    texts.extend([output.stdout, output.stderr]);
    for text in texts {
        assert!(!String::from_utf8_lossy(&text).contains("hidden"));
    }

    let keyless = bench.command(&[]).env_remove("SMALL_KEY").env("SMALL_TEAM", "t").output().unwrap();
    assert!(talk(&keyless).contains("`SMALL_KEY` is not set"), "{}", talk(&keyless));
}

#[test]
fn a_server_started_by_hand_is_asked_for_and_waited_for() {
    let url = free_url();
    let server =
        with_server("mode = \"manual\"").replace("[server]", &format!("[endpoint]\nurl = \"{url}\"\n\n[server]"));
    let bench = Bench::new(&server);
    let tool = bench.spawn(&["--only", "second/**"]);
    let port = url.rsplit(':').next().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let mut simulator = Command::new(BINARY)
        .args(["simulate", "--speed", "100", "--port", port])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = tool.wait_with_output().unwrap();
    simulator.kill().unwrap();
    simulator.wait().unwrap();
    assert_eq!(code(&output), 0, "{}", talk(&output));
    let text = talk(&output);
    assert!(text.contains(&format!("simulate --port {port} --speed 100 --max-num-seqs 2 --step-execution")), "{text}");
    assert!(text.contains("stop it"), "{text}");
}

/// A GET over a connection of its own; gives the status.
fn status(url: &str, path: &str) -> u16 {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_resume_deletes_the_jobs_that_a_killed_campaign_left_on_the_server() {
    let server = Served::simulator(&["--model", "Wan-AI/Wan2.2-T2V-A14B-Diffusers", "--speed", "0.05"]);
    let video = with_url(server.url())
        .replace("Qwen/Qwen-Image", "Wan-AI/Wan2.2-T2V-A14B-Diffusers")
        .replace("t2i", "t2v")
        .replace("num_inference_steps = 2", "num_inference_steps = 2, num_frames = 9, fps = 8");
    let bench = Bench::new(&video);
    let mut child = bench.spawn(&[]);
    let jobs = bench.latest().join("runs/v/A/c1/jobs.jsonl");
    let line = until("a job", || fs_err::read_to_string(&jobs).ok().filter(|text| text.ends_with('\n')));
    child.kill().unwrap();
    child.wait().unwrap();
    let job: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    let path = format!("/v1/videos/{}", job["job_id"].as_str().unwrap());
    assert_eq!(status(server.url(), &path), 200);

    let child = bench.spawn(&["--resume", "results/small/latest"]);
    until("the end of the job", || (status(server.url(), &path) == 404).then_some(()));
    signal(&child, rustix::process::Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{}", talk(&output));
    assert!(bench.latest().join("runs/v/A/c1.attempt-1/jobs.jsonl").is_file());
}
