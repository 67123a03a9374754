//! `--set KEY=VALUE` and `OMNI_BENCH__KEY=VALUE`: one layer per assignment. A value takes the type of
//! the key it sets; what the key is comes from the schema and from the layers below.

use std::ops::Range;

use indexmap::IndexMap;

use super::files::Found;
use super::layer::{Layer, NAMED_LISTS, Origin};
use super::node::{Data, Mark, Node};
use super::shape::{Shape, Shapes};
use super::syntax::{self, check_depth, check_size, parse_toml_value, toml_value};
use crate::diagnostic::{KeyPath, Problem, SourceText, nearest};

const PREFIX: &str = "OMNI_BENCH__";

/// Adds a layer per assignment to `layers`: environment variables by name, then `--set` as given.
pub(super) fn assign(layers: &mut Vec<Layer>, env: &[(String, String)], set: &[String], shapes: &Shapes) -> Vec<Found> {
    let mut named: Vec<&(String, String)> = env.iter().filter(|(name, _)| name.starts_with(PREFIX)).collect();
    named.sort();
    let mut found = Vec::new();
    for (name, value) in named {
        let text = format!("{name}={value}");
        let source = SourceText { name: name.clone(), text };
        let steps = Step::split(name, PREFIX.len(), "__");
        one(layers, Origin::Environment, source, Some((steps, name.len() + 1)), shapes, &mut found);
    }
    for text in set {
        let source = SourceText { name: "--set".into(), text: text.clone() };
        let split = text.find('=').map(|equals| {
            let key = text.split_at_checked(equals).map_or("", |(key, _)| key);
            (Step::split(key, 0, "."), equals + 1)
        });
        one(layers, Origin::Set, source, split, shapes, &mut found);
    }
    found
}

/// One part of a key, and where it stands in the text.
struct Step {
    key: String,
    range: Range<usize>,
}

impl Step {
    /// Parts between separators; a part in double quotes may hold separators.
    fn split(text: &str, from: usize, separator: &str) -> Vec<Self> {
        let mut steps = Vec::new();
        let mut at = from;
        loop {
            let rest = text.split_at_checked(at).map_or("", |(_, rest)| rest);
            let quoted = rest.strip_prefix('"').and_then(|inner| inner.split_once('"')).map(|(key, _)| key);
            let length = match quoted {
                Some(key) => key.len() + 2,
                None => rest.find(separator).unwrap_or(rest.len()),
            };
            let key = quoted.unwrap_or_else(|| rest.split_at_checked(length).map_or("", |(key, _)| key)).trim();
            steps.push(Self { key: key.to_owned(), range: at..at + length });
            let after = rest.split_at_checked(length).map_or("", |(_, after)| after);
            // whatever follows a quoted part without a separator becomes a part of its own, and an unknown key
            at += length + if after.starts_with(separator) { separator.len() } else { 0 };
            if after.is_empty() {
                return steps;
            }
        }
    }
}

fn one(
    layers: &mut Vec<Layer>,
    origin: Origin,
    source: SourceText,
    split: Option<(Vec<Step>, usize)>,
    shapes: &Shapes,
    found: &mut Vec<Found>,
) {
    let index = layers.len();
    let whole = 0..source.text.len();
    let built = match split {
        None => Err(vec![(
            Problem::value(KeyPath::root(), "a setting is written KEY=VALUE, and this one has no `=`")
                .hint("for example `--set traffic.requests=20`"),
            whole,
        )]),
        Some((steps, _)) if steps.iter().any(|step| step.key.is_empty()) => {
            Err(vec![(Problem::key(KeyPath::root(), "the key has an empty part"), whole)])
        }
        Some((steps, value)) => Assignment { layers, origin, text: &source.text, index, shapes }.build(steps, value),
    };
    let root = match built {
        Ok(root) => root,
        Err(problems) => {
            found.extend(problems.into_iter().map(|(problem, range)| Found { problem, at: Some((index, range)) }));
            Node::empty_table()
        }
    };
    layers.push(Layer::new(origin, source, root));
}

struct Assignment<'a> {
    layers: &'a [Layer],
    origin: Origin,
    text: &'a str,
    index: usize,
    shapes: &'a Shapes,
}

type Faults = Vec<(Problem, Range<usize>)>;

