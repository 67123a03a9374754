//! `compare`.

use super::Ui;
use crate::cli::CompareArgs;
use crate::exit::Exit;

pub(super) fn run(_args: &CompareArgs, ui: Ui) -> Exit {
    ui.error("not built yet");
    Exit::Usage
}
