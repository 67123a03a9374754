//! Generated parts of a page: found by their markers, replaced, everything else kept byte for byte.
//!
//! A marker is a line of its own: `<!-- omni-bench:begin NAME -->` or `<!-- omni-bench:end NAME -->`.

use std::collections::BTreeMap;
use std::fmt;

use indexmap::IndexMap;

use super::PageError;
use crate::diagnostic::nearest;

/// How every marker line starts.
pub(super) const PREFIX: &str = "<!-- omni-bench:";

/// A marker that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkerProblem {
    /// Line of the page, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for MarkerProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// A part with its markers, as it stands in a page.
pub(super) fn wrap(name: &str, text: &str) -> String {
    format!("{PREFIX}begin {name} -->\n\n{text}\n\n{PREFIX}end {name} -->")
}

enum Marker<'a> {
    Begin(&'a str),
    End(&'a str),
    /// It starts like one, but is none.
    Broken,
}

/// The marker on a line, if there is one.
fn marker(line: &str) -> Option<Marker<'_>> {
    let rest = line.trim_start_matches('\u{feff}').trim().strip_prefix(PREFIX)?;
    let words: Option<Vec<&str>> = rest.strip_suffix("-->").map(|inner| inner.split_whitespace().collect());
    Some(match words.as_deref() {
        Some(["begin", name]) => Marker::Begin(name),
        Some(["end", name]) => Marker::End(name),
        _ => Marker::Broken,
    })
}

/// The page with every generated part replaced.
pub(super) fn replace(page: &str, parts: &IndexMap<String, String>) -> Result<String, PageError> {
    let mut reader = Reader {
        parts,
        text: String::with_capacity(page.len()),
        open: None,
        seen: BTreeMap::new(),
        fence: Fence::default(),
        problems: Vec::new(),
    };
    for (number, line) in page.split_inclusive('\n').enumerate() {
        reader.line(number + 1, line);
    }
    reader.end();
    match (reader.problems.is_empty(), reader.seen.is_empty()) {
        (false, _) => {
            reader.problems.sort_by_key(|problem| problem.line);
            Err(PageError::Markers(reader.problems))
        }
        (true, true) => Err(PageError::NoMarkers),
        (true, false) => Ok(reader.text),
    }
}

/// Names of the parts that a page has markers for, as far as they can be read.
pub(super) fn names(page: &str) -> Vec<String> {
    let mut fence = Fence::default();
    let mut found = Vec::new();
    for (number, line) in page.lines().enumerate() {
        if !fence.holds(number + 1, line)
            && let Some(Marker::Begin(name)) = marker(line)
        {
            found.push(name.to_owned());
        }
    }
    found
}

/// Whether the line begins a part, or ends one; `None` when it is no marker.
pub(super) fn begins(line: &str) -> Option<bool> {
    match marker(line)? {
        Marker::Begin(_) => Some(true),
        Marker::End(_) => Some(false),
        Marker::Broken => None,
    }
}

/// Whether lines stand in a fenced code block, where nothing is a marker or a table.
#[derive(Debug, Default)]
pub(super) struct Fence {
    /// The fence that opened the block, and its line.
    open: Option<(char, usize, usize)>,
    /// First line in the open block that would be a marker outside of it.
    hidden: Option<usize>,
}

impl Fence {
    /// Takes the next line in; true when it belongs to a code block, its fences too.
    pub(super) fn holds(&mut self, number: usize, line: &str) -> bool {
        let text = line.trim_start_matches('\u{feff}').trim_end();
        let indent = text.chars().take_while(|c| *c == ' ').count();
        let text = text.trim_start();
        let mark = text.chars().next().filter(|c| indent < 4 && matches!(c, '`' | '~'));
        let length = mark.map_or(0, |mark| text.chars().take_while(|c| *c == mark).count());
        let info = text.trim_start_matches(['`', '~']);
        match (self.open, mark) {
            (None, Some(mark)) if length >= 3 && !(mark == '`' && info.contains('`')) => {
                *self = Self { open: Some((mark, length, number)), hidden: None };
                true
            }
            (None, _) => false,
            (Some((open, least, _)), Some(mark)) if mark == open && length >= least && info.trim().is_empty() => {
                self.open = None;
                true
            }
            (Some(_), _) => {
                if self.hidden.is_none() && text.starts_with(PREFIX) {
                    self.hidden = Some(number);
                }
                true
            }
        }
    }
}

struct Reader<'a> {
    parts: &'a IndexMap<String, String>,
    text: String,
    /// Name and line of the part that has begun.
    open: Option<(&'a str, usize)>,
    /// Line on which each part began.
    seen: BTreeMap<&'a str, usize>,
    fence: Fence,
    problems: Vec<MarkerProblem>,
}

impl<'a> Reader<'a> {
    fn line(&mut self, number: usize, line: &'a str) {
        // what stands within a part goes, so a fence in it opens nothing
        let in_code = self.open.is_none() && self.fence.holds(number, line);
        match marker(line).filter(|_| !in_code) {
            None if self.open.is_none() => self.text.push_str(line),
            None => {}
            Some(Marker::Broken) => {
                self.wrong(number, "this is not a marker; write `<!-- omni-bench:begin NAME -->` or `end`".to_owned());
            }
            Some(Marker::Begin(name)) => self.begin(number, line, name),
            Some(Marker::End(name)) => self.finish(number, line, name),
        }
    }

