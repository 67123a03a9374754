//! `report`.

use super::Ui;
use crate::cli::ReportArgs;
use crate::exit::Exit;

pub(super) fn run(_args: &ReportArgs, ui: Ui) -> Exit {
    ui.error("not built yet");
    Exit::Usage
}
