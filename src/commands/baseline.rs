//! `baseline`.

use super::Ui;
use crate::cli::BaselineArgs;
use crate::exit::Exit;

pub(super) fn run(_args: &BaselineArgs, ui: Ui) -> Exit {
    ui.error("not built yet");
    Exit::Usage
}
