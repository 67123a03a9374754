//! Taking a run before working on it. A claim is an advisory lock on the run's folder, so that it
//! ends with the process that holds it, together with the `run.json` that names the holder. A
//! half-finished attempt is moved aside whole and kept.

use std::collections::BTreeSet;
use std::fs::TryLockError;
use std::io;

use super::atomic::{beside, read_json, sync_folder, write_json};
use super::{Claim, CreatedJob, ReadError, RunDir, RunManifest, RunState, read_journal};

/// A claimed run; the claim ends when this is dropped.
#[derive(Debug)]
pub struct ClaimedRun {
    /// Its manifest, as written.
    pub manifest: RunManifest,
    /// The earlier attempt that was moved aside, if any.
    pub earlier: Option<u32>,
    /// Jobs that the earlier attempt left on the server.
    pub orphans: Vec<String>,
    _lock: fs_err::File,
}

/// What came of claiming a run.
#[derive(Debug)]
pub enum Claimed {
    /// It is ours.
    Ours(Box<ClaimedRun>),
    /// Someone else is at it.
    Taken(Option<Claim>),
}

impl RunDir {
    /// Reads `run.json`; `None` when the run has not been started.
    pub fn read_manifest(&self) -> Result<Option<RunManifest>, ReadError> {
        read_json(&self.manifest())
    }

    /// Replaces `run.json`.
    pub fn write_manifest(&self, manifest: &RunManifest) -> io::Result<()> {
        write_json(&self.manifest(), manifest)
    }

    /// Whether this run of this plan is complete. A manifest that cannot be read is not.
    pub fn is_complete(&self, key: &str, plan_hash: &str) -> bool {
        self.read_manifest().ok().flatten().is_some_and(|manifest| {
            manifest.state == RunState::Complete && manifest.key == key && manifest.plan_hash == plan_hash
        })
    }

    /// Claims the run: moves an earlier attempt aside and makes the folder anew with this manifest,
    /// whose `attempt` is set here.
    pub fn claim(&self, mut manifest: RunManifest) -> io::Result<Claimed> {
        let mut earlier = None;
        if self.path().is_dir() {
            let Some(_held) = lock(self)? else {
                return Ok(Claimed::Taken(self.read_manifest().ok().flatten().map(|found| found.claim)));
            };
            earlier = Some(self.move_aside()?);
        }
        let orphans = match earlier {
            Some(number) => self.attempt(number).live_jobs()?,
            None => Vec::new(),
        };
        manifest.attempt = earlier.map_or(1, |number| number + 1);
        let Some(lock) = self.make(&manifest)? else { return Ok(Claimed::Taken(None)) };
        Ok(Claimed::Ours(Box::new(ClaimedRun { manifest, earlier, orphans, _lock: lock })))
    }

