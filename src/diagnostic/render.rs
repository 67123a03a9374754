//! Draws problems: title, file, line, column, the line itself, a caret, a hint.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::{Located, Problem};

/// All problems as text, one picture after the other, separated by empty lines.
///
/// Without `color` the text is plain and depends on nothing but the problems.
pub fn render(problems: &[Located<'_>], color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    for problem in problems {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&renderer.render(&[picture(problem)]));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

fn picture<'a>(located: &'a Located<'_>) -> Group<'a> {
    let Problem { path, message, hint, .. } = located.problem;
    let help = hint.as_deref().map(|hint| Level::HELP.message(hint));
    let Some((source, range)) = &located.at else {
        let title = if path.segments().is_empty() { message.clone() } else { format!("`{path}`: {message}") };
        return Group::with_title(Level::ERROR.primary_title(title)).elements(help);
    };
    let line = line_of(&source.text, range);
    let snippet = Snippet::source(line.text)
        .line_start(line.number)
        .path(source.name.as_str())
        .annotation(AnnotationKind::Primary.span(line.span));
    Group::with_title(Level::ERROR.primary_title(message.as_str())).element(snippet).elements(help)
}

struct Line<'a> {
    number: usize,
    text: &'a str,
    span: Range<usize>,
}

/// The line a range begins in, and the part of the range within that line.
fn line_of<'a>(text: &'a str, range: &Range<usize>) -> Line<'a> {
    let mut at = range.start.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let (before, after) = text.split_at(at);
    // an error at the end of the text belongs to the last line that has something on it
    let (before, after) =
        if after.trim().is_empty() && range.is_empty() { (before.trim_end(), "") } else { (before, after) };
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let length = before.len() - start + after.find(['\n', '\r']).unwrap_or(after.len());
    let line = text.get(start..start + length).unwrap_or_default();
    let from = (before.len() - start).min(line.len());
    let mut to = range.end.saturating_sub(start).clamp(from, line.len());
    while !line.is_char_boundary(to) {
        to += 1;
    }
    let trimmed = line.get(from..to).map_or(to, |marked| from + marked.trim_end().len());
    Line { number: before.matches('\n').count() + 1, text: line, span: from..trimmed.max(from) }
}

#[cfg(test)]
mod tests {
    use super::render;
    use crate::diagnostic::{Located, Problem, SourceText};

    fn draw(text: &str, range: std::ops::Range<usize>) -> String {
        let source = SourceText { name: "x.toml".into(), text: text.into() };
        let problem = Problem::key("a.b", "unknown key `b`").hint("did you mean `c`?");
        render(&[Located { problem: &problem, at: Some((&source, range)) }], false)
    }

    #[test]
    fn a_problem_is_drawn_with_file_line_column_caret_and_hint() {
        insta::assert_snapshot!(draw("[a]\nb = 1\n", 4..5), @r#"
        error: unknown key `b`
         --> x.toml:2:1
          |
        2 | b = 1
          | ^
          |
          = help: did you mean `c`?
        "#);
    }

    #[test]
    fn a_range_over_several_lines_is_drawn_on_its_first() {
        insta::assert_snapshot!(draw("x = [\r\n 1,\r\n]\r\n", 4..13), @r#"
        error: unknown key `b`
         --> x.toml:1:5
          |
        1 | x = [
          |     ^
          |
          = help: did you mean `c`?
        "#);
    }

    #[test]
    fn a_range_at_the_end_or_within_a_character_is_moved_to_one() {
        insta::assert_snapshot!(draw("x = \"é\n\n", 8..8), @r#"
        error: unknown key `b`
         --> x.toml:1:7
          |
        1 | x = "é
          |       ^
          |
          = help: did you mean `c`?
        "#);
        assert!(draw("é", 1..2).contains("--> x.toml:1:1"));
        assert!(draw("", 5..9).contains("--> x.toml:1:1"));
    }

    #[test]
    fn a_problem_without_a_place_names_its_key() {
        let problem = Problem::value("model.id", "is missing").hint("name the served model");
        insta::assert_snapshot!(render(&[Located { problem: &problem, at: None }], false), @r#"
        error: `model.id`: is missing
         |
         = help: name the served model
        "#);
    }
}
