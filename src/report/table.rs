//! The one table model: columns, rows of cells, footnotes. Renderers decide how it looks; raw values
//! stay in the cells until then.

use super::number::{ABSENT, fixed, superscript};

/// Which side a column's text stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    /// Name for programs.
    pub(crate) key: String,
    /// Name for people, without the unit.
    pub(crate) header: String,
    /// Unit in the heading.
    pub(crate) unit: Option<&'static str>,
    /// Decimals of numbers.
    pub(crate) places: usize,
    /// Side.
    pub(crate) align: Align,
}

impl Column {
    /// A column of words.
    pub(crate) fn text(key: impl Into<String>, header: impl Into<String>) -> Self {
        Self { key: key.into(), header: header.into(), unit: None, places: 0, align: Align::Left }
    }

    /// A column of numbers.
    pub(crate) fn number(key: impl Into<String>, header: impl Into<String>, places: usize) -> Self {
        Self { places, align: Align::Right, ..Self::text(key, header) }
    }

    /// The same column with a unit in its heading.
    pub(crate) fn unit(self, unit: &'static str) -> Self {
        Self { unit: Some(unit), ..self }
    }

    /// The heading with its unit.
    pub(crate) fn heading(&self) -> String {
        match self.unit {
            Some(unit) => format!("{} ({unit})", self.header),
            None => self.header.clone(),
        }
    }
}

/// What a cell holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Words.
    Text(String),
    /// Words with Markdown of our own in them, like code spans; what users wrote is escaped in it.
    Markdown(String),
    /// A whole number.
    Count(u64),
    /// A number.
    Number(f64),
    /// A number known to be larger than this.
    Above(f64),
    /// Not measured.
    Absent,
}

impl From<Option<f64>> for Value {
    fn from(number: Option<f64>) -> Self {
        number.filter(|number| number.is_finite()).map_or(Self::Absent, Self::Number)
    }
}

impl From<Option<u64>> for Value {
    fn from(count: Option<u64>) -> Self {
        count.map_or(Self::Absent, Self::Count)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// A cell: its value, the footnotes it points at, from 1, and the file that its row comes from, when the
/// page links to it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    pub(crate) value: Value,
    pub(crate) marks: Vec<usize>,
    pub(crate) link: Option<String>,
}

impl<T: Into<Value>> From<T> for Cell {
    fn from(value: T) -> Self {
        Self { value: value.into(), marks: Vec::new(), link: None }
    }
}

impl Cell {
    /// The cell as people read it, marks behind it.
    pub(crate) fn show(&self, column: &Column) -> String {
        format!("{}{}", self.words(column), self.footmarks())
    }

    /// The cell as people read it, without marks.
    pub(crate) fn words(&self, column: &Column) -> String {
        match &self.value {
            Value::Text(text) | Value::Markdown(text) => text.clone(),
            Value::Count(count) => count.to_string(),
            Value::Number(number) => fixed(*number, column.places),
            Value::Above(number) => format!("≥ {}", fixed(*number, column.places)),
            Value::Absent => ABSENT.to_owned(),
        }
    }

    /// The marks, each with a space before it.
    pub(crate) fn footmarks(&self) -> String {
        let marks: Vec<String> = self.marks.iter().map(|mark| format!(" {}", superscript(*mark))).collect();
        marks.concat()
    }

    /// The cell as programs read it: full precision, no marks, empty when absent or only bounded.
    pub(crate) fn raw(&self) -> String {
        match &self.value {
            Value::Text(text) | Value::Markdown(text) => text.clone(),
            Value::Count(count) => count.to_string(),
            Value::Number(number) if number.is_finite() => number.to_string(),
            Value::Number(_) | Value::Above(_) | Value::Absent => String::new(),
        }
    }
}

/// Columns, rows and footnotes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Cell>>,
    pub(crate) notes: Vec<String>,
}

impl Table {
    /// The number of the footnote with this text, which is added when it is new.
    pub(crate) fn note(&mut self, text: String) -> usize {
        let place = self.notes.iter().position(|note| *note == text).unwrap_or_else(|| {
            self.notes.push(text);
            self.notes.len() - 1
        });
        place + 1
    }

    /// The same table without columns in which nothing was measured, but with those of these keys.
    pub(crate) fn without_empty_columns(self, kept: &[&str]) -> Self {
        let measured =
            |place: usize| self.rows.iter().any(|row| row.get(place).is_some_and(|cell| cell.value != Value::Absent));
        let keep = self.columns.iter().enumerate();
        let keep: Vec<bool> =
            keep.map(|(place, column)| kept.contains(&column.key.as_str()) || measured(place)).collect();
        self.only(&keep)
    }

    /// The same table without the column of that key.
    pub(crate) fn without_column(self, key: &str) -> Self {
        let keep: Vec<bool> = self.columns.iter().map(|column| column.key != key).collect();
        self.only(&keep)
    }

    /// The columns that are kept, with the footnotes that their cells point at, numbered anew.
    fn only(self, keep: &[bool]) -> Self {
        let kept = |place: &usize| keep.get(*place).copied().unwrap_or(true);
        let mut table = Self {
            columns: self
                .columns
                .into_iter()
                .enumerate()
                .filter(|(at, _)| kept(at))
                .map(|(_, column)| column)
                .collect(),
            ..Self::default()
        };
        for row in self.rows {
            let mut cells = Vec::new();
            for (_, mut cell) in row.into_iter().enumerate().filter(|(at, _)| kept(at)) {
                for mark in &mut cell.marks {
                    if let Some(text) = self.notes.get(mark.saturating_sub(1)) {
                        *mark = table.note(text.clone());
                    }
                }
                cells.push(cell);
            }
            table.rows.push(cells);
        }
        table
    }
}
