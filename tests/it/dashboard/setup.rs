//! A folder with the scenarios, simulated results, and their pages.

use std::path::PathBuf;
use std::process::Output;

use serde_json::Value;

use crate::support::Sandbox;

/// A sandbox in which one scenario is at work.
pub(super) struct Desk {
    sandbox: Sandbox,
    scenario: String,
}

pub(super) fn talk(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

impl Desk {
    /// The scenario of that name in `scenarios/`.
    pub(super) fn of(name: &str) -> Self {
        Self { sandbox: Sandbox::with_scenarios(), scenario: format!("scenarios/{name}.toml") }
    }

    /// A scenario of one's own, in `scenarios/own.toml`.
    pub(super) fn with(text: &str) -> Self {
        let sandbox = Sandbox::new();
        fs_err::create_dir(sandbox.path().join("scenarios")).unwrap();
        fs_err::write(sandbox.path().join("scenarios/own.toml"), text).unwrap();
        Self { sandbox, scenario: "scenarios/own.toml".to_owned() }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.sandbox.path().join(name)
    }

    /// Adds to the scenario.
    pub(super) fn append(&self, text: &str) {
        let path = self.path(&self.scenario);
        fs_err::write(&path, format!("{}\n{text}", fs_err::read_to_string(&path).unwrap())).unwrap();
    }

    /// Carries the scenario out against the simulator.
    pub(super) fn simulate(&self, more: &[&str]) -> Output {
        let mut words = vec!["run", &self.scenario, "--simulate", "--speed", "500", "-q"];
        words.extend(more);
        let output = self.sandbox.omni_bench(&words);
        assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
        output
    }

    pub(super) fn run(&self, words: &[&str]) -> Output {
        self.sandbox.omni_bench(words)
    }

    pub(super) fn dashboard(&self, more: &[&str]) -> Output {
        let mut words = vec!["dashboard", &self.scenario];
        words.extend(more);
        self.sandbox.omni_bench(&words)
    }

    /// The same with simulated results allowed; it must end with this code.
    pub(super) fn page(&self, code: i32, more: &[&str]) -> String {
        let mut words = vec!["--allow", "simulated"];
        words.extend(more);
        let output = self.dashboard(&words);
        assert_eq!(output.status.code(), Some(code), "{}", talk(&output));
        talk(&output)
    }

    /// The newest results of the scenario with this name.
    pub(super) fn results(&self, name: &str) -> Value {
        let file = self.path(&format!("results/{name}/latest/results.json"));
        serde_json::from_slice(&fs_err::read(file).unwrap()).unwrap()
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs_err::read_to_string(self.path(name)).unwrap()
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        fs_err::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs_err::write(self.path(name), text).unwrap();
    }
}

/// A small scenario of pictures with a page.
pub(super) const OWN: &str = r#"
name = "own"
title = "Own"

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
max_concurrency = [1, 2]

[dashboard]
page = "pages/own.md"
"#;

/// The page without what stands between markers.
pub(super) fn prose(page: &str) -> String {
    let mut inside = false;
    let mut text = String::new();
    for line in page.split_inclusive('\n') {
        let marker = line.contains("<!-- omni-bench:");
        if marker || !inside {
            text.push_str(line);
        }
        inside = if marker { line.contains(":begin ") } else { inside };
    }
    text
}

/// What stands between the markers of a part.
pub(super) fn part<'a>(page: &'a str, name: &str) -> &'a str {
    let begin = format!("<!-- omni-bench:begin {name} -->");
    let (_, rest) = page.split_once(&begin).unwrap_or_else(|| panic!("no {name} in {page}"));
    rest.split_once("<!-- omni-bench:end").unwrap().0
}
