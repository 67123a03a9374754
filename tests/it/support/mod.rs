//! What several test areas share: a scripted server, a scratch folder with the scenarios in it, the
//! built binary, and the comparison of generated files.

#![cfg(test)] // the lints that spare tests then spare their helpers too

#[cfg(target_os = "linux")]
pub(crate) mod arrivals;
pub(crate) mod fake;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A scratch folder that is removed at the end.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
}

impl Sandbox {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A folder that holds a copy of `scenarios/`.
    pub(crate) fn with_scenarios() -> Self {
        let sandbox = Self::new();
        copy_folder(&repository().join("scenarios"), &sandbox.path().join("scenarios"));
        sandbox
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The binary with these arguments, to be run in the folder, without settings of the outer environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_omni-bench"));
        command.current_dir(self.path()).args(arguments);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("OMNI_BENCH__")) {
            command.env_remove(name);
        }
        // the user's own is never touched
        command.env("OMNI_BENCH_HISTORY", self.path().join("history.sqlite"));
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn omni_bench(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }
}

/// The root of the repository.
pub(crate) fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn copy_folder(from: &Path, to: &Path) {
    fs_err::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Compares a committed generated file with what the program makes now; `OMNI_BENCH_UPDATE=1` rewrites it.
pub(crate) fn assert_file_is(path: &Path, wanted: &str) {
    if std::env::var_os("OMNI_BENCH_UPDATE").is_some() {
        fs_err::write(path, wanted).unwrap();
    }
    let found = fs_err::read_to_string(path).unwrap_or_default();
    let differing = found.lines().zip(wanted.lines()).position(|(a, b)| a != b);
    assert!(
        found == wanted,
        "{} is stale (first differing line: {:?}); rewrite it with OMNI_BENCH_UPDATE=1",
        path.display(),
        differing.map(|line| line + 1)
    );
}

/// Says that a test cannot run here. Written past the test runner's capture, so that a plain
/// `cargo test` names it; under the one test command, which installs everything, it is a failure.
pub(crate) fn skipped(test: &str, why: &str) {
    use std::io::Write as _;
    assert!(std::env::var_os("OMNI_BENCH_TEST_ALL").is_none(), "{test} must run under tests/run.sh: {why}");
    writeln!(std::io::stderr(), "not run: {test}: {why}").unwrap();
}

/// Whether a program is installed.
pub(crate) fn have(program: &str) -> bool {
    Command::new(program).arg("-version").output().is_ok()
}

/// A server in a process of its own, stopped when this goes.
pub(crate) struct Served {
    child: std::process::Child,
    url: String,
}

impl Served {
    /// `omni-bench simulate` on a free loopback port, with these arguments.
    pub(crate) fn simulator(arguments: &[&str]) -> Self {
        use std::io::BufRead as _;
        let mut child = Command::new(env!("CARGO_BIN_EXE_omni-bench"))
            .args(["simulate", "--port", "0"])
            .args(arguments)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line:?}"));
        Self { url: format!("http://{address}"), child }
    }

    /// Its base URL.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// A figure for people, written past the test runner's capture.
pub(crate) fn figure(text: &str) {
    use std::io::Write as _;
    writeln!(std::io::stderr(), "{text}").unwrap();
}
