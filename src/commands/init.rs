//! `omni-bench init`.

use super::Ui;
use crate::cli::InitArgs;
use crate::exit::Exit;

pub(super) fn run(_args: &InitArgs, _ui: Ui) -> Exit {
    Exit::Usage
}
