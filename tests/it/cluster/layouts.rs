//! Layouts of 1, 2, 2 and 4 GPUs on 4 nodes of 4 GPUs, with servers that jobs start.

use super::setup::{BINARY, Cluster, json, scenario, states, talk};

const VARIANTS: &str = "\
[[variants]]
name = \"one\"
[[variants]]
name = \"usp2\"
parallel = { ulysses = 2 }
[[variants]]
name = \"cfg2\"
parallel = { cfg = 2 }
[[variants]]
name = \"cfg2-usp2\"
parallel = { cfg = 2, ulysses = 2 }";

#[test]
fn layouts_of_1_2_2_and_4_gpus_are_merged_into_one_page() {
    let test = "layouts_of_1_2_2_and_4_gpus_are_merged_into_one_page";
    let Some(cluster) = Cluster::start(test, &[]) else { return };
    let server = format!(
        "[server]\ncommand = [\"{BINARY}\", \"simulate\", \"--port\", \"{{{{ port }}}}\", \"--speed\", \"100\"]\n\
         [compare]\nbaseline = \"usp2\"\ncandidates = [\"cfg2\", \"one\"]\n[dashboard]\npage = \"page.md\"\n\
         [slurm]\npartition = \"bench\"\nsetup = [\"export OF_THE_SITE=1\"]"
    );
    cluster.write(&scenario("layouts", 4, VARIANTS, &server));
    let output = cluster.omni_bench(&["submit", "scenario.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
    let folder = cluster.results("layouts");
    cluster.wait_for_merge(&folder);

    let results = json(&folder.join("results.json"));
    let runs = results["runs"].as_array().unwrap();
    let gpus: Vec<u64> = runs.iter().map(|run| run["gpus"].as_u64().unwrap()).collect();
    assert_eq!(gpus, [1, 2, 2, 4]);
    assert_eq!(results["not_run"].as_array().unwrap().len(), 0);
    assert!(runs.iter().all(|run| run["completed"] == 4), "{results}");

    let page = fs_err::read_to_string(folder.join("page.md")).unwrap();
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let table: Vec<Vec<String>> = page.lines().filter(|line| line.starts_with("| Dataset")).map(cells).collect();
    let (head, rows) = (&table[table.len() - 5], &table[table.len() - 4..]);
    let column = head.iter().position(|cell| cell == "GPUs").unwrap();
    assert_eq!(rows.iter().map(|row| row[column].as_str()).collect::<Vec<_>>(), ["1", "2", "2", "4"]);
    println!("the GPU column of the page: {:?}", rows.iter().map(|row| &row[column]).collect::<Vec<_>>());

    let status = cluster.status(&folder);
    assert!(states(&status).iter().all(|(_, state)| state == "complete"), "{status}");
    for (run, gpus) in status["runs"].as_array().unwrap().iter().zip(gpus) {
        let id = run["id"].as_str().unwrap();
        let variant = id.split('/').next().unwrap();
        let environment = json(&folder.join(format!("servers/{variant}-1/environment.json")));
        let devices = environment["slurm"]["cuda_visible_devices"].as_str().unwrap();
        assert_eq!(devices.split(',').count() as u64, gpus, "{variant}: {devices}");
        assert_eq!(run["cuda_visible_devices"], devices);
        assert!(page.contains(&format!("CUDA_VISIBLE_DEVICES {devices}")), "{page}");
        let element = run["element"].as_str().unwrap();
        println!("{variant}: job {element} on {}, CUDA_VISIBLE_DEVICES {devices}", run["node"]);
    }
    let element = |place: usize| &status["runs"][place]["element"];
    assert_eq!(element(1), element(2), "compared variants of 2 GPUs share an element");
    assert_ne!(element(0), element(1));

    let said = talk(&cluster.omni_bench(&["compare", folder.to_str().unwrap(), "--variants", "usp2", "one"]));
    assert!(said.contains("across nodes: `usp2` (GPUs: 2) and `one` (GPUs: 1)"), "{said}");
    let said = talk(&cluster.omni_bench(&["compare", folder.to_str().unwrap(), "--variants", "usp2", "cfg2"]));
    assert!(!said.contains("across nodes: "), "{said}");
}
