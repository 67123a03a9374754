//! Elements that do not end by themselves: one is cancelled, one reaches its time limit.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::setup::{BINARY, Cluster, json, scenario, states, talk, until};

/// While the file is there, one server is slow and another never becomes ready.
const SERVE: &str = "\
variant=$1 port=$2 speed=100
while [ \"$variant\" = late ] && [ -e STALL ]; do sleep 0.2; done
if [ \"$variant\" = killed ] && [ -e STALL ]; then speed=3; fi
exec BINARY simulate --port \"$port\" --speed $speed";

/// Every file below a folder with its bytes.
fn files(folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.insert(path.display().to_string(), fs_err::read(&path).unwrap());
        }
    }
}

fn state_of(status: &Value, run: &str) -> String {
    states(status).into_iter().find(|(id, _)| id == run).unwrap().1
}

#[test]
fn what_was_cancelled_or_ran_out_of_time_is_told_and_alone_submitted_again() {
    let test = "what_was_cancelled_or_ran_out_of_time_is_told_and_alone_submitted_again";
    let Some(cluster) = Cluster::start(test, &[("ACCOUNTING", "1")]) else { return };
    let sandbox = cluster.sandbox.path();
    let stall = sandbox.join("stall");
    fs_err::write(&stall, "").unwrap();
    let serve = SERVE.replace("STALL", stall.to_str().unwrap()).replace("BINARY", BINARY);
    fs_err::write(sandbox.join("serve.sh"), serve).unwrap();
    let variants = ["quick", "killed", "late"].map(|name| format!("[[variants]]\nname = \"{name}\"")).join("\n");
    // Slurm counts limits in minutes and looks at them twice a minute
    let more = "[server]\ncommand = [\"sh\", \"serve.sh\", \"{{ variant }}\", \"{{ port }}\"]\n[slurm]\ntime = \"1\"";
    cluster.write(&scenario("ends", 60, &variants, more));
    let output = cluster.omni_bench(&["submit", "scenario.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
    let folder = cluster.results("ends");

    let records = folder.join("runs/killed/A/c1/records.jsonl");
    until("a request of the run to be killed", || fs_err::read(&records).ok().filter(|bytes| !bytes.is_empty()));
    let status = cluster.status(&folder);
    let element = |name: &str| {
        let run = status["runs"].as_array().unwrap().iter().find(|run| run["id"] == format!("{name}/A/c1").as_str());
        run.unwrap()["element"].as_str().unwrap().to_owned()
    };
    assert_eq!(state_of(&status, "killed/A/c1"), "running");
    cluster.slurm("scancel", &[&element("killed")]);
    cluster.wait_for_merge(&folder);

    let status = cluster.status(&folder);
    println!("after scancel and the time limit: {:?}", states(&status));
    assert_eq!(state_of(&status, "quick/A/c1"), "complete");
    assert_eq!(state_of(&status, "killed/A/c1"), "cancelled");
    assert_eq!(state_of(&status, "late/A/c1"), "timeout");
    same_with_and_without_accounting(&cluster, &folder);

    let results = json(&folder.join("results.json"));
    assert_eq!(results["runs"].as_array().unwrap().len(), 1);
    let reason = |id: &str| {
        let entry = results["not_run"].as_array().unwrap().iter().find(|entry| entry["id"] == id);
        entry.unwrap()["reason"].as_str().unwrap().to_owned()
    };
    let why = format!("its Slurm element {} was cancelled", element("killed"));
    assert!(reason("killed/A/c1").starts_with(&why), "{results}");
    assert_eq!(reason("late/A/c1"), format!("its Slurm element {} reached its time limit", element("late")));
    let report = cluster.omni_bench(&["report", folder.to_str().unwrap(), "--format", "csv"]);
    assert!(!talk(&report).contains("killed/A/c1"), "what a dead run got to does not count: {}", talk(&report));

    fs_err::remove_file(&stall).unwrap();
    let mut before = BTreeMap::new();
    files(&folder.join("runs/quick"), &mut before);
    let resume = ["submit", "scenario.toml", "--resume", folder.to_str().unwrap(), "--set", "slurm.time=5"];
    let output = cluster.omni_bench(&resume);
    assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
    let submissions = json(&folder.join("cluster/cluster.json"))["submissions"].clone();
    let again: Vec<&Value> = submissions[1]["arrays"][0]["elements"].as_array().unwrap().iter().collect();
    let runs: Vec<&Value> = again.iter().map(|element| &element["runs"]).collect();
    assert_eq!(runs, [&serde_json::json!(["killed/A/c1"]), &serde_json::json!(["late/A/c1"])]);
    println!("submitted again: {runs:?}");
    cluster.wait_for_merge(&folder);
    assert!(states(&cluster.status(&folder)).iter().all(|(_, state)| state == "complete"));
    assert_eq!(json(&folder.join("results.json"))["runs"].as_array().unwrap().len(), 3);
    assert!(folder.join("runs/killed/A/c1.attempt-1/records.jsonl").is_file(), "what it got to is kept");
    let mut after = BTreeMap::new();
    files(&folder.join("runs/quick"), &mut after);
    assert!(before == after, "a complete run is not touched");

    let output = cluster.omni_bench(&resume);
    assert!(talk(&output).contains("nothing to submit"), "{}", talk(&output));
}

/// The queue alone and the accounting alone say what both together say.
fn same_with_and_without_accounting(cluster: &Cluster, folder: &Path) {
    let words = ["status", folder.to_str().unwrap(), "--format", "json"];
    let told = |without: &str, by: &str| {
        // accounting lags a little behind
        until(&format!("the same states without {without}"), || {
            let output = cluster.with_program(without, &format!("echo {without} is not there >&2; exit 1"), &words);
            assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
            let status: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(status["sources"], serde_json::json!([by]));
            let whole = cluster.status(folder);
            let same = states(&status) == states(&whole) && status["elements"] == whole["elements"];
            same.then(|| states(&status))
        })
    };
    let (queue, accounting) = (told("sacct", "squeue"), told("squeue", "sacct"));
    println!("by squeue: {queue:?}\nby sacct: {accounting:?}");
    assert_eq!(queue, accounting);
}
