//! A text of titled tables and sentences, written once and rendered for a terminal, as Markdown, and as a
//! part of an HTML page.

use super::markdown::render as in_markdown;
use super::number::superscript;
use super::table::{Align, Column, Table};
use super::terminal::render as drawn;
use super::text::{Text, inline};

/// A title, sentences, a table; either of the last two may be empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) lines: Vec<String>,
    pub(crate) table: Table,
}

/// For a terminal of that width; `None` lets tables be as wide as they are.
pub(crate) fn terminal(title: &str, sections: &[Section], color: bool, width: Option<u16>) -> String {
    let mut text = Text::default();
    text.add(format!("{title}\n"));
    for section in sections {
        if !section.title.is_empty() {
            text.add(format!("\n{}\n", section.title));
        }
        for line in &section.lines {
            text.add(format!("  {line}\n"));
        }
        if !section.table.rows.is_empty() {
            text.add(drawn(&section.table, color, width));
        }
        for (place, note) in section.table.notes.iter().enumerate() {
            text.add(format!("{} {note}\n", superscript(place + 1)));
        }
    }
    text.finish()
}

/// As GitHub's Markdown.
pub(crate) fn markdown(title: &str, sections: &[Section]) -> String {
    let mut text = Text::default();
    text.add(format!("### {}\n", inline(title)));
    for section in sections {
        if !section.title.is_empty() {
            text.add(format!("\n**{}**\n", inline(&section.title)));
        }
        if !section.lines.is_empty() {
            text.add("\n");
        }
        for line in &section.lines {
            text.add(format!("- {}\n", inline(line)));
        }
        if !section.table.rows.is_empty() {
            text.add(format!("\n{}", in_markdown(&section.table)));
        }
        for (place, note) in section.table.notes.iter().enumerate() {
            text.add(format!("\n{} {}\n", superscript(place + 1), inline(note)));
        }
    }
    text.finish()
}

/// As a part of an HTML page: one `section` element without styles or scripts of its own.
pub(crate) fn html(title: &str, sections: &[Section]) -> String {
    let mut text = Text::default();
    text.add(format!("<section class=\"comparison\">\n<h2>{}</h2>\n", escape(title)));
    for section in sections {
        if !section.title.is_empty() {
            text.add(format!("<h3>{}</h3>\n", escape(&section.title)));
        }
        if !section.lines.is_empty() {
            let items: Vec<String> = section.lines.iter().map(|line| format!("<li>{}</li>\n", escape(line))).collect();
            text.add(format!("<ul>\n{}</ul>\n", items.concat()));
        }
        if !section.table.rows.is_empty() {
            text.add(table(&section.table));
        }
        for (place, note) in section.table.notes.iter().enumerate() {
            text.add(format!("<p>{} {}</p>\n", superscript(place + 1), escape(note)));
        }
    }
    text.add("</section>\n");
    text.finish()
}

fn table(table: &Table) -> String {
    let side = |column: &Column| match column.align {
        Align::Left => "",
        Align::Right => " style=\"text-align:right\"",
    };
    let mut text = Text::default();
    text.add("<table>\n<thead><tr>");
    for column in &table.columns {
        text.add(format!("<th{}>{}</th>", side(column), escape(&column.heading())));
    }
    text.add("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        text.add("<tr>");
        for (cell, column) in row.iter().zip(&table.columns) {
            text.add(format!("<td{}>{}</td>", side(column), escape(&cell.show(column))));
        }
        text.add("</tr>\n");
    }
    text.add("</tbody>\n</table>\n");
    text.finish()
}

/// Text that is neither markup nor the end of an attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::table::Cell;

    #[test]
    fn names_cannot_become_markup() {
        let table = Table {
            columns: vec![Column::text("id", "Run"), Column::number("p", "p", 3)],
            rows: vec![vec![Cell::from("<b>|x"), Cell::from(Some(0.5))]],
            notes: vec!["a < b".to_owned()],
        };
        let sections = [Section { title: "\"t\"".to_owned(), lines: vec!["<script>".to_owned()], table }];
        let page = html("A & B", &sections);
        assert!(!page.contains("<script>") && !page.contains("<b>"), "{page}");
        assert!(page.contains("A &amp; B") && page.contains("&quot;t&quot;") && page.contains("0.500"), "{page}");
        assert!(markdown("t", &sections).contains("| &lt;b>\\|x | 0.500 |"));
    }
}
