//! Loading a scenario, for every command that takes one.

use super::Ui;
use crate::cli::ScenarioArgs;
use crate::exit::Exit;
use crate::scenario::{self, LoadOptions, Loaded};

/// The scenario, or the exit code after all its problems were told.
pub(super) fn load(args: &ScenarioArgs, ui: Ui) -> Result<Loaded, Exit> {
    let options = LoadOptions { file: args.scenario.clone(), set: args.set.clone(), env: environment() };
    scenario::load(&options).map_err(|broken| {
        Ui::talk(&broken.render(ui.color));
        Exit::Usage
    })
}

/// A scenario whose TOML text is in hand, as if it stood in a file of this name in the working folder.
pub(super) fn load_text(name: &str, text: &str, ui: Ui) -> Result<Loaded, Exit> {
    scenario::load_text(name, text, &environment()).map_err(|broken| {
        Ui::talk(&broken.render(ui.color));
        Exit::Usage
    })
}

fn environment() -> Vec<(String, String)> {
    // a variable that is not Unicode is not one of ours
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
