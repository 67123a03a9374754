//! vLLM-Omni's perf JSON (`tests/dfx/perf`) → scenarios, one for each group of entries that one
//! scenario can express (same model, task, endpoint, warm-up, SLO and seed of the random draws), and
//! the figures of the baselines. Follows the runner that reads these files, with its defaults written
//! out; what it does without a word becomes a note.

mod assemble;
mod baseline;
mod cases;
mod dataset;
mod entry;
mod inline;
mod keys;
mod lint;
mod matrix;
mod server;
mod sweep;
mod tolerance;

use indexmap::IndexMap;

use super::document::{Document, Findings};
use crate::units::Rate;

/// What a file became.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The scenarios, in the order of their first entries.
    pub scenarios: Vec<ImportedScenario>,
}

/// A scenario with what belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedScenario {
    /// Its name, also that of its files.
    pub name: String,
    /// Its text, TOML.
    pub text: String,
    /// Data files that it names, by path beside it.
    pub files: IndexMap<String, String>,
    /// Every run that the perf JSON asks for, with its baselines.
    pub points: Vec<PerfPoint>,
}

/// One run of the perf JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct PerfPoint {
    /// Variant of the scenario.
    pub variant: String,
    /// Dataset of the scenario.
    pub dataset: String,
    /// Arrivals per second.
    pub request_rate: Rate,
    /// Cap on requests in flight.
    pub max_concurrency: u32,
    /// Measured requests.
    pub requests: u64,
    /// Figures by hardware label.
    pub figures: IndexMap<String, PointFigures>,
}

impl PerfPoint {
    /// Whether the two are one run of a plan.
    fn is_same_run(&self, other: &Self) -> bool {
        let run = |point: &Self| (point.request_rate, point.max_concurrency, point.requests);
        self.variant == other.variant && self.dataset == other.dataset && run(self) == run(other)
    }
}

/// Figures of one run on one hardware, by the names of `results.json`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PointFigures {
    /// Value by metric; `None` is a figure that is there but cannot be used, with the reason.
    pub values: IndexMap<&'static str, Result<f64, String>>,
}

/// Reads a perf JSON. `stem` names the scenarios; `read` gives the text of a file that a `$ref` names,
/// relative to the folder of the perf JSON, or why it cannot be read.
///
/// `None` when the findings hold an error.
pub fn vllm_omni_perf(
    name: &str,
    stem: &str,
    text: &str,
    read: &dyn Fn(&str) -> Result<String, String>,
    findings: &mut Findings,
) -> Option<Imported> {
    let before = findings.errors.len();
    let document = Document::parse(name, text, findings)?;
    let references = cases::references(&document.root(), read, findings);
    let cases = cases::read(&document.root(), &references, findings);
    let runs = assemble::groups(&cases, findings);
    let scenarios = assemble::scenarios(name, stem, &cases, runs, findings);
    (findings.errors.len() == before).then_some(Imported { scenarios })
}
