//! `omni-bench schema`.

use super::Ui;
use crate::cli::SchemaArgs;
use crate::exit::Exit;

pub(super) fn run(_args: &SchemaArgs, _ui: Ui) -> Exit {
    Exit::Usage
}
