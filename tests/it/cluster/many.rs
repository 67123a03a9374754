//! More elements than may run at a time, and a controller that goes away in the middle.

use super::setup::{Cluster, json, scenario, states, talk, until};

#[test]
fn sixteen_elements_run_eight_at_a_time_and_a_restart_of_slurmctld_loses_nothing() {
    let test = "sixteen_elements_run_eight_at_a_time_and_a_restart_of_slurmctld_loses_nothing";
    let Some(cluster) = Cluster::start(test, &[]) else { return };
    let variants: Vec<String> = (0..16).map(|number| format!("[[variants]]\nname = \"v{number}\"")).collect();
    cluster.write(&scenario("many", 16, &variants.join("\n"), ""));
    let words = ["submit", "scenario.toml", "--simulate", "--speed", "20", "--max-parallel", "8"];
    let output = cluster.omni_bench(&words);
    assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
    let folder = cluster.results("many");
    let script = fs_err::read_to_string(folder.join("cluster/1-gpus1.sh")).unwrap();
    assert!(script.contains("#SBATCH --array=0-15%8\n"), "{script}");

    let (mut most, mut restarted) = (0, false);
    let all = until("all elements", || {
        let now = cluster.status(&folder);
        let of = |state: &str| {
            let elements = now["elements"].as_array().unwrap();
            elements.iter().filter(|element| element["state"] == state).count()
        };
        let (running, pending, completed) = (of("running"), of("pending"), of("completed"));
        assert!(running <= 8, "{now}");
        most = most.max(running);
        // The elements of one wave may all end between two looks: what runs while others wait is the middle.
        if !restarted && pending > 0 && running > 0 {
            cluster.restart_controller();
            println!("slurmctld restarted with {completed} completed, {running} running and {pending} pending");
            restarted = true;
        }
        (completed == 16).then_some(now)
    });
    assert!(restarted, "the controller was restarted in the middle");
    assert_eq!(most, 8, "as many as may run at a time did");
    println!("16 elements, at most {most} at a time");
    assert!(states(&all).iter().all(|(_, state)| state == "complete"), "{all}");
    cluster.wait_for_merge(&folder);
    let results = json(&folder.join("results.json"));
    assert_eq!(results["runs"].as_array().unwrap().len(), 16);
    assert!(results["runs"].as_array().unwrap().iter().all(|run| run["completed"] == 16), "{results}");
    assert_eq!(results["simulated"], true);
}
