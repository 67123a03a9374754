//! An error that ends a command: what is told, and the exit code.

use std::fmt::Display;

use super::Ui;
use crate::exit::Exit;
use crate::history::HistoryError;
use crate::record::ReadError;

/// An error to tell, and the code to end with.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) exit: Exit,
    pub(super) message: String,
}

impl Failure {
    pub(super) fn new(exit: Exit, message: impl Display) -> Self {
        Self { exit, message: message.to_string() }
    }

    /// What was typed, or what it names, is wrong.
    pub(super) fn usage(error: impl Display) -> Self {
        Self::new(Exit::Usage, error)
    }

    /// Stored results could not be read or written.
    pub(super) fn results(error: impl Display) -> Self {
        Self::new(Exit::Results, error)
    }

    /// Tells it and gives the code.
    pub(super) fn tell(&self, ui: Ui) -> Exit {
        ui.error(&self.message);
        self.exit
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::results(error)
    }
}

impl From<HistoryError> for Failure {
    fn from(error: HistoryError) -> Self {
        match error {
            HistoryError::UnknownMetric { .. } => Self::usage(error),
            HistoryError::Absent(_)
            | HistoryError::Foreign(_)
            | HistoryError::Newer { .. }
            | HistoryError::Database { .. }
            | HistoryError::Entry { .. } => Self::results(error),
        }
    }
}