    /// Jobs of this run that exist on the server as far as `jobs.jsonl` knows.
    fn live_jobs(&self) -> io::Result<Vec<String>> {
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

    /// Renames the folder to the first free attempt, which is the one its manifest names unless a
    /// folder was lost; gives the number.
    fn move_aside(&self) -> io::Result<u32> {
        let mut number = 1;
        while self.attempt(number).path().exists() {
            number += 1;
        }
        fs_err::rename(self.path(), self.attempt(number).path())?;
        Ok(number)
    }

    /// Makes the folder whole and locked; `None` when someone else made it meanwhile.
    fn make(&self, manifest: &RunManifest) -> io::Result<Option<fs_err::File>> {
        let parent = self.path().parent().unwrap_or(self.path());
        fs_err::create_dir_all(parent)?;
        let new = Self(beside(self.path()));
        fs_err::create_dir(new.path())?;
        let made = new.write_manifest(manifest).and_then(|()| lock(&new)).and_then(|lock| {
            match fs_err::rename(new.path(), self.path()) {
                Err(error) if self.path().is_dir() => Err(io::Error::new(io::ErrorKind::AlreadyExists, error)),
                other => other.map(|()| lock),
            }
        });
        match made {
            Ok(lock) => {
                sync_folder(parent);
                Ok(lock)
            }
            Err(error) => {
                // the first error is the one to tell
                drop(fs_err::remove_dir_all(new.path()));
                if error.kind() == io::ErrorKind::AlreadyExists { Ok(None) } else { Err(error) }
            }
        }
    }
}

/// Locks the folder of a run; `None` when someone else holds it.
fn lock(run: &RunDir) -> io::Result<Option<fs_err::File>> {
    let folder = fs_err::File::open(run.path())?;
    match folder.try_lock() {
        Err(TryLockError::WouldBlock) => Ok(None),
        // a file system without locks cannot protect, and must not prevent
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(folder)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Journal, MANIFEST_FORMAT, ResultsDir, ServerFacts};

    fn manifest(state: RunState) -> RunManifest {
        RunManifest {
            format: MANIFEST_FORMAT,
            id: "v/A/c1".into(),
            key: "key".into(),
            plan_hash: "hash".into(),
            state,
            reason: None,
            attempt: 0,
            claim: Claim { host: "here".into(), pid: 7, at: "2026-11-30T16:19:00Z".into() },
            started_at: None,
            ended_at: None,
            server: ServerFacts::default(),
            model: "m".into(),
            simulated: false,
            speed: 1.0,
            client: None,
        }
    }

    fn ours(claimed: Claimed) -> ClaimedRun {
        match claimed {
            Claimed::Ours(run) => *run,
            Claimed::Taken(by) => panic!("taken by {by:?}"),
        }
    }

    #[test]
    fn a_new_run_is_claimed_with_its_manifest_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let run = ResultsDir::at(folder.path()).run("v/A/c1");
        let claimed = ours(run.claim(manifest(RunState::Running)).unwrap());
        assert_eq!((claimed.manifest.attempt, claimed.earlier), (1, None));
        assert_eq!(run.read_manifest().unwrap(), Some(claimed.manifest.clone()));
    }

    #[test]
    fn a_run_that_someone_is_at_is_taken_until_the_claim_ends() {
        let folder = tempfile::tempdir().unwrap();
        let run = ResultsDir::at(folder.path()).run("v/A/c1");
        let claimed = ours(run.claim(manifest(RunState::Running)).unwrap());
        match run.claim(manifest(RunState::Running)).unwrap() {
            Claimed::Taken(Some(by)) => assert_eq!(by.pid, 7),
            other => panic!("{other:?}"),
        }
        drop(claimed);
        assert_eq!(ours(run.claim(manifest(RunState::Running)).unwrap()).manifest.attempt, 2);
    }

    #[test]
    fn a_half_finished_attempt_is_kept_and_its_orphans_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let run = ResultsDir::at(folder.path()).run("v/A/c1");
        drop(ours(run.claim(manifest(RunState::Running)).unwrap()));
        let job = |id: &str, live| CreatedJob { index: None, job_id: id.into(), live };
        let jobs = [job("a", true), job("b", true), job("a", false), job("c", true)];
        Journal::open(&run.jobs()).unwrap().append(&jobs).unwrap();
        let claimed = ours(run.claim(manifest(RunState::Running)).unwrap());
        assert_eq!(claimed.orphans, ["b", "c"]);
        assert_eq!((claimed.manifest.attempt, claimed.earlier), (2, Some(1)));
        assert!(run.attempt(1).jobs().is_file());
        assert!(!run.jobs().exists());
    }

    #[test]
    fn only_the_complete_run_of_the_same_plan_and_key_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let run = ResultsDir::at(folder.path()).run("v/A/c1");
        assert!(!run.is_complete("key", "hash"));
        drop(run.claim(manifest(RunState::Running)).unwrap());
        assert!(!run.is_complete("key", "hash"));
        run.write_manifest(&manifest(RunState::Complete)).unwrap();
        assert!(run.is_complete("key", "hash"));
        assert!(!run.is_complete("other", "hash"));
        assert!(!run.is_complete("key", "other"));
    }
}
