//! What Slurm refuses, what nodes cannot see, and what is taken back.

use super::setup::{Cluster, scenario, talk, until};

const TWO_SIZES: &str = "[[variants]]\nname = \"one\"\n[[variants]]\nname = \"two\"\ngpus = 2";

/// Jobs that are in the queue.
fn queue(cluster: &Cluster) -> String {
    cluster.slurm("squeue", &["-h", "-t", "PENDING,RUNNING,COMPLETING"])
}

#[test]
fn nothing_stays_queued_of_a_submission_that_is_refused() {
    let test = "nothing_stays_queued_of_a_submission_that_is_refused";
    let Some(cluster) = Cluster::start(test, &[("NODES", "1"), ("GPUS", "2")]) else { return };
    cluster.write(&scenario("refused", 2, TWO_SIZES, "[slurm]\ndirectives = [\"--hold\"]"));
    let submit = ["submit", "scenario.toml", "--simulate"];

    let real = cluster_program("sbatch");
    let count = cluster.sandbox.path().join("accepted");
    let count = count.display();
    let second = format!(
        "[ -e {count} ] && {{ echo 'sbatch: error: too many jobs' >&2; exit 1; }}\n: >{count}\nexec {real} \"$@\""
    );
    let output = cluster.with_program("sbatch", &second, &submit);
    let said = talk(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("sbatch: error: too many jobs") && said.contains("is cancelled again: 1"), "{said}");
    until("an empty queue", || queue(&cluster).is_empty().then_some(()));
    println!("after a second array that was refused: {said}\nqueue: {:?}", queue(&cluster));
    assert!(!cluster.sandbox.path().join("results/refused/latest").exists());

    // what is held is not looked at
    cluster.write(&scenario("refused", 2, TWO_SIZES, ""));
    for (set, words) in [
        ("slurm.partition=nowhere", "Invalid partition name specified"),
        ("variants.two.gpus=8", "Requested node configuration is not available"),
    ] {
        let output = cluster.omni_bench(&[&submit[..], &["--set", set]].concat());
        let said = talk(&output);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains(words) && said.contains("`sbatch` failed"), "{said}");
        until("an empty queue", || queue(&cluster).is_empty().then_some(()));
    }
}

fn cluster_program(name: &str) -> String {
    let path = std::env::var("PATH").unwrap();
    let found =
        path.split(':').map(|folder| format!("{folder}/{name}")).find(|file| std::path::Path::new(file).is_file());
    found.unwrap()
}

#[test]
fn a_folder_that_its_node_does_not_see_is_told_and_what_is_queued_can_be_taken_back() {
    let test = "a_folder_that_its_node_does_not_see_is_told_and_what_is_queued_can_be_taken_back";
    let Some(cluster) = Cluster::start(test, &[("NODES", "1"), ("GPUS", "2")]) else { return };
    cluster.write(&scenario("unseen", 2, TWO_SIZES, "[slurm]\ndirectives = [\"--hold\"]"));
    let output = cluster.omni_bench(&["submit", "scenario.toml", "--simulate"]);
    assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
    let folder = cluster.results("unseen");
    let elsewhere = cluster.sandbox.path().join("elsewhere");
    fs_err::rename(&folder, &elsewhere).unwrap();
    cluster.slurm("scontrol", &["release", "1"]);
    until("the end of the element", || (cluster.state_of("1")? == "FAILED").then_some(()));
    fs_err::rename(&elsewhere, &folder).unwrap();
    let status = cluster.status(&folder);
    let why = status["runs"][0]["reason"].as_str().unwrap();
    assert!(why.contains("its node does not see the results folder (exit code 73)"), "{status}");
    assert_eq!(status["runs"][1]["state"], "pending");
    println!("{why}");

    let output = cluster.omni_bench(&["cancel", folder.to_str().unwrap()]);
    let said = talk(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("_0 two was pending") && said.contains("the last job was pending"), "{said}");
    assert!(!said.contains(" one was"), "what has ended is not cancelled: {said}");
    until("an empty queue", || queue(&cluster).is_empty().then_some(()));
    let output = cluster.omni_bench(&["cancel", folder.to_str().unwrap()]);
    assert!(talk(&output).contains("nothing to cancel"), "{}", talk(&output));

    let merge = ["submit", "scenario.toml", "--simulate", "--resume", folder.to_str().unwrap(), "--merge"];
    let output = cluster.omni_bench(&merge);
    assert_eq!(output.status.code(), Some(3), "{}", talk(&output));
    let results = super::setup::json(&folder.join("results.json"));
    assert_eq!(results["not_run"].as_array().unwrap().len(), 2);
    assert!(results["not_run"][1]["reason"].as_str().unwrap().ends_with("was cancelled"), "{results}");
}
