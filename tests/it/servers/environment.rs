//! The facts of the machine in files and in the page.

use std::path::Path;

use serde_json::Value;

use super::{json, scenario};
use crate::support::{Sandbox, have, repository, skipped};

/// Rows of the page's test-environment table.
fn rows(page: &Path) -> Vec<[String; 3]> {
    let page = fs_err::read_to_string(page).unwrap();
    let table = page.lines().skip_while(|line| !line.starts_with("| Component |")).skip(2);
    let cells = |line: &str| -> [String; 3] {
        let cells: Vec<String> = line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
        cells.try_into().unwrap()
    };
    table.take_while(|line| line.starts_with('|')).map(cells).collect()
}

#[test]
fn the_page_names_what_was_detected_and_what_was_not() {
    let sandbox = Sandbox::new();
    let declared = "[environment]\nGPU = \"NVIDIA H100\"\ncommit = \"abc\"\n";
    fs_err::write(sandbox.path().join("small.toml"), scenario(4, "[1]", declared)).unwrap();
    let output = sandbox.omni_bench(&["run", "small.toml", "--simulate", "--speed", "400"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let latest = sandbox.path().join("results/small/latest");
    let environment = json(&latest.join("servers/v-1/environment.json"));
    let machine = &environment["machine"];
    assert_eq!(
        (&machine["role"], &environment["models"]),
        (&"simulator".into(), &serde_json::json!(["Qwen/Qwen-Image"]))
    );
    let rows = rows(&latest.join("small.md"));
    let of = |name: &str| rows.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("no {name} in {rows:#?}"));
    assert_eq!(of("GPU")[1..], ["NVIDIA H100", "declared"]);
    assert_eq!(of("Models served")[1..], ["Qwen/Qwen-Image", "told by /v1/models"]);
    // whatever this machine tells is in the page, and whatever it does not tell is named with its reason
    for (key, name) in [("os", "OS"), ("kernel", "Kernel"), ("cpu", "CPU"), ("container", "Container"), ("gpus", "GPU")]
    {
        let row = of(&format!("Simulator's host: {name}"));
        match &machine[key] {
            Value::Null => {
                assert_eq!(row[1], "not detected", "{name}");
                assert!(!row[2].is_empty(), "{name} has no reason");
            }
            _ => assert_eq!(row[2], "detected", "{name}"),
        }
    }
    assert_eq!(of("Simulator's host: GPU")[2], "a simulator answers, which uses none; they were not asked");
    let page = fs_err::read_to_string(latest.join("small.md")).unwrap();
    let commit = environment["tool_commit"].as_str();
    assert_eq!(commit.is_some(), page.contains("(commit "), "{commit:?}");
}

#[test]
fn work_on_the_gpus_before_the_start_makes_a_run_suspect() {
    const NAME: &str = "work_on_the_gpus_before_the_start_makes_a_run_suspect";
    if !have("python3") {
        return skipped(NAME, "no Python");
    }
    let sandbox = Sandbox::new();
    let script = repository().join("tests/fixtures/devices/painter.py");
    let server = format!(
        "[server]\ncommand = [\"python3\", {:?}, \"{{{{ port }}}}\"]\nready = {{ path = \"/health\", timeout = \"60s\" }}\n\n\
         [endpoint]\npath = \"/v1/images/generations\"\n",
        script.to_str().unwrap()
    );
    fs_err::write(sandbox.path().join("small.toml"), scenario(3, "[1]", &server)).unwrap();
    // the recording's first look is before the start: its GPU 0 is the server's later on
    let busy =
        r#"{"gpus":[{"index":0,"memory_mb":900.0,"utilization":0.8,"power_w":200.0,"energy_j":1.0,"processes":[]}]}"#;
    let recording = fs_err::read_to_string(repository().join("tests/fixtures/devices/two_a100.jsonl")).unwrap();
    let (facts, looks) = recording.split_once('\n').unwrap();
    fs_err::write(sandbox.path().join("gpus.jsonl"), format!("{facts}\n{busy}\n{looks}")).unwrap();
    let mut command = sandbox.command(&["run", "small.toml"]);
    let output = command.env("OMNI_BENCH_TEST_DEVICES", sandbox.path().join("gpus.jsonl")).output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{talk}");
    let latest = sandbox.path().join("results/small/latest");
    let environment = json(&latest.join("servers/v-1/environment.json"));
    assert_eq!(environment["machine"]["background"][0]["utilization"], 0.8);
    assert_eq!(environment["machine"]["role"], "server");
    let run = &json(&latest.join("results.json"))["runs"][0];
    assert_eq!(run["validity"], "suspect");
    let warning =
        run["warnings"].as_array().unwrap().iter().find(|warning| warning["kind"] == "background_load").unwrap();
    assert_eq!(
        warning["text"],
        "before the server was started, GPU 0 was busy 80 % of the time, with 0 MiB held by processes"
    );
}
