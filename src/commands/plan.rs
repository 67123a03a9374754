//! `omni-bench plan`.

use super::Ui;
use crate::cli::PlanArgs;
use crate::exit::Exit;

pub(super) fn run(_args: &PlanArgs, _ui: Ui) -> Exit {
    Exit::Usage
}