    fn begin(&mut self, number: usize, line: &'a str, name: &'a str) {
        if let Some((open, since)) = self.open {
            return self.wrong(number, format!("`{name}` begins inside `{open}`, which began on line {since}"));
        }
        if let Some(first) = self.seen.get(name) {
            self.wrong(number, format!("`{name}` is here a second time, it began on line {first} already"));
        } else {
            match self.parts.get(name) {
                Some(part) => {
                    self.text.push_str(line);
                    self.text.push_str(&body(part, line));
                }
                None => self.wrong(number, unknown(name, self.parts)),
            }
        }
        self.seen.entry(name).or_insert(number);
        self.open = Some((name, number));
    }

    fn finish(&mut self, number: usize, line: &'a str, name: &str) {
        match self.open {
            Some((open, _)) if open == name => {
                self.text.push_str(line);
                self.open = None;
            }
            Some((open, since)) => {
                self.wrong(number, format!("`{name}` ends here, but `{open}` began on line {since}"));
            }
            None => self.wrong(number, format!("`{name}` ends here and never began")),
        }
    }

    fn end(&mut self) {
        if let Some((name, line)) = self.open {
            self.wrong(line, format!("`{name}` begins here and never ends"));
        } else if let (Some((_, _, line)), Some(hidden)) = (self.fence.open, self.fence.hidden) {
            self.wrong(line, format!("a code block begins here and never ends, and hides the marker on line {hidden}"));
        }
    }

    fn wrong(&mut self, line: usize, message: String) {
        self.problems.push(MarkerProblem { line, message });
    }
}

/// The part between its markers, with the line ends of the page.
fn body(part: &str, marker_line: &str) -> String {
    let text = format!("\n{part}\n\n");
    if marker_line.ends_with("\r\n") { text.replace('\n', "\r\n") } else { text }
}

fn unknown(name: &str, parts: &IndexMap<String, String>) -> String {
    let names: Vec<&str> = parts.keys().map(String::as_str).collect();
    let near = nearest(name, names.iter().copied()).map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    format!("no part is called `{name}`; {near}there are {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> IndexMap<String, String> {
        let part = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        IndexMap::from([part("results", "new"), part("overview", "also new")])
    }

    fn problems(page: &str) -> Vec<(usize, String)> {
        match replace(page, &parts()) {
            Err(PageError::Markers(problems)) => problems.into_iter().map(|p| (p.line, p.message)).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_generated_parts_change_and_every_other_byte_is_kept() {
        let before = "\u{feff}# Title \t\n\nprose — with `<!-- omni-bench:begin x -->` inline\r\n";
        let after = "tail without a line end  ";
        let page = |body: &str| {
            format!("{before}<!-- omni-bench:begin results -->{body}<!-- omni-bench:end results -->\n{after}")
        };
        let replaced = replace(&page("\nold\nlines\n"), &parts()).unwrap();
        assert_eq!(replaced, page("\n\nnew\n\n"));
        assert_eq!(replace(&replaced, &parts()).unwrap(), replaced);
    }

    #[test]
    fn a_page_with_windows_line_ends_keeps_them_everywhere() {
        let page = "a\r\n<!-- omni-bench:begin results -->\r\nold\r\n<!-- omni-bench:end results -->\r\n";
        let replaced = replace(page, &parts()).unwrap();
        assert_eq!(replaced.matches('\n').count(), replaced.matches("\r\n").count());
        assert!(replaced.contains("\r\nnew\r\n"));
    }

    #[test]
    fn nested_unbalanced_and_unknown_markers_are_all_named_with_their_lines() {
        let page = "<!-- omni-bench:begin results -->\n<!-- omni-bench:begin overview -->\n<!-- omni-bench:end results -->\n\
                    <!-- omni-bench:end overview -->\n<!-- omni-bench:begin nothing -->\n<!-- omni-bench:end nothing -->\n\
                    <!-- omni-bench:start results -->\n<!-- omni-bench:begin results -->\n";
        let problems = problems(page);
        assert_eq!(problems.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 4, 5, 7, 8, 8]);
        assert!(problems[0].1.contains("inside `results`"), "{problems:?}");
        assert!(problems[1].1.contains("never began"), "{problems:?}");
        assert!(problems[2].1.contains("no part is called `nothing`; there are results, overview"), "{problems:?}");
        assert!(problems[3].1.contains("not a marker"), "{problems:?}");
        assert!(problems[4].1.contains("a second time"), "{problems:?}");
        assert!(problems[5].1.contains("never ends"), "{problems:?}");
    }

    #[test]
    fn a_part_that_is_there_twice_is_told_with_both_lines() {
        let part = "<!-- omni-bench:begin results -->\n<!-- omni-bench:end results -->\n";
        let problems = problems(&format!("{part}between\n{part}"));
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].0, 4);
        assert!(problems[0].1.contains("a second time, it began on line 1"), "{problems:?}");
    }

    #[test]
    fn a_marker_shown_as_code_is_text_and_one_behind_the_mark_of_a_file_is_a_marker() {
        let shown = "```html\n<!-- omni-bench:begin results -->\n```\n";
        let page = format!(
            "\u{feff}<!-- omni-bench:begin results -->\nold\n<!-- omni-bench:end results -->\n{shown}~~~\n````\n~~~\n"
        );
        let replaced = replace(&page, &parts()).unwrap();
        assert_eq!(replaced, page.replace("-->\nold", "-->\n\nnew\n"));
        let problems = problems(&format!("text\n`````\n```\n{}", page.trim_start_matches('\u{feff}')));
        assert_eq!(problems.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2], "{problems:?}");
        assert!(problems[0].1.contains("hides the marker on line 4"), "{problems:?}");
    }

    #[test]
    fn a_page_without_markers_is_not_silently_left_alone() {
        assert!(matches!(replace("# Title\n", &parts()), Err(PageError::NoMarkers)));
    }
}
