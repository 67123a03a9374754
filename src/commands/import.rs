//! `import`.

use super::Ui;
use crate::cli::ImportArgs;
use crate::exit::Exit;

pub(super) fn run(_args: &ImportArgs, ui: Ui) -> Exit {
    ui.error("not built yet");
    Exit::Usage
}
