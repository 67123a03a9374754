//! The dashboard page: eight sections, whose generated parts stand between markers.
//!
//! In: plan, results and [`PageFacts`], and the page as it is, if there is one. Out: the page. A new
//! page comes from a template; of an existing one only the generated parts change.

mod adopt;
mod environment;
mod machine;
mod markers;
mod sandbox;
mod service;
mod workload;

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_json::{Map, Value as Json, json};

use super::escape::{link_text, prose};
use super::markdown;
use super::query::{self, Query, QueryError};
use super::source::Source;
use super::table::Table;
use super::whole::{Titled, nothing};
use crate::catalog::TableKind;
use crate::plan::Plan;
use crate::record::{Environment, RunManifest, Verified};
use crate::summarize::Results;

pub(crate) use adopt::adopt;
pub(crate) use environment::table as environment_table;
pub use markers::MarkerProblem;

/// What a page tells beyond plan and results.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PageFacts {
    /// The scenario file, as the user typed it.
    pub scenario_file: String,
    /// Name of the results folder.
    pub results_folder: String,
    /// `run.json` of the runs.
    pub manifests: Vec<RunManifest>,
    /// `environment.json` of the servers, in the order of their first runs.
    pub environments: Vec<Environment>,
    /// Words of the command that starts each variant's server, by variant: what omni-bench ran, or
    /// for servers started by hand what gives this configuration. The page names those that are missing.
    pub launch: IndexMap<String, Vec<String>>,
    /// What the checks of each variant's servers came to, by variant.
    pub verified: IndexMap<String, Vec<Verified>>,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The existing page's markers do not fit together.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Markers(Vec<MarkerProblem>),
    /// The existing page has no generated part, so there is nothing to replace.
    #[error("the page has no `<!-- omni-bench:begin … -->` marker, so nothing in it can be replaced")]
    NoMarkers,
    /// The template is broken.
    #[error("the page template cannot be rendered: {0}")]
    Template(#[from] minijinja::Error),
    /// A table asks for something that the results do not have.
    #[error("{}", .errors.iter().map(|error| error.message.as_str()).collect::<Vec<_>>().join("; "))]
    Table {
        /// Which of the scenario's tables, from 0.
        place: usize,
        /// What it asks for.
        errors: Vec<QueryError>,
    },
}

const TEMPLATE: &str = include_str!("../page.md.j2");

/// A table that the scenario adds to its page.
#[derive(Debug, Clone)]
pub(crate) struct PageTable {
    /// Name in the markers.
    pub(crate) name: String,
    /// Heading in a new page.
    pub(crate) title: String,
    /// Which table.
    pub(crate) kind: TableKind,
    /// Its rows and columns.
    pub(crate) query: Query,
}

/// A chart that stands in a file beside the page.
#[derive(Debug, Clone)]
pub(crate) struct PageChart {
    /// What it shows.
    pub(crate) title: String,
    /// Path from the page, with `/`.
    pub(crate) path: String,
}

/// What a scenario says about its page.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageSettings {
    /// Name and text of the template of a new page; the built-in one when there is none.
    pub(crate) template: Option<(String, String)>,
    /// Further tables.
    pub(crate) tables: Vec<PageTable>,
    /// Charts to show.
    pub(crate) charts: Vec<PageChart>,
    /// Path from the page to the results folder, when rows link to their summaries.
    pub(crate) links: Option<String>,
}

/// Names of the parts that every page can have, in the order of the sections.
pub(crate) const PARTS: [&str; 12] = [
    "overview",
    "environment",
    "launch",
    "parameters",
    "entry",
    "arguments",
    "datasets",
    "metrics",
    "results",
    "figures",
    "charts",
    "checklist",
];

/// The page. Without an existing page it is made from the template; of an existing one the generated
/// parts are replaced and every other byte is kept.
pub fn page(plan: &Plan, results: &Results, facts: &PageFacts, existing: Option<&str>) -> Result<String, PageError> {
    let settings = PageSettings::default();
    page_with(plan, results, facts, &settings, existing)
}

/// The page with what its scenario says about it.
pub(crate) fn page_with(
    plan: &Plan,
    results: &Results,
    facts: &PageFacts,
    settings: &PageSettings,
    existing: Option<&str>,
) -> Result<String, PageError> {
    let parts = parts(plan, results, facts, settings)?;
    match existing {
        Some(page) => markers::replace(page, &parts.with_sentences()),
        None => create(plan, settings, &parts),
    }
}

/// Tables of the settings that have no markers in the page, and therefore do not show.
pub(crate) fn without_markers<'a>(page: &str, settings: &'a PageSettings) -> Vec<&'a str> {
    let names = markers::names(page);
    let tables = settings.tables.iter().map(|table| table.name.as_str());
    tables.filter(|name| !names.iter().any(|other| other == name)).collect()
}

