//! The path of a key in a document, like `datasets.C.profiles[2].weight`.

use std::fmt;

/// One step of a [`KeyPath`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// A key of a table.
    Key(String),
    /// An element of a list, from 0.
    Index(usize),
}

/// Where in a document an entry stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyPath(Vec<Segment>);

impl KeyPath {
    /// The document itself.
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// The steps from the root.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// The path of `key` in the table at this path.
    #[must_use]
    pub fn key(&self, key: impl Into<String>) -> Self {
        let mut path = self.clone();
        path.0.push(Segment::Key(key.into()));
        path
    }

    /// The path of element `index` in the list at this path.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        let mut path = self.clone();
        path.0.push(Segment::Index(index));
        path
    }

    /// The path one step up; the root's is the root.
    #[must_use]
    pub fn parent(&self) -> Self {
        let mut path = self.clone();
        path.0.pop();
        path
    }
}

impl From<Vec<Segment>> for KeyPath {
    fn from(segments: Vec<Segment>) -> Self {
        Self(segments)
    }
}

/// Reads dotted keys with optional `[n]` indices; quoting is not needed for the keys of a scenario.
impl From<&str> for KeyPath {
    fn from(text: &str) -> Self {
        let mut path = Self::root();
        for part in text.split('.').filter(|part| !part.is_empty()) {
            let mut pieces = part.split('[');
            if let Some(key) = pieces.next().filter(|key| !key.is_empty()) {
                path = path.key(key);
            }
            for index in pieces.filter_map(|piece| piece.trim_end_matches(']').parse().ok()) {
                path = path.index(index);
            }
        }
        path
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(key) if position == 0 => f.write_str(key)?,
                Segment::Key(key) => write!(f, ".{key}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
