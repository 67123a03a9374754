//! What the schema says about a key: which keys stand beside it and which kinds of value it takes.

use serde_json::Value;

use super::node::{Data, Node};
use crate::catalog::schemas;

/// The scenario's schema, for look-ups.
pub(super) struct Shapes {
    root: Value,
}

/// The part of the schema that describes one node.
#[derive(Clone)]
pub(super) struct Shape<'a> {
    /// All alternatives, references resolved.
    alternatives: Vec<&'a Value>,
    root: &'a Value,
}

impl Shapes {
    pub(super) fn new() -> Self {
        // a test reads it; what could not be read would be a schema without keys
        Self { root: serde_json::from_str(schemas::SCENARIO).unwrap_or_default() }
    }

    pub(super) fn root(&self) -> Shape<'_> {
        Shape::of(&self.root, &self.root)
    }
}

impl<'a> Shape<'a> {
    fn of(schema: &'a Value, root: &'a Value) -> Self {
        let mut alternatives = Vec::new();
        let mut open = vec![schema];
        // references in a generated schema cannot run in circles without a key in between
        while let Some(schema) = open.pop() {
            let target =
                schema.get("$ref").and_then(Value::as_str).and_then(|name| root.pointer(name.strip_prefix('#')?));
            let choices = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array()).flatten();
            let before = open.len();
            open.extend(target);
            open.extend(choices);
            if open.len() == before {
                alternatives.push(schema);
            }
        }
        Self { alternatives, root }
    }

    /// The keys its table knows by name.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let tables: Vec<&'a Value> = self.alternatives.clone();
        tables
            .into_iter()
            .filter_map(|schema| schema.get("properties")?.as_object())
            .flatten()
            .map(|(key, _)| key.as_str())
    }

    /// The shape of an entry: of a known key, of any key of an open table, of any element of a list.
    pub(super) fn step(&self, key: &str) -> Option<Self> {
        self.alternatives.iter().find_map(|schema| {
            let properties = schema.get("properties").and_then(|properties| properties.get(key));
            let others = schema.get("additionalProperties").filter(|others| **others != Value::Bool(false));
            let entry = properties.or(others).or_else(|| schema.get("items"))?;
            Some(Self::of(entry, self.root))
        })
    }

    /// Whether a value of this kind can stand here.
    pub(super) fn takes(&self, node: &Node) -> bool {
        let names: &[&str] = match node.data {
            Data::Null | Data::Dropped => &["null"],
            Data::Bool(_) => &["boolean"],
            Data::Integer(_) | Data::Unsigned(_) => &["integer", "number"],
            Data::Float(_) => &["number"],
            Data::Text(_) => &["string"],
            Data::List(_) => &["array"],
            Data::Table(_) => &["object"],
        };
        self.is_anything() || self.types().any(|name| names.contains(&name))
    }

    /// Whether text can stand here.
    pub(super) fn takes_text(&self) -> bool {
        self.is_anything() || self.types().any(|name| name == "string")
    }

    /// Whether every kind of value can stand here.
    pub(super) fn is_anything(&self) -> bool {
        self.alternatives.iter().any(|schema| {
            schema.as_bool() == Some(true)
                || schema
                    .as_object()
                    .is_some_and(|keys| !["type", "const", "enum"].iter().any(|key| keys.contains_key(*key)))
        })
    }

    fn types(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.alternatives.iter().flat_map(|schema| match schema.get("type") {
            Some(Value::String(name)) => vec![name.as_str()],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ if schema.get("const").is_some_and(Value::is_string) => vec!["string"],
            _ => Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Data, Node, Shape, Shapes};

    fn at<'a>(shapes: &'a Shapes, path: &str) -> Option<Shape<'a>> {
        path.split('.').try_fold(shapes.root(), |shape, key| shape.step(key))
    }

    #[test]
    fn the_schema_tells_which_kinds_a_key_takes() {
        let shapes = Shapes::new();
        let takes = |path: &str, data: Data| at(&shapes, path).unwrap().takes(&Node { data, mark: None });
        assert!(takes("name", Data::Text("x".into())));
        assert!(!takes("name", Data::Integer(1)));
        assert!(takes("traffic.requests", Data::Integer(1)) && !takes("traffic.requests", Data::Text("1".into())));
        assert!(
            takes("traffic.request_rate", Data::Text("inf".into())) && takes("traffic.request_rate", Data::Float(0.5))
        );
        assert!(takes("variants.any.gpus", Data::Integer(1)) && !takes("variants.any.gpus", Data::Text("1".into())));
        assert!(takes("endpoint.extra_body.anything", Data::Bool(true)));
        assert!(
            takes("datasets.C.source", Data::Text("random".into())) && !takes("datasets.C.source", Data::Integer(1))
        );
        assert!(takes("matrix.dataset", Data::List(Vec::new())) && !takes("matrix.dataset", Data::Text("A".into())));
    }

    #[test]
    fn the_schema_tells_the_neighbours_of_a_key() {
        let shapes = Shapes::new();
        assert!(at(&shapes, "traffic").unwrap().keys().any(|key| key == "max_concurrency"));
        assert!(at(&shapes, "traffic.nonsense").is_none());
        assert!(at(&shapes, "datasets.anything").unwrap().keys().any(|key| key == "profiles"));
    }
}
