//! Text that others wrote, made harmless where it is put: Markdown cells and sentences, code spans,
//! CSV cells that a spreadsheet would take for a formula.

use super::text::{Text, inline};

/// Plain text for a cell of a Markdown table: on one line, and read as the words that it is.
pub(crate) fn cell(text: &str) -> String {
    escaped(text, text.contains("]("))
}

/// Plain text for the words of a link.
pub(crate) fn link_text(text: &str) -> String {
    escaped(text, true)
}

fn escaped(text: &str, brackets: bool) -> String {
    let text = inline(text);
    let mut out = Text::default();
    let mut before = None;
    let mut rest = text.chars();
    while let Some(letter) = rest.next() {
        let after = rest.clone().next();
        match letter {
            '<' => out.add("&lt;"),
            '&' if is_entity(rest.as_str()) => out.add("&amp;"),
            '\\' | '|' | '`' | '*' => out.add(format!("\\{letter}")),
            '[' | ']' if brackets => out.add(format!("\\{letter}")),
            // within a word it is read as it is
            '_' if !(is_word(before) && is_word(after)) => out.add("\\_"),
            other => out.add(other.encode_utf8(&mut [0; 4])),
        }
        before = Some(letter);
    }
    out.finish()
}

fn is_word(letter: Option<char>) -> bool {
    letter.is_some_and(char::is_alphanumeric)
}

/// Whether what follows an ampersand makes it the start of an entity.
fn is_entity(after: &str) -> bool {
    let name: &str = after.split(';').next().unwrap_or_default();
    name.len() < after.len() && !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '#')
}

/// A sentence for a page: on one line; what would be HTML in it is not, outside of its code spans.
pub(crate) fn prose(text: &str) -> String {
    let text = inline(text);
    let mut out = Text::default();
    for (place, piece) in text.split('`').enumerate() {
        let is_last = text.matches('`').count() == place;
        if place > 0 {
            out.add("`");
        }
        // a backtick that nothing closes begins no code
        if place % 2 == 1 && !is_last {
            out.add(piece);
        } else {
            out.add(piece.replace('<', "&lt;"));
        }
    }
    out.finish()
}

/// A code span for a cell, whatever is in the text.
pub(crate) fn code_span(text: &str) -> String {
    let text = inline(text).replace('|', "\\|");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(if longest == 0 { 1 } else { longest + 1 });
    let gap = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{gap}{text}{gap}{fence}")
}

/// A relative path as the target of a link, in a cell.
pub(crate) fn link(path: &str) -> String {
    use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
    const UNSAFE: &AsciiSet = &CONTROLS
        .add(b' ')
        .add(b'"')
        .add(b'<')
        .add(b'>')
        .add(b'(')
        .add(b')')
        .add(b'|')
        .add(b'\\')
        .add(b'%')
        .add(b'#')
        .add(b'?');
    utf8_percent_encode(path, UNSAFE).to_string()
}

/// Text for a terminal: what would move its cursor, change its colours or turn the direction of reading
/// is shown as unreadable.
pub(crate) fn terminal(text: &str) -> String {
    let harms = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || turns(c);
    text.chars().map(|c| if harms(c) { '\u{fffd}' } else { c }).collect()
}

/// Whether a character overrides the direction of the text around it, so that a line reads otherwise
/// than it is.
const fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text for a CSV cell: what a spreadsheet would carry out as a formula gets an apostrophe before it,
/// and so does a text that looks as if it had got one. A text that is a number stays as it is.
pub(crate) fn formula(text: &str) -> String {
    let begins = |c: char| matches!(c, '=' | '+' | '-' | '@' | '\t' | '\r' | '\n');
    let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
    if text.trim_start_matches('\'').starts_with(begins) && !is_number { format!("'{text}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The cells of a row of a Markdown table, as GitHub reads them: pipes part them unless a backslash
    /// stands before, other backslashes and entities give their character.
    fn parse_row(line: &str) -> Vec<String> {
        let inner = line.trim_end().strip_prefix("| ").and_then(|line| line.strip_suffix(" |")).unwrap();
        let mut cells = vec![String::new()];
        let mut letters = inner.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => cells.last_mut().unwrap().push(letters.next().unwrap()),
                '|' => cells.push(String::new()),
                other => cells.last_mut().unwrap().push(other),
            }
        }
        let plain = |cell: &String| cell.trim().replace("&lt;", "<").replace("&amp;", "&");
        cells.iter().map(plain).collect()
    }

    fn unformula(cell: &str) -> &str {
        match cell.strip_prefix('\'') {
            Some(rest) if rest.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) => rest,
            _ => cell,
        }
    }

    proptest! {
        #[test]
        fn a_row_read_back_has_the_same_cells(cells in prop::collection::vec("[ -~äß≥\\n\\t|\\\\`*_<>&\\[\\]();]{0,24}", 1..5)) {
            let line = format!("| {} |", cells.iter().map(|text| cell(text)).collect::<Vec<_>>().join(" | "));
            prop_assert_eq!(line.lines().count(), 1);
            prop_assert_eq!(parse_row(&line), cells.iter().map(|text| inline(text)).collect::<Vec<_>>());
            prop_assert!(!line.contains('<'));
        }

        #[test]
        fn no_formula_is_left_and_every_text_can_be_read_back(text in "['=+\\-@\\t\\r\\na-z0-9.]{0,8}") {
            let safe = formula(&text);
            let is_number = safe.parse::<f64>().is_ok_and(f64::is_finite);
            prop_assert!(is_number || !safe.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']), "{}", safe);
            prop_assert_eq!(unformula(&safe), text);
        }

        #[test]
        fn a_sentence_has_no_html_outside_its_code(text in "[a<>`/ ]{0,20}") {
            let safe = prose(&text);
            // what stands between the backticks of closed pairs is code
            let pieces: Vec<&str> = safe.split('`').collect();
            for (place, piece) in pieces.iter().enumerate() {
                let is_code = place % 2 == 1 && place + 1 < pieces.len();
                prop_assert!(is_code || !piece.contains('<'), "{}", safe);
            }
        }
    }

    #[test]
    fn words_stay_readable() {
        assert_eq!(cell("cfg2_usp2 a|b\nc <b>R&D &amp; x</b> *"), "cfg2_usp2 a\\|b c &lt;b>R&D &amp;amp; x&lt;/b> \\*");
        assert_eq!(cell("_x_ [1, 2] [a](b)"), "\\_x\\_ \\[1, 2\\] \\[a\\](b)");
        assert_eq!(prose("`<x>` and <b> and ` <i>"), "`<x>` and &lt;b> and ` &lt;i>");
        assert_eq!(terminal("a\u{1b}[31mb\tc\n"), "a\u{fffd}[31mb\tc\n");
        assert_eq!(terminal("a\u{202e}b\u{9b}2J"), "a\u{fffd}b\u{fffd}2J");
        assert_eq!(code_span("a|b"), "`a\\|b`");
        assert_eq!(code_span("a``b`"), "``` a``b` ```");
    }

    #[test]
    fn formulas_are_text_and_numbers_are_numbers() {
        assert_eq!(formula("=1+1"), "'=1+1");
        assert_eq!(formula("-5.25e3"), "-5.25e3");
        assert_eq!(formula("'=x"), "''=x");
        assert_eq!(formula("it's"), "it's");
    }
}
