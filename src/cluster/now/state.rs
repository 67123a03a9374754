//! What is known of every run and element: what the folder says, and what Slurm says. Pure.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cluster::answer::{JobKey, JobState};
use crate::cluster::elements::Element;
use crate::cluster::files::{ClusterFile, ElementMark};
use crate::cluster::slurm::Known;
use crate::cluster::{Told, UNSEEN};
use crate::plan::Plan;
use crate::record::{RunManifest, RunState};

/// Version of the JSON of `status`.
pub const STATUS_FORMAT: u32 = 1;

/// Everything, as `status --format json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Now {
    /// Version of this format.
    pub format: u32,
    /// Results folder.
    pub results: String,
    /// Which of Slurm's programs answered; empty when none did.
    pub sources: Vec<String>,
    /// Every run, in the plan's order.
    pub runs: Vec<RunNow>,
    /// Every element of every submission, the latest last.
    pub elements: Vec<ElementNow>,
}

impl Now {
    /// The element that a run was last submitted with.
    pub fn element_of(&self, run: &str) -> Option<&ElementNow> {
        self.elements.iter().rev().find(|element| element.runs.iter().any(|id| id == run))
    }
}

/// State of a run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunNow {
    /// Run id.
    pub id: String,
    /// `complete`, `running`, `waiting` (its element runs, it has not begun), `failed` by itself, or the state of
    /// its element; without one `not_submitted`, or what `run` left.
    pub state: String,
    /// Why it is not complete; null when nothing is to be said.
    pub reason: Option<String>,
    /// GPUs of its variant.
    pub gpus: u32,
    /// The element it was last submitted with, as Slurm's programs name it.
    pub element: Option<String>,
    /// The node it is or was measured on.
    pub node: Option<String>,
    /// `CUDA_VISIBLE_DEVICES` of its server.
    pub cuda_visible_devices: Option<String>,
}

/// State of an element.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ElementNow {
    /// Array and task, as Slurm's programs name them.
    pub job: String,
    /// Its variants.
    pub variants: Vec<String>,
    /// Its runs.
    pub runs: Vec<String>,
    /// GPUs it has.
    pub gpus: u32,
    /// Its state.
    pub state: JobState,
    /// Why it waits, or what is known of its end; null when nothing is to be said.
    pub reason: Option<String>,
    /// Its node.
    pub node: Option<String>,
    /// `CUDA_VISIBLE_DEVICES` there.
    pub cuda_visible_devices: Option<String>,
    /// Exit code of its runs; null until they end, and when they were killed.
    pub exit: Option<u8>,
}

impl ElementNow {
    /// Why a run of it that is not complete will not become so; `None` while it may.
    pub fn why_not(&self) -> Option<String> {
        let job = &self.job;
        Some(match self.state {
            JobState::Pending | JobState::Running | JobState::Unknown => return None,
            JobState::Cancelled => format!("its Slurm element {job} was cancelled"),
            JobState::Timeout => format!("its Slurm element {job} reached its time limit"),
            JobState::NodeFail => format!("its Slurm element {job} lost its node"),
            JobState::OutOfMemory => format!("its Slurm element {job} ran out of memory"),
            JobState::Preempted => format!("its Slurm element {job} was preempted"),
            JobState::Lost | JobState::Completed | JobState::Failed => match &self.reason {
                Some(reason) => format!("its Slurm element {job} did not do it: {reason}"),
                None => format!("its Slurm element {job} ended without it; see `cluster/{job}.log`"),
            },
        })
    }
}

/// Puts together what the folder and Slurm say. `manifests` are those of the runs that have one, `complete` tells
/// whether a run is, `marks` are what elements said of themselves.
pub fn now(
    plan: &Plan,
    file: &ClusterFile,
    known: &Known,
    marks: &BTreeMap<JobKey, ElementMark>,
    manifest: &dyn Fn(&str) -> Option<RunManifest>,
    results: String,
) -> Now {
    let mut elements = Vec::new();
    for array in file.submissions.iter().flat_map(|submission| &submission.arrays) {
        for (key, element) in array.tasks() {
            elements.push(element_now(key, element, known, marks.get(&key)));
        }
    }
    let sources = known.sources.iter().map(|source| (*source).to_owned()).collect();
    let mut now = Now { format: STATUS_FORMAT, results, sources, runs: Vec::new(), elements };
    for run in &plan.runs {
        let manifest =
            manifest(&run.id).filter(|manifest| manifest.key == run.key && manifest.plan_hash == plan.plan_hash);
        let element = now.element_of(&run.id);
        let (state, reason) = run_state(manifest.as_ref(), element);
        let slurm = manifest.as_ref().and_then(|manifest| manifest.server.slurm.as_ref());
        let run = RunNow {
            id: run.id.clone(),
            state: state.to_owned(),
            reason,
            gpus: run.gpus,
            element: element.map(|element| element.job.clone()),
            node: slurm.and_then(|slurm| slurm.node.clone()).or_else(|| element?.node.clone()),
            cuda_visible_devices: slurm
                .and_then(|slurm| slurm.cuda_visible_devices.clone())
                .or_else(|| element?.cuda_visible_devices.clone()),
        };
        now.runs.push(run);
    }
    now
}

