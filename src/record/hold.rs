//! Whether a run that stands there is someone's: by its lock where there are locks, else by who its
//! manifest names.

use std::fs::TryLockError;
use std::io;

use super::{Claim, RunDir, RunManifest, RunState};

/// What holding a run rests on.
#[derive(Debug)]
pub(super) enum Hold {
    /// A lock, which lasts as long as this.
    Locked {
        /// The run's folder, or a file in it.
        _held: fs_err::File,
    },
    /// Nothing: the file system has no locks.
    Unlocked,
}

/// Whether the holder that `found` names may still work although the lock, where there are locks, is free.
pub(super) fn may_be_alive(found: Option<&RunManifest>, ours: &Claim, hold: &Hold) -> bool {
    // a folder that appears, appears with its manifest
    let Some(found) = found.filter(|found| found.state == RunState::Running) else { return false };
    let here = found.claim.host == ours.host;
    // a lock may hold on one host only; a process id may be another process's by now
    if here {
        matches!(hold, Hold::Unlocked) && found.claim.pid != ours.pid && process_exists(found.claim.pid)
    } else {
        true
    }
}

#[cfg(unix)]
fn process_exists(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    // one that must not be signalled exists too
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn process_exists(_pid: u32) -> bool {
    true
}

/// Locks the folder of a run; `None` when someone else holds it or has moved it.
pub(super) fn lock(run: &RunDir) -> io::Result<Option<Hold>> {
    let folder = match fs_err::File::open(run.path()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        folder => folder?,
    };
    let held = match folder.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(None),
        Ok(()) => folder,
        // network file systems lock what is open for writing, which a folder cannot be
        Err(TryLockError::Error(_)) => {
            let beats = fs_err::OpenOptions::new().create(true).append(true).open(run.heartbeat())?;
            match beats.try_lock() {
                Err(TryLockError::WouldBlock) => return Ok(None),
                Ok(()) => beats,
                Err(TryLockError::Error(_)) => return Ok(Some(Hold::Unlocked)),
            }
        }
    };
    // whoever held it may have moved it aside between the opening and the locking
    Ok(is_within(&held, run).then_some(Hold::Locked { _held: held }))
}

/// Whether an open folder, or an open file in it, is still what stands at the run's path.
#[cfg(unix)]
fn is_within(held: &fs_err::File, run: &RunDir) -> bool {
    use std::os::unix::fs::MetadataExt;

    let same = |path: std::path::PathBuf| match (held.metadata(), fs_err::metadata(path)) {
        (Ok(held), Ok(found)) => held.dev() == found.dev() && held.ino() == found.ino(),
        _ => false,
    };
    same(run.path().to_owned()) || same(run.heartbeat())
}

#[cfg(not(unix))]
fn is_within(_held: &fs_err::File, _run: &RunDir) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::manifest::sample as manifest;

    #[test]
    fn without_locks_a_dead_process_of_this_host_is_gone_and_a_living_one_is_watched() {
        let ours = Claim { host: "here".into(), pid: 7, at: String::new() };
        let found = |host: &str, pid, state| RunManifest {
            claim: Claim { host: host.into(), pid, at: String::new() },
            ..manifest(state)
        };
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let dead = child.id();
        child.wait().unwrap();
        let alive = std::process::id();
        let running = RunState::Running;
        let locked = Hold::Locked { _held: fs_err::File::open("Cargo.toml").unwrap() };
        assert!(!may_be_alive(Some(&found("here", dead, running)), &ours, &Hold::Unlocked));
        assert!(may_be_alive(Some(&found("here", alive, running)), &ours, &Hold::Unlocked));
        assert!(!may_be_alive(Some(&found("here", alive, running)), &ours, &locked), "the lock tells");
        assert!(may_be_alive(Some(&found("elsewhere", dead, running)), &ours, &locked));
        assert!(!may_be_alive(Some(&found("elsewhere", alive, RunState::Interrupted)), &ours, &locked));
        assert!(!may_be_alive(None, &ours, &Hold::Unlocked));
    }
}
