//! Stored results, read back. In: a results folder, a link to it like `latest`, or the `results.json`
//! in it. Out: its plan, the numbers of its runs and their manifests, however the campaign ended. What
//! stands with a run comes before `results.json`, so that a run that was killed before the end of the
//! campaign is there too. Writes nothing.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use crate::plan::{Plan, RunPlan};
use crate::record::{ReadError, Record, ResultsDir, RunDir, RunManifest, RunState, read_journal, read_json};
use crate::report::Source;
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

impl Stored {
    /// As reports see it, under this name.
    pub(crate) const fn source<'a>(&'a self, name: &'a str) -> Source<'a> {
        Source { name, plan: &self.plan, results: &self.results, manifests: self.manifests.as_slice(), links: None }
    }
}

/// Reads what a RESULTS argument names.
pub(crate) fn read(argument: &Path) -> Result<Stored, ReadError> {
    let dir = ResultsDir::resolve(argument)?;
    let plan = dir.read_plan()?;
    let written = Written::of(&dir)?;
    let (mut runs, mut not_run, mut manifests) = (Vec::new(), Vec::new(), Vec::new());
    for run in &plan.runs {
        let folder = dir.run(&run.id);
        let manifest = folder.read_manifest()?;
        let abandoned = manifest.as_ref().is_some_and(RunManifest::is_abandoned);
        let mut summary = if abandoned { None } else { read_json::<Summary>(&folder.summary())? };
        if summary.is_none() {
            summary = summary_of(&plan, &folder, run)?;
        }
        if summary.is_none() && !abandoned {
            summary =
                written.results()?.and_then(|results| results.runs.iter().find(|other| other.id == run.id)).cloned();
        }
        if let Some(summary) = summary {
            runs.push(summary);
        } else {
            let reason = reason(run, manifest.as_ref(), written.results()?);
            not_run.push(NotRun { id: run.id.clone(), reason });
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
    let Some(manifest) = folder.read_manifest()?.filter(|manifest| !manifest.is_abandoned()) else { return Ok(None) };
    let records = read_journal::<Record>(&folder.records())?.items;
    if records.is_empty() && manifest.started_at.is_none() {
        return Ok(None);
    }
    let calibration = read_journal(&folder.calibration())?.items;
    let warmup = read_journal(&folder.warmup())?.items;
    let files = RunFiles { manifest: &manifest, records: &records, calibration: &calibration, warmup: &warmup };
    Ok(Some(summarize(plan, run, &files)))
}

/// `results.json`, if the campaign got to write it; of a known format, and read whole when it is needed.
struct Written {
    path: PathBuf,
    results: OnceCell<Option<Results>>,
}

impl Written {
    fn of(dir: &ResultsDir) -> Result<Self, ReadError> {
        #[derive(serde::Deserialize)]
        struct Head {
            format: Option<u32>,
        }
        let written = Self { path: dir.results_json(), results: OnceCell::new() };
        match read_json::<Head>(&written.path)? {
            None | Some(Head { format: Some(RESULTS_FORMAT) }) => Ok(written),
            Some(Head { format }) => {
                let message = match format {
                    Some(format) => format!("format {format} is not known to this version of omni-bench"),
                    None => "it has no `format`".to_owned(),
                };
                Err(ReadError::Json { path: written.path, message })
            }
        }
    }

    fn results(&self) -> Result<Option<&Results>, ReadError> {
        if let Some(results) = self.results.get() {
            return Ok(results.as_ref());
        }
        let results = read_json(&self.path)?;
        Ok(self.results.get_or_init(|| results).as_ref())
    }
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