fn element_now(key: JobKey, element: &Element, known: &Known, mark: Option<&ElementMark>) -> ElementNow {
    let exit = mark.and_then(|mark| mark.exit);
    let told = known.of(key).or_else(|| mark?.told.as_ref());
    let state = match (told, exit, &known.error) {
        (Some(told), ..) => told.state,
        (None, Some(0), _) => JobState::Completed,
        (None, Some(_), _) => JobState::Failed,
        (None, None, Some(_)) => JobState::Unknown,
        (None, None, None) => JobState::Lost,
    };
    let exit = exit.or_else(|| told?.exit.filter(|_| state.has_ended()));
    let facts = mark.and_then(|mark| mark.slurm.as_ref());
    ElementNow {
        job: key.to_string(),
        variants: element.variants.clone(),
        runs: element.runs.clone(),
        gpus: element.gpus,
        state,
        reason: element_reason(key, state, told, exit, facts.is_some()),
        node: facts.and_then(|facts| facts.node.clone()).or_else(|| told?.node.clone()),
        cuda_visible_devices: facts.and_then(|facts| facts.cuda_visible_devices.clone()),
        exit,
    }
}

fn element_reason(key: JobKey, state: JobState, told: Option<&Told>, exit: Option<u8>, began: bool) -> Option<String> {
    match (state, exit) {
        (JobState::Pending, _) => told.and_then(|told| told.reason.clone()),
        (JobState::Failed, Some(code)) if code == UNSEEN && !began => {
            Some(format!("its node does not see the results folder (exit code {UNSEEN})"))
        }
        (JobState::Failed, None) if !began => {
            Some("it left nothing in the results folder; does its node see the folder?".to_owned())
        }
        (JobState::Failed, Some(130)) => Some("it was stopped by a signal".to_owned()),
        (JobState::Failed, Some(code)) => Some(format!("exit code {code}; see `cluster/{key}.log`")),
        (JobState::Failed, None) => Some(format!("it was killed; see `cluster/{key}.log`")),
        (JobState::Lost, _) if !began => {
            Some("it did not begin, and Slurm forgets tasks that are cancelled one by one while they wait".to_owned())
        }
        (JobState::Lost, _) => Some("it began, did not say how it ended, and Slurm no longer knows it".to_owned()),
        _ => None,
    }
}

fn run_state(manifest: Option<&RunManifest>, element: Option<&ElementNow>) -> (&'static str, Option<String>) {
    // whoever died with its run has written no end
    let by_itself = manifest.filter(|manifest| !manifest.is_abandoned());
    let is_complete = by_itself.is_some_and(|manifest| manifest.state == RunState::Complete);
    if let Some(element) =
        element.filter(|element| !is_complete && element.state.is_killed() && is_of(manifest, element))
    {
        return (element.state.word(), killed_with(manifest, element));
    }
    match by_itself.map(|manifest| manifest.state) {
        Some(RunState::Complete) => return ("complete", None),
        Some(RunState::Failed)
            if element.is_none_or(|element| is_of(manifest, element) || element.state.has_ended()) =>
        {
            return ("failed", manifest.and_then(|manifest| manifest.reason.clone()));
        }
        _ => {}
    }
    let Some(element) = element else {
        return match manifest.map(|manifest| manifest.state) {
            Some(RunState::Running) => ("running", None),
            Some(RunState::Interrupted) => ("interrupted", manifest.and_then(|manifest| manifest.reason.clone())),
            Some(RunState::Complete | RunState::Failed) | None => ("not_submitted", None),
        };
    };
    match element.state {
        JobState::Running if is_of(manifest, element) => ("running", None),
        JobState::Running => ("waiting", None),
        JobState::Pending => ("pending", element.reason.clone()),
        JobState::Completed => ("failed", element.why_not()),
        ended => (ended.word(), element.why_not()),
    }
}

/// Why a run is not complete whose element was killed. The signal reaches its server too, so that the run may have
/// seen that one end, and called it a failure of its own.
fn killed_with(manifest: Option<&RunManifest>, element: &ElementNow) -> Option<String> {
    let why = element.why_not()?;
    let manifest = manifest.filter(|manifest| manifest.state == RunState::Failed);
    let own = manifest.and_then(|manifest| manifest.reason.as_deref()).and_then(|reason| reason.lines().next());
    Some(match own {
        // the last job has put both together already
        Some(own) if own.starts_with(&why) => own.to_owned(),
        Some(own) => format!("{why}; before that: {own}"),
        None => why,
    })
}

/// Whether a run was begun by this element, and not by an earlier one.
fn is_of(manifest: Option<&RunManifest>, element: &ElementNow) -> bool {
    let slurm = manifest.and_then(|manifest| manifest.server.slurm.as_ref());
    slurm.is_some_and(|slurm| slurm.name() == element.job)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
