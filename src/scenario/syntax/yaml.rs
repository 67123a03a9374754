//! YAML: `serde_yaml` reads the values, saphyr's marked tree says where they stand.

use std::ops::Range;

use indexmap::IndexMap;
use saphyr::{LoadableYamlNode, MarkedYaml, YamlData};
use serde_yaml::Value;

use super::super::node::{Data, Mark, Node};
use super::locate::{Offsets, deep_line, locate};
use super::{Fault, too_deep};

pub(super) fn parse(text: &str, layer: usize) -> Result<Node, Vec<Fault>> {
    deep_line(text).map_or(Ok(()), |range| Err(vec![too_deep(Some(range))]))?;
    let value: Value = serde_yaml::from_str(text).map_err(|error| vec![syntax(&error, text)])?;
    let (marked, offsets) = locate(text);
    let mut reader = Reader { layer, offsets: &offsets, faults: Vec::new() };
    let mut root = match (marked.first(), &value) {
        (_, Value::Null) => Node::empty_table(),
        (marked, value) => reader.node(value, marked, None),
    };
    reader.merge(&mut root);
    if reader.faults.is_empty() { Ok(root) } else { Err(reader.faults) }
}

fn syntax(error: &serde_yaml::Error, text: &str) -> Fault {
    let message = without_places(&error.to_string());
    if message.contains("duplicate entry") {
        // the locator is stricter about where: it stops at the second key itself
        if let Err(second) = MarkedYaml::load_from_str(text) {
            let start = Offsets::new(text).byte(second.marker().index());
            let rest = text.split_at_checked(start).map_or("", |(_, rest)| rest);
            let length = rest.find([':', '\n']).unwrap_or(rest.len());
            return Fault::new("this key is already there", Some(start..start + length));
        }
    }
    let range = error.location().map(|at| {
        let line: usize = text.split_inclusive('\n').take(at.line().saturating_sub(1)).map(str::len).sum();
        let rest = text.split_at_checked(line).map_or("", |(_, rest)| rest);
        let column = rest.char_indices().nth(at.column().saturating_sub(1)).map_or(rest.len(), |(byte, _)| byte);
        line + column..line + column
    });
    if message.contains("recursion limit") {
        return too_deep(range);
    }
    if message.contains("more than one document") {
        let (documents, offsets) = locate(text);
        let second = documents.get(1).map(|second| offsets.range(second.span.start, second.span.end));
        return Fault::new("a scenario is one YAML document, and here begins another", range.or(second));
    }
    if message.contains("repetition limit") {
        return Fault::new("the aliases (`*name`) stand for too many values", range);
    }
    Fault::new(message, range)
}

/// The parser's message without the places in it: the picture shows one, and the other means little.
fn without_places(message: &str) -> String {
    let mut parts = message.split(" at line ");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ' || "column".contains(c)));
    }
    plain
}

struct Reader<'a> {
    layer: usize,
    offsets: &'a Offsets<'a>,
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

#[cfg(test)]
mod tests {
    use saphyr::{Scalar, Yaml};

    use super::*;

    const SAMPLE: &str = "name: a  # a name\nlist:\n  - { x: 1, y: [a, 2.5] }\n  - text\nfolded: >-\n  a\n  b\nnone:\n";
    const HARD: &str = "# é\r\nname: \"ü \\u00e9\"\r\nbase: &base\r\n  width: 512\r\n  inner: { a: [1, 2.5, .inf] }\r\n\
        list:\r\n- *base\r\n- { <<: *base, width: 7, more: ~ }\r\n- <<: [{ x: 1 }, *base]\r\n  x: 2\r\n\
        text: |\r\n  one\r\n  two\r\n1: number\r\ntrue: truth\r\nplain: yes\r\n'quoted key': 'it''s'\r\n";

    /// The value alone, as `serde_yaml` gives it.
    fn plain(value: &Value) -> Node {
        let mut reader = Reader { layer: 0, offsets: &Offsets::new(""), faults: Vec::new() };
        reader.node(value, None, None)
    }

    /// saphyr's own reading of a tree must be the same, merge keys apart.
    fn agree(node: &Node, yaml: &Yaml<'_>) {
        match (&node.data, yaml) {
            (Data::Table(table), Yaml::Mapping(mapping)) => {
                assert_eq!(table.len(), mapping.len());
                for ((key, child), (name, value)) in table.iter().zip(mapping) {
                    let Yaml::Value(name) = name else { panic!("{name:?}") };
                    let name = match name {
                        Scalar::String(text) => text.to_string(),
                        Scalar::Integer(number) => number.to_string(),
                        Scalar::Boolean(truth) => truth.to_string(),
                        other => panic!("{other:?}"),
                    };
                    assert_eq!(*key, name);
                    agree(child, value);
                }
            }
            (Data::List(list), Yaml::Sequence(sequence)) => {
                assert_eq!(list.len(), sequence.len());
                list.iter().zip(sequence).for_each(|(node, yaml)| agree(node, yaml));
            }
            (Data::Text(text), Yaml::Value(Scalar::String(other))) => assert_eq!(text, other),
            (Data::Integer(number), Yaml::Value(Scalar::Integer(other))) => assert_eq!(number, other),
            (Data::Bool(truth), Yaml::Value(Scalar::Boolean(other))) => assert_eq!(truth, other),
            (Data::Float(number), Yaml::Value(Scalar::FloatingPoint(other))) => {
                assert_eq!(number.to_bits(), other.to_bits());
            }
            (Data::Null, Yaml::Value(Scalar::Null)) => {}
            (node, yaml) => panic!("{node:?} is not {yaml:?}"),
        }
    }

    fn every_node_is_marked(node: &Node) {
        assert!(node.mark.is_some(), "{node:?}");
        match &node.data {
            Data::Table(table) => table.values().for_each(every_node_is_marked),
            Data::List(list) => list.iter().for_each(every_node_is_marked),
            _ => {}
        }
    }

    #[test]
    fn both_yaml_parsers_see_the_same_tree() {
        for text in [SAMPLE, HARD, "[]", "a: {b: [x, {c: d}]}\n"] {
            let value: Value = serde_yaml::from_str(text).unwrap();
            agree(&plain(&value), &Yaml::load_from_str(text).unwrap()[0]);
        }
    }

    #[test]
    fn merge_keys_give_what_serde_yaml_makes_of_them() {
        let mut value: Value = serde_yaml::from_str(HARD).unwrap();
        value.apply_merge().unwrap();
        assert_eq!(parse(HARD, 0).unwrap(), plain(&value));
    }

    #[test]
    fn every_value_has_the_place_it_was_written_at() {
        let root = parse(HARD, 0).unwrap();
        every_node_is_marked(&root);
        let spelled = |path: &str| {
            let mark = root.at(&path.into()).unwrap().mark.clone().unwrap();
            (HARD.get(mark.key.unwrap()).unwrap(), HARD.get(mark.value).unwrap())
        };
        assert_eq!(spelled("name"), ("name", "\"ü \\u00e9\""));
        assert_eq!(spelled("base.inner.a"), ("a", "[1, 2.5, .inf]"));
        assert_eq!(spelled("list[1].width"), ("width", "7"));
        // what was merged points at where it was written
        assert_eq!(spelled("list[1].inner.a"), ("a", "[1, 2.5, .inf]"));
        assert_eq!(spelled("plain"), ("plain", "yes"));
    }
}
