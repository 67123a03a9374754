//! Generated parts of a page: found by their markers, replaced, everything else kept byte for byte.
//!
//! A marker is a line of its own: `<!-- omni-bench:begin NAME -->` or `<!-- omni-bench:end NAME -->`.

use std::fmt;

use indexmap::IndexMap;

use super::PageError;

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
    let rest = line.trim().strip_prefix(PREFIX)?;
    let words: Option<Vec<&str>> = rest.strip_suffix("-->").map(|inner| inner.split_whitespace().collect());
    Some(match words.as_deref() {
        Some(["begin", name]) => Marker::Begin(name),
        Some(["end", name]) => Marker::End(name),
        _ => Marker::Broken,
    })
}

/// The page with every generated part replaced.
pub(super) fn replace(page: &str, parts: &IndexMap<&'static str, String>) -> Result<String, PageError> {
    let mut reader = Reader { parts, text: String::with_capacity(page.len()), open: None, problems: Vec::new() };
    let mut found = false;
    for (number, line) in page.split_inclusive('\n').enumerate() {
        let marker = marker(line);
        found |= marker.is_some();
        reader.line(number + 1, line, marker);
    }
    if let Some((name, line)) = reader.open {
        reader.problems.push(MarkerProblem { line, message: format!("`{name}` begins here and never ends") });
    }
    match (reader.problems.is_empty(), found) {
        (false, _) => {
            reader.problems.sort_by_key(|problem| problem.line);
            Err(PageError::Markers(reader.problems))
        }
        (true, false) => Err(PageError::NoMarkers),
        (true, true) => Ok(reader.text),
    }
}

struct Reader<'a> {
    parts: &'a IndexMap<&'static str, String>,
    text: String,
    /// Name and line of the part that has begun.
    open: Option<(&'a str, usize)>,
    problems: Vec<MarkerProblem>,
}

impl<'a> Reader<'a> {
    fn line(&mut self, number: usize, line: &'a str, marker: Option<Marker<'a>>) {
        let mut wrong = |message: String| self.problems.push(MarkerProblem { line: number, message });
        match (marker, self.open) {
            (None, None) => self.text.push_str(line),
            (None, Some(_)) => {}
            (Some(Marker::Broken), _) => {
                wrong("this is not a marker; write `<!-- omni-bench:begin NAME -->` or `end`".to_owned());
            }
            (Some(Marker::Begin(name)), Some((open, since))) => {
                wrong(format!("`{name}` begins inside `{open}`, which began on line {since}"));
            }
            (Some(Marker::Begin(name)), None) => {
                match self.parts.get(name) {
                    Some(part) => {
                        self.text.push_str(line);
                        self.text.push_str(&body(part, line));
                    }
                    None => wrong(unknown(name, self.parts)),
                }
                self.open = Some((name, number));
            }
            (Some(Marker::End(name)), Some((open, _))) if name == open => {
                self.text.push_str(line);
                self.open = None;
            }
            (Some(Marker::End(name)), Some((open, since))) => {
                wrong(format!("`{name}` ends here, but `{open}` began on line {since}"));
            }
            (Some(Marker::End(name)), None) => wrong(format!("`{name}` ends here and never began")),
        }
    }
}

/// The part between its markers, with the line ends of the page.
fn body(part: &str, marker_line: &str) -> String {
    let text = format!("\n{part}\n\n");
    if marker_line.ends_with("\r\n") { text.replace('\n', "\r\n") } else { text }
}

fn unknown(name: &str, parts: &IndexMap<&'static str, String>) -> String {
    let names: Vec<&str> = parts.keys().copied().collect();
    format!("no part is called `{name}`; there are {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> IndexMap<&'static str, String> {
        IndexMap::from([("results", "new".to_owned()), ("overview", "also new".to_owned())])
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
        assert_eq!(problems.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 4, 5, 7, 8]);
        assert!(problems[0].1.contains("inside `results`"), "{problems:?}");
        assert!(problems[1].1.contains("never began"), "{problems:?}");
        assert!(problems[2].1.contains("no part is called `nothing`; there are results, overview"), "{problems:?}");
        assert!(problems[3].1.contains("not a marker"), "{problems:?}");
        assert!(problems[4].1.contains("never ends"), "{problems:?}");
    }

    #[test]
    fn a_page_without_markers_is_not_silently_left_alone() {
        assert!(matches!(replace("# Title\n", &parts()), Err(PageError::NoMarkers)));
    }
}
