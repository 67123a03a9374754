//! The whole way from a file name to a scenario, or to all problems with their pictures.

use std::ops::Range;
use std::path::PathBuf;

use super::assign::assign;
use super::checks::check;
use super::defaults;
use super::files::{Files, Found};
use super::layer::{Layer, Origin, merge};
use super::model::Scenario;
use super::node::{Data, Mark, Node};
use super::read::read;
use super::secret;
use super::shape::Shapes;
use crate::diagnostic::{self, KeyPath, Located, Place, Problem, Segment, SourceText};

/// What to load.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// The scenario file, TOML or YAML by its extension.
    pub file: PathBuf,
    /// `KEY=VALUE` texts of `--set`, later ones winning.
    pub set: Vec<String>,
    /// The process environment; only variables that begin with `OMNI_BENCH__` matter.
    pub env: Vec<(String, String)>,
}

/// A scenario and where each of its values was written.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The scenario; path-valued keys are joined to the folder of the file that wrote them.
    pub scenario: Scenario,
    document: Node,
    layers: Vec<Layer>,
}

/// Why a scenario could not be loaded: every problem found.
#[derive(Debug, Clone)]
pub struct Broken {
    layers: Vec<Layer>,
    found: Vec<Found>,
}

/// One value of a scenario, as `explain` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub path: KeyPath,
    /// The value on one line, as TOML would write it; for a default, its documented text.
    pub value: String,
    /// `default`, the file's name, `env NAME` or `--set`.
    pub layer: String,
}

/// Reads a scenario: its file, what that extends, the environment, the settings.
pub fn load(options: &LoadOptions) -> Result<Loaded, Broken> {
    finish(Files::read(&options.file), &options.env, &options.set)
}

/// Reads a scenario whose text is in hand, under this name in messages: YAML if the name ends so, else
/// TOML. Paths in it stay as they are, which makes them relative to the working folder.
pub fn load_text(name: &str, text: &str, env: &[(String, String)]) -> Result<Loaded, Broken> {
    finish(Files::of_text(name, text), env, &[])
}

fn finish(files: Files, env: &[(String, String)], set: &[String]) -> Result<Loaded, Broken> {
    let Files { mut layers, mut found, unread } = files;
    let mut document = Node::empty_table();
    let mut scenario = Scenario::default();
    if !unread {
        found.extend(assign(&mut layers, env, set, &Shapes::new()));
        let (read_scenario, problems) = match merge(&layers) {
            Ok(merged) => {
                document = merged;
                let (scenario, mut problems) = read(&document);
                problems.extend(check(&document));
                (scenario, problems)
            }
            Err(error) => (Scenario::default(), vec![Problem::value(KeyPath::root(), error)]),
        };
        scenario = read_scenario;
        found.extend(problems.into_iter().map(|problem| {
            let at = place(&document, &problem.path, problem.place);
            Found { problem, at }
        }));
    }
    secret::mask(&mut layers);
    if found.is_empty() {
        trim_slashes(&mut scenario);
        return Ok(Loaded { scenario, document, layers });
    }
    // in the order of reading; a file that is reached twice tells its problems once
    found.sort_by_key(|found| found.at.as_ref().map_or((usize::MAX, 0), |(layer, range)| (*layer, range.start)));
    let mut told = Vec::new();
    found.retain(|found| {
        let key =
            (found.problem.clone(), found.at.as_ref().map(|(layer, range)| (name_of(&layers, *layer), range.clone())));
        let new = !told.contains(&key);
        told.push(key);
        new
    });
    Err(Broken { layers, found })
}

fn name_of(layers: &[Layer], index: usize) -> Option<(String, String)> {
    layers.get(index).map(|layer| (layer.source.name.clone(), layer.source.text.clone()))
}

/// `http://host/` and `http://host` are one address; later stages append paths to the second.
fn trim_slashes(scenario: &mut Scenario) {
    let variants = scenario.variants.iter_mut().filter_map(|variant| variant.endpoint.as_mut());
    for endpoint in variants.chain([&mut scenario.endpoint]) {
        if let Some(url) = &mut endpoint.url {
            url.truncate(url.trim_end_matches('/').len());
        }
    }
}

