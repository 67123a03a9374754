//! A Slurm cluster of this test's own on loopback, and a folder to submit from.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Sandbox, repository, skipped};

/// The built binary.
pub(super) const BINARY: &str = env!("CARGO_BIN_EXE_omni-bench");
/// How long anything may take on a machine that does much else.
const PATIENCE: Duration = Duration::from_mins(10);

/// A running cluster. It is stopped when this goes, and when the test process ends without that.
pub(super) struct Cluster {
    pub(super) sandbox: Sandbox,
    state: tempfile::TempDir,
}

impl Cluster {
    /// Starts one with these settings of `tests/slurm/start.sh`; `None`, and the test's name told, where Slurm is
    /// not installed.
    pub(super) fn start(test: &str, settings: &[(&str, &str)]) -> Option<Self> {
        let with_accounting = settings.contains(&("ACCOUNTING", "1"));
        let needed: &[&str] = if with_accounting {
            &["slurmctld", "slurmd", "munged", "sbatch", "slurmdbd", "mariadbd"]
        } else {
            &["slurmctld", "slurmd", "munged", "sbatch"]
        };
        if let Some(missing) = needed.iter().find(|program| !is_installed(program)) {
            skipped(test, &format!("`{missing}` is not installed"));
            return None;
        }
        if !rustix::process::getuid().is_root() {
            skipped(test, "the daemons of a cluster are started as root");
            return None;
        }
        let state = tempfile::Builder::new().prefix("slurm").tempdir().unwrap();
        let mut start = Command::new(repository().join("tests/slurm/start.sh"));
        start.arg(state.path()).envs(settings.iter().copied()).env("UNTIL_PID", std::process::id().to_string());
        let output = start.output().unwrap();
        let cluster = Self { sandbox: Sandbox::new(), state };
        assert!(output.status.success(), "{}", talk(&output));
        Some(cluster)
    }

    /// Writes the scenario.
    pub(super) fn write(&self, scenario: &str) {
        fs_err::write(self.sandbox.path().join("scenario.toml"), scenario).unwrap();
    }

    /// The binary, in the folder of the submission.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command(arguments);
        command.env("SLURM_CONF", self.conf());
        command
    }

    pub(super) fn omni_bench(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// The binary with a program of Slurm that fails, or does what the script says.
    pub(super) fn with_program(&self, program: &str, script: &str, arguments: &[&str]) -> Output {
        let folder = self.sandbox.path().join(format!("instead-of-{program}"));
        fs_err::create_dir_all(&folder).unwrap();
        replace_program(&folder, program, script);
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        self.command(arguments).env("PATH", path).output().unwrap()
    }

    fn conf(&self) -> PathBuf {
        self.state.path().join("slurm.conf")
    }

    /// What one of Slurm's programs says.
    pub(super) fn slurm(&self, program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program).args(arguments).env("SLURM_CONF", self.conf()).output().unwrap();
        assert!(output.status.success(), "{program} {arguments:?}: {}", talk(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The state of a job; `None` while the controller cannot be reached, as happens on a busy machine.
    pub(super) fn state_of(&self, job: &str) -> Option<String> {
        let words = ["-h", "-t", "all", "-j", job, "-o", "%T"];
        let output = Command::new("squeue").args(words).env("SLURM_CONF", self.conf()).output().unwrap();
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Ends slurmctld and starts it again.
    pub(super) fn restart_controller(&self) {
        let script = "pid=$(cat pid/slurmctld); kill $pid; while kill -0 $pid 2>/dev/null; do sleep 0.2; done; sleep 2; \
                      PATH=$PATH:/usr/sbin exec slurmctld -f $PWD/slurm.conf";
        let status = Command::new("sh").args(["-c", script]).current_dir(self.state.path()).status().unwrap();
        assert!(status.success());
    }

    /// The scenario's only results folder.
    pub(super) fn results(&self, scenario: &str) -> PathBuf {
        let parent = self.sandbox.path().join("results").join(scenario);
        let folders = std::fs::read_dir(parent).unwrap().map(|entry| entry.unwrap());
        folders.filter(|entry| entry.file_type().unwrap().is_dir()).map(|entry| entry.path()).next().unwrap()
    }

    /// What `status` says, as JSON; asked again while the controller cannot be reached.
    pub(super) fn status(&self, results: &Path) -> Value {
        until("an answer of the controller", || {
            let output = self.omni_bench(&["status", results.to_str().unwrap(), "--format", "json"]);
            let unreachable = talk(&output).contains("Unable to contact slurm controller");
            assert!(unreachable || output.status.code() == Some(0), "{}", talk(&output));
            (!unreachable).then(|| serde_json::from_slice(&output.stdout).unwrap())
        })
    }

    /// Waits until the last job of the last submission has ended.
    pub(super) fn wait_for_merge(&self, results: &Path) {
        let file = json(&results.join("cluster/cluster.json"));
        let job = file["submissions"].as_array().unwrap().last().unwrap()["merge"].to_string();
        until("the last job", || {
            let told = self.state_of(&job)?;
            matches!(told.as_str(), "COMPLETED" | "FAILED").then_some(())
        });
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = fs_err::read_to_string(self.state.path().join("log/slurmctld.log")).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            eprintln!("the end of slurmctld.log:\n{}", lines[lines.len().saturating_sub(30)..].join("\n"));
        }
        let output = Command::new(repository().join("tests/slurm/stop.sh")).arg(self.state.path()).output();
        // a failure of the test itself is the one to tell
        if !std::thread::panicking() {
            assert!(output.unwrap().status.success());
        }
    }
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    path.split(':').chain(["/usr/sbin", "/sbin"]).any(|folder| Path::new(folder).join(program).is_file())
}

/// Puts a script where a program is looked for.
pub(super) fn replace_program(folder: &Path, program: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.join(program);
    fs_err::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Waits for something to come about.
pub(super) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "{what} did not come about");
        std::thread::sleep(Duration::from_millis(400));
    }
}

/// Everything a program said.
pub(super) fn talk(output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{}\n{out}\n{err}", output.status)
}

pub(super) fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs_err::read(path).unwrap()).unwrap()
}

/// The state of each run by its id.
pub(super) fn states(status: &Value) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    status["runs"].as_array().unwrap().iter().map(|run| (word(&run["id"]), word(&run["state"]))).collect()
}

/// A scenario with these variants and this further text, of small requests.
pub(super) fn scenario(name: &str, requests: u32, variants: &str, more: &str) -> String {
    format!(
        "name = \"{name}\"\n\
         [model]\nid = \"Qwen/Qwen-Image\"\ntask = \"t2i\"\n\
         {variants}\n\
         [datasets.A]\nlabel = \"Dataset A\"\nsource = \"random\"\n\
         profiles = [{{ width = 512, height = 512, num_inference_steps = 20 }}]\n\
         [traffic]\nrequests = {requests}\n\
         {more}\n"
    )
}
