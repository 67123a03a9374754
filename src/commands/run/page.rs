//! The copy of the dashboard page in the results folder.

use std::io;
use std::path::Path;

use super::super::charts::Charts;
use super::super::{dashboard, stored};
use super::Job;
use crate::record::write_atomic;
use crate::report::{self, PageSettings};
use crate::summarize::Results;

impl Job<'_> {
    /// Writes the page with these results, when the scenario has one. The scenario's own page is
    /// read, so that the copy has its prose, and never written.
    pub(super) fn write_page(&self, results: &Results) -> io::Result<()> {
        let (plan, dir) = (self.plan, self.dir);
        let Some(name) = &plan.page else {
            return self.write_charts(results, &dir.path().join("results.md")).map(drop);
        };
        let mut manifests = Vec::new();
        for run in &plan.runs {
            manifests.extend(dir.run(&run.id).read_manifest().map_err(io::Error::other)?);
        }
        let scenario = &self.planned.loaded.scenario;
        let folder = dir.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let environments = stored::environments(dir, &manifests).map_err(io::Error::other)?;
        let file = &self.args.planning.scenario.scenario;
        let facts = dashboard::facts(file, plan, (dir, &folder), manifests, environments);
        // the scenario was checked before anything ran; the template may have gone since
        let mut settings = dashboard::settings(scenario).unwrap_or_else(|problems| {
            for problem in problems {
                self.ui.note(&format!("the page in the results folder goes without: {}", problem.message));
            }
            PageSettings::default()
        });
        let charts = self.write_charts(results, &dir.page(name))?;
        settings.charts = charts.map(|charts| charts.of_page()).unwrap_or_default();
        let path = scenario.dashboard.as_ref().and_then(|dashboard| dashboard.page.as_deref());
        let existing = path.and_then(|path| fs_err::read_to_string(path).ok());
        let made = |existing| report::page_with(plan, results, &facts, &settings, existing);
        let page = made(existing.as_deref()).or_else(|error| {
            if existing.is_some() {
                self.ui.note(&format!("the page in the results folder is made anew: {error}"));
            }
            made(None)
        });
        match page {
            Ok(page) => write_atomic(&dir.page(name), page.as_bytes()),
            // the numbers are written already; a table that asks for what they do not have costs none of them
            Err(error) => {
                self.ui.error(&format!("there is no page in the results folder: {error}"));
                Ok(())
            }
        }
    }

    /// Draws the charts beside the page; a picture that cannot be drawn costs none of the numbers.
    fn write_charts(&self, results: &Results, page: &Path) -> io::Result<Option<Charts>> {
        let charts = match Charts::draw(self.plan, results, self.dir, page) {
            Ok(charts) => charts,
            Err(error) => {
                self.ui.error(&format!("there are no charts in the results folder: {error}"));
                return Ok(None);
            }
        };
        charts.write(page)?;
        Ok(Some(charts))
    }
}
