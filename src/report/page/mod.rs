//! The dashboard page: eight sections, whose generated parts stand between markers.
//!
//! In: plan, results and [`PageFacts`], and the page as it is, if there is one. Out: the page. A new
//! page comes from a template; of an existing one only the generated parts change.

mod environment;
mod markers;
mod service;
mod workload;

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::markdown;
use super::text::inline;
use crate::plan::Plan;
use crate::record::RunManifest;
use crate::summarize::Results;

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
    /// Words of the command that starts each variant's server, by variant: what omni-bench ran, or
    /// for servers started by hand what gives this configuration. The page names those that are missing.
    pub launch: IndexMap<String, Vec<String>>,
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
    /// The built-in template is broken.
    #[error("the page template cannot be rendered: {0}")]
    Template(#[from] minijinja::Error),
}

const TEMPLATE: &str = include_str!("../page.md.j2");

/// The page. Without an existing page it is made from the template; of an existing one the generated
/// parts are replaced and every other byte is kept.
pub fn page(plan: &Plan, results: &Results, facts: &PageFacts, existing: Option<&str>) -> Result<String, PageError> {
    let parts = parts(plan, results, facts);
    match existing {
        Some(page) => markers::replace(page, &parts),
        None => create(plan, &parts),
    }
}

/// Every generated part by its name in the markers, in the page's order.
fn parts(plan: &Plan, results: &Results, facts: &PageFacts) -> IndexMap<&'static str, String> {
    IndexMap::from([
        ("overview", workload::overview(plan, results)),
        ("environment", environment::environment(plan, results, facts)),
        ("launch", service::launch(plan, facts)),
        ("parameters", service::parameters(plan)),
        ("entry", service::entry(plan, results, facts)),
        ("arguments", service::arguments(plan)),
        ("datasets", workload::datasets(plan)),
        ("metrics", workload::metrics(plan, results)),
        ("results", markdown::table(plan, results)),
        ("figures", markdown::figures(plan, results)),
        ("checklist", environment::checklist(plan, results, facts)),
    ])
    .into_iter()
    // a description must not be able to end its part
    .map(|(name, text)| (name, text.trim_end().replace(markers::PREFIX, "&lt;!-- omni-bench:")))
    .collect()
}

fn create(plan: &Plan, parts: &IndexMap<&'static str, String>) -> Result<String, PageError> {
    let mut environment = minijinja::Environment::new();
    environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
    let mut values: BTreeMap<&str, String> =
        parts.iter().map(|(name, text)| (*name, markers::wrap(name, text))).collect();
    values.insert("title", inline(&plan.title));
    // templates end without their last line break
    Ok(environment.render_str(TEMPLATE, values)? + "\n")
}
