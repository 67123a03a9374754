//! YAML: `serde_yaml` reads the values, saphyr's marked tree says where they stand.

use std::ops::Range;

use indexmap::IndexMap;
use saphyr::{LoadableYamlNode, MarkedYaml, Marker, YamlData};
use serde_yaml::Value;

use super::super::node::{Data, Mark, Node};
use super::{Fault, MOST_LEVELS, too_deep};

pub(super) fn parse(text: &str, layer: usize) -> Result<Node, Vec<Fault>> {
    let offsets = Offsets::new(text);
    deep_line(text).map_or(Ok(()), |range| Err(vec![too_deep(Some(range))]))?;
    let value: Value = serde_yaml::from_str(text).map_err(|error| vec![syntax(&error, text, &offsets)])?;
    // the locator recurses: it only ever sees text whose depth serde_yaml (128 levels) has accepted
    let marked = MarkedYaml::load_from_str(text).unwrap_or_default();
    let mut reader = Reader { layer, offsets: &offsets, faults: Vec::new() };
    let mut root = match (marked.first(), &value) {
        (_, Value::Null) => Node::empty_table(),
        (marked, value) => reader.node(value, marked, None),
    };
    reader.merge(&mut root);
    if reader.faults.is_empty() { Ok(root) } else { Err(reader.faults) }
}

/// Bytes of characters and lines.
struct Offsets {
    /// Byte offset of every character; empty for ASCII text, where both are the same.
    characters: Vec<usize>,
    end: usize,
}

impl Offsets {
    fn new(text: &str) -> Self {
        let characters = if text.is_ascii() { Vec::new() } else { text.char_indices().map(|(at, _)| at).collect() };
        Self { characters, end: text.len() }
    }

    fn byte(&self, character: usize) -> usize {
        let offset = if self.characters.is_empty() { Some(character) } else { self.characters.get(character).copied() };
        offset.unwrap_or(self.end).min(self.end)
    }

    fn range(&self, start: Marker, end: Marker) -> Range<usize> {
        let from = self.byte(start.index());
        from..self.byte(end.index()).max(from)
    }
}

/// The first line that opens a block deeper than any scenario needs, before a parser recurses into it.
/// Flow lists and tables need no such look: both parsers refuse them beyond 128 and 255 levels.
fn deep_line(text: &str) -> Option<Range<usize>> {
    let mut indents: Vec<usize> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let range = start..start + line.trim_end().len();
        start += line.len();
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

fn syntax(error: &serde_yaml::Error, text: &str, offsets: &Offsets) -> Fault {
    let whole = error.to_string();
    let message = whole.rsplit_once(" at line ").map_or(whole.as_str(), |(message, _)| message);
    if message.contains("duplicate entry") {
        // the locator is stricter about where: it stops at the second key itself
        if let Err(second) = MarkedYaml::load_from_str(text) {
            let start = offsets.byte(second.marker().index());
            let rest = text.split_at_checked(start).map_or("", |(_, rest)| rest);
            let length = rest.find([':', '\n']).unwrap_or(rest.len());
            return Fault::new("this key is already there", Some(start..start + length));
        }
    }
    let message = match message {
        text if text.contains("more than one document") => "a scenario is one YAML document; this file holds several",
        other => other,
    };
    let range = error.location().map(|at| {
        let line: usize = text.split_inclusive('\n').take(at.line().saturating_sub(1)).map(str::len).sum();
        let rest = text.split_at_checked(line).map_or("", |(_, rest)| rest);
        let column = rest.char_indices().nth(at.column().saturating_sub(1)).map_or(rest.len(), |(byte, _)| byte);
        line + column..line + column
    });
    Fault::new(message, range)
}

struct Reader<'a> {
    layer: usize,
    offsets: &'a Offsets,
    faults: Vec<Fault>,
}

impl Reader<'_> {
    /// `marked` is the same node as the locator saw it; entries stand in the same order in both.
    fn node(&mut self, value: &Value, marked: Option<&MarkedYaml<'_>>, key: Option<Range<usize>>) -> Node {
        let range = marked.map(|marked| self.offsets.range(marked.span.start, marked.span.end));
        let mark = range.clone().map(|value| Mark { layer: self.layer, key, value });
        let data = match value {
            Value::Null => Data::Null,
            Value::Bool(value) => Data::Bool(*value),
            Value::String(text) => Data::Text(text.clone()),
            Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(value), _, _) => Data::Integer(value),
                (_, Some(value), _) => Data::Unsigned(value),
                (_, _, value) => Data::Float(value.unwrap_or(f64::NAN)),
            },
            Value::Sequence(list) => {
                let marks: &[MarkedYaml<'_>] = match marked.map(|marked| &marked.data) {
                    Some(YamlData::Sequence(marks)) if marks.len() == list.len() => marks,
                    _ => &[],
                };
                Data::List(list.iter().enumerate().map(|(i, value)| self.node(value, marks.get(i), None)).collect())
            }
            Value::Mapping(table) => Data::Table(self.entries(table, marked)),
            Value::Tagged(tagged) => {
                self.faults.push(Fault::new(format!("a scenario has no tags like `{}`", tagged.tag), range));
                Data::Null
            }
        };
        Node { data, mark }
    }

    fn entries(&mut self, table: &serde_yaml::Mapping, marked: Option<&MarkedYaml<'_>>) -> IndexMap<String, Node> {
        let marks: Vec<(&MarkedYaml<'_>, &MarkedYaml<'_>)> = match marked.map(|marked| &marked.data) {
            Some(YamlData::Mapping(marks)) if marks.len() == table.len() => marks.iter().collect(),
            _ => Vec::new(),
        };
        let mut entries = IndexMap::new();
        for (index, (key, value)) in table.iter().enumerate() {
            let (marked_key, marked_value) = marks.get(index).copied().unzip();
            let key_range = marked_key.map(|marked| self.offsets.range(marked.span.start, marked.span.end));
            let name = match key {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                Value::Bool(value) => value.to_string(),
                Value::Null | Value::Sequence(_) | Value::Mapping(_) | Value::Tagged(_) => {
                    self.faults.push(Fault::new("a key is plain text", key_range));
                    continue;
                }
            };
            let node = self.node(value, marked_value, key_range.clone());
            if entries.insert(name, node).is_some() {
                self.faults.push(Fault::new("this key is already there", key_range));
            }
        }
        entries
    }

    /// Carries out `<<`: the keys of the merged tables fill gaps, earlier tables first.
    fn merge(&mut self, node: &mut Node) {
        match &mut node.data {
            Data::List(list) => list.iter_mut().for_each(|node| self.merge(node)),
            Data::Table(table) => {
                let merged = table.shift_remove("<<");
                table.values_mut().for_each(|node| self.merge(node));
                let sources = match merged {
                    None => Vec::new(),
                    Some(Node { data: Data::List(list), .. }) => list,
                    Some(one) => vec![one],
                };
                for mut source in sources {
                    self.merge(&mut source);
                    let Data::Table(entries) = source.data else {
                        let fault = Fault::new("`<<` merges tables only", source.mark.map(|mark| mark.value));
                        self.faults.push(fault.hint("write `<<: *name`, where `&name` stands before a table"));
                        continue;
                    };
                    for (key, value) in entries {
                        table.entry(key).or_insert(value);
                    }
                }
            }
            _ => {}
        }
    }
}
