//! An error that ends a command: what is told, and the exit code.

use std::fmt::Display;

use super::Ui;
use crate::exit::Exit;

/// An error to tell, and the code to end with.
#[derive(Debug)]
pub(super) struct Failure {
    exit: Exit,
    message: String,
}

impl Failure {
    pub(super) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into() }
    }

    /// Stored results could not be read or written.
    pub(super) fn results(error: impl Display) -> Self {
        Self::new(Exit::Results, error.to_string())
    }

    /// Tells it and gives the code.
    pub(super) fn tell(&self, ui: Ui) -> Exit {
        ui.error(&self.message);
        self.exit
    }
}
