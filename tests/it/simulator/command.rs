//! `omni-bench simulate` as a process.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::client;

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_omni-bench"));
    command.arg("simulate").args(words).stdin(Stdio::null());
    command
}

/// A simulator in a process of its own; killed when a test ends early.
struct Process {
    child: Child,
    address: String,
}

impl Process {
    fn start(words: &[&str]) -> Self {
        let mut child = command(words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.strip_prefix("listening on ").unwrap().trim_end().to_owned();
        Self { child, address }
    }

    async fn version(&self) -> Value {
        let reply = client().get(format!("http://{}/version", self.address)).send().await.unwrap();
        serde_json::from_slice(&reply.bytes().await.unwrap()).unwrap()
    }

    fn stop(mut self, signal: rustix::process::Signal) -> ExitStatus {
        let id = i32::try_from(self.child.id()).unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_raw(id).unwrap(), signal).unwrap();
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("it did not stop");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // it may have stopped already
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn refused(words: &[&str], code: i32) -> String {
    let output = command(words).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(output.stdout.is_empty());
    stderr
}

#[tokio::test(flavor = "multi_thread")]
async fn it_prints_its_address_and_stops_cleanly_on_either_signal() {
    for signal in [rustix::process::Signal::INT, rustix::process::Signal::TERM] {
        let process = Process::start(&["--port", "0", "--speed", "7"]);
        assert!(process.address.starts_with("127.0.0.1:"));
        assert_eq!(process.version().await["speed"], 7.0);
        assert_eq!(process.stop(signal).code(), Some(0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn its_own_options_may_follow_the_serve_flags() {
    let words = ["--cfg-parallel-size", "2", "--port=0", "--max-num-seqs=8", "--speed", "3", "--step-execution"];
    let process = Process::start(&words);
    assert_eq!(process.version().await["speed"], 3.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_variant_of_a_scenario_sets_model_layout_and_time_base() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scenario.toml");
    let text = r#"
name = "small"
model = { id = "my/model", task = "t2i" }
endpoint = { url = "http://127.0.0.1:1", path = "/v1/images/generations" }
variants = [
  { name = "plain" },
  { name = "fast", parallel = { cfg = 2, ulysses = 2 }, serve_args = { enable-diffusion-pipeline-profiler = true } },
]
datasets.A = { source = "random", profiles = [{ width = 512, height = 512, num_inference_steps = 20 }] }
simulator = { profile = "qwen-image", speed = 50 }
"#;
    fs_err::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let process = Process::start(&["--port", "0", "--scenario", file, "--variant", "fast"]);
    assert_eq!(process.version().await["speed"], 50.0);
    let body = r#"{"prompt": "x", "model": "my/model", "size": "512x512", "num_inference_steps": 20}"#;
    let request = client().post(format!("http://{}/v1/images/generations", process.address));
    let reply = request.header("content-type", "application/json").body(body).send().await.unwrap();
    assert_eq!(reply.status(), 200);
    let reply: Value = serde_json::from_slice(&reply.bytes().await.unwrap()).unwrap();
    let stages = reply["metrics"]["stage_durations"].as_object().unwrap();
    let modelled: f64 = stages.values().map(|seconds| seconds.as_f64().unwrap()).sum();
    assert!((modelled / 2.2087 - 1.0).abs() < 0.05, "{modelled}");
    // what is typed wins, wherever it stands
    let process =
        Process::start(&["--scenario", file, "--usp", "1", "--variant", "plain", "--speed", "9", "--port", "0"]);
    assert_eq!(process.version().await["speed"], 9.0);
    let unknown = refused(&["--scenario", file, "--variant", "slow"], 2);
    assert!(unknown.contains("no variant is called `slow`; there are plain, fast"), "{unknown}");
}

#[test]
fn wrong_usage_is_told_before_anything_listens() {
    for (words, message) in [
        (&["--speed", "0"][..], "speed must be a number above 0, not `0`"),
        (&["--speed", "nan"], "speed must be a number above 0, not `NaN`"),
        (&["--usp", "2", "--speed", "x"], "invalid value 'x' for '--speed <SPEED>'"),
        (&["--usp", "0"], "`--usp` takes a whole number from 1, not `0`"),
        (&["--profile", "flux"], "there are qwen-image, wan2.2, generic"),
        (&["--usp", "2", "--color", "never"], "write `--color` before the serve flags"),
        (&["--usp", "2", "--variant", "x"], "`--variant` needs `--scenario`"),
        (&["--scenario", "x.toml"], "`--scenario` needs `--variant`"),
    ] {
        let stderr = refused(words, 2);
        assert!(stderr.contains(message), "{stderr}");
    }
}

#[test]
fn flags_without_effect_are_noted_on_stderr() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let stderr = refused(&["--port", &port, "--vae-use-tiling"], 3);
    assert!(stderr.contains("`--vae-use-tiling` has no effect on the simulator"), "{stderr}");
    let last = stderr.lines().last().unwrap();
    assert!(last.starts_with(&format!("error: cannot serve on 127.0.0.1:{port}: ")), "{stderr}");
}
