//! A query over results → its table.

use std::cmp::Ordering;

use super::aggregate::Aggregate;
use super::cells::{cell, remarks};
use super::keys::{List, Query, QueryError, column, is_figure, unknown};
use super::kinds::{self, raw};
use super::subject::{Scope, Subject};
use crate::catalog::{Medium, TableKind};
use crate::report::source::Source;
use crate::report::table::{Cell, Column, Table, Value};
use crate::summarize::Results;

/// A column of the result: the key of its values, its look, how it sums up, and whether it is a measured
/// figure.
struct Shown {
    key: String,
    column: Column,
    aggregate: Aggregate,
    is_figure: bool,
}

/// The table that the query asks for. It has no rows when nothing it could show was measured.
pub(crate) fn tabulate(query: &Query, sources: &[Source<'_>]) -> Result<Table, Vec<QueryError>> {
    let subjects = Subject::all(sources, Scope::of(query.kind));
    known(query, &subjects)?;
    let subjects: Vec<Subject<'_>> = subjects.into_iter().filter(|subject| query.holds(subject)).collect();
    if query.columns.is_empty() && query.kind == TableKind::Sensitivity && !kinds::is_sensitive(&subjects) {
        return Ok(Table::default());
    }
    let mut groups = grouped(query, subjects);
    groups.sort_by(|a, b| ordered(query, a, b));
    let video = sources.iter().any(|source| source.plan.task.medium() == Medium::Video);
    let medium = if video { Medium::Video } else { Medium::Image };
    let (shown, kept) = columns(query, &groups, medium);
    let table = filled(query, &groups, &shown);
    let measured = |row: &Vec<Cell>| {
        row.iter().zip(&shown).any(|(cell, shown)| shown.is_figure && !matches!(cell.value, Value::Absent))
    };
    if !query.columns.is_empty() {
        return Ok(table);
    }
    let is_official = query.kind == TableKind::Results;
    if !is_official && !table.rows.iter().any(measured) {
        return Ok(Table { columns: table.columns, ..Table::default() });
    }
    Ok(if is_official || table.rows.is_empty() { table } else { table.without_empty_columns(kept) })
}

/// The results with the runs for which the filters hold, one for each source; runs without numbers are
/// left out when there is a filter.
pub(crate) fn chosen(query: &Query, sources: &[Source<'_>]) -> Result<Vec<Results>, Vec<QueryError>> {
    if query.filters.is_empty() {
        return Ok(sources.iter().map(|source| source.results.clone()).collect());
    }
    let subjects = Subject::all(sources, Scope::Run);
    known(query, &subjects)?;
    let of = |source: &Source<'_>| {
        let own = |subject: &&Subject<'_>| std::ptr::eq(subject.source.results, source.results) && query.holds(subject);
        let runs = subjects.iter().filter(own).map(|subject| subject.summary.clone()).collect();
        Results { runs, not_run: Vec::new(), ..source.results.clone() }
    };
    Ok(sources.iter().map(of).collect())
}

impl Query {
    fn holds(&self, subject: &Subject<'_>) -> bool {
        self.filters.iter().all(|filter| filter.holds(&subject.value(&filter.key)))
    }
}

/// A kind with its own columns and every row.
pub(crate) fn standard(kind: TableKind, sources: &[Source<'_>]) -> Table {
    let query = Query { kind, columns: Vec::new(), filters: Vec::new(), group_by: Vec::new(), sort: Vec::new() };
    // only keys that someone wrote can be unknown
    tabulate(&query, sources).unwrap_or_default()
}

/// Keys like `stage_ms.NAME.mean` exist only where the results have them; where some have, others are
/// mistyped.
fn known(query: &Query, subjects: &[Subject<'_>]) -> Result<(), Vec<QueryError>> {
    let lists = [
        (List::Columns, query.columns.iter().map(|(_, key)| key).collect::<Vec<_>>()),
        (List::Where, query.filters.iter().map(|filter| &filter.key).collect()),
        (List::GroupBy, query.group_by.iter().collect()),
        (List::Sort, query.sort.iter().map(|(key, _)| key).collect()),
    ];
    let mut errors = Vec::new();
    for (list, keys) in lists {
        for (place, key) in keys.into_iter().enumerate() {
            let Some(prefix) = ["stage_ms.", "classes."].iter().find(|prefix| key.starts_with(**prefix)) else {
                continue;
            };
            let figures = || subjects.iter().flat_map(|subject| subject.figures().keys().map(String::as_str));
            let some = figures().any(|known| known.starts_with(prefix));
            if some && !figures().any(|known| known == key) {
                let there = figures().filter(|known| known.starts_with(prefix));
                let (message, hint) = unknown(&format!("the results have no `{key}`"), key, there);
                errors.push(QueryError { list, place, message, hint });
            }
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Rows: each by itself, or one per combination of the keys, in order of first appearance.
fn grouped<'a>(query: &Query, subjects: Vec<Subject<'a>>) -> Vec<Vec<Subject<'a>>> {
    if query.group_by.is_empty() {
        return subjects.into_iter().map(|subject| vec![subject]).collect();
    }
    let mut groups: indexmap::IndexMap<Vec<String>, Vec<Subject<'a>>> = indexmap::IndexMap::new();
    for subject in subjects {
        let key = query.group_by.iter().map(|key| raw(&subject.value(key))).collect();
        groups.entry(key).or_default().push(subject);
    }
    groups.into_values().collect()
}

fn value(group: &[Subject<'_>], key: &str) -> Value {
    cell(group, (Aggregate::Mean, key), false, &mut Table::default()).value
}

fn ordered(query: &Query, a: &[Subject<'_>], b: &[Subject<'_>]) -> Ordering {
    let by = |(key, falling): &(String, bool)| compared(&value(a, key), &value(b, key), *falling);
    query.sort.iter().map(by).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// Numbers before words, what was not measured last whichever way.
fn compared(a: &Value, b: &Value, falling: bool) -> Ordering {
    let rank = |value: &Value| match value {
        Value::Count(_) | Value::Number(_) | Value::Above(_) => 0,
        Value::Text(_) | Value::Markdown(_) => 1,
        Value::Absent => 2,
    };
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let number = |value: &Value| match value {
        Value::Count(count) => *count as f64,
        Value::Number(number) | Value::Above(number) => *number,
        Value::Text(_) | Value::Markdown(_) | Value::Absent => 0.0,
    };
    let text = |value: &Value| match value {
        Value::Text(text) | Value::Markdown(text) => text.clone(),
        Value::Count(_) | Value::Number(_) | Value::Above(_) | Value::Absent => String::new(),
    };
    let inner = number(a).total_cmp(&number(b)).then_with(|| text(a).cmp(&text(b)));
    rank(a).cmp(&rank(b)).then(if falling { inner.reverse() } else { inner })
}

/// The columns that were asked for, or those of the kind; and which of them stay when they are empty.
fn columns(query: &Query, groups: &[Vec<Subject<'_>>], medium: Medium) -> (Vec<Shown>, &'static [&'static str]) {
    if !query.columns.is_empty() {
        let shown = |(aggregate, key): &(Aggregate, String)| {
            let column = column(key);
            let is_figure = is_figure(key);
            let header = format!("{}{}", aggregate.heading(), column.header);
            let column = Column { header, key: format!("{}{key}", aggregate.prefix()), ..column };
            Shown { key: key.clone(), column, aggregate: *aggregate, is_figure }
        };
        return (query.columns.iter().map(shown).collect(), &[]);
    }
    let subjects: Vec<Subject<'_>> = groups.iter().flatten().cloned().collect();
    let layout = kinds::layout(query.kind, &subjects, medium);
    let kept = layout.kept;
    let mut columns = layout.columns();
    if !query.group_by.is_empty() {
        // what differs within a row does not tell it from others
        let constant = |key: &str| groups.iter().all(|group| is_constant(group, key));
        columns.retain(|(column, is_figure)| *is_figure || constant(&column.key));
        let named =
            |key: &String| columns.iter().any(|(column, _)| column.key == *key || column.key == format!("{key}_label"));
        let missing: Vec<Column> = query.group_by.iter().filter(|key| !named(key)).map(|key| column(key)).collect();
        let mut all: Vec<(Column, bool)> = missing.into_iter().map(|column| (column, false)).collect();
        all.append(&mut columns);
        all.push((column("runs"), false));
        columns = all;
    }
    let shown = |(column, is_figure): (Column, bool)| Shown {
        key: column.key.clone(),
        column,
        aggregate: Aggregate::Mean,
        is_figure,
    };
    (columns.into_iter().map(shown).collect(), kept)
}

fn is_constant(group: &[Subject<'_>], key: &str) -> bool {
    let mut values = group.iter().map(|subject| subject.value(key));
    values.next().is_none_or(|first| values.all(|value| value == first))
}

fn filled(query: &Query, groups: &[Vec<Subject<'_>>], shown: &[Shown]) -> Table {
    let mut table = Table { columns: shown.iter().map(|shown| shown.column.clone()).collect(), ..Table::default() };
    let keys: Vec<&str> = shown.iter().map(|shown| shown.key.as_str()).collect();
    let first_figure = shown.iter().position(|shown| shown.is_figure).unwrap_or_default();
    let counted = query.kind == TableKind::Results && query.columns.is_empty();
    for group in groups {
        let mut row = Vec::new();
        for (place, one) in shown.iter().enumerate() {
            // what is to be known about the whole row comes before the notes of its figures
            let marks: Vec<usize> = if place == first_figure {
                remarks(group, &keys).into_iter().map(|text| table.note(text)).collect()
            } else {
                Vec::new()
            };
            let mut cell = cell(group, (one.aggregate, &one.key), counted, &mut table);
            cell.marks.splice(0..0, marks);
            row.push(cell);
        }
        if let (Some(first), [subject]) = (row.first_mut(), group.as_slice()) {
            first.link = subject.link();
        }
        table.rows.push(row);
    }
    table
}
