//! `omni-bench run`.

use super::Ui;
use crate::cli::RunArgs;
use crate::exit::Exit;

pub(super) fn run(_args: &RunArgs, _ui: Ui) -> Exit {
    Exit::Usage
}
