//! Layers of one scenario and their merge: figment decides which layer each value comes from.

use figment::value::{Dict, Empty, Map, Num, Tag, Value};
use figment::{Figment, Metadata, Profile, Provider};
use indexmap::IndexMap;

use super::node::{Data, Node};
use crate::diagnostic::SourceText;

/// Lists whose entries are addressed and merged by their `name`.
pub(super) const NAMED_LISTS: [&[&str]; 2] = [&["variants"], &["dashboard", "tables"]];

/// Where a layer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    File,
    Environment,
    Set,
}

/// One text that sets keys: a file, an environment variable or a `--set`.
#[derive(Debug, Clone)]
pub(super) struct Layer {
    pub(super) origin: Origin,
    pub(super) source: SourceText,
    /// What it sets; named lists stand here as tables by name.
    pub(super) root: Node,
}

impl Layer {
    /// A layer in which named lists become tables by name.
    pub(super) fn new(origin: Origin, source: SourceText, mut root: Node) -> Self {
        for path in NAMED_LISTS {
            if let Some(node) = descend(&mut root, path) {
                by_name(node);
            }
        }
        Self { origin, source, root }
    }

    /// As `explain` names it.
    pub(super) fn label(&self) -> String {
        match self.origin {
            Origin::File | Origin::Set => self.source.name.clone(),
            Origin::Environment => format!("env {}", self.source.name),
        }
    }
}

/// A layer as figment takes it, named by its index so that a value's tag leads back to it.
struct Numbered<'a>(usize, &'a Layer);

impl Provider for Numbered<'_> {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.0.to_string())
    }

    fn data(&self) -> figment::Result<Map<Profile, Dict>> {
        let root = self.1.root.table().map(dict).unwrap_or_default();
        Ok(Profile::Default.collect(root))
    }
}

/// One document from all layers, later ones winning; every node keeps the mark of the layer it comes from.
pub(super) fn merge(layers: &[Layer]) -> Result<Node, String> {
    let numbered = layers.iter().enumerate().map(|(index, layer)| Numbered(index, layer));
    let figment = numbered.fold(Figment::new(), Figment::merge);
    let merged = figment.find_value("").map_err(|error| error.to_string())?;
    let roots: Vec<(usize, &Node)> = layers.iter().enumerate().map(|(index, layer)| (index, &layer.root)).collect();
    let mut document = restore(&merged, &figment, &roots);
    for path in NAMED_LISTS {
        if let Some(node) = descend(&mut document, path)
            && let Data::Table(entries) = &mut node.data
        {
            node.data = Data::List(std::mem::take(entries).into_values().collect());
        }
    }
    Ok(document)
}

/// figment's maps are sorted and know no spans: both come back from the layers' own trees.
/// `candidates` holds, per layer, the node at the same path.
fn restore(value: &Value, figment: &Figment, candidates: &[(usize, &Node)]) -> Node {
    let layer = figment.get_metadata(value.tag()).and_then(|metadata| metadata.name.parse().ok());
    let owner = candidates.iter().find(|(index, _)| Some(*index) == layer).or(candidates.last());
    let Value::Dict(_, dict) = value else {
        return owner.map_or_else(Node::empty_table, |(_, node)| (*node).clone());
    };
    let mut keys: IndexMap<&str, Vec<(usize, &Node)>> = IndexMap::new();
    for (index, node) in candidates {
        for (key, child) in node.table().into_iter().flatten() {
            keys.entry(key).or_default().push((*index, child));
        }
    }
    let entries = keys
        .into_iter()
        .filter_map(|(key, children)| Some((key.to_owned(), restore(dict.get(key)?, figment, &children))))
        .collect();
    Node { data: Data::Table(entries), mark: owner.and_then(|(_, node)| node.mark.clone()) }
}

fn descend<'a>(root: &'a mut Node, path: &[&str]) -> Option<&'a mut Node> {
    path.iter().try_fold(root, |node, key| node.table_mut()?.get_mut(*key))
}

/// Entries without a name, or with one that an earlier entry has, get a key that no name can be.
fn by_name(node: &mut Node) {
    let layer = node.mark.as_ref().map_or(0, |mark| mark.layer);
    let Data::List(list) = &mut node.data else { return };
    let mut entries = IndexMap::new();
    for (index, entry) in std::mem::take(list).into_iter().enumerate() {
        let key = match entry.get("name").and_then(Node::text) {
            Some(name) if !entries.contains_key(name) => name.to_owned(),
            _ => format!("\0{layer}.{index}"),
        };
        entries.insert(key, entry);
    }
    node.data = Data::Table(entries);
}

fn dict(table: &IndexMap<String, Node>) -> Dict {
    table.iter().map(|(key, node)| (key.clone(), value(node))).collect()
}

fn value(node: &Node) -> Value {
    let tag = Tag::Default;
    match &node.data {
        Data::Null | Data::Dropped => Value::Empty(tag, Empty::None),
        Data::Bool(value) => Value::Bool(tag, *value),
        Data::Integer(value) => Value::Num(tag, Num::I64(*value)),
        Data::Unsigned(value) => Value::Num(tag, Num::U64(*value)),
        Data::Float(value) => Value::Num(tag, Num::F64(*value)),
        Data::Text(text) => Value::String(tag, text.clone()),
        Data::List(list) => Value::Array(tag, list.iter().map(value).collect()),
        Data::Table(table) => Value::Dict(tag, dict(table)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::syntax::{Syntax, parse};
    use super::{Layer, Origin, merge};
    use crate::diagnostic::SourceText;

    fn layer(index: usize, text: &str) -> Layer {
        let root = parse(text, Syntax::of(Path::new("x.toml")).unwrap(), index).unwrap();
        Layer::new(Origin::File, SourceText { name: index.to_string(), text: text.to_owned() }, root)
    }

    #[test]
    fn later_layers_win_key_by_key_and_every_value_remembers_its_layer() {
        let layers =
            [layer(0, "z = 1\na = { x = 1, y = 2 }\nl = [1, 2, 3]\n"), layer(1, "a = { y = 3, b = 4 }\nl = [9]\n")];
        let merged = merge(&layers).unwrap();
        assert_eq!(merged.to_string(), "{ z = 1, a = { x = 1, y = 3, b = 4 }, l = [9] }");
        let layer_of = |path: &str| merged.at(&path.into()).unwrap().mark.as_ref().unwrap().layer;
        assert_eq!((layer_of("z"), layer_of("a.x"), layer_of("a.y"), layer_of("l[0]")), (0, 0, 1, 1));
    }

    #[test]
    fn a_value_between_two_tables_cuts_off_what_was_below() {
        let layers = [layer(0, "a = { x = 1 }\n"), layer(1, "a = 5\n"), layer(2, "a = { y = 2 }\n")];
        assert_eq!(merge(&layers).unwrap().to_string(), "{ a = { y = 2 } }");
    }

    #[test]
    fn named_lists_merge_by_name_and_keep_their_order() {
        let base = "variants = [{ name = \"b\", gpus = 1 }, { name = \"a\" }]\n";
        let own = "variants = [{ name = \"c\" }, { name = \"b\", gpus = 2 }, { gpus = 3 }, { name = \"c\" }]\n";
        let merged = merge(&[layer(0, base), layer(1, own)]).unwrap();
        let expected =
            "[{ name = \"b\", gpus = 2 }, { name = \"a\" }, { name = \"c\" }, { gpus = 3 }, { name = \"c\" }]";
        assert_eq!(merged.get("variants").unwrap().to_string(), expected);
    }
}
