//! Exit codes, as documented for scripts and CI.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// 0: fine.
    Fine,
    /// 1: a gate failed, or a page is stale.
    GateFailed,
    /// 2: the scenario or the usage is wrong; nothing was sent.
    Usage,
    /// 3: the target failed, runs are incomplete or invalid, or more requests failed than allowed.
    RunFailed,
    /// 4: not comparable, or no baseline.
    NotComparable,
    /// 5: results could not be written or read.
    Results,
    /// 130: interrupted.
    Interrupted,
}

impl Exit {
    /// The process exit code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::GateFailed => 1,
            Self::Usage => 2,
            Self::RunFailed => 3,
            Self::NotComparable => 4,
            Self::Results => 5,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
