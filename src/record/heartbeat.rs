//! Signs of life of a claim, for where a lock cannot tell: file systems without locks, locks that hold
//! on one host only, process ids that were given to another process. The holder rewrites a counter;
//! whoever doubts the holder looks at it over a time of their own clock, so that no two clocks have to
//! agree.

use std::io;
use std::time::{Duration, Instant};

use super::{Claim, RunDir};

/// How often a holder rewrites its counter.
pub const BEAT_EVERY: Duration = Duration::from_secs(5);
/// Time without a new count after which a claim is stale: twelve beats, and beyond what a network file
/// system keeps in its caches.
pub const STALE_AFTER: Duration = Duration::from_mins(1);

/// Writes a count, in place: a file that is replaced would stay unseen in caches of network file systems.
pub(super) fn beat(run: &RunDir, count: u64) -> io::Result<()> {
    fs_err::write(run.heartbeat(), format!("{count}\n"))
}

/// Ends the signs of life.
pub(super) fn end(run: &RunDir) {
    // a file that is left over misleads no one: what it counts no longer changes
    drop(fs_err::remove_file(run.heartbeat()));
}

/// Watching a run whose holder cannot be asked.
#[derive(Debug)]
pub struct Vigil {
    run: RunDir,
    /// Who claims it.
    pub claim: Option<Claim>,
    seen: Option<Vec<u8>>,
    since: Option<Instant>,
}

/// What a look at a heartbeat says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// It went on, or someone else has taken the run meanwhile.
    Alive,
    /// Nothing yet.
    Unknown,
    /// It has stood still for so long that no one is at the run.
    Stale,
}

impl Vigil {
    pub(super) fn new(run: &RunDir, claim: Option<Claim>) -> Self {
        Self { seen: count(run), run: run.clone(), claim, since: None }
    }

    /// Looks again. `now` is the observer's own clock; the first look begins the time.
    pub fn look(&mut self, now: Instant) -> Look {
        let since = *self.since.get_or_insert(now);
        if !self.is_unchanged() {
            Look::Alive
        } else if now.duration_since(since) >= STALE_AFTER {
            Look::Stale
        } else {
            Look::Unknown
        }
    }

    /// Whether counter and claim are what they were when the watch began.
    pub(super) fn is_unchanged(&self) -> bool {
        let claim = self.run.read_manifest().ok().flatten().map(|manifest| manifest.claim);
        count(&self.run) == self.seen && claim == self.claim
    }
}

fn count(run: &RunDir) -> Option<Vec<u8>> {
    fs_err::read(run.heartbeat()).ok()
}
