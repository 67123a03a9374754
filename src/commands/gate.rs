//! `gate`.

use super::Ui;
use crate::cli::GateArgs;
use crate::exit::Exit;

pub(super) fn run(_args: &GateArgs, ui: Ui) -> Exit {
    ui.error("not built yet");
    Exit::Usage
}
