//! `omni-bench status`.

use super::look::look;
use super::table;
use crate::cli::{StatusArgs, StatusFormat};
use crate::commands::Ui;
use crate::commands::failure::Failure;
use crate::exit::Exit;

/// Tells how far the runs of a submission are.
pub(in crate::commands) fn status(args: &StatusArgs, ui: Ui) -> Exit {
    told(args, ui).unwrap_or_else(|failure| failure.tell(ui))
}

fn told(args: &StatusArgs, ui: Ui) -> Result<Exit, Failure> {
    let looked = look(&args.results)?;
    let text = match args.format {
        StatusFormat::Table => table::of_status(&looked.now),
        StatusFormat::Json => serde_json::to_string_pretty(&looked.now).map_err(Failure::results)? + "\n",
    };
    let printed = ui.print(&text);
    match &looked.known.error {
        // what the folder says stands there all the same
        Some(error) => Err(Failure::new(Exit::RunFailed, format!("the queue is not known: {error}"))),
        None => Ok(printed),
    }
}
