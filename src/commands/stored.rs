//! Stored results, read back. In: a results folder, a link to it like `latest`, or the `results.json`
//! in it. Out: its plan, the numbers of its runs and their manifests, however the campaign ended. What
//! stands with a run comes before `results.json`, so that a run that was killed before the end of the
//! campaign is there too. Writes nothing.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::de::{DeserializeOwned, IgnoredAny};

use super::Ui;
use crate::plan::{Plan, RunPlan};
use crate::record::{
    Environment, JournalRead, Machine, ReadError, ResultsDir, Role, RunManifest, RunState, TelemetrySample,
    read_journal, read_json, read_telemetry,
};
use crate::report::Source;
use crate::summarize::{self, NotRun, RESULTS_FORMAT, Results, Row, Summary, doubt_unreadable, summarize_rows};

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
    /// `environment.json` of the servers, in the order of their first runs.
    pub(crate) environments: Vec<Environment>,
}

impl Stored {
    /// As reports see it, under this name.
    pub(crate) const fn source<'a>(&'a self, name: &'a str) -> Source<'a> {
        Source { name, plan: &self.plan, results: &self.results, manifests: self.manifests.as_slice(), links: None }
    }
}

impl Stored {
    /// The machine that a variant's server ran on; `None` when that was another host or a simulator's.
    pub(crate) fn machine(&self, variant: &str) -> Option<&Machine> {
        let of_server = |found: &&Environment| found.variant == variant;
        let mut machines = self.environments.iter().filter(of_server).filter_map(|found| found.machine.as_ref());
        machines.find(|machine| machine.role == Role::Server)
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
            summary = summary_of(&plan, &dir, run)?;
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
    let environments = environments(&dir, &manifests)?;
    Ok(Stored { name: name.unwrap_or_default(), dir, plan, results, manifests, environments })
}

/// The summary of a run from its records; `None` when it never got to its measured phase.
pub(super) fn summary_of(plan: &Plan, dir: &ResultsDir, run: &RunPlan) -> Result<Option<Summary>, ReadError> {
    let folder = dir.run(&run.id);
    let Some(manifest) = folder.read_manifest()?.filter(|manifest| !manifest.is_abandoned()) else { return Ok(None) };
    let JournalRead { items: records, skipped } = journal::<Row>(&folder.records())?;
    if records.is_empty() && manifest.started_at.is_none() {
        return Ok(None);
    }
    let calibration = journal::<Row>(&folder.calibration())?;
    // the warm-up is never counted; that it cannot be read is told all the same
    let warmup = journal::<IgnoredAny>(&folder.warmup())?;
    let mut summary = summarize_rows(plan, run, &manifest, &records, &calibration.items, &telemetry(dir, &manifest)?);
    doubt_unreadable(&mut summary, skipped + calibration.skipped + warmup.skipped);
    Ok(Some(summary))
}

/// Reads a journal; lines that are left out are told on stderr, once for each file.
pub(super) fn journal<T: DeserializeOwned>(path: &Path) -> io::Result<JournalRead<T>> {
    static TOLD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let read = read_journal(path)?;
    if read.skipped > 0 && TOLD.lock().is_ok_and(|mut told| told.insert(path.to_owned())) {
        let lines = if read.skipped == 1 { "1 line is".to_owned() } else { format!("{} lines are", read.skipped) };
        Ui::talk(&format!("warning: `{}`: {lines} torn or corrupt and left out", path.display()));
    }
    Ok(read)
}

/// What a run's server and GPUs did, from the file of that server.
pub(super) fn telemetry(dir: &ResultsDir, manifest: &RunManifest) -> std::io::Result<Vec<TelemetrySample>> {
    let folder = manifest.server.folder.as_deref();
    folder.map_or_else(|| Ok(Vec::new()), |folder| read_telemetry(&dir.telemetry(folder), &manifest.id))
}

/// `environment.json` of every server that the runs had, in the runs' order.
pub(super) fn environments(dir: &ResultsDir, manifests: &[RunManifest]) -> Result<Vec<Environment>, ReadError> {
    let mut folders: Vec<&str> = Vec::new();
    for folder in manifests.iter().filter_map(|manifest| manifest.server.folder.as_deref()) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    let mut environments = Vec::new();
    for folder in folders {
        environments.extend(read_json::<Environment>(&dir.environment(folder))?);
    }
    Ok(environments)
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
