//! The table model for the page's template.

use serde::Serialize;

use crate::report::number::{fixed, superscript};
use crate::report::table::{Align, Cell, Column, Table};
use crate::report::text::inline;

/// A heading.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Heading {
    pub(super) heading: String,
    pub(super) number: bool,
}

/// A cell.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Field {
    pub(super) text: String,
    /// Whether it stands at the right side.
    pub(super) number: bool,
    /// What it is sorted by when that is not its text; empty when it was not measured.
    pub(super) sort: Option<String>,
    /// Anchor that it leads to.
    pub(super) link: Option<String>,
    /// Words and anchors of what it lists.
    pub(super) links: Vec<(String, String)>,
}

impl Field {
    /// Words.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A number with so many decimals.
    pub(super) fn number(value: Option<f64>, places: usize) -> Self {
        Self {
            text: value.map_or_else(|| crate::report::number::ABSENT.to_owned(), |value| fixed(value, places)),
            number: true,
            sort: Some(value.map(|value| value.to_string()).unwrap_or_default()),
            ..Self::default()
        }
    }

    /// The same, leading to an anchor.
    pub(super) fn to(self, anchor: impl Into<String>) -> Self {
        Self { link: Some(anchor.into()), ..self }
    }
}

/// A table with its name, for the template.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Grid {
    pub(super) name: String,
    pub(super) columns: Vec<Heading>,
    pub(super) rows: Vec<Vec<Field>>,
    pub(super) notes: Vec<String>,
}

impl Grid {
    /// An empty table of words.
    pub(super) fn of_words(name: &str, headings: &[&str]) -> Self {
        let columns = headings.iter().map(|heading| Heading { heading: (*heading).to_owned(), number: false });
        Self { name: name.to_owned(), columns: columns.collect(), ..Self::default() }
    }

    /// A table of the model.
    pub(super) fn of(name: &str, table: &Table) -> Self {
        let columns =
            table.columns.iter().map(|column| Heading { heading: column.heading(), number: is_number(column) });
        let rows =
            table.rows.iter().map(|row| row.iter().zip(&table.columns).map(|(cell, column)| field(cell, column)));
        let notes = table.notes.iter().enumerate();
        Self {
            name: name.to_owned(),
            columns: columns.collect(),
            rows: rows.map(Iterator::collect).collect(),
            notes: notes.map(|(place, note)| format!("{} {}", superscript(place + 1), inline(note))).collect(),
        }
    }

    /// Puts columns before the first one.
    pub(super) fn with_first(mut self, columns: Vec<Heading>, fields: impl Fn(usize) -> Vec<Field>) -> Self {
        self.columns.splice(0..0, columns);
        for (place, row) in self.rows.iter_mut().enumerate() {
            row.splice(0..0, fields(place));
        }
        self
    }
}

fn is_number(column: &Column) -> bool {
    column.align == Align::Right
}

/// Cells of a column of numbers sort by the number when they hold one.
fn field(cell: &Cell, column: &Column) -> Field {
    let (text, number) = (cell.show(column), is_number(column));
    let raw = cell.raw();
    // what is only bounded has no raw value but its text says the bound
    let bound = text.strip_prefix("≥ ").map(|bound| bound.split(' ').next().unwrap_or(bound).to_owned());
    let sort = match raw.parse::<f64>() {
        Ok(value) if value.is_finite() => Some(raw),
        Ok(_) | Err(_) if raw.is_empty() => Some(bound.unwrap_or_default()),
        Ok(_) | Err(_) => None,
    };
    Field { text, number, sort: sort.filter(|_| number), ..Field::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::table::Value;

    #[test]
    fn numbers_sort_by_value_words_by_text_and_what_is_not_known_last() {
        let column = Column::number("x", "X", 2).unit("s");
        let sorts = |value: Value| field(&value.into(), &column).sort;
        assert_eq!(sorts(Value::Number(12.3456)).as_deref(), Some("12.3456"));
        assert_eq!(sorts(Value::Absent).as_deref(), Some(""));
        assert_eq!(sorts(Value::Above(900.0)).as_deref(), Some("900.00"));
        assert_eq!(sorts("31/32".into()), None);
        assert_eq!(field(&"7".into(), &Column::text("y", "Y")).sort, None);
    }
}
