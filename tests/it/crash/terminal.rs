//! A terminal is as it was before, whichever signal ended the tool.

use std::io::Write;
use std::process::{Command, Stdio};

use super::setup::{BINARY, Bench, IMAGES, journal, until};
use crate::support::skipped;

/// Runs the tool on a terminal of its own, and presses Ctrl-C so often once its run is at work; gives what
/// was drawn and the exit code.
fn on_a_terminal(interrupts: u32) -> Option<(String, i32)> {
    if Command::new("script").arg("--version").output().is_err() {
        skipped("a_terminal_is_as_it_was_before", "`script` is not installed");
        return None;
    }
    let bench = Bench::new(&IMAGES.replace("requests = 30", "requests = 100000"));
    let mut command = Command::new("script");
    let line = format!("stty cols 120 rows 40; exec {BINARY} run small.toml --simulate --speed 2");
    command.args(["-qefc", &line, "/dev/null"]).current_dir(bench.path("")).env("TERM", "xterm");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut keys = child.stdin.take().unwrap();
    let records = bench.latest().join("runs/v/A/c1/records.jsonl");
    until("some records", || (records.exists() && journal(&records).0.len() >= 3).then_some(()));
    for _ in 0..interrupts {
        // the tool may have ended after the first
        drop(keys.write_all(b"\x03"));
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let output = child.wait_with_output().unwrap();
    drop(keys);
    Some((String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code().unwrap()))
}

#[test]
fn a_terminal_is_as_it_was_before() {
    for interrupts in [1, 2] {
        let Some((drawn, code)) = on_a_terminal(interrupts) else { return };
        assert_eq!(code, 130, "{drawn:?}");
        assert!(drawn.contains("stopping: no new requests"), "{drawn:?}");
        assert!(drawn.contains("measured ["), "a bar was drawn: {drawn:?}");
        let (hidden, shown) = (drawn.rfind("\u{1b}[?25l"), drawn.rfind("\u{1b}[?25h"));
        assert!(hidden.is_none() || hidden < shown, "the cursor is shown at the end: {drawn:?}");
        // what is drawn last on the bar's line is its removal
        let after = drawn.rsplit("measured [").next().unwrap();
        assert!(after.contains("\u{1b}[2K") || after.contains("\u{1b}[K"), "{after:?}");
    }
}
