//! Why a node is not what its key takes, kept as data until it is told.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

use super::node::{Data, Node};
use super::secret::is_secret;
use crate::diagnostic::{KeyPath, Problem, nearest};

/// What serde found wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// A key that its table does not have.
    Unknown { key: String, known: &'static [&'static str] },
    /// A word that is none of the allowed ones.
    Variant { word: String, known: &'static [&'static str] },
    /// A value of another type or range; serde's own name of what was expected.
    Expected(String),
    /// A key without which the table means nothing.
    Missing(&'static str),
    /// A type's own message.
    Other(String),
}

impl Fault {
    /// The value is no word at all where one of `known` should stand.
    pub(super) fn word(known: &[&str]) -> Self {
        Self::Expected(one_of(known))
    }
}

impl std::error::Error for Fault {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { key, .. } => write!(f, "unknown key `{key}`"),
            Self::Variant { word, known } => write!(f, "`{word}` is not {}", one_of(known)),
            Self::Expected(what) => write!(f, "expected {}", plain(what)),
            Self::Missing(key) => write!(f, "the key `{key}` is missing"),
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Self::Other(text.to_string())
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Expected(expected.to_string())
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Expected(expected.to_string())
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> Self {
        Self::Expected(expected.to_string())
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        Self::Unknown { key: key.to_owned(), known }
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        Self::Variant { word: word.to_owned(), known }
    }

    fn missing_field(key: &'static str) -> Self {
        Self::Missing(key)
    }

    fn duplicate_field(key: &'static str) -> Self {
        Self::Other(format!("`{key}` is there twice"))
    }
}

/// The problem a fault at `path` is, with what would be right.
pub(super) fn explain(fault: &Fault, path: KeyPath, document: &Node) -> Problem {
    let found = document.at(&path);
    match fault {
        Fault::Unknown { key, known } => Problem::key(path, fault.to_string()).hint(unknown_hint(key, known)),
        Fault::Variant { word, known } => {
            let problem = Problem::value(path, fault.to_string());
            match nearest(word, known.iter().copied()) {
                Some(word) => problem.hint(format!("did you mean `{word}`?")),
                None => problem,
            }
        }
        Fault::Expected(what) => {
            // a pasted key may be a number: it is not echoed
            let found = found.filter(|_| !is_secret(&path));
            let told = found.map_or_else(String::new, |node| format!(", found {}", shown(node)));
            let expected = found.and_then(|node| bounded(what, node)).unwrap_or_else(|| plain(what).to_owned());
            let problem = Problem::value(path, format!("expected {expected}{told}"));
            match found.and_then(|node| remedy(what, node)) {
                Some(hint) => problem.hint(hint),
                None => problem,
            }
        }
        Fault::Missing(_) | Fault::Other(_) => Problem::value(path, fault.to_string()),
    }
}

fn unknown_hint(key: &str, known: &[&str]) -> String {
    match nearest(key, known.iter().copied()) {
        Some(word) => format!("did you mean `{word}`?"),
        None => format!("the keys here are {}", listed(known, "and")),
    }
}

fn one_of(known: &[&str]) -> String {
    match known {
        [one] => format!("`{one}`"),
        many => format!("one of {}", listed(many, "or")),
    }
}

fn listed(words: &[&str], last: &str) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((end, rest)) if !rest.is_empty() => format!("{} {last} {end}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// serde's names of types, in a user's words.
fn plain(what: &str) -> &str {
    match what {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of at least 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "`true` or `false`",
        "a string" => "text",
        "a sequence" => "a list",
        "a map" => "a table",
        other if other.starts_with("struct ") => "a table",
        other => other,
    }
}

/// For a whole number that is too large: up to what it may go.
fn bounded(what: &str, node: &Node) -> Option<String> {
    let most = match what {
        "u32" => u64::from(u32::MAX),
        "u64" => u64::MAX,
        _ => return None,
    };
    matches!(node.data, Data::Integer(0..) | Data::Unsigned(_)).then(|| format!("a whole number of at most {most}"))
}

fn shown(node: &Node) -> String {
    const MOST: usize = 40;
    match &node.data {
        Data::List(_) | Data::Table(_) | Data::Null | Data::Dropped => node.kind().to_owned(),
        Data::Text(text) if text.chars().count() > MOST => {
            format!("text `{}…`", text.chars().take(MOST).collect::<String>())
        }
        Data::Text(text) => format!("text `{text}`"),
        _ => format!("`{node}`"),
    }
}

/// How to write the value that was probably meant.
fn remedy(what: &str, node: &Node) -> Option<String> {
    let number = |text: &str| text.trim().parse::<f64>().is_ok();
    match (plain(what), &node.data) {
        ("a number" | "a whole number" | "a whole number of at least 0", Data::Text(text)) if number(text) => {
            Some(format!("write the number without quotes: `{}`", text.trim()))
        }
        ("a whole number" | "a whole number of at least 0", Data::Float(value)) if value.fract() == 0.0 => {
            Some(format!("write it without a fraction: `{value}`"))
        }
        ("`true` or `false`", Data::Text(text)) if matches!(text.as_str(), "true" | "false") => {
            Some(format!("write it without quotes: `{text}`"))
        }
        ("text", Data::Bool(_) | Data::Integer(_) | Data::Unsigned(_) | Data::Float(_)) => {
            Some(format!("write it in quotes: `\"{node}\"`"))
        }
        ("a list", Data::Bool(_) | Data::Integer(_) | Data::Unsigned(_) | Data::Float(_) | Data::Text(_)) => {
            Some(format!("write a list: `[{node}]`"))
        }
        _ => None,
    }
}
