//! A folder with a scenario in it, the binary run there, and everything that it wrote.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::support::Sandbox;

/// One run of two pictures.
pub(super) const IMAGES: &str = r#"
name = "small"

[model]
id = "Qwen/Qwen-Image"
task = "t2i"

[endpoint]
url = "URL"
path = "/v1/images/generations"

[[variants]]
name = "v"

[datasets.A]
source = "random"
profiles = [{ width = 64, height = 64, num_inference_steps = 2 }]

[traffic]
requests = 2
max_concurrency = 1

[warmup]
requests = 0
"#;

/// A folder that the binary runs in.
pub(super) struct Bench(Sandbox);

impl Bench {
    /// A folder that holds this scenario.
    pub(super) fn new(scenario: &str) -> Self {
        let sandbox = Sandbox::new();
        fs_err::write(sandbox.path().join("small.toml"), scenario).unwrap();
        Self(sandbox)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.0.command(arguments);
        command.stdin(Stdio::null());
        command
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub(super) fn latest(&self) -> PathBuf {
        self.path("results/small/latest")
    }

    /// Every file of the folder.
    pub(super) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        collect(self.0.path(), &mut found);
        found
    }
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            collect(&entry.path(), found);
        } else if kind.is_file() {
            found.push((entry.path(), fs_err::read(entry.path()).unwrap()));
        }
    }
}

/// All that a command said.
pub(super) fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
