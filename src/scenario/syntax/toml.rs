//! TOML, with the spans its parser gives.

use std::ops::Range;

use indexmap::IndexMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

use super::super::node::{Data, Mark, Node};
use super::{Fault, too_deep};

/// The parser itself refuses more than 80 levels, so it cannot exhaust the stack.
pub(super) fn parse(text: &str, layer: usize) -> Result<Node, Vec<Fault>> {
    let (root, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return Err(errors.iter().map(fault).collect());
    }
    let mut faults = Vec::new();
    let node = Reader { layer, offset: 0, faults: &mut faults }.table(root.get_ref(), None, 0..0);
    if faults.is_empty() { Ok(node) } else { Err(faults) }
}

/// One value, as it stands right of an equals sign.
pub(in super::super) fn value(text: &str) -> Result<Spanned<DeValue<'_>>, Vec<Fault>> {
    let (value, errors) = DeValue::parse_recoverable(text);
    if errors.is_empty() { Ok(value) } else { Err(errors.iter().map(fault).collect()) }
}

/// The tree of a value that begins `offset` bytes into its layer's text.
pub(in super::super) fn from_value(
    value: &Spanned<DeValue<'_>>,
    layer: usize,
    offset: usize,
) -> Result<Node, Vec<Fault>> {
    let mut faults = Vec::new();
    let node = Reader { layer, offset, faults: &mut faults }.value(value, None);
    if faults.is_empty() { Ok(node) } else { Err(faults) }
}

fn fault(error: &Error) -> Fault {
    if error.message().contains("recurs") {
        return too_deep(error.span());
    }
    let mut lines = error.message().lines();
    let message = lines.next().unwrap_or("not TOML").trim().trim_end_matches('.').to_owned();
    let rest: Vec<&str> = lines.map(str::trim).filter(|line| !line.is_empty()).collect();
    Fault { message, hint: (!rest.is_empty()).then(|| rest.join("; ")), range: error.span() }
}

struct Reader<'a> {
    layer: usize,
    offset: usize,
    faults: &'a mut Vec<Fault>,
}

impl Reader<'_> {
    fn shift(&self, range: Range<usize>) -> Range<usize> {
        range.start + self.offset..range.end + self.offset
    }

    fn table(&mut self, table: &DeTable<'_>, key: Option<Range<usize>>, span: Range<usize>) -> Node {
        let entries: IndexMap<String, Node> = table
            .iter()
            .map(|(name, value)| (name.get_ref().to_string(), self.value(value, Some(name.span()))))
            .collect();
        self.node(Data::Table(entries), key, span)
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, key: Option<Range<usize>>) -> Node {
        let span = value.span();
        let data = match value.get_ref() {
            DeValue::Table(table) => return self.table(table, key, span),
            DeValue::Array(list) => Data::List(list.iter().map(|element| self.value(element, None)).collect()),
            DeValue::String(text) => Data::Text(text.to_string()),
            DeValue::Boolean(value) => Data::Bool(*value),
            DeValue::Datetime(time) => Data::Text(time.to_string()),
            DeValue::Integer(number) => {
                let (digits, radix) = (number.as_str(), number.radix());
                if let Ok(value) = i64::from_str_radix(digits, radix) {
                    Data::Integer(value)
                } else if let Ok(value) = u64::from_str_radix(digits, radix) {
                    Data::Unsigned(value)
                } else {
                    self.faults.push(Fault::new("this number is too large", Some(self.shift(span.clone()))));
                    Data::Null
                }
            }
            // TOML's floats are a part of Rust's
            DeValue::Float(number) => Data::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        };
        self.node(data, key, span)
    }

    fn node(&self, data: Data, key: Option<Range<usize>>, span: Range<usize>) -> Node {
        let mark = Mark { layer: self.layer, key: key.map(|key| self.shift(key)), value: self.shift(span) };
        Node { data, mark: Some(mark) }
    }
}
