//! Charts as SVG files beside a page: `NAME.md` has its charts in `NAME-charts/`.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

use super::stored::{self, telemetry};
use crate::plan::Plan;
use crate::record::{Record, ResultsDir, TelemetrySample, write_atomic};
use crate::report::{self, Chart, PageChart};
use crate::summarize::Results;

/// Most charts that a page shows; all of them are files.
const SHOWN: usize = 12;

/// The charts of a results folder.
pub(super) struct Charts {
    /// Name of their folder, beside the page.
    folder: String,
    charts: Vec<Chart>,
}

impl Charts {
    /// Draws everything that has data. `page` is the file that the charts will stand beside.
    pub(super) fn draw(plan: &Plan, results: &Results, dir: &ResultsDir, page: &Path) -> io::Result<Self> {
        let stem = page.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let charts = with_files(dir, |records, telemetry| report::charts(plan, results, records, telemetry))?;
        Ok(Self { folder: format!("{stem}-charts"), charts: charts.map_err(io::Error::other)? })
    }

    /// What the page shows: charts that compare runs come first.
    pub(super) fn of_page(&self) -> Vec<PageChart> {
        let shown = self.charts.iter().take(SHOWN);
        shown.map(|chart| PageChart { title: chart.title.clone(), path: self.relative(chart) }).collect()
    }

    /// Files that are not there, or not as they would be.
    pub(super) fn stale(&self, page: &Path) -> Vec<PathBuf> {
        let files = self.charts.iter().map(|chart| (self.file(page, chart), chart));
        let differs =
            |(file, chart): &(PathBuf, &Chart)| fs_err::read(file).map_or(true, |there| there != chart.svg.as_bytes());
        files.filter(differs).map(|(file, _)| file).collect()
    }

    /// Writes the files that are not as they should be; how many those were.
    pub(super) fn write(&self, page: &Path) -> io::Result<usize> {
        let stale = self.stale(page);
        if let Some(folder) = stale.first().and_then(|file| file.parent()) {
            fs_err::create_dir_all(folder)?;
        }
        for chart in &self.charts {
            let file = self.file(page, chart);
            if stale.contains(&file) {
                write_atomic(&file, chart.svg.as_bytes())?;
            }
        }
        Ok(stale.len())
    }

    fn relative(&self, chart: &Chart) -> String {
        format!("{}/{}.svg", self.folder, chart.name)
    }

    fn file(&self, page: &Path, chart: &Chart) -> PathBuf {
        page.parent().unwrap_or(Path::new("")).join(&self.folder).join(format!("{}.svg", chart.name))
    }
}

/// Hands over the records and the telemetry of runs by id; the first file that cannot be read is the error.
pub(super) fn with_files<T>(
    dir: &ResultsDir,
    work: impl FnOnce(&dyn Fn(&str) -> Vec<Record>, &dyn Fn(&str) -> Vec<TelemetrySample>) -> T,
) -> io::Result<T> {
    let unreadable = RefCell::new(None);
    let or_nothing = |error: io::Error| {
        unreadable.borrow_mut().get_or_insert(error);
    };
    let records = |run: &str| {
        let journal = stored::journal::<Record>(&dir.run(run).records());
        journal.map(|journal| journal.items).map_err(or_nothing).unwrap_or_default()
    };
    let telemetry = |run: &str| {
        let manifest = dir.run(run).read_manifest().map_err(io::Error::other);
        let samples = manifest.and_then(|found| found.map_or_else(|| Ok(Vec::new()), |found| telemetry(dir, &found)));
        samples.map_err(or_nothing).unwrap_or_default()
    };
    let done = work(&records, &telemetry);
    match unreadable.into_inner() {
        Some(error) => Err(error),
        None => Ok(done),
    }
}
