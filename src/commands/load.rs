//! Loading a scenario, for every command that takes one.

use super::Ui;
use crate::cli::ScenarioArgs;
use crate::exit::Exit;
use crate::scenario::{self, LoadOptions, Loaded};

/// The scenario, or the exit code after all its problems were told.
pub(super) fn load(args: &ScenarioArgs, ui: Ui) -> Result<Loaded, Exit> {
    // a variable that is not Unicode is not one of ours
    let env =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let options = LoadOptions { file: args.scenario.clone(), set: args.set.clone(), env: env.collect() };
    scenario::load(&options).map_err(|broken| {
        Ui::talk(&broken.render(ui.color));
        Exit::Usage
    })
}
