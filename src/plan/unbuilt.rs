//! Keys of the scenario format that this version does not carry out. They are refused by name, never
//! ignored; building one of them deletes its line here.

use crate::diagnostic::{KeyPath, Problem};
use crate::scenario::Scenario;
use crate::scenario::model::Restart;

/// Refuses everything the scenario uses that is not built.
pub(super) fn check(scenario: &Scenario, problems: &mut Vec<Problem>) {
    let mut refuse = |given: bool, path: &str, text: &str| {
        if given {
            problems.push(refusal(path.into(), text));
        }
    };
    if let Some(server) = &scenario.server {
        refuse(!server.verify.is_empty(), "server.verify", "server.verify");
        refuse(server.restart == Some(Restart::OnCrash), "server.restart", "server.restart = \"on_crash\"");
    }
    refuse(scenario.slurm.is_some(), "slurm", "slurm");
}

fn refusal(at: KeyPath, text: &str) -> Problem {
    Problem::key(at, format!("`{text}` is not available in this version"))
}
