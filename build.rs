//! Tells the program which commit it is built from, when that can be known: from `OMNI_BENCH_COMMIT`, as a
//! packager may set it, else from the repository around the sources. Without either it stays unknown.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=OMNI_BENCH_COMMIT");
    let given = std::env::var("OMNI_BENCH_COMMIT").ok().filter(|commit| !commit.trim().is_empty());
    // the log of HEAD grows with every commit and checkout; a path that is not there would mean a build every time
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| std::path::Path::new(log).exists()) {
        println!("cargo::rerun-if-changed={log}");
    }
    println!("cargo::rerun-if-changed=build.rs");
    if let Some(commit) = given.or_else(own_commit) {
        println!("cargo::rustc-env=OMNI_BENCH_COMMIT={}", commit.trim());
    }
}

/// The commit of the repository whose top folder this is; sources unpacked inside another have none.
fn own_commit() -> Option<String> {
    git(&["rev-parse", "--show-prefix"]).filter(String::is_empty)?;
    git(&["rev-parse", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
