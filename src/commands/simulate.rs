//! `omni-bench simulate`.

use super::Ui;
use crate::cli::SimulateArgs;
use crate::exit::Exit;

pub(super) fn run(_args: &SimulateArgs, _ui: Ui) -> Exit {
    Exit::Usage
}
