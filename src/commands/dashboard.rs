//! `dashboard`.

use super::Ui;
use crate::cli::DashboardArgs;
use crate::exit::Exit;

pub(super) fn run(_args: &DashboardArgs, ui: Ui) -> Exit {
    ui.error("not built yet");
    Exit::Usage
}
