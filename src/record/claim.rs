//! Taking a run before working on it. A claim is an advisory lock on the run's folder, so that it ends
//! with the process that holds it, together with the `run.json` that names the holder and a heartbeat.
//! Who finds the lock free takes over what a dead process of this host left; who cannot rely on the
//! lock watches the heartbeat first. A half-finished attempt is moved aside whole and kept, with the
//! files its holder still has open, so that two attempts never share one.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use super::atomic::{beside, make_folders, read_json, sync_folder, write_json};
use super::hold::{Hold, lock, may_be_alive};
use super::left::note_jobs;
use super::{Claim, ReadError, RunDir, RunManifest, RunState, STALE_AFTER, Vigil, heartbeat};

/// A claimed run; the claim ends when this is dropped.
#[derive(Debug)]
pub struct ClaimedRun {
    /// Its manifest, as written.
    pub manifest: RunManifest,
    /// The earlier attempt that was moved aside, if any.
    pub earlier: Option<u32>,
    /// Jobs that earlier attempts left on the server; they stand in this one's `jobs.jsonl` too.
    pub orphans: Vec<String>,
    run: RunDir,
    beats: AtomicU64,
    _hold: Hold,
}

/// What came of claiming a run.
#[derive(Debug)]
pub enum Claimed {
    /// It is ours.
    Ours(Box<ClaimedRun>),
    /// It is complete, and stays as it is.
    Complete,
    /// Someone else is at it.
    Taken(Option<Claim>),
    /// Someone may be at it; once a look at it says that it is stale, [`RunDir::claim_stale`] takes it.
    Doubtful(Box<Vigil>),
}

/// How a claim was lost before its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lost {
    /// Someone took the run over.
    To(Claim),
    /// The folder was removed.
    Removed,
}

impl ClaimedRun {
    /// Gives a sign of life, and tells when the claim was lost. What cannot be written or read now says
    /// nothing about it.
    pub fn beat(&self) -> Option<Lost> {
        let lost = self.lost();
        if lost.is_none() {
            let count = self.beats.fetch_add(1, Ordering::Relaxed) + 1;
            drop(heartbeat::beat(&self.run, count).inspect_err(|error| tracing::debug!("no heartbeat: {error}")));
        }
        lost
    }

    /// Whether the claim was lost: another one stands in its place, or none.
    pub fn lost(&self) -> Option<Lost> {
        match self.run.read_manifest().ok()? {
            Some(found) if found.claim == self.manifest.claim && found.attempt == self.manifest.attempt => None,
            Some(found) => Some(Lost::To(found.claim)),
            None => Some(Lost::Removed),
        }
    }

    /// Notes that jobs of earlier attempts are gone from the server.
    pub fn orphans_gone(&self, ids: &[String]) -> io::Result<()> {
        note_jobs(&self.run, ids, false)
    }
}

impl Drop for ClaimedRun {
    fn drop(&mut self) {
        if self.lost().is_none() {
            heartbeat::end(&self.run);
        }
    }
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
    pub fn claim(&self, manifest: RunManifest) -> io::Result<Claimed> {
        self.claim_unless(manifest, None)
    }

    /// Claims a run that was found stale by watching it, unless it has shown life since.
    pub fn claim_stale(&self, manifest: RunManifest, vigil: &Vigil) -> io::Result<Claimed> {
        self.claim_unless(manifest, Some(vigil))
    }

    fn claim_unless(&self, mut manifest: RunManifest, vigil: Option<&Vigil>) -> io::Result<Claimed> {
        let earlier = if self.path().is_dir() {
            let read = || self.read_manifest().ok().flatten();
            let Some(hold) = lock(self)? else { return Ok(Claimed::Taken(read().map(|found| found.claim))) };
            // whoever was at it a moment ago may have completed it
            if self.is_complete(&manifest.key, &manifest.plan_hash) {
                return Ok(Claimed::Complete);
            }
            let found = read();
            let claim = found.as_ref().map(|found| found.claim.clone());
            if may_be_alive(found.as_ref(), &manifest.claim, &hold) {
                match vigil {
                    None => return Ok(Claimed::Doubtful(Box::new(Vigil::new(self, claim)))),
                    Some(vigil) if !vigil.is_unchanged() => return Ok(Claimed::Taken(claim)),
                    Some(_) => tracing::info!("{}: no sign of life for {STALE_AFTER:?}", self.path().display()),
                }
            }
            Some(self.move_aside()?)
        } else {
            self.last_attempt()
        };
        let orphans = match earlier {
            Some(number) => self.attempt(number).live_jobs()?,
            None => Vec::new(),
        };
        manifest.attempt = earlier.map_or(1, |number| number + 1);
        let Some(hold) = self.make(&manifest, &orphans)? else { return Ok(Claimed::Taken(None)) };
        let (run, beats) = (self.clone(), AtomicU64::new(0));
        Ok(Claimed::Ours(Box::new(ClaimedRun { manifest, earlier, orphans, run, beats, _hold: hold })))
    }

