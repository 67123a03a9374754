//! The two syntaxes of a scenario file. In: text of bounded size. Out: one document tree with the
//! place of every key and value, or what is wrong with the text and where. Knows no scenario key.

mod locate;
mod toml;
mod yaml;

pub(super) use toml::{from_value as toml_value, value as parse_toml_value};

use std::ops::Range;
use std::path::Path;

use super::node::Node;
use crate::catalog::limits;

/// Largest text that is read, in bytes.
pub(super) const MOST_BYTES: usize = limits::SCENARIO_BYTES;
/// Deepest nesting of lists and tables.
pub(super) const MOST_LEVELS: usize = limits::SCENARIO_LEVELS;

/// The syntax of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Toml,
    Yaml,
}

impl Syntax {
    /// By the file's extension.
    pub(super) fn of(file: &Path) -> Option<Self> {
        match file.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "toml" => Some(Self::Toml),
            "yaml" | "yml" => Some(Self::Yaml),
            _ => None,
        }
    }
}

/// Something that is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) message: String,
    pub(super) hint: Option<String>,
    /// `None` stands for the text as a whole.
    pub(super) range: Option<Range<usize>>,
}

impl Fault {
    fn new(message: impl Into<String>, range: Option<Range<usize>>) -> Self {
        Self { message: message.into(), hint: None, range }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Reads a whole file's text into a table whose marks carry `layer`.
pub(super) fn parse(text: &str, syntax: Syntax, layer: usize) -> Result<Node, Vec<Fault>> {
    check_size(text).map_err(|fault| vec![fault])?;
    let root = match syntax {
        Syntax::Toml => toml::parse(text, layer)?,
        Syntax::Yaml => yaml::parse(text, layer)?,
    };
    check_depth(&root).map_err(|fault| vec![fault])?;
    if root.table().is_none() {
        let range = root.mark.as_ref().map(|mark| mark.value.clone());
        let message = format!("expected a table of scenario keys, found {}", root.kind());
        return Err(vec![Fault::new(message, range)]);
    }
    Ok(root)
}

pub(super) fn check_size(text: &str) -> Result<(), Fault> {
    if text.len() <= MOST_BYTES {
        return Ok(());
    }
    Err(Fault::new(
        format!("the text has {} bytes; the most that is read is {MOST_BYTES} (limit `scenario_bytes`)", text.len()),
        None,
    ))
}

pub(super) fn check_depth(root: &Node) -> Result<(), Fault> {
    match root.is_deeper_than(MOST_LEVELS) {
        None => Ok(()),
        Some(node) => Err(too_deep(node.mark.as_ref().map(|mark| mark.value.clone()))),
    }
}

fn too_deep(range: Option<Range<usize>>) -> Fault {
    Fault::new(format!("nested deeper than {MOST_LEVELS} levels (limit `nesting.scenario`)"), range)
}
