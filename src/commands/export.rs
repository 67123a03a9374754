//! `export`.

use super::Ui;
use crate::cli::ExportArgs;
use crate::exit::Exit;

pub(super) fn run(_args: &ExportArgs, ui: Ui) -> Exit {
    ui.error("not built yet");
    Exit::Usage
}
