//! `omni-bench completions`.

use clap::CommandFactory;

use super::Ui;
use crate::cli::{Cli, CompletionsArgs};
use crate::exit::Exit;

pub(super) fn run(args: &CompletionsArgs, ui: Ui) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "omni-bench", &mut script);
    match ui.data(&String::from_utf8_lossy(&script)) {
        Ok(()) => Exit::Fine,
        Err(error) => {
            ui.error(&format!("cannot write to stdout: {error}"));
            Exit::Results
        }
    }
}
