//! A folder with a scenario whose servers are started, the binary run in it, and what it left.

use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::Sandbox;

pub(super) const BINARY: &str = env!("CARGO_BIN_EXE_omni-bench");

/// Time after which something that must come about has not.
const PATIENCE: Duration = Duration::from_mins(1);

/// The simulator as a shell script starts it: `$0` is the binary, `$1` the port; flags follow.
pub(super) const SIMULATE: &str = r#""$0" simulate --speed 100 --port"#;

pub(super) struct Bench(pub(super) Sandbox);

impl Bench {
    /// A folder with this scenario.
    pub(super) fn new(scenario: &str) -> Self {
        let sandbox = Sandbox::new();
        fs_err::write(sandbox.path().join("small.toml"), scenario).unwrap();
        Self(sandbox)
    }

    /// Two variants, `first` and `second`, whose servers a shell script starts: the binary is `$0`, the
    /// port `$1`, the variant's name `$2`, the serve flags follow. `more` stands in `[server]`.
    pub(super) fn scripted(script: &str, requests: u32, more: &str) -> Self {
        Self::new(&scripted(script, requests, more))
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Output {
        self.0.command(&[&["run", "small.toml"], arguments].concat()).stdin(Stdio::null()).output().unwrap()
    }

    pub(super) fn spawn(&self) -> Child {
        let mut command = self.0.command(&["run", "small.toml"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    pub(super) fn latest(&self) -> PathBuf {
        self.path("results/small/latest")
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs_err::read_to_string(self.latest().join(name)).unwrap()
    }

    pub(super) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Ids of the runs with numbers, and of those without with the reason.
    pub(super) fn runs(&self) -> (Vec<String>, Vec<(String, String)>) {
        let results = self.json("results.json");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let list = |key: &str| results[key].as_array().unwrap().clone();
        let missing = list("not_run").iter().map(|run| (text(&run["id"]), text(&run["reason"]))).collect();
        (list("runs").iter().map(|run| text(&run["id"])).collect(), missing)
    }
}

pub(super) fn scripted(script: &str, requests: u32, more: &str) -> String {
    let words = ["sh", "-c", script, BINARY, "{{ port }}", "{{ variant }}"];
    let words = words.map(|word| format!("'''{word}'''")).join(", ");
    format!(
        r#"
name = "small"

[model]
id = "Qwen/Qwen-Image"
task = "t2i"

[server]
command = [{words}]
stop_grace = "10s"
{more}

[[variants]]
name = "first"

[[variants]]
name = "second"

[datasets.A]
source = "random"
profiles = [{{ width = 64, height = 64, num_inference_steps = 2 }}]

[traffic]
requests = {requests}
"#
    )
}

/// What stands before `[server]` in such a scenario, and what stands after it.
pub(super) fn around_server(scenario: &str) -> (&str, String) {
    let (head, rest) = scenario.split_once("[server]").unwrap();
    let (_, variants) = rest.split_once("[[variants]]").unwrap();
    (head, format!("[[variants]]{variants}"))
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

/// Words of the processes that work in this folder, as every server started from it does.
#[cfg(target_os = "linux")]
pub(super) fn processes_in(folder: &Path) -> Vec<String> {
    let folder = fs_err::canonicalize(folder).unwrap();
    let works_there = |process: &Path| std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == folder);
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    let words = |process: PathBuf| {
        String::from_utf8_lossy(&fs_err::read(process.join("cmdline")).unwrap_or_default()).replace('\0', " ")
    };
    processes.filter(|process| works_there(process)).map(words).collect()
}
