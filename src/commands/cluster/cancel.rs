//! `omni-bench cancel`.

use super::look::look;
use crate::cli::CancelArgs;
use crate::cluster::{self, JobKey, JobState, SubmittedArray};
use crate::commands::Ui;
use crate::commands::failure::Failure;
use crate::exit::Exit;

/// Takes back what a submission has in the queue.
pub(in crate::commands) fn cancel(args: &CancelArgs, ui: Ui) -> Exit {
    cancelled(args, ui).unwrap_or_else(|failure| failure.tell(ui))
}

fn cancelled(args: &CancelArgs, ui: Ui) -> Result<Exit, Failure> {
    let looked = look(&args.results)?;
    if let Some(error) = &looked.known.error {
        return Err(Failure::new(Exit::RunFailed, format!("nothing is cancelled: {error}")));
    }
    let live = |state: JobState| !state.has_ended();
    let mut lines: Vec<String> = Vec::new();
    let mut jobs: Vec<JobKey> = Vec::new();
    for (key, _) in
        looked.file.submissions.iter().flat_map(|submission| &submission.arrays).flat_map(SubmittedArray::tasks)
    {
        let Some(element) = looked.now.elements.iter().find(|element| element.job == key.to_string()) else { continue };
        if live(element.state) {
            lines.push(format!("{key} {} was {}\n", element.variants.join(", "), element.state.word()));
            // tasks that wait are forgotten when they are cancelled one by one, their array is not
            jobs.push(JobKey::job(key.job));
        }
    }
    jobs.dedup();
    for key in looked.merging() {
        let word = looked.known.of(key).map_or("", |told| told.state.word());
        lines.push(format!("{key} the last job was {word}\n"));
        jobs.push(key);
    }
    if jobs.is_empty() {
        ui.note("nothing to cancel: every job has ended");
        return Ok(Exit::Fine);
    }
    cluster::cancel(&jobs).map_err(|error| Failure::new(Exit::RunFailed, error))?;
    let printed = ui.print(&format!("cancelled:\n{}", lines.concat()));
    let folder = looked.dir.path().display();
    ui.note(&format!("tables of what is there: omni-bench submit SCENARIO --resume {folder} --merge"));
    Ok(printed)
}
