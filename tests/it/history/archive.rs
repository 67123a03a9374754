//! Results folders in any number: one small simulated run of the binary, copied with other figures.

use std::path::{Path, PathBuf};
use std::process::Output;

use jiff::{Timestamp, ToSpan as _};
use omni_bench::history::{Entry, Origin};
use omni_bench::summarize::Summary;
use serde_json::{Value, json};

use crate::support::Sandbox;

const SCENARIO: &str = r#"
name = "small"

[model]
id = "Qwen/Qwen-Image"
task = "t2i"

[endpoint]
url = "http://127.0.0.1:8091"

[environment]
gpu = "NVIDIA H800"

[[variants]]
name = "base"
gpus = 2

[datasets.A]
source = "random"
profiles = [{ width = 256, height = 256, num_inference_steps = 2 }]

[traffic]
requests = 4
repeats = 2

[warmup]
requests = 0
"#;

/// A scratch folder with a simulated run in it.
pub(crate) struct Archive {
    sandbox: Sandbox,
    template: PathBuf,
}

/// What a copy differs in.
#[derive(Debug, Clone)]
pub(crate) struct Copy<'a> {
    /// Name of the folder.
    pub(crate) name: &'a str,
    /// Hours after the first of September 2026.
    pub(crate) hour: i64,
    /// Mean latency in seconds; null is not measured.
    pub(crate) mean: Option<f64>,
    /// What the runs' keys begin with.
    pub(crate) key: &'a str,
    /// What is declared as GPU.
    pub(crate) gpu: Option<&'a str>,
    /// Whether the runs are simulated.
    pub(crate) simulated: bool,
}

impl Default for Copy<'_> {
    fn default() -> Self {
        Self { name: "r", hour: 0, mean: Some(2.0), key: "aaaa", gpu: Some("NVIDIA H800"), simulated: false }
    }
}

impl Archive {
    pub(crate) fn new() -> Self {
        let sandbox = Sandbox::new();
        fs_err::write(sandbox.path().join("small.toml"), SCENARIO).unwrap();
        let output = sandbox.omni_bench(&["run", "small.toml", "--simulate", "--speed", "1000", "--out", "template"]);
        assert!(output.status.code() == Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let template = fs_err::canonicalize(sandbox.path().join("template/small/latest")).unwrap();
        Self { sandbox, template }
    }

    pub(crate) fn path(&self) -> &Path {
        self.sandbox.path()
    }

    pub(crate) fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    pub(crate) fn template(&self) -> &Path {
        &self.template
    }

    /// Runs `omni-bench history` with these arguments.
    pub(crate) fn history(&self, arguments: &[&str]) -> Output {
        self.sandbox.omni_bench(&[&["history"], arguments].concat())
    }

    /// A copy of the run under another name, with two runs (repeats) in it.
    pub(crate) fn copy(&self, copy: &Copy<'_>) {
        let folder = self.path().join(copy.name);
        let (mut plan, mut results) =
            (read(&self.template.join("plan.json")), read(&self.template.join("results.json")));
        for part in [&mut plan, &mut results] {
            part["plan_hash"] = json!(format!("hash-of-{}", copy.name));
            part["simulated"] = json!(copy.simulated);
        }
        let facts = &mut plan["variants"][0]["environment"];
        match copy.gpu {
            Some(gpu) => facts["gpu"] = json!(gpu),
            None => *facts = json!({}),
        }
        for run in results["runs"].as_array_mut().unwrap() {
            let id = run["id"].as_str().unwrap().to_owned();
            *run = Self::summary(run, copy);
            let to = folder.join("runs").join(&id);
            let mut manifest = read(&self.template.join("runs").join(&id).join("run.json"));
            manifest["started_at"] = json!(start(copy.hour).to_string());
            manifest["simulated"] = json!(copy.simulated);
            fs_err::create_dir_all(&to).unwrap();
            write(&to.join("run.json"), &manifest);
            write(&to.join("summary.json"), run);
        }
        write(&folder.join("plan.json"), &plan);
        write(&folder.join("results.json"), &results);
    }

    fn summary(run: &Value, copy: &Copy<'_>) -> Value {
        let mut run = run.clone();
        run["key"] = json!(format!("{}bbbbccccdddd", copy.key));
        run["simulated"] = json!(copy.simulated);
        run["latency_s"]["mean"] = json!(copy.mean);
        run["mean_interval_s"] = json!(copy.mean.map(|mean| [mean - 0.5, mean + 0.5]));
        // how the machine was loaded while the copied run ran is of no matter
        (run["validity"], run["warnings"]) = (json!("valid"), json!([]));
        if !copy.simulated {
            run["speed"] = json!(1.0);
        }
        run
    }

    /// An entry as the command would make it, without a folder.
    pub(crate) fn entry(&self, copy: &Copy<'_>) -> Entry {
        let results = read(&self.template.join("results.json"));
        let summary: Summary = serde_json::from_value(Self::summary(&results["runs"][0], copy)).unwrap();
        let origin = Origin {
            time: start(copy.hour),
            scenario: "small".to_owned(),
            plan_hash: format!("hash-of-{}", copy.name),
            results: copy.name.to_owned(),
            model: "Qwen/Qwen-Image".to_owned(),
            task: "t2i".to_owned(),
            hardware: copy.gpu.map_or("unknown".to_owned(), |gpu| format!("2 × {gpu}")),
        };
        Entry::new(origin, &summary).unwrap()
    }
}

fn start(hour: i64) -> Timestamp {
    let first: Timestamp = "2026-09-01T00:00:00.123456789Z".parse().unwrap();
    first + hour.hours()
}

pub(crate) fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs_err::read(path).unwrap()).unwrap()
}

fn write(path: &Path, value: &Value) {
    fs_err::write(path, serde_json::to_vec(value).unwrap()).unwrap();
}

/// What a command printed.
pub(crate) fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What a command said.
pub(crate) fn talk(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
