//! `omni-bench validate`: everything that `run` would refuse, without running anything.

use super::Ui;
use super::planning::{Wanted, prepare};
use crate::cli::ScenarioArgs;
use crate::exit::Exit;

pub(super) fn run(args: &ScenarioArgs, ui: Ui) -> Exit {
    let wanted = Wanted { scenario: args, simulate: false, speed: None, no_server: false, only: &[], repeats: None };
    match prepare(&wanted, ui) {
        Ok(_) => ui.print(&format!("{}: fine\n", args.scenario.display())),
        Err(exit) => exit,
    }
}
