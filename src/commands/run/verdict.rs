//! How a campaign is told to scripts: the exit code, and one line for every run that decides it.

use super::super::Ui;
use crate::campaign::{Outcome, RunOutcome};
use crate::catalog::Validity;
use crate::exit::Exit;
use crate::plan::Plan;
use crate::summarize::{Results, Summary};

/// The exit code, by the worst that happened.
pub(super) fn verdict(plan: &Plan, outcome: &Outcome, results: &Results, ui: Ui) -> Exit {
    let mut bad = false;
    for summary in &results.runs {
        if let Some(why) = fault(plan, summary) {
            ui.error(&format!("`{}`: {why}", summary.id));
            bad = true;
        }
    }
    // why a run was not carried out has been told when it happened
    let is_incomplete = |run: &&RunOutcome| match run {
        RunOutcome::Complete(_) | RunOutcome::Already | RunOutcome::NotSelected => false,
        RunOutcome::Failed(_) | RunOutcome::Interrupted | RunOutcome::NotRun(_) => true,
    };
    let incomplete = outcome.runs.values().filter(is_incomplete).count();
    if incomplete > 0 {
        ui.error(&format!("{incomplete} of {} runs are not complete", plan.runs.len()));
    }
    if outcome.interrupted {
        Exit::Interrupted
    } else if bad || incomplete > 0 {
        Exit::RunFailed
    } else {
        Exit::Fine
    }
}

/// What is wrong with a run that has numbers.
fn fault(plan: &Plan, summary: &Summary) -> Option<String> {
    let missed = summary.failed + summary.censored;
    if missed > plan.allow_failures {
        let first = summary.errors.first().map(|error| format!("; first {}: {}", error.class, error.message));
        let allowed = match plan.allow_failures {
            0 => String::new(),
            some => format!(", more than the {some} that `traffic.allow_failures` allows"),
        };
        return Some(format!(
            "{missed} of {} requests did not succeed{allowed}{}",
            summary.requests,
            first.unwrap_or_default()
        ));
    }
    (summary.validity == Validity::Invalid).then(|| {
        let why = summary.warnings.iter().map(|warning| warning.text.as_str()).collect::<Vec<_>>().join("; ");
        format!("its numbers are invalid: {why}")
    })
}
