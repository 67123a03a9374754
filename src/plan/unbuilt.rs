//! Keys of the scenario format that this version does not carry out. They are refused by name, never
//! ignored; building one of them deletes its line here.

use crate::catalog::Task;
use crate::diagnostic::{KeyPath, Problem};
use crate::scenario::Scenario;
use crate::scenario::model::Restart;

/// Request fields that name reference media, which cannot be routed yet.
const REFERENCE_FIELDS: [&str; 5] =
    ["input_reference", "input_references", "image_reference", "video_reference", "audio_reference"];

/// Refuses everything the scenario uses that is not built.
pub(super) fn check(scenario: &Scenario, problems: &mut Vec<Problem>) {
    let mut refuse = |given: bool, path: &str, text: &str| {
        if given {
            problems.push(refusal(path.into(), text));
        }
    };
    refuse(scenario.model.task == Some(Task::V2v), "model.task", "task = \"v2v\"");
    if let Some(server) = &scenario.server {
        refuse(!server.verify.is_empty(), "server.verify", "server.verify");
        refuse(server.restart == Some(Restart::OnCrash), "server.restart", "server.restart = \"on_crash\"");
    }
    if let Some(dashboard) = &scenario.dashboard {
        refuse(dashboard.template.is_some(), "dashboard.template", "dashboard.template");
        refuse(!dashboard.tables.is_empty(), "dashboard.tables", "dashboard.tables");
    }
    refuse(!scenario.simulator.faults.is_empty(), "simulator.faults", "simulator.faults");
    refuse(scenario.slurm.is_some(), "slurm", "slurm");

    for (name, dataset) in &scenario.datasets {
        let at = KeyPath::root().key("datasets").key(name);
        let keys = [
            ("url", dataset.url.is_some()),
            ("videos", dataset.videos.is_some()),
            ("allow_download", dataset.allow_download == Some(true)),
        ];
        for (key, _) in keys.into_iter().filter(|(_, given)| *given) {
            problems.push(refusal(at.key(key), key));
        }
    }
}

/// The problem of a request field that needs something unbuilt.
pub(super) fn request_field(at: &KeyPath, key: &str) -> Option<Problem> {
    REFERENCE_FIELDS.contains(&key).then(|| refusal(at.clone(), key))
}

fn refusal(at: KeyPath, text: &str) -> Problem {
    Problem::key(at, format!("`{text}` is not available in this version"))
}
