//! `omni-bench import`: a perf JSON becomes a scenario with the same runs, and a baseline for them.

#![cfg(test)] // the lints that spare tests then spare their helpers too

mod faults;
mod oddities;
mod runs;

use std::path::Path;
use std::process::Output;

use omni_bench::gate::Baseline;
use serde_json::Value;

use crate::support::{Sandbox, repository};

/// A folder with the fixtures in it.
struct Import {
    sandbox: Sandbox,
}

/// What an import printed.
struct Told {
    code: Option<i32>,
    err: String,
}

impl Import {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let fixtures = repository().join("tests/fixtures/vllm_omni");
        for entry in fs_err::read_dir(fixtures).unwrap() {
            let entry = entry.unwrap();
            fs_err::copy(entry.path(), sandbox.path().join(entry.file_name())).unwrap();
        }
        Self { sandbox }
    }

    /// Writes a perf JSON.
    fn with(text: &str) -> Self {
        let import = Self { sandbox: Sandbox::new() };
        import.write("perf.json", text);
        import
    }

    fn path(&self) -> &Path {
        self.sandbox.path()
    }

    fn write(&self, name: &str, text: &str) {
        fs_err::write(self.path().join(name), text).unwrap();
    }

    fn import(&self, files: &[&str]) -> Told {
        let output = self.sandbox.omni_bench(&[&["import", "vllm-omni-perf"], files, &["-o", "out"]].concat());
        told(&output)
    }

    fn read(&self, name: &str) -> String {
        fs_err::read_to_string(self.path().join("out").join(name)).unwrap()
    }

    fn files(&self) -> Vec<String> {
        let Ok(entries) = fs_err::read_dir(self.path().join("out")) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The runs of a written scenario, as `plan` shows them.
    fn runs(&self, scenario: &str) -> Vec<Value> {
        let file = format!("out/{scenario}.toml");
        let validated = self.sandbox.omni_bench(&["validate", &file]);
        assert!(validated.status.success(), "{}", String::from_utf8_lossy(&validated.stderr));
        let output = self.sandbox.omni_bench(&["plan", &file, "--format", "json"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
        plan["runs"].as_array().unwrap().clone()
    }

    fn baseline(&self, scenario: &str) -> Baseline {
        Baseline::parse(&self.read(&format!("{scenario}.baseline.json"))).unwrap()
    }
}

fn told(output: &Output) -> Told {
    Told { code: output.status.code(), err: String::from_utf8(output.stderr.clone()).unwrap() }
}

/// Variant, dataset, rate, cap, requests and warm-ups of a run.
fn shown(run: &Value) -> String {
    format!(
        "{}/{} {} c{} n{} w{}",
        run["variant"].as_str().unwrap(),
        run["dataset"].as_str().unwrap(),
        run["request_rate"],
        run["max_concurrency"],
        run["requests"],
        run["warmup_requests"]
    )
}

/// A perf JSON of one case and one entry, with more keys in each.
fn one(case: &str, serve_args: &str, entry: &str) -> String {
    format!(
        r#"[{{"test_name": "one", "mark": [{{"hardware_marks": {{"res": {{"cuda": "H100"}}, "num_cards": 1}}}}],
"server_type": "vllm-omni"{case},
"server_params": {{"model": "Qwen/Qwen-Image", "serve_args": {{{serve_args}}}}},
"benchmark_params": [{{"name": "A", "dataset": "random", "width": 512, "height": 512{entry}}}]}}]"#
    )
}
