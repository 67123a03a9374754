//! What a campaign leaves behind besides its records: summaries and the results files.

use std::collections::BTreeMap;
use std::io;

use super::super::stored::summary_of;
use crate::campaign::{Outcome, RunOutcome};
use crate::plan::{Plan, RunPlan};
use crate::record::{ReadError, ResultsDir, write_atomic, write_json};
use crate::report;
use crate::summarize::{self, NotRun, Results, Summary};

/// Summaries by run id.
pub(super) type Summaries = BTreeMap<String, Summary>;

/// Summarises a run that has ended and keeps the summary with it; a run that never got to its
/// measured phase has none.
pub(super) fn summarize_run(plan: &Plan, dir: &ResultsDir, run: &RunPlan) -> io::Result<Option<Summary>> {
    let folder = dir.run(&run.id);
    let summary = summary_of(plan, dir, run).map_err(into_io)?;
    if let Some(summary) = &summary {
        write_json(&folder.summary(), summary)?;
    }
    Ok(summary)
}

fn into_io(error: ReadError) -> io::Error {
    match error {
        ReadError::Io(error) => error,
        other => io::Error::other(other),
    }
}

/// Everything there is, in the plan's order: runs with numbers, and why the others have none.
pub(super) fn collect(
    plan: &Plan,
    dir: &ResultsDir,
    outcome: &Outcome,
    mut summaries: Summaries,
) -> Result<Results, ReadError> {
    let (mut runs, mut not_run) = (Vec::new(), Vec::new());
    for run in &plan.runs {
        let reason = match outcome.runs.get(&run.id) {
            Some(RunOutcome::Complete(_)) | None => "it left no records".to_owned(),
            Some(RunOutcome::Already) => {
                summaries.extend(summary_of(plan, dir, run)?.map(|found| (run.id.clone(), found)));
                "it left no records".to_owned()
            }
            Some(RunOutcome::Interrupted) => "stopped by the user before its first measured request".to_owned(),
            Some(RunOutcome::NotSelected) => "not selected by `--only`".to_owned(),
            Some(RunOutcome::Failed(why) | RunOutcome::NotRun(why)) => why.clone(),
        };
        match summaries.remove(&run.id) {
            Some(summary) => runs.push(summary),
            None => not_run.push(NotRun { id: run.id.clone(), reason }),
        }
    }
    Ok(summarize::results(plan, runs, not_run))
}

/// Writes `results.json`, `results.csv` and `results.md`.
pub(super) fn write(plan: &Plan, dir: &ResultsDir, results: &Results) -> io::Result<()> {
    write_atomic(&dir.results_json(), report::json(results)?.as_bytes())?;
    let csv = report::csv(plan, results).map_err(io::Error::other)?;
    write_atomic(&dir.results_csv(), csv.as_bytes())?;
    write_atomic(&dir.results_md(), report::markdown(plan, results).as_bytes())
}
