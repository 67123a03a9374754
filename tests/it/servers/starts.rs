//! Servers that do not come up: one error with the end of the log, and the other variant goes on.

use std::net::TcpListener;

use super::bench::{Bench, SIMULATE, code, scripted, talk};

/// Prints 30 lines.
const LINES: &str = "i=1; while [ $i -le 30 ]; do echo line $i; i=$((i+1)); done";

/// Runs a scenario whose first server fails; what is said about it.
fn first_fails(scenario: &str) -> String {
    let bench = Bench::new(scenario);
    let output = bench.run(&[]);
    let text = talk(&output);
    assert_eq!(code(&output), 3, "{text}");
    let (runs, missing) = bench.runs();
    assert_eq!(runs, ["second/A/c1"], "{text}");
    let [(id, why)] = missing.as_slice() else { panic!("{missing:?}") };
    assert_eq!(id, "first/A/c1");
    let errors: Vec<&str> = text.lines().filter(|line| line.contains("no server for `first`")).collect();
    assert_eq!(errors.len(), 1, "one error: {text}");
    assert!(text.contains(why), "{text}");
    assert!(bench.read("results.md").contains("first/A/c1"), "the report names it");

    let output = bench.run(&["--fail-fast"]);
    assert_eq!(code(&output), 3, "{}", talk(&output));
    let (runs, missing) = bench.runs();
    assert_eq!((runs.len(), missing.len()), (0, 2));
    assert_eq!(missing[1].1, "not started after `first/A/c1` failed (--fail-fast)");
    why.clone()
}

/// The first server does this, the second is a simulator.
fn first_does(what: &str, more: &str) -> String {
    first_fails(&scripted(&format!("if [ $2 = first ]; then {what}; fi; exec {SIMULATE} $1"), 2, more))
}

fn shows_the_last_twenty_lines(why: &str) {
    let shown: Vec<&str> = why.lines().skip(1).collect();
    assert_eq!(shown.len(), 20, "{why}");
    assert_eq!(shown.last(), Some(&"  line 30"), "{why}");
}

#[test]
fn a_command_that_does_not_exist() {
    let scenario = scripted("", 2, "").replace("command = ['''sh'''", "command = ['/absent/serve'");
    let bench = Bench::new(&scenario);
    let output = bench.run(&[]);
    assert_eq!(code(&output), 3, "{}", talk(&output));
    let missing = bench.runs().1;
    assert_eq!(missing.len(), 2);
    assert!(missing[0].1.starts_with("the server `/absent/serve` cannot be started: "), "{missing:?}");

    let own = scripted(&format!("exec {SIMULATE} $1"), 2, "");
    let own = own.replace(
        "['''sh''', '''-c'''",
        r#"["{% if variant == 'first' %}/absent/serve{% else %}sh{% endif %}", '''-c'''"#,
    );
    let why = first_fails(&own);
    assert!(why.starts_with("the server `/absent/serve` cannot be started: "), "{why}");
}

#[test]
fn a_port_in_use() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    // a port that the command does not take from the plan is that of the URL
    let scenario = scripted(&format!("if [ $2 = first ]; then exit 1; fi; exec {SIMULATE} {free}"), 2, "")
        .replace("'''{{ port }}'''", "'''0'''")
        .replace("name = \"first\"", &format!("name = \"first\"\nendpoint = {{ url = \"http://127.0.0.1:{port}\" }}"))
        .replace(
            "name = \"second\"",
            &format!("name = \"second\"\nendpoint = {{ url = \"http://127.0.0.1:{free}\" }}"),
        );
    let why = first_fails(&scenario);
    assert_eq!(why, format!("port {port} of `http://127.0.0.1:{port}` is in use by another server"));
}

#[test]
fn a_server_that_never_gets_ready() {
    let why = first_does(&format!("{LINES}; exec sleep 300"), "ready = { timeout = '1s' }");
    assert!(why.contains("was not ready after 1s: GET /health: connection refused"), "{why}");
    assert!(why.contains("raise `server.ready.timeout`; the end of `"), "{why}");
    shows_the_last_twenty_lines(&why);
}

#[test]
fn a_server_that_exits_at_once() {
    let why = first_does(&format!("{LINES}; exit 9"), "");
    assert!(why.starts_with("the server ended by itself (exit status: 9); the end of `"), "{why}");
    shows_the_last_twenty_lines(&why);
}

#[test]
fn a_server_that_answers_with_another_model() {
    let why = first_does(&format!("{LINES}; exec {SIMULATE} $1 --model Qwen/Qwen-Image-Edit >&2 | cat"), "");
    assert!(why.contains("does not serve `Qwen/Qwen-Image`; it serves `Qwen/Qwen-Image-Edit`; the end of `"), "{why}");
    assert_eq!(why.lines().count(), 21, "{why}");
}

#[test]
fn a_folder_that_is_not_there() {
    let bench = Bench::new(&scripted(&format!("exec {SIMULATE} $1"), 2, "cwd = 'absent'"));
    let output = bench.run(&[]);
    assert_eq!(code(&output), 3, "{}", talk(&output));
    assert!(bench.runs().1[0].1.contains("absent` to start the server in is not there"));
}

#[test]
fn a_server_gets_its_environment_and_its_folder() {
    let script = format!(r#"echo "$PLACE in $(pwd)"; exec {SIMULATE} $1"#);
    let bench = Bench::new(&scripted(&script, 2, "cwd = 'sub'\nenv = { PLACE = \"it's here\" }"));
    fs_err::create_dir(bench.path("sub")).unwrap();
    let output = bench.run(&[]);
    assert_eq!(code(&output), 0, "{}", talk(&output));
    let log = bench.read("servers/first-1/server.log");
    assert!(log.starts_with("it's here in /") && log.lines().next().unwrap().ends_with("/sub"), "{log}");
}
