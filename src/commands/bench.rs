//! `bench`.

use super::Ui;
use crate::cli::BenchArgs;
use crate::exit::Exit;

pub(super) fn run(_args: &BenchArgs, ui: Ui) -> Exit {
    ui.error("not built yet");
    Exit::Usage
}
