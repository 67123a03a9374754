//! Folder and queue → what is known of a submission.

use std::collections::BTreeMap;
use std::path::Path;

use crate::cluster::{self, ClusterDir, ClusterFile, ElementMark, JobKey, Known, Now};
use crate::commands::failure::Failure;
use crate::plan::Plan;
use crate::record::ResultsDir;

/// A results folder of a submission, and what is known of it.
pub(super) struct Looked {
    pub(super) dir: ResultsDir,
    pub(super) file: ClusterFile,
    pub(super) known: Known,
    pub(super) marks: BTreeMap<JobKey, ElementMark>,
    pub(super) now: Now,
}

/// Looks at the folder that a RESULTS argument names.
pub(super) fn look(argument: &Path) -> Result<Looked, Failure> {
    let dir = ResultsDir::resolve(argument)?;
    let plan = dir.read_plan()?;
    let missing = || Failure::results(not_submitted(&dir));
    let file = ClusterDir::of(&dir).read()?.ok_or_else(missing)?;
    look_at(dir, &plan, file)
}

/// That nothing was submitted from a folder.
pub(super) fn not_submitted(dir: &ResultsDir) -> String {
    format!("`{}` was not submitted: it has no `cluster/cluster.json`", dir.path().display())
}

/// Asks the queue about what was submitted from a folder.
pub(super) fn look_at(dir: ResultsDir, plan: &Plan, file: ClusterFile) -> Result<Looked, Failure> {
    let keys = file.keys();
    let known = cluster::ask(&keys);
    let cluster_dir = ClusterDir::of(&dir);
    let mut marks = BTreeMap::new();
    for key in keys {
        marks.extend(cluster_dir.read_mark(key)?.map(|mark| (key, mark)));
    }
    // a manifest that cannot be read tells nothing, and the run is not complete
    let manifest = |id: &str| dir.run(id).read_manifest().ok().flatten();
    let now = cluster::now(plan, &file, &known, &marks, &manifest, dir.path().display().to_string());
    Ok(Looked { dir, file, known, marks, now })
}

impl Looked {
    /// The last jobs of its submissions that have not ended, as far as the queue knows.
    pub(super) fn merging(&self) -> impl Iterator<Item = JobKey> {
        let jobs = self.file.submissions.iter().filter_map(|submission| submission.merge.map(JobKey::job));
        jobs.filter(|key| self.known.of(*key).is_some_and(|told| !told.state.has_ended()))
    }
}
