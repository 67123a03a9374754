//! Why stored results cannot be read.

use std::io;
use std::path::PathBuf;

/// Why stored results cannot be read; the message names the path.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is not what it should be.
    #[error("`{path}` cannot be read: {message}", path = path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// No results folder is there.
    #[error("`{path}` is not a results folder: it has no `plan.json`{hint}", path = path.display())]
    NoResults {
        /// What was named.
        path: PathBuf,
        /// What may be meant, as the end of the sentence.
        hint: String,
    },
}
