//! What the checks of a server's configuration came to.

use serde::{Deserialize, Serialize};

/// Version of `verify.json`.
pub const VERIFY_FORMAT: u32 = 1;

/// `servers/<variant>-<n>/verify.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyReport {
    /// Version of this format.
    pub format: u32,
    /// Variant whose server was checked.
    pub variant: String,
    /// Every check, in the scenario's order.
    pub checks: Vec<Verified>,
}

/// One check of a server and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// Where it looked: `log`, or a path, with the JSON pointer behind it.
    pub at: String,
    /// What should be there, in words.
    pub expected: String,
    /// What was there, cut where it is long; null when there was nothing to see, with the reason in `why`.
    pub seen: Option<String>,
    /// Why nothing was seen.
    pub why: Option<String>,
    /// Whether it was as it should be.
    pub ok: bool,
}

impl std::fmt::Display for Verified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { at, expected, .. } = self;
        write!(f, "`{at}` should be {expected}")?;
        match (&self.seen, &self.why) {
            (Some(seen), _) => write!(f, ", but is `{seen}`"),
            (None, Some(why)) => write!(f, ", but {why}"),
            (None, None) => Ok(()),
        }
    }
}
