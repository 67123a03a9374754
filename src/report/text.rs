//! Text in the making, and text on one line.

/// A text that pieces are added to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Text(String);

impl Text {
    /// Adds a piece.
    pub(crate) fn add(&mut self, piece: impl AsRef<str>) {
        self.0.push_str(piece.as_ref());
    }

    /// The text.
    pub(crate) fn finish(self) -> String {
        self.0
    }
}

/// Text on one line, without characters that act on a terminal.
pub(crate) fn inline(text: &str) -> String {
    super::escape::terminal(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// `1 request`, `2 requests`.
pub(crate) fn counted(count: u64, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// Each text once, in order of first appearance.
pub(crate) fn distinct(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    texts.into_iter().collect::<indexmap::IndexSet<String>>().into_iter().collect()
}
