//! A folder with a scenario, the binary at work in it, and what can be seen of both from outside.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use omni_bench::record::read_journal;
use serde_json::Value;

use crate::support::Sandbox;

pub(super) const BINARY: &str = env!("CARGO_BIN_EXE_omni-bench");

/// After this, what must come about has not.
pub(super) const PATIENCE: Duration = Duration::from_mins(2);

pub(super) const IMAGES: &str = r#"
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
requests = 30

[matrix]
max_concurrency = [1, 2, 3]
"#;

/// A scenario's folder.
pub(super) struct Bench(Sandbox);

impl Bench {
    pub(super) fn new(scenario: &str) -> Self {
        let sandbox = Sandbox::new();
        fs_err::write(sandbox.path().join("small.toml"), scenario).unwrap();
        Self(sandbox)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn latest(&self) -> PathBuf {
        self.path("results/small/latest")
    }

    /// `omni-bench run` with these further arguments.
    pub(super) fn run(&self, arguments: &[&str]) -> Command {
        self.command(&[&["run", "small.toml"], arguments].concat())
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.0.command(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// `run.json` of a run, once there is one.
    pub(super) fn manifest(&self, run: &str) -> Option<Value> {
        let bytes = fs_err::read(self.latest().join("runs").join(run).join("run.json")).ok()?;
        Some(serde_json::from_slice(&bytes).unwrap())
    }

    pub(super) fn state(&self, run: &str) -> Option<String> {
        Some(self.manifest(run)?["state"].as_str().unwrap().to_owned())
    }

    /// Waits for the run to have a state, as long as the tool runs.
    pub(super) fn until_state(&self, child: &mut Child, run: &str, state: &str) {
        until(&format!("`{run}` {state}"), || {
            assert!(child.try_wait().unwrap().is_none(), "it ended before `{run}` was {state}");
            self.state(run).filter(|found| found == state)
        });
    }

    /// Processes that work in the folder.
    pub(super) fn processes(&self) -> Vec<String> {
        let home = fs_err::canonicalize(self.0.path()).unwrap();
        let entries = std::fs::read_dir("/proc").unwrap().map_while(Result::ok).map(|entry| entry.path());
        let here = entries.filter(|process| std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == home));
        here.map(|process| process.display().to_string()).collect()
    }

    /// Waits until no process works in the folder.
    pub(super) fn until_deserted(&self) {
        until("the end of every process", || self.processes().is_empty().then_some(()));
    }
}

pub(super) fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs_err::read(path).unwrap()).unwrap()
}

pub(super) fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("{}: {}", output.status, talk(output)))
}

pub(super) fn talk(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Waits for something, and fails when it does not come about.
pub(super) fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "{what} did not come about");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(super) fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// The lines of a journal that can be read, and how many cannot.
pub(super) fn journal(path: &Path) -> (Vec<Value>, usize) {
    let read = read_journal::<Value>(path).unwrap();
    (read.items, read.skipped)
}

/// A call over a connection of its own: status and body.
pub(super) fn call(url: &str, method: &str, path: &str) -> (u16, String) {
    let mut stream = std::net::TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    write!(stream, "{method} {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    let status = reply.split(' ').nth(1).unwrap().parse().unwrap();
    (status, reply.split_once("\r\n\r\n").unwrap().1.to_owned())
}

/// The scenario against a server that is there.
pub(super) fn at(scenario: &str, url: &str) -> String {
    scenario.replace("[[variants]]", &format!("[endpoint]\nurl = \"{url}\"\n\n[[variants]]"))
}

pub(super) const VIDEO_MODEL: &str = "Wan-AI/Wan2.2-T2V-A14B-Diffusers";

/// The same scenario with videos, which are jobs.
pub(super) fn videos() -> String {
    IMAGES
        .replace("Qwen/Qwen-Image", VIDEO_MODEL)
        .replace("t2i", "t2v")
        .replace("num_inference_steps = 2", "num_inference_steps = 2, num_frames = 9, fps = 8")
}

/// The scenario with a server that the tool starts itself.
pub(super) fn launched(scenario: &str, speed: u32) -> String {
    let server = format!(
        "[server]\ncommand = [\"{BINARY}\", \"simulate\", \"--port\", \"{{{{ port }}}}\", \"--speed\", \"{speed}\"]\n\
         stop_grace = \"10s\"\n\n[[variants]]"
    );
    scenario.replace("[[variants]]", &server)
}