/// Where an entry was written; for one that was not, where the nearest entry around it was.
fn place(document: &Node, path: &KeyPath, place: Place) -> Option<(usize, Range<usize>)> {
    let (exact, mark) = nearest_mark(document, path)?;
    let range = match (exact, place, &mark.key) {
        (true, Place::Value, _) | (_, _, None) => &mark.value,
        (_, _, Some(key)) => key,
    };
    Some((mark.layer, range.clone()))
}

fn nearest_mark<'a>(document: &'a Node, path: &KeyPath) -> Option<(bool, &'a Mark)> {
    let mut path = path.clone();
    let mut exact = true;
    while !path.segments().is_empty() {
        if let Some(mark) = document.at(&path).and_then(|node| node.mark.as_ref()) {
            return Some((exact, mark));
        }
        path = path.parent();
        exact = false;
    }
    None
}

impl Loaded {
    /// Pictures of problems that later stages found.
    pub fn render(&self, problems: &[Problem], color: bool) -> String {
        let located: Vec<Located<'_>> =
            problems.iter().map(|problem| Located { problem, at: self.locate(&problem.path, problem.place) }).collect();
        diagnostic::render(&located, color)
    }

    /// Where an entry was written; for one that was not, where the nearest entry around it was.
    pub fn locate(&self, path: &KeyPath, wanted: Place) -> Option<(&SourceText, Range<usize>)> {
        let (layer, range) = place(&self.document, path, wanted)?;
        Some((&self.layers.get(layer)?.source, range))
    }

    /// Every value that was written and every documented default that applies, in the document's order.
    /// Texts of defaults that depend on something else are words.
    pub fn entries(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        self.collect(&self.document, &KeyPath::root(), &mut entries);
        let default = |(path, value): (KeyPath, &str)| Entry { path, value: value.to_owned(), layer: "default".into() };
        entries.extend(defaults::absent(&self.document).map(default));
        // a table's defaults stand with its values
        let mut tables: Vec<Option<Segment>> = Vec::new();
        for entry in &entries {
            let table = entry.path.segments().first().cloned();
            if !tables.contains(&table) {
                tables.push(table);
            }
        }
        entries.sort_by_key(|entry| tables.iter().position(|table| table.as_ref() == entry.path.segments().first()));
        entries
    }

    /// Lists of plain values are one entry; tables and lists of tables are opened.
    fn collect(&self, node: &Node, path: &KeyPath, entries: &mut Vec<Entry>) {
        match &node.data {
            Data::Table(table) if !table.is_empty() => {
                table.iter().for_each(|(key, node)| self.collect(node, &path.key(key), entries));
            }
            Data::List(list) if list.iter().any(|node| node.table().is_some()) => {
                list.iter().enumerate().for_each(|(index, node)| self.collect(node, &path.index(index), entries));
            }
            _ if path.segments().is_empty() => {}
            _ => {
                let layer = node.mark.as_ref().and_then(|mark| self.layers.get(mark.layer));
                let scenario = || self.layers.iter().rfind(|layer| layer.origin == Origin::File);
                let layer = layer.or_else(scenario).map(Layer::label).unwrap_or_default();
                let pasted = node.text().is_some_and(|text| !secret::is_environment_name(text));
                let hidden = pasted && secret::is_secret(path);
                let value = if hidden { "(not shown)".to_owned() } else { node.to_string() };
                entries.push(Entry { path: path.clone(), value, layer });
            }
        }
    }
}

impl Broken {
    /// Pictures of all problems.
    pub fn render(&self, color: bool) -> String {
        let located: Vec<Located<'_>> = self
            .found
            .iter()
            .map(|found| {
                let at = found.at.as_ref();
                let at = at.and_then(|(layer, range)| Some((&self.layers.get(*layer)?.source, range.clone())));
                Located { problem: &found.problem, at }
            })
            .collect();
        diagnostic::render(&located, color)
    }

    /// The problems, in the order they are drawn.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.found.iter().map(|found| &found.problem)
    }
}
