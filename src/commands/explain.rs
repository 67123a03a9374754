//! `omni-bench explain`.

use super::Ui;
use crate::cli::ExplainArgs;
use crate::exit::Exit;

pub(super) fn run(_args: &ExplainArgs, _ui: Ui) -> Exit {
    Exit::Usage
}