    /// The newest attempt that was moved aside; a tool that is killed then leaves no other folder.
    fn last_attempt(&self) -> Option<u32> {
        let mut number = 0;
        while self.attempt(number + 1).path().exists() {
            number += 1;
        }
        (number > 0).then_some(number)
    }

    /// Renames the folder to the first free attempt, which is the one its manifest names unless a
    /// folder was lost; gives the number.
    fn move_aside(&self) -> io::Result<u32> {
        let number = self.last_attempt().map_or(1, |last| last + 1);
        fs_err::rename(self.path(), self.attempt(number).path())?;
        Ok(number)
    }

    /// Makes the folder whole and locked; `None` when someone else made it meanwhile.
    fn make(&self, manifest: &RunManifest, orphans: &[String]) -> io::Result<Option<Hold>> {
        let parent = self.path().parent().unwrap_or(self.path());
        make_folders(parent)?;
        let new = Self(beside(self.path()));
        fs_err::create_dir(new.path())?;
        let fill = || {
            new.write_manifest(manifest)?;
            heartbeat::beat(&new, 0)?;
            note_jobs(&new, orphans, true)?;
            let lock = lock(&new)?.ok_or_else(|| io::Error::other("a new folder is locked by someone else"))?;
            match fs_err::rename(new.path(), self.path()) {
                Err(error) if self.path().is_dir() => Err(io::Error::new(io::ErrorKind::AlreadyExists, error)),
                other => other.map(|()| lock),
            }
        };
        match fill() {
            Ok(lock) => {
                sync_folder(parent);
                Ok(Some(lock))
            }
            Err(error) => {
                // the first error is the one to tell
                drop(fs_err::remove_dir_all(new.path()));
                if error.kind() == io::ErrorKind::AlreadyExists { Ok(None) } else { Err(error) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::record::manifest::sample as manifest;
    use crate::record::{CreatedJob, Journal, Look, ResultsDir};

    fn ours(claimed: Claimed) -> ClaimedRun {
        match claimed {
            Claimed::Ours(run) => *run,
            other => panic!("{other:?}"),
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
        // killed again before they were deleted, they are not forgotten
        claimed.orphans_gone(&["b".into()]).unwrap();
        drop(claimed);
        let again = ours(run.claim(manifest(RunState::Running)).unwrap());
        assert_eq!((again.orphans.as_slice(), again.earlier), (&["c".to_owned()][..], Some(2)));
    }

    #[test]
    fn a_run_that_was_completed_before_the_claim_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let run = ResultsDir::at(folder.path()).run("v/A/c1");
        drop(ours(run.claim(manifest(RunState::Running)).unwrap()));
        run.write_manifest(&manifest(RunState::Complete)).unwrap();
        assert!(matches!(run.claim(manifest(RunState::Running)).unwrap(), Claimed::Complete));
        assert!(!run.attempt(1).path().exists());
        let other = RunManifest { plan_hash: "other".into(), ..manifest(RunState::Running) };
        assert_eq!(ours(run.claim(other).unwrap()).earlier, Some(1));
    }

    #[test]
    fn a_kill_between_moving_aside_and_making_anew_loses_neither_attempt_nor_jobs() {
        let folder = tempfile::tempdir().unwrap();
        let run = ResultsDir::at(folder.path()).run("v/A/c1");
        drop(ours(run.claim(manifest(RunState::Running)).unwrap()));
        note_jobs(&run, &["a".into()], true).unwrap();
        fs_err::rename(run.path(), run.attempt(1).path()).unwrap();
        let claimed = ours(run.claim(manifest(RunState::Running)).unwrap());
        assert_eq!((claimed.manifest.attempt, claimed.earlier, claimed.orphans.len()), (2, Some(1), 1));
    }

    #[test]
    fn the_heartbeat_counts_while_the_claim_lasts_and_ends_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let run = ResultsDir::at(folder.path()).run("v/A/c1");
        let claimed = ours(run.claim(manifest(RunState::Running)).unwrap());
        let first = fs_err::read(run.heartbeat()).unwrap();
        assert_eq!(claimed.beat(), None);
        assert_ne!(fs_err::read(run.heartbeat()).unwrap(), first);
        drop(claimed);
        assert!(!run.heartbeat().exists());
    }

    #[test]
    fn a_claim_of_another_host_is_watched_by_the_observers_clock_alone() {
        let folder = tempfile::tempdir().unwrap();
        let run = ResultsDir::at(folder.path()).run("v/A/c1");
        let there = Claim { host: "elsewhere".into(), pid: 1, at: "1970-01-01T00:00:00Z".into() };
        // its lock is not seen here
        drop(ours(run.claim(RunManifest { claim: there.clone(), ..manifest(RunState::Running) }).unwrap()));
        let doubted = || match run.claim(manifest(RunState::Running)).unwrap() {
            Claimed::Doubtful(vigil) => *vigil,
            other => panic!("{other:?}"),
        };
        let begun = Instant::now();
        let mut vigil = doubted();
        assert_eq!(vigil.claim, Some(there.clone()));
        assert_eq!(vigil.look(begun), Look::Unknown);
        heartbeat::beat(&run, 1).unwrap();
        assert_eq!(vigil.look(begun + STALE_AFTER / 2), Look::Alive);

        let mut vigil = doubted();
        assert_eq!(vigil.look(begun), Look::Unknown);
        assert_eq!(vigil.look(begun + STALE_AFTER), Look::Stale);
        heartbeat::beat(&run, 2).unwrap();
        match run.claim_stale(manifest(RunState::Running), &vigil).unwrap() {
            Claimed::Taken(by) => assert_eq!(by, Some(there)),
            other => panic!("{other:?}"),
        }
        let vigil = doubted();
        let claimed = ours(run.claim_stale(manifest(RunState::Running), &vigil).unwrap());
        assert_eq!((claimed.manifest.attempt, claimed.earlier), (2, Some(1)));
    }

    #[test]
    fn a_holder_learns_that_its_run_was_taken_over_or_removed() {
        let folder = tempfile::tempdir().unwrap();
        let run = ResultsDir::at(folder.path()).run("v/A/c1");
        let first = ours(run.claim(manifest(RunState::Running)).unwrap());
        fs_err::rename(run.path(), run.attempt(1).path()).unwrap();
        assert_eq!(first.beat(), Some(Lost::Removed));
        let by = Claim { host: "elsewhere".into(), pid: 9, at: String::new() };
        let second = ours(run.claim(RunManifest { claim: by.clone(), ..manifest(RunState::Running) }).unwrap());
        assert_eq!(first.beat(), Some(Lost::To(by)));
        drop(first);
        assert!(run.heartbeat().exists(), "the heartbeat is the second one's");
        assert_eq!(second.beat(), None);
    }

    #[test]
    fn of_many_that_claim_a_left_run_at_once_one_gets_it() {
        let folder = tempfile::tempdir().unwrap();
        let run = ResultsDir::at(folder.path()).run("v/A/c1");
        for round in 0..20 {
            // a process that another test starts holds every open file until it has become its program
            let left = loop {
                match run.claim(manifest(RunState::Running)).unwrap() {
                    Claimed::Ours(run) => break run,
                    Claimed::Taken(_) | Claimed::Doubtful(_) | Claimed::Complete => std::thread::yield_now(),
                }
            };
            drop(left);
            let barrier = std::sync::Barrier::new(8);
            let claims: Vec<Claimed> = std::thread::scope(|scope| {
                let claim = || {
                    barrier.wait();
                    run.claim(manifest(RunState::Running)).unwrap()
                };
                let threads: Vec<_> = (0..8).map(|_| scope.spawn(claim)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let won: Vec<_> = claims.iter().filter(|claimed| matches!(claimed, Claimed::Ours(_))).collect();
            assert_eq!(won.len(), 1, "round {round}: {claims:?}");
            drop(claims);
        }
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