/// Every generated part by its name in the markers, in the page's order; empty when there is nothing to
/// show, with the sentence that then says so.
struct Parts {
    texts: IndexMap<String, String>,
    sentences: BTreeMap<String, String>,
}

impl Parts {
    fn add(&mut self, name: &str, text: &str) {
        // a description must not be able to end its part
        let text = text.trim_end().replace(markers::PREFIX, "&lt;!-- omni-bench:");
        self.texts.insert(name.to_owned(), text);
    }

    fn add_table(&mut self, name: &str, kind: TableKind, table: &Table, source: Source<'_>) {
        let titled = Titled { kind, title: kind.title().into(), table, sources: &[source] };
        self.add(name, &if table.rows.is_empty() { String::new() } else { titled.markdown() });
        self.sentences.insert(name.to_owned(), format!("No table: {}.", nothing(kind)));
    }

    /// For a page that has markers for all: markers with nothing between them would look forgotten.
    fn with_sentences(&self) -> IndexMap<String, String> {
        let shown = |(name, text): (&String, &String)| {
            let sentence = self.sentences.get(name).filter(|_| text.is_empty());
            (name.clone(), sentence.unwrap_or(text).clone())
        };
        self.texts.iter().map(shown).collect()
    }
}

fn parts(plan: &Plan, results: &Results, facts: &PageFacts, settings: &PageSettings) -> Result<Parts, PageError> {
    let mut parts = Parts { texts: IndexMap::new(), sentences: BTreeMap::new() };
    let source = Source {
        name: &facts.results_folder,
        manifests: &facts.manifests,
        links: settings.links.as_deref(),
        ..Source::unnamed(plan, results)
    };
    for name in PARTS {
        let text = match name {
            "overview" => workload::overview(plan, results),
            "environment" => environment::environment(plan, results, facts),
            "launch" => service::launch(plan, facts),
            "parameters" => service::parameters(plan),
            "entry" => service::entry(plan, results, facts),
            "arguments" => service::arguments(plan),
            "datasets" => workload::datasets(plan),
            "metrics" => workload::metrics(plan, results),
            "results" => markdown::table(source),
            "figures" => markdown::figures(plan, results),
            "charts" => charts(&settings.charts),
            _ => environment::checklist(plan, results, facts),
        };
        parts.add(name, &text);
    }
    parts.sentences.insert("charts".to_owned(), "No charts: nothing to draw.".to_owned());
    // every kind can be put into a page by its name alone
    for kind in TableKind::ALL.iter().copied().filter(|kind| *kind != TableKind::Results) {
        parts.add_table(kind.name(), kind, &query::standard(kind, &[source]), source);
    }
    for (place, table) in settings.tables.iter().enumerate() {
        let rows = query::tabulate(&table.query, &[source]).map_err(|errors| PageError::Table { place, errors })?;
        parts.add_table(&table.name, table.kind, &rows, source);
    }
    Ok(parts)
}

/// The charts as images, each a paragraph.
fn charts(charts: &[PageChart]) -> String {
    let image = |chart: &PageChart| format!("![{}](<{}>)", link_text(&chart.title), chart.path);
    charts.iter().map(image).collect::<Vec<_>>().join("\n\n")
}

fn create(plan: &Plan, settings: &PageSettings, parts: &Parts) -> Result<String, PageError> {
    let wrapped = |name: &str| match parts.texts.get(name) {
        Some(text) if !text.is_empty() => markers::wrap(name, text),
        _ => String::new(),
    };
    let named: Map<String, Json> = parts.texts.keys().map(|name| (name.clone(), wrapped(name).into())).collect();
    let entry =
        |table: &PageTable| json!({ "name": table.name, "title": prose(&table.title), "text": wrapped(&table.name) });
    let own = |table: &&PageTable| table.name != "results" && !wrapped(&table.name).is_empty();
    let mut values = named.clone();
    values.insert("title".to_owned(), prose(&plan.title).into());
    values.insert("tables".to_owned(), settings.tables.iter().filter(own).map(entry).collect());
    values.insert("parts".to_owned(), Json::Object(named));
    let (name, template) = settings
        .template
        .as_ref()
        .map_or(("the built-in template", TEMPLATE), |(name, template)| (name.as_str(), template.as_str()));
    let page = sandbox::render(name, template, minijinja::value::Serde(values).into())?;
    // templates end without their last line break
    let page = if page.ends_with('\n') { page } else { page + "\n" };
    // what the template made of the markers is held to what a later run expects of them
    markers::replace(&page, &parts.with_sentences())
}
