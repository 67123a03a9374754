//! `omni-bench validate`: everything that `run` would refuse, without running anything.

use super::Ui;
use super::planning::prepare;
use crate::cli::{PlanningArgs, ScenarioArgs};
use crate::exit::Exit;

pub(super) fn run(args: &ScenarioArgs, ui: Ui) -> Exit {
    match prepare(&PlanningArgs::all_of(args.clone()), ui) {
        Ok(planned) => ui.print(&format!("{}: fine, {}\n", args.scenario.display(), runs(planned.plan.runs.len()))),
        Err(exit) => exit,
    }
}

fn runs(count: usize) -> String {
    format!("{count} run{}", if count == 1 { "" } else { "s" })
}
