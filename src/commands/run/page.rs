//! The copy of the dashboard page in the results folder.

use std::io;

use super::Job;
use crate::plan::{Plan, VariantPlan, serve_flags};
use crate::record::write_atomic;
use crate::report::{self, PageFacts};
use crate::server::{Words, server_words};
use crate::summarize::Results;

impl Job<'_> {
    /// Writes the page with these results, when the scenario has one. The scenario's own page is
    /// read, so that the copy has its prose, and never written.
    pub(super) fn write_page(&self, results: &Results) -> io::Result<()> {
        let (plan, dir) = (self.plan, self.dir);
        let Some(name) = &plan.page else { return Ok(()) };
        let mut manifests = Vec::new();
        for run in &plan.runs {
            manifests.extend(dir.run(&run.id).read_manifest().map_err(io::Error::other)?);
        }
        let facts = PageFacts {
            scenario_file: self.args.planning.scenario.scenario.display().to_string(),
            results_folder: dir.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
            manifests,
            launch: plan.variants.iter().map(|variant| (variant.name.clone(), launch(plan, variant))).collect(),
        };
        let path = self.planned.loaded.scenario.dashboard.as_ref().and_then(|dashboard| dashboard.page.as_deref());
        let existing = path.and_then(|path| fs_err::read_to_string(path).ok());
        let page = report::page(plan, results, &facts, existing.as_deref()).or_else(|error| {
            if existing.is_some() {
                self.ui.note(&format!("the page in the results folder is made anew: {error}"));
            }
            report::page(plan, results, &facts, None)
        });
        write_atomic(&dir.page(name), page.map_err(io::Error::other)?.as_bytes())
    }
}

/// The command that gives a variant's configuration.
fn launch(plan: &Plan, variant: &VariantPlan) -> Vec<String> {
    let port = variant.endpoint.url.as_deref().and_then(|url| url::Url::parse(url).ok()?.port_or_known_default());
    let words = Words { model: &plan.model, host: "127.0.0.1", port: port.unwrap_or(8091) };
    let configured = plan.server.as_ref().and_then(|server| server_words(server, variant, &words).ok());
    configured.unwrap_or_else(|| {
        let port = words.port.to_string();
        let serve = ["vllm", "serve", &plan.model, "--omni", "--port", &port].map(str::to_owned);
        serve.into_iter().chain(serve_flags(&variant.serve_args)).collect()
    })
}
