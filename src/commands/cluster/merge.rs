//! `submit --merge`, the last job of a submission: what the elements left → tables and the page.

use std::time::Duration;

use super::look::{Looked, look_at, not_submitted};
use super::submit::run_args;
use crate::cli::SubmitArgs;
use crate::cluster::{ClusterDir, ElementNow, SubmittedArray};
use crate::commands::Ui;
use crate::commands::failure::Failure;
use crate::commands::planning::Planned;
use crate::commands::run;
use crate::exit::Exit;
use crate::plan::RunPlan;
use crate::record::{ResultsDir, RunState, SlurmFacts};

/// How often the last job looks again for elements that are just ending.
const LOOKS: u32 = 15;
const BETWEEN: Duration = Duration::from_secs(2);

/// Puts the results together.
pub(super) fn merge(args: &SubmitArgs, planned: &Planned, ui: Ui) -> Result<Exit, Failure> {
    let run_args = run_args(args);
    let (dir, plan) = run::results_dir(&run_args, &planned.plan, ui)?;
    let cluster = ClusterDir::of(&dir);
    let file = cluster.read()?.ok_or_else(|| Failure::results(not_submitted(&dir)))?;
    let mut looked = look_at(dir.clone(), &plan, file.clone())?;
    for _ in 0..LOOKS {
        if !looked.is_ending() {
            break;
        }
        std::thread::sleep(BETWEEN);
        looked = look_at(dir.clone(), &plan, file.clone())?;
    }
    if let Some(error) = &looked.known.error {
        ui.error(&format!("how elements ended is known from the folder alone: {error}"));
    }
    looked.remember(&cluster)?;
    for run in &plan.runs {
        close(&dir, run, looked.now.element_of(&run.id), looked.why_not(run))?;
    }
    run::put_together(&run_args, ui, planned, &|run| looked.why_not(run))
}

impl Looked {
    /// Whether this is the last job of a submission with an element that has not quite ended.
    fn is_ending(&self) -> bool {
        let own = SlurmFacts::of(|name| std::env::var(name).ok()).map(|facts| facts.job_id);
        let submission = self.file.submissions.iter().find(|submission| own.is_some() && submission.merge == own);
        let keys = submission.into_iter().flat_map(|submission| &submission.arrays).flat_map(SubmittedArray::tasks);
        keys.into_iter().any(|(key, _)| self.known.of(key).is_some_and(|told| !told.state.has_ended()))
    }

    /// Keeps what Slurm says of elements that have ended, because it will forget.
    fn remember(&self, cluster: &ClusterDir) -> Result<(), Failure> {
        for key in self.file.keys() {
            let Some(told) = self.known.of(key).filter(|told| told.state.has_ended()) else { continue };
            let mut mark = self.marks.get(&key).cloned().unwrap_or_default();
            if mark.told.as_ref() != Some(told) {
                mark.told = Some(told.clone());
                cluster.write_mark(&key.to_string(), &mark).map_err(Failure::results)?;
            }
        }
        Ok(())
    }

    fn why_not(&self, run: &RunPlan) -> String {
        let now = self.now.runs.iter().find(|now| now.id == run.id);
        let state = now.map_or("not_submitted", |now| now.state.as_str());
        now.and_then(|now| now.reason.clone()).unwrap_or_else(|| match state {
            "not_submitted" => "it was not submitted".to_owned(),
            state => format!("it was still {state} when the results were put together"),
        })
    }
}

/// Says in a run that died with its element why; what it got to is kept and not counted.
fn close(dir: &ResultsDir, run: &RunPlan, element: Option<&ElementNow>, why: String) -> Result<(), Failure> {
    let Some(element) = element.filter(|element| element.state.has_ended()) else { return Ok(()) };
    let folder = dir.run(&run.id);
    let Some(mut manifest) = folder.read_manifest()? else { return Ok(()) };
    let is_of = manifest.server.slurm.as_ref().is_some_and(|slurm| slurm.name() == element.job);
    let died = match manifest.state {
        RunState::Running | RunState::Interrupted => true,
        RunState::Failed => element.state.is_killed() && !manifest.is_abandoned(),
        RunState::Complete => false,
    };
    if is_of && died {
        manifest.state = RunState::Failed;
        manifest.reason = Some(why);
        manifest.ended_at = None;
        folder.write_manifest(&manifest).map_err(Failure::results)?;
    }
    Ok(())
}
