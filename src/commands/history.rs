//! `history`.

use super::Ui;
use crate::cli::HistoryArgs;
use crate::exit::Exit;

pub(super) fn run(_args: &HistoryArgs, ui: Ui) -> Exit {
    ui.error("not built yet");
    Exit::Usage
}
