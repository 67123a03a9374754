//! What needs no Slurm: what would be submitted, and what cannot be.

use super::setup::{BINARY, replace_program, scenario, talk};
use crate::support::Sandbox;

const VARIANTS: &str = "\
[[variants]]
name = \"one\"
[[variants]]
name = \"usp2\"
parallel = { ulysses = 2 }
[[variants]]
name = \"cfg2\"
parallel = { cfg = 2 }";

const MORE: &str = "\
[compare]
baseline = \"usp2\"
[server]
command = [\"serve\", \"--port\", \"{{ port }}\"]
[slurm]
partition = \"gpu\"
account = \"a b\"
time = \"1:30:00\"
constraint = \"a100&nvlink\"
directives = [\"#SBATCH --qos=high\", \"--exclusive\"]
setup = [\"module load cuda\", \"export HF_HOME=/models\"]";

fn sandbox(text: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    fs_err::write(sandbox.path().join("scenario.toml"), text).unwrap();
    sandbox
}

#[test]
fn a_rehearsal_prints_the_scripts_and_what_the_elements_may_cost() {
    let sandbox = sandbox(&scenario("layouts", 10, VARIANTS, MORE));
    let output = sandbox.omni_bench(&["submit", "scenario.toml", "--dry-run", "--max-parallel", "2"]);
    assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
    let here = fs_err::canonicalize(sandbox.path()).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let text = text.replace(here.to_str().unwrap(), "HERE").replace(BINARY, "OMNI_BENCH");
    insta::with_settings!({ filters => vec![("TIME-[0-9a-f]{8}", "TIME-HASH")] }, {
        insta::assert_snapshot!("rehearsal", text);
    });
    assert!(!sandbox.path().join("results").exists(), "nothing is made");
}

#[test]
fn a_selection_names_its_runs_and_without_a_limit_one_follows_from_the_estimate() {
    let more = "[matrix]\nmax_concurrency = [1, 2]";
    let sandbox = sandbox(&scenario("layouts", 10, VARIANTS, more));
    let words = ["submit", "scenario.toml", "--dry-run", "--simulate", "--only", "one/A/c2", "--only", "cfg2/**"];
    let text = talk(&sandbox.omni_bench(&words));
    assert!(text.contains("only=(--only one/A/c2) ;; # one"), "{text}");
    assert!(text.contains("only=(--only cfg2/A/c1 --only cfg2/A/c2) ;; # cfg2"), "{text}");
    assert!(text.contains(" run scenario.toml --simulate --resume"), "{text}");
    assert!(text.contains("#SBATCH --time=0:06:00"), "{text}");
}

#[test]
fn a_scenario_whose_servers_no_job_starts_is_refused() {
    let more = "[endpoint]\nurl = \"http://localhost:1\"";
    let one = sandbox(&scenario("given", 2, "", more));
    let output = one.omni_bench(&["submit", "scenario.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(talk(&output).contains("give a `[server]` that is launched on the nodes"), "{}", talk(&output));
    let by_hand = format!("{more}\n[server]\nmode = \"manual\"\ncommand = [\"serve\"]");
    let output = sandbox(&scenario("hand", 2, "", &by_hand)).omni_bench(&["submit", "scenario.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(talk(&output).contains("nobody can start a server by hand in a job"), "{}", talk(&output));
}

#[test]
fn mistakes_in_the_slurm_table_are_told_with_their_lines() {
    let more = "[slurm]\ntime = \"soon\"\ndirectives = [\"--gres=gpu:2\", \"--time=3\"]";
    let output = sandbox(&scenario("wrong", 2, "", more)).omni_bench(&["validate", "scenario.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let text = talk(&output);
    for words in
        ["`soon` is not a time limit", "`--gres` follows from the plan", "write `slurm.time`", "scenario.toml:"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn without_slurm_nothing_is_made() {
    let sandbox = sandbox(&scenario("absent", 2, "", ""));
    let mut command = sandbox.command(&["submit", "scenario.toml", "--simulate"]);
    let output = command.env("PATH", sandbox.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", talk(&output));
    assert!(talk(&output).contains("`sinfo` cannot be started"), "{}", talk(&output));
    assert!(talk(&output).contains("is Slurm installed on this machine?"), "{}", talk(&output));
    assert!(!sandbox.path().join("results").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn a_folder_in_this_machines_memory_is_refused_when_nodes_are_elsewhere() {
    let sandbox = sandbox(&scenario("memory", 2, "", ""));
    replace_program(sandbox.path(), "sinfo", "echo another-machine");
    let memory = tempfile::Builder::new().prefix("omni-bench").tempdir_in("/dev/shm").unwrap();
    let words = ["submit", "scenario.toml", "--simulate", "--out", memory.path().to_str().unwrap()];
    let mut command = sandbox.command(&words);
    let output = command.env("PATH", format!("{}:/usr/bin:/bin", sandbox.path().display())).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", talk(&output));
    assert!(talk(&output).contains("which node `another-machine` does not see"), "{}", talk(&output));
    assert_eq!(fs_err::read_dir(memory.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_that_was_not_submitted_has_no_status() {
    let sandbox = sandbox(&scenario("local", 2, "", ""));
    let run = sandbox.omni_bench(&["run", "scenario.toml", "--simulate", "--speed", "200"]);
    assert_eq!(run.status.code(), Some(0), "{}", talk(&run));
    for command in ["status", "cancel"] {
        let output = sandbox.omni_bench(&[command, "results/local/latest"]);
        assert_eq!(output.status.code(), Some(5), "{}", talk(&output));
        assert!(talk(&output).contains("was not submitted: it has no `cluster/cluster.json`"), "{}", talk(&output));
    }
}
