//! A folder with a small scenario, the binary run in it, and what it left.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

pub(super) const BINARY: &str = env!("CARGO_BIN_EXE_omni-bench");

/// Seconds after which something that must come about has not.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);

pub(super) const SCENARIO: &str = r#"
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
pub(super) struct Bench(TempDir);

impl Bench {
    pub(super) fn new(scenario: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join("small.toml"), scenario).unwrap();
        Self(folder)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command.current_dir(self.0.path()).args(["run", "small.toml"]).args(arguments).stdin(Stdio::null());
        command
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub(super) fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    pub(super) fn latest(&self) -> PathBuf {
        self.path("results/small/latest")
    }

    pub(super) fn results(&self) -> Value {
        json(&self.latest().join("results.json"))
    }

    /// State of a run, once it has one.
    pub(super) fn state(&self, run: &str) -> Option<String> {
        let text = fs_err::read(self.latest().join("runs").join(run).join("run.json")).ok()?;
        Some(serde_json::from_slice::<Value>(&text).unwrap()["state"].as_str().unwrap().to_owned())
    }
}

pub(super) fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs_err::read(path).unwrap()).unwrap()
}

pub(super) fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("{}", talk(output)))
}

pub(super) fn talk(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(super) fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
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
pub(super) fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
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

pub(super) fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

pub(super) fn refuses(url: &str) -> bool {
    std::net::TcpStream::connect(url.trim_start_matches("http://")).is_err()
}

pub(super) fn free_url() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

/// A server that is healthy and answers every POST with this error.
pub(super) struct Broken {
    pub(super) url: String,
    /// Path and body of every request that met the error.
    pub(super) got: Arc<Mutex<Vec<String>>>,
    _tasks: tokio::task::JoinSet<()>,
    _runtime: tokio::runtime::Runtime,
}

impl Broken {
    pub(super) fn start(models: &'static str) -> Self {
        use axum::http::StatusCode;
        use axum::routing::get;

        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let got = Arc::<Mutex<Vec<String>>>::default();
        let heard = Arc::clone(&got);
        let failure = async move |uri: axum::http::Uri, body: String| {
            heard.lock().unwrap().push(format!("{uri} {body}"));
            (StatusCode::INTERNAL_SERVER_ERROR, r#"{"error":{"message":"out of memory on GPU 0","code":500}}"#)
        };
        let router = axum::Router::new()
            .route("/health", get(|| async { "{}" }))
            .route("/v1/models", get(move || async move { models }))
            .route("/version", get(|| async { StatusCode::NOT_FOUND }))
            .route("/metrics", get(|| async { StatusCode::NOT_FOUND }))
            .fallback(failure);
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn_on(async move { axum::serve(listener, router).await.unwrap() }, runtime.handle());
        Self { url, got, _tasks: tasks, _runtime: runtime }
    }
}

pub(super) const QWEN: &str = r#"{"data":[{"id":"Qwen/Qwen-Image"}]}"#;

pub(super) fn with_url(url: &str) -> String {
    SCENARIO.replace("[[variants]]", &format!("[endpoint]\nurl = \"{url}\"\n\n[[variants]]"))
}

/// The scenario with a server that is this binary's simulator, for two variants.
pub(super) fn with_server(extra: &str) -> String {
    let server = format!(
        "[server]\ncommand = [\"{BINARY}\", \"simulate\", \"--port\", \"{{{{ port }}}}\", \"--speed\", \"100\"]\n\
         stop_grace = \"10s\"\n{extra}\n\n[[variants]]\nname = \"first\"\n\n[[variants]]\nname = \"second\"\n\
         serve_args = {{ max-num-seqs = 2, step-execution = true }}"
    );
    SCENARIO.replace("[[variants]]\nname = \"v\"", &server).replace("[1, 2, 3]", "[1]")
}

pub(super) fn read(path: &Path) -> String {
    fs_err::read_to_string(path).unwrap()
}

/// A GET over a connection of its own; gives the status.
pub(super) fn status(url: &str, path: &str) -> u16 {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply.split(' ').nth(1).unwrap().parse().unwrap()
}
