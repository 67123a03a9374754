//! Jobs that a run leaves on the server when its tool dies. They stand in its `jobs.jsonl`, and in that of
//! the next attempt, until a line says that they are gone.

use std::collections::BTreeSet;
use std::io;

use super::hold::{Hold, lock, may_be_alive};
use super::{Claim, CreatedJob, Journal, RunDir, read_journal};

/// Jobs that a run which no one is at left on the server; no one claims the run as long as this lasts.
#[derive(Debug)]
pub struct LeftJobs {
    /// Their ids.
    pub jobs: Vec<String>,
    run: RunDir,
    _hold: Hold,
}

impl LeftJobs {
    /// Notes that some are gone.
    pub fn gone(&self, ids: &[String]) -> io::Result<()> {
        note_jobs(&self.run, ids, false)
    }
}

impl RunDir {
    /// The jobs that this run left, unless someone is or may be at it.
    pub fn left_jobs(&self, ours: &Claim) -> io::Result<Option<LeftJobs>> {
        if !self.jobs().is_file() {
            return Ok(None);
        }
        let Some(hold) = lock(self)? else { return Ok(None) };
        if may_be_alive(self.read_manifest().ok().flatten().as_ref(), ours, &hold) {
            return Ok(None);
        }
        let jobs = self.live_jobs()?;
        Ok((!jobs.is_empty()).then(|| LeftJobs { jobs, run: self.clone(), _hold: hold }))
    }

    /// Jobs of this run that exist on the server as far as `jobs.jsonl` knows.
    pub(super) fn live_jobs(&self) -> io::Result<Vec<String>> {
        let mut live = Vec::new();
        let mut gone = BTreeSet::new();
        for job in read_journal::<CreatedJob>(&self.jobs())?.items.into_iter().rev() {
            if !job.live {
                gone.insert(job.job_id);
            } else if gone.insert(job.job_id.clone()) {
                live.push(job.job_id);
            }
        }
        live.reverse();
        Ok(live)
    }
}

/// Appends a line for each job, on the disk when this returns.
pub(super) fn note_jobs(run: &RunDir, ids: &[String], live: bool) -> io::Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let lines: Vec<_> = ids.iter().map(|id| CreatedJob { index: None, job_id: id.clone(), live }).collect();
    let mut journal = Journal::open(&run.jobs())?;
    journal.append(&lines)?;
    journal.sync()
}
