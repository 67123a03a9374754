//! A JSON file with its text, a cursor that knows its key path, and findings with their place.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::locate::{line_and_column, offset, span};
use crate::diagnostic::{self, KeyPath, Problem, SourceText};

/// Largest file that is read, in bytes.
pub(super) const MOST_BYTES: usize = 16 << 20;

/// A file of the import, parsed.
#[derive(Debug)]
pub(super) struct Document {
    source: SourceText,
    value: Value,
}

/// A finding with the place it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// What was found.
    pub problem: Problem,
    /// `file:line:column`; the file alone when no place in it is known.
    pub place: String,
    source: Option<(SourceText, std::ops::Range<usize>)>,
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem.message)?;
        self.problem.hint.iter().try_for_each(|hint| write!(f, "; {hint}"))
    }
}

/// What an import has to say besides what it makes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// What makes the file unusable.
    pub errors: Vec<Located>,
    /// What is odd about it.
    pub notes: Vec<Located>,
}

impl Findings {
    /// Pictures of the errors.
    pub fn render(&self, color: bool) -> String {
        let located: Vec<_> = self
            .errors
            .iter()
            .map(|error| diagnostic::Located {
                problem: &error.problem,
                at: error.source.as_ref().map(|(source, range)| (source, range.clone())),
            })
            .collect();
        diagnostic::render(&located, color)
    }

    pub(super) fn error(&mut self, at: &Node<'_>, message: impl Into<String>) {
        self.errors.push(at.located(Problem::value(at.path.clone(), message)));
    }

    pub(super) fn error_hint(&mut self, at: &Node<'_>, message: impl Into<String>, hint: impl Into<String>) {
        self.errors.push(at.located(Problem::value(at.path.clone(), message).hint(hint)));
    }

    pub(super) fn note(&mut self, at: &Node<'_>, message: impl Into<String>) {
        let note = at.located(Problem::value(at.path.clone(), message));
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

impl Document {
    /// Parses a text. Keys that stand twice in a table are noted: the last one counts.
    pub(super) fn parse(name: &str, text: &str, findings: &mut Findings) -> Option<Self> {
        let source = SourceText { name: name.to_owned(), text: text.to_owned() };
        if text.len() > MOST_BYTES {
            let message = format!("the file has {} bytes; the most that is read is {MOST_BYTES}", text.len());
            findings.errors.push(located(&source, Problem::value(KeyPath::root(), message), None));
            return None;
        }
        let mut repeated = Vec::new();
        let mut reader = serde_json::Deserializer::from_str(text);
        let parsed = Reader { path: KeyPath::root(), repeated: &mut repeated }.deserialize(&mut reader);
        match parsed.and_then(|value| reader.end().map(|()| value)) {
            Ok(value) => {
                let document = Self { source, value };
                for path in repeated {
                    let node = Node { document: &document, path, value: &document.value };
                    findings.note(&node, "this key stands twice in its table; the last one counts");
                }
                Some(document)
            }
            Err(error) => {
                findings.errors.push(broken(&source, &error));
                None
            }
        }
    }

    /// The whole document.
    pub(super) fn root(&self) -> Node<'_> {
        Node { document: self, path: KeyPath::root(), value: &self.value }
    }
}

/// What a parser says, at its line and column.
fn broken(source: &SourceText, error: &serde_json::Error) -> Located {
    // the parser points at the character that surprised it, and past the end when the text ends early
    let at = offset(&source.text, error.line(), error.column());
    let at = if source.text.is_char_boundary(at) { at } else { source.text.len() };
    let text = error.to_string();
    let message = text.split(" at line ").next().unwrap_or(&text);
    let rest = source.text.get(at.saturating_sub(1)..).or_else(|| source.text.get(at..)).unwrap_or_default();
    let word = rest.trim_start();
    let constant = ["NaN", "Infinity", "-Infinity"].into_iter().find(|name| word.starts_with(name));
    let problem = Problem::value(KeyPath::root(), format!("this is not JSON: {message}"));
    let problem = match constant {
        Some(name) => problem.hint(format!("`{name}` is not a number of JSON; a figure that is missing is left out")),
        None => problem,
    };
    located(source, problem, Some(at))
}

fn located(source: &SourceText, problem: Problem, at: Option<usize>) -> Located {
    let range = at.map(|at| at..at).or_else(|| span(&source.text, &problem.path));
    let place = match &range {
        Some(range) => {
            let (line, column) = line_and_column(&source.text, range.start);
            format!("{}:{line}:{column}", source.name)
        }
        None => source.name.clone(),
    };
    Located { problem, place, source: range.map(|range| (source.clone(), range)) }
}

/// A value of a document and its place.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    document: &'a Document,
    pub(super) path: KeyPath,
    pub(super) value: &'a Value,
}

