//! Why a history cannot be used.

use std::path::{Path, PathBuf};

/// Why a history cannot be used; the message names the file.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// There is none.
    #[error("there is no history at `{path}`; `omni-bench history add` makes one", path = .0.display())]
    Absent(PathBuf),
    /// The file is something else.
    #[error("`{path}` is not a history of omni-bench", path = .0.display())]
    Foreign(PathBuf),
    /// A newer version of the tool wrote it.
    #[error(
        "`{path}` has version {found} of the history; this omni-bench knows versions up to {known}",
        path = path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version that is known.
        known: u32,
    },
    /// The database refused.
    #[error("the history `{path}` cannot be used: {source}", path = path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// An entry is damaged.
    #[error("entry {id} of the history `{path}` cannot be read: {message}", path = path.display())]
    Entry {
        /// The file.
        path: PathBuf,
        /// Number of the entry.
        id: i64,
        /// What is wrong with it.
        message: String,
    },
    /// No entry and no list of metrics has that name.
    #[error("no entry has a number `{name}`{hint}")]
    UnknownMetric {
        /// The name.
        name: String,
        /// What may be meant, as the end of the sentence.
        hint: String,
    },
}

impl HistoryError {
    /// The error of a database, which is told as a foreign file when that is what it comes down to.
    pub(super) fn database(path: &Path, source: rusqlite::Error) -> Self {
        match source.sqlite_error_code() {
            Some(rusqlite::ErrorCode::NotADatabase) => Self::Foreign(path.to_owned()),
            _ => Self::Database { path: path.to_owned(), source },
        }
    }
}
