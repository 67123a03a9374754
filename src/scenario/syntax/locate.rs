//! Where the nodes of a YAML text stand: saphyr's marked tree over the text, and its characters as bytes.

use std::ops::Range;

use saphyr::{LoadableYamlNode, MarkedYaml, Marker};

use super::MOST_LEVELS;

/// The documents of a text that `serde_yaml` has accepted, or none when they cannot be located.
///
/// saphyr recurses, so the text's depth must be known to be bounded. It is also stricter than
/// `serde_yaml`: what it refuses is offered again with tabs and byte order marks as spaces and flow lines indented.
pub(super) fn locate(text: &str) -> (Vec<MarkedYaml<'static>>, Offsets<'_>) {
    if let Ok(documents) = MarkedYaml::load_from_str(text) {
        return (documents, Offsets::new(text));
    }
    let (relaxed, characters) = relax(text);
    let documents = MarkedYaml::load_from_str(&relaxed).unwrap_or_default();
    (documents, Offsets { text, characters })
}

/// The text as saphyr takes it, and for each of its characters the byte it comes from.
fn relax(text: &str) -> (String, Vec<usize>) {
    let mut relaxed = String::new();
    let mut places = Vec::new();
    let (mut depth, mut quote, mut before) = (0_usize, None, '\n');
    for (at, character) in text.char_indices() {
        if before == '\n' && depth > 0 {
            relaxed.extend([' '; MOST_LEVELS]);
            places.extend([at; MOST_LEVELS]);
        }
        let opens = before.is_whitespace() || matches!(before, '[' | '{' | ',' | ':');
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '"' | '\'') if opens => quote = Some(character),
            (None, '#') if before.is_whitespace() => quote = Some('\n'),
            (None, '[' | '{') if opens => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        relaxed.push(if matches!(character, '\t' | '\u{feff}') { ' ' } else { character });
        places.push(at);
        before = character;
    }
    (relaxed, places)
}

/// Places as bytes; the locator counts characters.
pub(super) struct Offsets<'a> {
    text: &'a str,
    /// Byte offset of every character the locator saw; empty where both are the same.
    characters: Vec<usize>,
}

impl<'a> Offsets<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let characters = if text.is_ascii() { Vec::new() } else { text.char_indices().map(|(at, _)| at).collect() };
        Self { text, characters }
    }

    pub(super) fn byte(&self, character: usize) -> usize {
        let offset = if self.characters.is_empty() { Some(character) } else { self.characters.get(character).copied() };
        offset.unwrap_or(self.text.len()).min(self.text.len())
    }

    pub(super) fn range(&self, start: Marker, end: Marker) -> Range<usize> {
        let from = self.byte(start.index());
        let to = self.byte(end.index()).max(from);
        // the locator ends a flow list or table before its closing bracket
        let bytes = self.text.as_bytes();
        let closes = matches!((bytes.get(from), bytes.get(to)), (Some(b'['), Some(b']')) | (Some(b'{'), Some(b'}')));
        from..to + usize::from(closes)
    }
}

/// The first line that is nested deeper than any scenario needs, found before a parser recurses into
/// it or spends time that grows with the square of the depth. Flow brackets are counted wherever they
/// stand, also in quotes, so their limit is far above the exact one that is checked on the tree.
pub(super) fn deep_line(text: &str) -> Option<Range<usize>> {
    const MOST_BRACKETS: usize = 256;
    let mut indents: Vec<usize> = Vec::new();
    let (mut start, mut brackets) = (0, 0_usize);
    for line in text.split_inclusive('\n') {
        let range = start..start + line.trim_end().len();
        start += line.len();
        for character in line.chars() {
            match character {
                '[' | '{' => brackets += 1,
                ']' | '}' => brackets = brackets.saturating_sub(1),
                _ => {}
            }
            if brackets > MOST_BRACKETS {
                return Some(range);
            }
        }
        let content = line.trim_start_matches(' ');
        if content.trim().is_empty() {
            continue;
        }
        let indent = line.len() - content.len();
        while indents.last().is_some_and(|open| *open >= indent) {
            indents.pop();
        }
        indents.push(indent);
        let compact = content.split_whitespace().take_while(|word| matches!(*word, "-" | "?" | ":")).count();
        if indents.len() + compact > MOST_LEVELS {
            return Some(range);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_and_brackets_in_the_first_column_are_located_too() {
        let text = "name:\tx\nlist: [\n  'it''s', # [\n  \"a [\"\n]\nflow: {a: é,\nb: [z]}\n";
        assert!(MarkedYaml::load_from_str(text).is_err());
        let (documents, offsets) = locate(text);
        let spelled = |node: &MarkedYaml<'_>| text.get(offsets.range(node.span.start, node.span.end)).unwrap();
        let root = documents[0].data.as_mapping().unwrap();
        let values: Vec<&str> = root.values().map(spelled).collect();
        assert_eq!(values, ["x", "[\n  'it''s', # [\n  \"a [\"\n]", "{a: é,\nb: [z]}"]);
        let flow: Vec<&str> =
            root.values().next_back().unwrap().data.as_mapping().unwrap().values().map(spelled).collect();
        assert_eq!(flow, ["é", "[z]"]);
    }

    #[test]
    fn a_staircase_of_blocks_is_refused_before_any_parser_sees_it() {
        assert!(deep_line("a: [b, {c: d}]\n- x\n").is_none());
        assert!(deep_line(&"- ".repeat(100_000)).is_some());
        assert!(deep_line(&"a: {".repeat(100_000)).is_some());
        let stairs: String = (0..100).map(|level| " ".repeat(level) + "a:\n").collect();
        assert!(deep_line(&stairs).is_some());
    }
}
