//! Where the value of a key path stands in a JSON text that a parser has already accepted.

use std::ops::Range;

use crate::diagnostic::{KeyPath, Segment};

/// The byte range of the value at `path`, of the nearest value around it when it is not there.
pub(super) fn span(text: &str, path: &KeyPath) -> Option<Range<usize>> {
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0 };
    scanner.blanks();
    let mut start = scanner.at;
    for segment in path.segments() {
        match scanner.enter(segment) {
            Some(inner) => start = inner,
            None => break,
        }
    }
    scanner.at = start;
    scanner.skip()?;
    Some(start..scanner.at)
}

/// Line and column of a byte offset, both from 1; columns count characters.
pub(super) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// The byte offset of a parser's line and column, which count from 1 and in bytes.
pub(super) fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (start + column.saturating_sub(1)).min(text.len())
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace() || byte == b',' || byte == b':') {
            self.at += 1;
        }
    }

    /// Goes into the value at the current place; the start of the part that the segment names.
    fn enter(&mut self, segment: &Segment) -> Option<usize> {
        match (self.peek()?, segment) {
            (b'{', Segment::Key(wanted)) => {
                self.at += 1;
                let mut found = None;
                loop {
                    self.blanks();
                    if self.peek()? == b'}' {
                        break;
                    }
                    let key = self.string()?;
                    self.blanks();
                    // of a key that is there twice the last one counts
                    if key == *wanted {
                        found = Some(self.at);
                    }
                    self.skip()?;
                }
                self.at = found?;
            }
            (b'[', Segment::Index(wanted)) => {
                self.at += 1;
                for _ in 0..*wanted {
                    self.blanks();
                    self.skip()?;
                }
                self.blanks();
                if self.peek()? == b']' {
                    return None;
                }
            }
            _ => return None,
        }
        Some(self.at)
    }

    /// Skips one value; nesting is counted, so that depth needs no stack.
    fn skip(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            self.blanks();
            match self.peek()? {
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    self.at += 1;
                }
                b'"' => {
                    self.string()?;
                }
                _ => {
                    while self
                        .peek()
                        .is_some_and(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b',' | b':' | b'}' | b']'))
                    {
                        self.at += 1;
                    }
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek()? {
                b'\\' => self.at += 2,
                b'"' => break,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        serde_json::from_slice(self.bytes.get(start..self.at)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_found_by_its_path() {
        let text = "[\n  {\"a\": {\"b,}\": [1, \"x]\", {\"ü\\n\": null}]}, \"c\": 2.5}\n]";
        let found = |path: KeyPath| span(text, &path).and_then(|range| text.get(range)).unwrap();
        assert_eq!(found(KeyPath::root().index(0).key("a").key("b,}").index(1)), "\"x]\"");
        assert_eq!(found(KeyPath::root().index(0).key("a").key("b,}").index(2).key("ü\n")), "null");
        assert_eq!(found(KeyPath::root().index(0).key("c")), "2.5");
        assert_eq!(found(KeyPath::root().index(0).key("a").key("missing")), "{\"b,}\": [1, \"x]\", {\"ü\\n\": null}]}");
        assert_eq!(found(KeyPath::root()), text);
    }

    #[test]
    fn lines_and_columns_count_from_one_and_characters() {
        let text = "[\n \"ü\", 1]";
        let at = text.find('1').unwrap();
        assert_eq!(line_and_column(text, at), (2, 7));
        assert_eq!(offset(text, 2, 2), 3);
    }

    #[test]
    fn a_text_that_is_not_json_has_no_places_and_does_no_harm() {
        for text in ["", "{", "[1, ", "{\"a", "\"\\"] {
            let path = KeyPath::root().key("a").index(3);
            assert!(span(text, &path).is_none_or(|range| range.end <= text.len() + 1), "{text}");
        }
    }
}
