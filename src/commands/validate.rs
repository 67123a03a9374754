//! `omni-bench validate`.

use super::{Ui, load};
use crate::cli::ScenarioArgs;
use crate::exit::Exit;

pub(super) fn run(args: &ScenarioArgs, ui: Ui) -> Exit {
    match load::load(args, ui) {
        Ok(_) => ui.print(&format!("{}: fine\n", args.scenario.display())),
        Err(exit) => exit,
    }
}