impl Assignment<'_> {
    fn build(&self, mut steps: Vec<Step>, value_at: usize) -> Result<Node, Faults> {
        let mut shape = Some(self.shapes.root());
        let mut path = KeyPath::root();
        let mut below: Vec<&Node> = self.layers.iter().map(|layer| &layer.root).collect();
        for position in 0..steps.len() {
            let before: Vec<&str> = steps.iter().take(position).map(|step| step.key.as_str()).collect();
            let named = NAMED_LISTS.contains(&before.as_slice());
            let verbatim = before == ["server", "env"];
            let Some(step) = steps.get_mut(position) else { break };
            let existing: Vec<&str> = below
                .iter()
                .filter_map(|node| node.table())
                .flat_map(|table| table.keys().map(String::as_str))
                .collect();
            if self.origin == Origin::Environment {
                let known = if named { Vec::new() } else { shape.iter().flat_map(Shape::keys).collect() };
                let candidates = existing.iter().copied().chain(known);
                step.key = match_case(&step.key, candidates, verbatim);
            }
            path = path.key(&step.key);
            if position == 0 && step.key == "extends" {
                let problem = Problem::key(path, "`extends` can only be written in a file");
                return Err(vec![(problem, step.range.clone())]);
            }
            if named && !existing.contains(&step.key.as_str()) {
                return Err(vec![(no_entry(&path, &step.key, &existing), step.range.clone())]);
            }
            shape = shape.and_then(|shape| shape.step(&step.key));
            below = below.into_iter().filter_map(|node| node.get(&step.key)).collect();
        }
        let leaf = self.value(value_at, shape.as_ref(), below.last().copied()).map_err(|faults| {
            let problem = |fault: syntax::Fault| {
                let problem = Problem { hint: fault.hint, ..Problem::value(path.clone(), fault.message) };
                (problem, fault.range.unwrap_or(value_at..self.text.len()))
            };
            faults.into_iter().map(problem).collect::<Faults>()
        })?;
        Ok(self.nest(&steps, leaf))
    }

    /// The value, of the type that its key takes.
    fn value(&self, at: usize, shape: Option<&Shape<'_>>, existing: Option<&Node>) -> Result<Node, Vec<syntax::Fault>> {
        let text = self.text.split_at_checked(at).map_or("", |(_, value)| value);
        check_size(text).map_err(|fault| vec![fault])?;
        let plain = Node {
            data: Data::Text(text.to_owned()),
            mark: Some(Mark { layer: self.index, key: None, value: at..self.text.len() }),
        };
        // spaces around a value matter only to text
        let at = at + (text.len() - text.trim_start().len());
        let text = text.trim();
        let parsed = match parse_toml_value(text) {
            Ok(parsed) => parsed,
            // what cannot be text was meant as a value and is wrong as one
            Err(faults) if !shape.is_none_or(Shape::takes_text) && text.starts_with(['[', '{', '"', '\'']) => {
                let shift = |range: Range<usize>| range.start + at..range.end + at;
                return Err(faults.into_iter().map(|f| syntax::Fault { range: f.range.map(shift), ..f }).collect());
            }
            Err(_) => return Ok(plain),
        };
        let node = toml_value(&parsed, self.index, at)?;
        check_depth(&node).map_err(|fault| vec![fault])?;
        let stays_text = existing.is_some_and(|node| node.text().is_some()) && shape.is_none_or(Shape::is_anything);
        let wanted = shape.is_none_or(|shape| shape.takes(&node)) && !(stays_text && node.text().is_none());
        Ok(if wanted || !shape.is_none_or(Shape::takes_text) { node } else { plain })
    }

    fn nest(&self, steps: &[Step], leaf: Node) -> Node {
        let whole = |key| Mark { layer: self.index, key, value: 0..self.text.len() };
        steps.iter().rev().fold(leaf, |inner, step| {
            let value = inner.mark.as_ref().map_or(0..self.text.len(), |mark| mark.value.clone());
            let entry = Node { mark: Some(Mark { value, ..whole(Some(step.range.clone())) }), ..inner };
            Node { data: Data::Table(IndexMap::from([(step.key.clone(), entry)])), mark: Some(whole(None)) }
        })
    }
}

fn no_entry(path: &KeyPath, name: &str, existing: &[&str]) -> Problem {
    let list = path.parent();
    let problem = Problem::key(path.clone(), format!("`{list}` has no entry named `{name}`"));
    let names: Vec<&str> = existing.iter().copied().filter(|name| !name.starts_with('\0')).collect();
    match nearest(name, names.iter().copied()) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None if names.is_empty() => problem.hint("there are none"),
        None => problem.hint(format!("there are `{}`", names.join("`, `"))),
    }
}

/// The candidate that a part of a variable's name means: exactly, in another case, or with `_` for what a
/// variable's name cannot hold. A new key is written in lower case, unless it is itself a variable's name.
fn match_case<'a>(word: &str, candidates: impl Iterator<Item = &'a str>, verbatim: bool) -> String {
    let candidates: Vec<&str> = candidates.collect();
    let fold = |text: &str| text.to_ascii_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    let exact = candidates.iter().find(|candidate| **candidate == word);
    let cased = || candidates.iter().find(|candidate| candidate.eq_ignore_ascii_case(word));
    let folded = || candidates.iter().find(|candidate| fold(candidate) == fold(word));
    match exact.or_else(cased).or_else(folded) {
        Some(candidate) => (*candidate).to_owned(),
        None if verbatim => word.to_owned(),
        None => word.to_ascii_lowercase(),
    }
}
