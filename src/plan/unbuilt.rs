//! Keys of the scenario format that this version does not carry out. They are refused by name, never
//! ignored; building one of them deletes its line here.

use crate::diagnostic::{KeyPath, Problem};
use crate::scenario::Scenario;

/// Refuses everything the scenario uses that is not built.
pub(super) fn check(scenario: &Scenario, problems: &mut Vec<Problem>) {
    let mut refuse = |given: bool, path: &str, text: &str| {
        if given {
            problems.push(refusal(path.into(), text));
        }
    };
    refuse(!scenario.simulator.faults.is_empty(), "simulator.faults", "simulator.faults");
}

fn refusal(at: KeyPath, text: &str) -> Problem {
    Problem::key(at, format!("`{text}` is not available in this version"))
}
