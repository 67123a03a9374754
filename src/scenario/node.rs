//! The document tree that both syntaxes, the environment and `--set` are read into.

use std::fmt::{self, Write as _};
use std::ops::Range;

use indexmap::IndexMap;

use crate::diagnostic::{KeyPath, Segment};

/// Where a node was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    /// Index of the layer.
    pub(super) layer: usize,
    /// Bytes of the key, for entries of a table.
    pub(super) key: Option<Range<usize>>,
    /// Bytes of the value.
    pub(super) value: Range<usize>,
}

/// A value and its place; two nodes are equal when their values are.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) data: Data,
    /// `None` when the place could not be found.
    pub(super) mark: Option<Mark>,
}

/// What a node holds. Tables keep their order.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Data {
    Null,
    Bool(bool),
    Integer(i64),
    /// Only for numbers beyond `i64`.
    Unsigned(u64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Table(IndexMap<String, Node>),
    /// A node that was reported and is skipped from then on; its neighbours keep their indices.
    Dropped,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.data == other.data
    }
}

impl Node {
    pub(super) fn empty_table() -> Self {
        Self { data: Data::Table(IndexMap::new()), mark: None }
    }

    pub(super) fn table(&self) -> Option<&IndexMap<String, Self>> {
        match &self.data {
            Data::Table(table) => Some(table),
            _ => None,
        }
    }

    pub(super) fn table_mut(&mut self) -> Option<&mut IndexMap<String, Self>> {
        match &mut self.data {
            Data::Table(table) => Some(table),
            _ => None,
        }
    }

    pub(super) fn list(&self) -> Option<&[Self]> {
        match &self.data {
            Data::List(list) => Some(list),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.table()?.get(key)
    }

    pub(super) fn at(&self, path: &KeyPath) -> Option<&Self> {
        path.segments().iter().try_fold(self, |node, segment| match segment {
            Segment::Key(key) => node.get(key),
            Segment::Index(index) => node.list()?.get(*index),
        })
    }

    pub(super) fn at_mut(&mut self, path: &KeyPath) -> Option<&mut Self> {
        path.segments().iter().try_fold(self, |node, segment| match (segment, &mut node.data) {
            (Segment::Key(key), Data::Table(table)) => table.get_mut(key),
            (Segment::Index(index), Data::List(list)) => list.get_mut(*index),
            _ => None,
        })
    }

    /// Every node that a pattern of keys reaches; `*` stands for every entry of a table or list.
    pub(super) fn matching(&self, pattern: &[&str]) -> Vec<(KeyPath, &Self)> {
        pattern.iter().fold(vec![(KeyPath::root(), self)], |reached, step| {
            let mut next = Vec::new();
            for (path, node) in reached {
                match (&node.data, *step) {
                    (Data::Table(table), "*") => next.extend(table.iter().map(|(key, child)| (path.key(key), child))),
                    (Data::List(list), "*") => {
                        next.extend(list.iter().enumerate().map(|(i, child)| (path.index(i), child)));
                    }
                    (Data::Table(table), key) => next.extend(table.get(key).map(|child| (path.key(key), child))),
                    _ => {}
                }
            }
            next
        })
    }

    /// Levels of lists and tables below this node.
    pub(super) fn is_deeper_than(&self, most: usize) -> Option<&Self> {
        let mut level = vec![self];
        for _ in 0..=most {
            level = level.into_iter().flat_map(Self::children).collect();
        }
        level.first().copied()
    }

    fn children(&self) -> Box<dyn Iterator<Item = &Self> + '_> {
        match &self.data {
            Data::List(list) => Box::new(list.iter()),
            Data::Table(table) => Box::new(table.values()),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// What kind of value it is, in words.
    pub(super) fn kind(&self) -> &'static str {
        match self.data {
            Data::Null | Data::Dropped => "nothing",
            Data::Bool(_) => "a truth value",
            Data::Integer(_) | Data::Unsigned(_) => "a whole number",
            Data::Float(_) => "a number",
            Data::Text(_) => "text",
            Data::List(_) => "a list",
            Data::Table(_) => "a table",
        }
    }
}

/// One line, as TOML would write it.
impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.data {
            Data::Null | Data::Dropped => f.write_str("null"),
            Data::Bool(value) => value.fmt(f),
            Data::Integer(value) => value.fmt(f),
            Data::Unsigned(value) => value.fmt(f),
            Data::Float(value) if value.is_finite() => write!(f, "{value:?}"),
            Data::Float(value) => f.write_str(&value.to_string().to_lowercase()),
            Data::Text(text) => f.write_str(&quoted(text)),
            Data::List(list) => {
                f.write_char('[')?;
                for (index, node) in list.iter().enumerate() {
                    write!(f, "{}{node}", if index == 0 { "" } else { ", " })?;
                }
                f.write_char(']')
            }
            Data::Table(table) if table.is_empty() => f.write_str("{}"),
            Data::Table(table) => {
                for (index, (key, node)) in table.iter().enumerate() {
                    write!(f, "{}{} = {node}", if index == 0 { "{ " } else { ", " }, bare_or_quoted(key))?;
                }
                f.write_str(" }")
            }
        }
    }
}

/// Text in double quotes, with the escapes that TOML and JSON share.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn bare_or_quoted(key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if bare { key.to_owned() } else { quoted(key) }
}
