//! Stored results, read back. In: a results folder, a link to it like `latest`, or the `results.json`
//! in it. Out: its plan, the numbers of its runs and their manifests, however the campaign ended. What
//! stands with a run comes before `results.json`, so that a run that was killed before the end of the
//! campaign is there too. Writes nothing.

use std::path::Path;

use crate::plan::{Plan, RunPlan};
use crate::record::{ReadError, Record, ResultsDir, RunDir, RunManifest, RunState, read_journal, read_json};
use crate::summarize::{self, NotRun, RESULTS_FORMAT, Results, RunFiles, Summary, summarize};

/// What a results folder holds.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    /// The folder.
    pub(crate) dir: ResultsDir,
    /// Its name, like `20260901T100000Z-12341234`.
    pub(crate) name: String,
    /// `plan.json`.
    pub(crate) plan: Plan,
    /// The numbers, in the plan's order, with what only shows across runs.
    pub(crate) results: Results,
    /// `run.json` of the runs that have one, in the plan's order.
    pub(crate) manifests: Vec<RunManifest>,
}

/// Reads what a RESULTS argument names.
pub(crate) fn read(argument: &Path) -> Result<Stored, ReadError> {
    let dir = ResultsDir::resolve(argument)?;
    let plan = dir.read_plan()?;
    let written = written(&dir)?;
    let (mut runs, mut not_run, mut manifests) = (Vec::new(), Vec::new(), Vec::new());
    for run in &plan.runs {
        let folder = dir.run(&run.id);
        let manifest = folder.read_manifest()?;
        let summary = match read_json::<Summary>(&folder.summary())? {
            Some(summary) => Some(summary),
            None => summary_of(&plan, &folder, run)?.or_else(|| {
                written.as_ref().and_then(|results| results.runs.iter().find(|summary| summary.id == run.id)).cloned()
            }),
        };
        match summary {
            Some(summary) => runs.push(summary),
            None => {
                not_run.push(NotRun { id: run.id.clone(), reason: reason(run, manifest.as_ref(), written.as_ref()) })
            }
        }
        manifests.extend(manifest);
    }
    // warnings across runs are found again; those that `results.json` brought along must not double
    let results = undoubled(summarize::results(&plan, runs, not_run));
    let name = std::path::absolute(dir.path())?.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(Stored { name: name.unwrap_or_default(), dir, plan, results, manifests })
}

/// The summary of a run from its records; `None` when it never got to its measured phase.
pub(super) fn summary_of(plan: &Plan, folder: &RunDir, run: &RunPlan) -> Result<Option<Summary>, ReadError> {
    let Some(manifest) = folder.read_manifest()? else { return Ok(None) };
    let records = read_journal::<Record>(&folder.records())?.items;
    if records.is_empty() && manifest.started_at.is_none() {
        return Ok(None);
    }
    let calibration = read_journal(&folder.calibration())?.items;
    let warmup = read_journal(&folder.warmup())?.items;
    let files = RunFiles { manifest: &manifest, records: &records, calibration: &calibration, warmup: &warmup };
    Ok(Some(summarize(plan, run, &files)))
}

/// `results.json`; `None` when the campaign did not get to write it.
fn written(dir: &ResultsDir) -> Result<Option<Results>, ReadError> {
    let path = dir.results_json();
    let wrong = |message: String| ReadError::Json { path: path.clone(), message };
    let Some(value) = read_json::<serde_json::Value>(&path)? else { return Ok(None) };
    match value.get("format").and_then(serde_json::Value::as_u64) {
        Some(format) if format == u64::from(RESULTS_FORMAT) => {}
        Some(format) => return Err(wrong(format!("format {format} is not known to this version of omni-bench"))),
        None => return Err(wrong("it has no `format`".to_owned())),
    }
    serde_json::from_value(value).map(Some).map_err(|error| wrong(error.to_string()))
}

/// Why a run has no numbers, from whoever knows.
fn reason(run: &RunPlan, manifest: Option<&RunManifest>, written: Option<&Results>) -> String {
    let told = written.and_then(|results| results.not_run.iter().find(|other| other.id == run.id));
    if let Some(told) = told {
        return told.reason.clone();
    }
    match manifest {
        None => "it was not begun".to_owned(),
        Some(RunManifest { reason: Some(reason), .. }) => reason.clone(),
        Some(manifest) => match manifest.state {
            RunState::Running => "it had not got to its measured requests".to_owned(),
            RunState::Complete | RunState::Interrupted | RunState::Failed => "it left no records".to_owned(),
        },
    }
}

fn undoubled(mut results: Results) -> Results {
    for run in &mut results.runs {
        let mut seen = Vec::new();
        run.warnings.retain(|warning| {
            let new = !seen.contains(warning);
            seen.push(warning.clone());
            new
        });
    }
    results
}
