//! `run --gate`: the results of a campaign judged by the scenario's `[gate]`, and what failed measured
//! again before it counts.

use std::path::Path;

use super::super::failure::Failure;
use super::super::gate::{self, Against, point_id};
use super::super::stored;
use super::{Job, width};
use crate::cli::RunArgs;
use crate::exit::Exit;
use crate::gate::{Confirmation, Rules, Verdict};
use crate::plan::{Plan, Step};
use crate::report;
use crate::scenario::Scenario;

/// What results are judged by, read before anything is sent.
pub(super) struct Gating {
    rules: Rules,
    against: Against,
    confirm: u32,
}

impl Gating {
    /// The gate that the command line asks for; `None` when it asks for none.
    pub(super) fn of(args: &RunArgs, scenario: &Scenario) -> Result<Option<Self>, Failure> {
        if !args.gate {
            return Ok(None);
        }
        let usage = |message: &str| Failure::new(Exit::Usage, message);
        let written = scenario.gate.as_ref().ok_or_else(|| usage("`--gate` needs a `[gate]` in the scenario"))?;
        let rules = gate::told_rules(written, None)?;
        let against = Against::file(written.baseline.as_deref().map(Path::new))?;
        if matches!(against, Against::Limits) && !rules.has_limits() {
            return Err(usage(
                "`[gate]` has neither a `baseline` nor `limits`, so that `--gate` has nothing to judge by",
            ));
        }
        Ok(Some(Self { rules, against, confirm: args.confirm }))
    }
}

impl Job<'_> {
    /// Judges what the folder holds, measures again what failed, and prints the verdict. `exit` is how the
    /// campaign ended, which a verdict cannot make better.
    pub(super) fn gate(&self, gating: &Gating, exit: Exit) -> Result<Exit, Failure> {
        if exit == Exit::Interrupted {
            self.ui.note("stopped by the user: the gate judges nothing");
            return Ok(exit);
        }
        let stored = stored::read(self.dir.path()).map_err(Failure::results)?;
        let mut verdict = gate::judge(&stored, &gating.against, &gating.rules)?;
        let mut confirmations = Vec::new();
        let mut stopped = false;
        // what else went wrong with the campaign fails it already
        for number in (1..=gating.confirm).take_while(|_| exit == Exit::Fine && !self.is_stopped()) {
            let failing: Vec<String> = verdict.failing(&confirmations).into_iter().map(str::to_owned).collect();
            if failing.is_empty() {
                break;
            }
            let place = format!("re-run {number} of up to {}", gating.confirm);
            let Some(found) = self.confirm(gating, &failing, &place)? else {
                stopped = true;
                break;
            };
            confirmations.push(found);
        }
        verdict.settle(&confirmations);
        self.show(&verdict)?;
        Ok(match exit {
            _ if stopped || self.is_stopped() => Exit::Interrupted,
            Exit::Fine => gate::exit(&verdict, false),
            worse => worse,
        })
    }

    fn show(&self, verdict: &Verdict) -> Result<(), Failure> {
        let text = report::verdict_terminal(verdict, self.ui.color_out, width());
        self.ui.data(&format!("\n{text}")).map_err(Failure::results)
    }

    /// Measures points again, all repeats of each, in a folder of their own within the results; `None` when
    /// the user stopped it.
    fn confirm(&self, gating: &Gating, failing: &[String], place: &str) -> Result<Option<Confirmation>, Failure> {
        let plan = narrowed(self.plan, failing);
        let dir = self.dir.create_confirmation(&plan).map_err(Failure::results)?;
        let name = dir.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        self.ui.note(&format!("{place} of {}: {}", failing.join(", "), dir.path().display()));
        let job = Job { plan: &plan, steps: &plan.steps, dir: &dir, ..*self };
        match job.measure()? {
            Some((outcome, _)) if !outcome.interrupted => {}
            _ => return Ok(None),
        }
        let stored = stored::read(dir.path()).map_err(Failure::results)?;
        let verdict = gate::judge(&stored, &gating.against, &gating.rules)?;
        Ok(Some(Confirmation { name, verdict }))
    }
}

/// The plan of these points alone, in the same order.
fn narrowed(plan: &Plan, points: &[String]) -> Plan {
    let mut plan = plan.clone();
    plan.runs.retain(|run| points.iter().any(|point| point == point_id(run)));
    let runs = plan.runs.clone();
    plan.variants.retain(|variant| runs.iter().any(|run| run.variant == variant.name));
    plan.datasets.retain(|name, _| runs.iter().any(|run| run.dataset == *name));
    plan.steps.retain(|step| match step {
        Step::Run { id } => runs.iter().any(|run| run.id == *id),
        Step::StartServer { variant } | Step::StopServer { variant } => runs.iter().any(|run| run.variant == *variant),
    });
    let starts = plan.steps.iter().filter(|step| matches!(step, Step::StartServer { .. })).count();
    plan.starts = u32::try_from(starts).unwrap_or(u32::MAX);
    plan.compare = None;
    plan
}