impl<'a> Node<'a> {
    fn located(&self, problem: Problem) -> Located {
        located(&self.document.source, problem, None)
    }

    /// The entry of a table, unless it is null.
    pub(super) fn get(&self, key: &str) -> Option<Self> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(Self { document: self.document, path: self.path.key(key), value })
    }

    /// The entries of a table, in order, nulls included; none of anything else.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a str, Self)> + use<'a> {
        let (document, path) = (self.document, self.path.clone());
        let table = self.value.as_object();
        table
            .into_iter()
            .flatten()
            .map(move |(key, value)| (key.as_str(), Self { document, path: path.key(key), value }))
    }

    /// The elements of a list; none of anything else.
    pub(super) fn items(&self) -> impl Iterator<Item = Self> + use<'a> {
        let (document, path) = (self.document, self.path.clone());
        let list = self.value.as_array();
        list.into_iter().flatten().enumerate().map(move |(i, value)| Self { document, path: path.index(i), value })
    }

    pub(super) fn text(&self) -> Option<&'a str> {
        self.value.as_str()
    }
}

/// What kind of value it is, for messages.
pub(super) const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
    }
}

/// Reads a value and remembers where a key stands twice.
struct Reader<'a> {
    path: KeyPath,
    repeated: &'a mut Vec<KeyPath>,
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        let Self { path, repeated } = self;
        while let Some(value) =
            seq.next_element_seed(Reader { path: path.index(list.len()), repeated: &mut *repeated })?
        {
            list.push(value);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let Self { path, repeated } = self;
        let (mut table, mut seen) = (Map::new(), HashSet::new());
        while let Some(key) = map.next_key::<String>()? {
            let path = path.key(&key);
            if !seen.insert(key.clone()) {
                repeated.push(path.clone());
            }
            let value = map.next_value_seed(Reader { path, repeated: &mut *repeated })?;
            table.insert(key, value);
        }
        Ok(Value::Object(table))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (Option<Document>, Findings) {
        let mut findings = Findings::default();
        (Document::parse("x.json", text, &mut findings), findings)
    }

    #[test]
    fn a_misplaced_quote_is_told_with_line_and_column() {
        let (document, findings) = parse("[\n  {\"fps\":16\",weight\":1}\n]");
        assert!(document.is_none());
        assert_eq!(findings.errors[0].place, "x.json:2:12", "just after `16`");
        assert!(findings.render(false).contains("--> x.json:2:12"), "{}", findings.render(false));
    }

    #[test]
    fn numbers_that_json_does_not_have_are_told_by_name() {
        let (_, findings) = parse("[{\"latency_mean\": NaN}]");
        let hint = findings.errors[0].problem.hint.as_deref();
        assert_eq!(hint, Some("`NaN` is not a number of JSON; a figure that is missing is left out"));
        assert_eq!(findings.errors[0].place, "x.json:1:19");
    }

    #[test]
    fn a_key_that_stands_twice_is_noted_and_the_last_one_counts() {
        let (document, findings) = parse("[{\"a\": 1, \"a\": 2}]");
        assert_eq!(document.unwrap().root().items().next().unwrap().get("a").unwrap().value, &Value::from(2));
        assert_eq!(
            findings.notes[0].to_string(),
            "x.json:1:16: this key stands twice in its table; the last one counts"
        );
    }

    #[test]
    fn what_follows_the_document_is_an_error_too() {
        assert_eq!(parse("[] x").1.errors[0].place, "x.json:1:4");
        assert!(parse("").1.errors[0].problem.message.starts_with("this is not JSON"));
    }
}
