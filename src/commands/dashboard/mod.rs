//! `dashboard`: stored results → the generated parts of the scenario's page; its prose stays.

mod adopting;
mod facts;
mod tables;

use std::path::{Path, PathBuf};

use super::Ui;
use super::charts::Charts;
use super::failure::Failure;
use super::load::load;
use super::stored::{self, Stored};
use crate::cli::{Allowance, DashboardArgs};
use crate::diagnostic::{KeyPath, Problem};
use crate::exit::Exit;
use crate::record::write_atomic;
use crate::report::{self, PageError, PageSettings};
use crate::scenario::Loaded;
use crate::units::SafeName;

pub(super) use facts::facts;
pub(super) use tables::{problems, settings};

/// Folder of all results, as `run` has it.
const RESULTS: &str = "results";

pub(super) fn run(args: &DashboardArgs, ui: Ui) -> Exit {
    let loaded = match load(&args.scenario, ui) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    match carry_out(args, &loaded, ui) {
        Ok(exit) => exit,
        Err(Stop::Failure(failure)) => failure.tell(ui),
        Err(Stop::Problems(problems)) => {
            Ui::talk(&loaded.render(&problems, ui.color));
            Exit::Usage
        }
    }
}

/// What ends the command early.
enum Stop {
    Failure(Failure),
    /// Something in the scenario.
    Problems(Vec<Problem>),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

fn carry_out(args: &DashboardArgs, loaded: &Loaded, ui: Ui) -> Result<Exit, Stop> {
    let file = page_file(loaded).map_err(|problem| Stop::Problems(vec![problem]))?;
    let mut settings = settings(&loaded.scenario).map_err(Stop::Problems)?;
    let existing = existing(&file)?;
    let page = Page { args, file: &file, existing: existing.as_deref(), ui };
    if args.adopt {
        return Ok(adopting::adopt(&page, &settings)?);
    }
    let Some(name) = loaded.scenario.name.as_deref() else {
        return Err(Stop::Problems(vec![Problem::value(
            "name",
            "the scenario needs a `name`, by which its results are found",
        )]));
    };
    let stored = results(args, name)?;
    settings.links = settings.links.is_some().then(|| facts::link_base(&file, &stored));
    let charts = Charts::draw(&stored.plan, &stored.results, &stored.dir, &file).map_err(Failure::results)?;
    settings.charts = charts.of_page();
    let text = page.made(&stored, &settings).map_err(|error| page.refused(error))?;
    for name in report::without_markers(&text, &settings) {
        ui.note(&format!(
            "`{}` has no markers for the table `{name}`; it is shown where you write `<!-- omni-bench:begin {name} -->` and \
             `<!-- omni-bench:end {name} -->`",
            file.display()
        ));
    }
    let charted = page.put_charts(&charts)?;
    let put = page.put(&text)?;
    Ok(if put == Exit::Fine { charted } else { put })
}

/// The page that the scenario names.
fn page_file(loaded: &Loaded) -> Result<PathBuf, Problem> {
    let page = loaded.scenario.dashboard.as_ref().and_then(|dashboard| dashboard.page.as_ref());
    let missing = || {
        let hint = "write `page = \"dashboards/name.md\"` in `[dashboard]`; it is relative to the scenario";
        Problem::key(KeyPath::root().key("dashboard").key("page"), "the scenario names no page").hint(hint)
    };
    page.map(PathBuf::from).ok_or_else(missing)
}

/// The text of the page; `None` when there is none yet.
fn existing(file: &Path) -> Result<Option<String>, Failure> {
    match fs_err::read(file) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Failure::results(format!("`{}` is not UTF-8 at byte {at}, so it is left alone", file.display()))
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::results(error)),
    }
}

