//! The HTML report: one file that needs nothing else and calls nobody.
//!
//! In: plan, results, records, and what other parts made of them. Out: the page, rendered by minijinja
//! with escaping on; only charts and the parts that other modules hand over ready are taken as they
//! are. A policy in the page forbids it every connection. Sections without data are left out, and the
//! same input gives the same bytes. Reads and writes no files.

mod grid;
mod overview;
mod plan;
mod request;
mod run;

use base64_simd::STANDARD;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use self::grid::Grid;
use self::run::RunView;
use super::caption;
use super::chart::{self, Budget, Chart, ChartError};
use super::page::{PageFacts, environment_table};
use super::text::inline;
use crate::plan::Plan;
use crate::record::{Record, TelemetrySample};
use crate::summarize::Results;

/// What the report is made from.
#[derive(Clone, Copy)]
pub struct HtmlInput<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Its results.
    pub results: &'a Results,
    /// Manifests, the folder's name, and what else a page tells of the environment.
    pub facts: &'a PageFacts,
    /// The records of a run by its id; asked once per run.
    pub records: &'a dyn Fn(&str) -> Vec<Record>,
    /// What its server and GPUs did; asked once per run.
    pub telemetry: &'a dyn Fn(&str) -> Vec<TelemetrySample>,
    /// How figures went over time, as HTML that is safe to show as it is.
    pub trend: Option<&'a str>,
    /// Comparisons, each as HTML that is safe to show as it is.
    pub comparison: &'a [String],
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum HtmlError {
    /// A chart cannot be drawn.
    #[error(transparent)]
    Chart(#[from] ChartError),
    /// The built-in template is broken.
    #[error("the report's template cannot be rendered: {0}")]
    Template(#[from] minijinja::Error),
}

const TEMPLATE: &str = include_str!("report.html.j2");
const CSS: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// What the template is filled with.
#[derive(Serialize)]
struct Page<'a> {
    title: String,
    lead: String,
    description: Option<String>,
    simulated: Option<String>,
    caption: String,
    /// Anchors and names of the sections that are there.
    sections: Vec<[&'static str; 2]>,
    tiles: Vec<(&'static str, String)>,
    doubts: Vec<Grid>,
    runs: Grid,
    charts: Vec<ChartView>,
    comparison: &'a [String],
    trend: Option<&'a str>,
    details: Vec<RunView>,
    plan_facts: Vec<(&'static str, String)>,
    plan_tables: Vec<Grid>,
    plan_json: String,
    environment: Grid,
    version: &'a str,
    plan_hash: &'a str,
    folder: &'a str,
    css: &'static str,
    chart_style: String,
    script: &'static str,
    script_hash: String,
}

/// A chart within the page, which holds the style sheet of all charts once.
#[derive(Debug, Clone, Serialize)]
struct ChartView {
    title: String,
    svg: String,
}

fn views(charts: Vec<Chart>) -> Vec<ChartView> {
    let style = chart::style();
    charts.into_iter().map(|chart| ChartView { title: chart.title, svg: chart.svg.replace(&style, "") }).collect()
}

/// The report.
pub fn html(input: &HtmlInput<'_>) -> Result<String, HtmlError> {
    let page = page(input)?;
    let mut environment = minijinja::Environment::new();
    environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
    // the ending of the name switches escaping on
    environment.add_template("report.html", TEMPLATE)?;
    // templates end without their last line break
    Ok(environment.get_template("report.html")?.render(minijinja::value::Serde(page))? + "\n")
}

fn page<'a>(input: &HtmlInput<'a>) -> Result<Page<'a>, ChartError> {
    let HtmlInput { plan, results, facts, records, telemetry, trend, comparison } = *input;
    let budget = Budget::of(results.runs.len());
    let mut details = Vec::new();
    for (place, run) in results.runs.iter().enumerate() {
        let (records, samples) = (records(&run.id), telemetry(&run.id));
        let charts = views(chart::of_run(plan, results, run, (&records, &samples), budget)?);
        details.push(RunView::of(run, &records, charts, place, results.runs.len()));
    }
    let mut page = Page {
        title: inline(&plan.title),
        lead: overview::lead(plan),
        description: plan.description.as_deref().map(inline),
        simulated: caption::simulated(results),
        caption: caption::caption(plan, results),
        sections: Vec::new(),
        tiles: overview::tiles(results),
        doubts: overview::doubts(results),
        runs: overview::runs(plan, results, &details),
        charts: views(chart::comparing(plan, results)?),
        comparison,
        trend,
        details,
        plan_facts: plan::facts(plan),
        plan_tables: plan::tables(plan),
        plan_json: plan::stored(plan),
        environment: Grid::of("Environment", &environment_table(plan, results, facts)),
        version: &plan.tool_version,
        plan_hash: &plan.plan_hash,
        folder: &facts.results_folder,
        css: CSS,
        chart_style: chart::style(),
        script: SCRIPT,
        script_hash: script_hash(),
    };
    page.sections = sections(&page);
    Ok(page)
}

/// The sections that have something to show, in the template's order.
fn sections(page: &Page<'_>) -> Vec<[&'static str; 2]> {
    let all = [
        ("summary", "Summary", true),
        ("validity", "Validity and warnings", !page.doubts.is_empty()),
        ("runs", "Runs", !page.runs.rows.is_empty()),
        ("charts", "Charts", !page.charts.is_empty()),
        ("comparison", "Comparison", !page.comparison.is_empty()),
        ("trend", "Trend", page.trend.is_some()),
        ("requests", "Requests by run", !page.details.is_empty()),
        ("plan", "Plan", true),
        ("environment", "Environment", true),
    ];
    all.into_iter().filter(|(.., there)| *there).map(|(anchor, name, _)| [anchor, name]).collect()
}

/// The hash by which the page's policy knows its one script.
fn script_hash() -> String {
    format!("sha256-{}", STANDARD.encode_to_string(Sha256::digest(SCRIPT)))
}
