//! Problems found in what a user wrote: the key they belong to, a message, a hint, and their
//! picture with file, line and caret. Knows nothing of scenarios; places come in as spans.

mod nearest;
mod path;
mod render;

pub use nearest::nearest;
pub use path::{KeyPath, Segment};
pub use render::render;

use std::ops::Range;

/// Which part of an entry a problem points at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The key itself, for unknown or misplaced ones.
    Key,
    /// The value.
    Value,
}

/// One thing wrong with an input: lower case, no full stop, back-ticks round user text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The entry it belongs to.
    pub path: KeyPath,
    /// What to point at.
    pub place: Place,
    /// What is wrong.
    pub message: String,
    /// What would be right, when known.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem with the value at `path`.
    pub fn value(path: impl Into<KeyPath>, message: impl Into<String>) -> Self {
        Self { path: path.into(), place: Place::Value, message: message.into(), hint: None }
    }

    /// A problem with the key at `path`.
    pub fn key(path: impl Into<KeyPath>, message: impl Into<String>) -> Self {
        Self { path: path.into(), place: Place::Key, message: message.into(), hint: None }
    }

    /// The same problem with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// A text that problems point into: a file, or an argument shown as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    /// Path as the user gave it, or `--set`, or the environment variable's name.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// A problem with the place it was found at; `None` when no text holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// The text and the byte range to underline.
    pub at: Option<(&'a SourceText, Range<usize>)>,
}
