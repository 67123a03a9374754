//! What reports are made from: the plan, the numbers and the manifests of one results folder.

use crate::plan::Plan;
use crate::record::RunManifest;
use crate::summarize::Results;

/// One results folder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    /// Name of the folder; it tells several apart.
    pub(crate) name: &'a str,
    /// The plan.
    pub(crate) plan: &'a Plan,
    /// The numbers.
    pub(crate) results: &'a Results,
    /// `run.json` of the runs.
    pub(crate) manifests: &'a [RunManifest],
    /// Path from the page to the folder, ending in `/` or empty, when rows link to their summaries.
    pub(crate) links: Option<&'a str>,
}

impl<'a> Source<'a> {
    /// Plan and results by themselves, without a folder.
    pub(crate) const fn unnamed(plan: &'a Plan, results: &'a Results) -> Self {
        Self { name: "", plan, results, manifests: &[], links: None }
    }
}
