//! What several test areas share.

#![cfg(test)] // the lints that spare tests then spare their helpers too

use std::process::Command;

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
