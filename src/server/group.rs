//! Signals to a process group, without `unsafe`. Where there are no groups nothing is signalled, and
//! callers fall back to the one process they know.

use std::time::Duration;

/// How often a group is asked whether it is gone.
pub(super) const GLANCE: Duration = Duration::from_millis(50);

/// A process group that this tool made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Group(i32);

impl Group {
    /// The group of this id, which is the process id of its leader.
    pub(super) fn new(id: u32) -> Option<Self> {
        // 0 and 1 would mean other groups than the one meant
        i32::try_from(id).ok().filter(|id| *id > 1).map(Self)
    }

    pub(super) const fn id(self) -> i32 {
        self.0
    }
}

/// Whether a process belongs to the group of this id; `None` when that cannot be seen, as of a process of
/// another container.
#[cfg(unix)]
pub(super) fn is_member(group: u32, process: u32) -> Option<bool> {
    let process = rustix::process::Pid::from_raw(i32::try_from(process).ok()?)?;
    let of = rustix::process::getpgid(Some(process)).ok()?;
    Some(i32::try_from(group).is_ok_and(|group| of.as_raw_nonzero().get() == group))
}

#[cfg(not(unix))]
pub(super) fn is_member(_: u32, _: u32) -> Option<bool> {
    None
}

#[cfg(unix)]
impl Group {
    /// Asks every member to end.
    pub(super) fn terminate(self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// Ends every member.
    pub(super) fn kill(self) {
        self.signal(rustix::process::Signal::KILL);
    }

    /// Whether the group still has members.
    pub(super) fn is_alive(self) -> bool {
        self.pid().is_some_and(|pid| rustix::process::test_kill_process_group(pid).is_ok())
    }

    fn signal(self, signal: rustix::process::Signal) {
        if let Some(Err(error)) = self.pid().map(|pid| rustix::process::kill_process_group(pid, signal)) {
            // a group that is gone needs no signal
            tracing::debug!("process group {}: {error}", self.0);
        }
    }

    fn pid(self) -> Option<rustix::process::Pid> {
        rustix::process::Pid::from_raw(self.0)
    }
}

#[cfg(not(unix))]
impl Group {
    pub(super) fn terminate(self) {}

    pub(super) fn kill(self) {}

    pub(super) fn is_alive(self) -> bool {
        false
    }
}