/// The results to show: those that were named, or the scenario's latest.
fn results(args: &DashboardArgs, name: &str) -> Result<Stored, Failure> {
    let latest = || Path::new(RESULTS).join(SafeName::lossy(name).as_str()).join("latest");
    let folder = args.results.clone().unwrap_or_else(latest);
    if args.results.is_none() && !folder.exists() {
        let folder = folder.display();
        let text =
            format!("`{name}` has no results yet: `{folder}` is not there; run it, or name a folder by `--results`");
        return Err(Failure::results(text));
    }
    let stored = stored::read(&folder).map_err(Failure::results)?;
    if stored.plan.scenario != name {
        let (folder, other) = (folder.display(), &stored.plan.scenario);
        return Err(Failure::new(Exit::Usage, format!("`{folder}` holds results of `{other}`, not of `{name}`")));
    }
    if stored.results.simulated && !args.allow.contains(&Allowance::Simulated) {
        let text = format!(
            "`{}` holds simulated results, which are no measurements; `--allow simulated` puts them into the page, labelled",
            folder.display()
        );
        return Err(Failure::new(Exit::Usage, text));
    }
    Ok(stored)
}

/// The page at work.
struct Page<'a> {
    args: &'a DashboardArgs,
    file: &'a Path,
    existing: Option<&'a str>,
    ui: Ui,
}

impl Page<'_> {
    fn made(&self, stored: &Stored, settings: &PageSettings) -> Result<String, PageError> {
        let (manifests, environments) = (stored.manifests.clone(), stored.environments.clone());
        let folder = (&stored.dir, stored.name.as_str());
        let facts = facts(&self.args.scenario.scenario, &stored.plan, folder, manifests, environments);
        report::page_with(&stored.plan, &stored.results, &facts, settings, self.existing)
    }

    fn refused(&self, error: PageError) -> Stop {
        let file = self.file.display();
        let text = match error {
            PageError::Table { place, errors } => return Stop::Problems(tables::mistyped(place, &errors)),
            PageError::Markers(problems) if self.existing.is_some() => {
                let lines = problems.iter().map(|problem| format!("{file}:{}: {}", problem.line, problem.message));
                format!("the page is left as it is\n{}", lines.collect::<Vec<_>>().join("\n"))
            }
            PageError::NoMarkers if self.existing.is_some() => {
                format!("`{file}` has no generated part yet; `--adopt` puts markers around the tables it recognises")
            }
            error @ (PageError::Markers(_) | PageError::NoMarkers | PageError::Template(_)) => {
                format!("the template makes no page: {error}")
            }
        };
        Failure::new(Exit::Usage, text).into()
    }

    /// Writes the charts that are not as they should be, or says which those are.
    fn put_charts(&self, charts: &Charts) -> Result<Exit, Failure> {
        if !self.args.check {
            let written = charts.write(self.file).map_err(Failure::results)?;
            if written > 0 {
                self.ui.note(&format!("written: {written} charts"));
            }
            return Ok(Exit::Fine);
        }
        let stale = charts.stale(self.file);
        for file in &stale {
            self.ui.error(&format!("`{}` is stale", file.display()));
        }
        Ok(if stale.is_empty() { Exit::Fine } else { Exit::GateFailed })
    }

    /// Writes the text, or shows what that would change.
    fn put(&self, text: &str) -> Result<Exit, Failure> {
        let file = self.file.display();
        if self.existing == Some(text) {
            self.ui.note(&format!("up to date: {file}"));
            return Ok(Exit::Fine);
        }
        if self.args.check {
            let diff = similar::TextDiff::from_lines(self.existing.unwrap_or_default(), text);
            let new = if self.existing.is_some() { "stale" } else { "not there yet" };
            self.ui
                .data(&diff.unified_diff().header(&file.to_string(), "as it would be").to_string())
                .map_err(Failure::results)?;
            self.ui.error(&format!("`{file}` is {new}"));
            return Ok(Exit::GateFailed);
        }
        // a link to the page stays a link
        let target = fs_err::canonicalize(self.file).unwrap_or_else(|_| self.file.to_owned());
        if let Some(folder) = target.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs_err::create_dir_all(folder).map_err(Failure::results)?;
        }
        write_atomic(&target, text.as_bytes()).map_err(Failure::results)?;
        self.ui.note(&format!("written: {file}"));
        Ok(Exit::Fine)
    }
}
