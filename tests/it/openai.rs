//! The official Python client drives the simulator, so the simulator's wire is not only what this
//! project believes it to be.

#![cfg(test)] // the lints that spare tests then spare their helpers too

use std::path::PathBuf;
use std::process::Command;

use crate::support::{Served, repository, skipped};

/// A Python that has the `openai` package: the one the test command installed, or the system's.
fn python_with_openai() -> Option<PathBuf> {
    let named = std::env::var_os("OMNI_BENCH_TEST_PYTHON").map(PathBuf::from);
    let candidate = named.unwrap_or_else(|| PathBuf::from("python3"));
    let probe = Command::new(&candidate).args(["-c", "import openai"]).output().ok()?;
    probe.status.success().then_some(candidate)
}

#[test]
fn the_openai_client_drives_images_and_videos() {
    let Some(python) = python_with_openai() else {
        skipped("the_openai_client_drives_images_and_videos", "no Python with the `openai` package");
        return;
    };
    let server = Served::simulator(&["--speed", "50", "--model", "Qwen/Qwen-Image"]);
    let output = Command::new(python)
        .arg(repository().join("tests/python/openai_client.py"))
        .arg(server.url())
        .env("NO_PROXY", "127.0.0.1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.ends_with("all calls answered\n"), "{said}");
}
