//! `omni-bench validate`.

use super::Ui;
use crate::cli::ScenarioArgs;
use crate::exit::Exit;

pub(super) fn run(_args: &ScenarioArgs, _ui: Ui) -> Exit {
    Exit::Usage
}
