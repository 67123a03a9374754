//! Datasets from the outside: a scenario and its files in, requests or problems out.

#![cfg(test)] // the lints that spare tests then spare their helpers too

mod custom;
mod download;
mod random;
mod trace;
mod vbench;

use std::path::Path;
use std::sync::Arc;

use omni_bench::media::{ImageFormat, write_image};
use omni_bench::scenario::Scenario;
use omni_bench::workload::{self, Data, Request, Selection, Sources};

use crate::support::Sandbox;

/// What every scenario of these tests begins with; the task is the model's.
fn head(task: &str) -> String {
    format!("name = 'test'\n[model]\nid = 'm'\ntask = '{task}'\n[endpoint]\nurl = 'http://localhost:8091'\n")
}

/// A folder with files that datasets name.
struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, content).unwrap();
        }
        Self { folder }
    }

    /// A dataset `d` that reads this path of the folder; `more` continues its table.
    fn dataset(&self, source: &str, path: &str, more: &str) -> String {
        let path = self.folder.path().join(path);
        format!("[datasets.d]\nsource = '{source}'\npath = '{}'\n{more}\n", path.display())
    }
}

/// A picture; another number gives another one.
fn picture(number: u64) -> Vec<u8> {
    write_image(ImageFormat::Png, 8, 8, number).unwrap()
}

fn scenario(text: &str) -> Scenario {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn loaded(text: &str) -> Data {
    workload::load(&scenario(text), &Sources::default()).unwrap_or_else(|problems| panic!("{problems:#?}\n{text}"))
}

/// `path: message` of every problem with the data.
fn problems(text: &str) -> Vec<String> {
    let found = workload::load(&scenario(text), &Sources::default()).err().unwrap_or_default();
    found.iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect()
}

/// This many requests of dataset `d` for the scenario's task.
fn requests(text: &str, count: u64) -> Vec<Request> {
    let task = scenario(text).model.task.unwrap();
    let selection =
        Selection { task, requests: count, seed: 42, size: None, num_inference_steps: None, num_frames: None };
    loaded(text).requests("d", &selection).each().collect()
}

/// What a run of the binary gave.
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

/// The binary in a folder of its own with a cache of its own; nothing leaves this machine through a proxy.
struct Tool {
    sandbox: Arc<Sandbox>,
}

impl Tool {
    fn new(scenario: &str) -> Self {
        let sandbox = Sandbox::new();
        fs_err::write(sandbox.path().join("s.toml"), scenario).unwrap();
        Self { sandbox: Arc::new(sandbox) }
    }

    fn path(&self) -> &Path {
        self.sandbox.path()
    }

    /// Files in the cache.
    fn cached(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.path().join("cache").join("datasets")) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    async fn run(&self, arguments: &[&str], hub: &str) -> Said {
        let sandbox = Arc::clone(&self.sandbox);
        let (arguments, hub): (Vec<String>, String) =
            (arguments.iter().map(|argument| (*argument).to_owned()).collect(), hub.to_owned());
        let run = move || {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let mut command = sandbox.command(&arguments);
            for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
                command.env_remove(name);
            }
            command.env("OMNI_BENCH_CACHE", sandbox.path().join("cache")).env("HF_ENDPOINT", hub);
            command.output().unwrap()
        };
        let output = tokio::task::spawn_blocking(run).await.unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}
