//! `omni-bench run`: plan, campaign, summaries, tables.

mod example;
mod gating;
mod open_files;
mod outputs;
mod page;
mod signals;
mod verdict;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::runtime::Runtime;

use super::cluster::Begun;
use super::compare::planned_comparisons;
use super::failure::Failure;
use super::planning::{Planned, prepare};
use super::{Ui, simulated};
use crate::campaign::{Campaign, CampaignError, Outcome, ResumeError, RunOutcome, Say, resumed, walk};
use crate::cli::RunArgs;
use crate::endpoint::job_path;
use crate::execute::{Progress, Secrets, Stop};
use crate::exit::Exit;
use crate::plan::{Plan, RunPlan, Step, phases};
use crate::record::{ResultsDir, SlurmFacts, write_json};
use crate::server::{Devices, devices, host_name};
use crate::summarize::Results;
use gating::Gating;

/// A hook for tests: a file of JSON lines that stands in for the GPU driver, with `facts` once and `gpus`
/// or `error` per look.
const RECORDED_DEVICES: &str = "OMNI_BENCH_TEST_DEVICES";

pub(super) fn run(args: &RunArgs, ui: Ui) -> Exit {
    let begun = Begun::of(args, ui);
    let exit = match prepare(&args.planning, ui) {
        Ok(planned) => carry_out_and_show(args, ui, &planned, &|plan, _, results| show_in_terminal(plan, results, ui)),
        Err(exit) => exit,
    };
    begun.ended(exit, ui);
    exit
}

fn show_in_terminal(plan: &Plan, results: &Results, ui: Ui) -> io::Result<()> {
    ui.data(&crate::report::terminal(plan, results, ui.color_out, width()))
}

/// Shows the numbers of a campaign, once everything is written to its folder.
pub(super) type Show<'a> = &'a dyn Fn(&Plan, &ResultsDir, &Results) -> io::Result<()>;

/// Carries out a plan and shows its numbers in this way.
pub(super) fn carry_out_and_show(args: &RunArgs, ui: Ui, planned: &Planned, show: Show<'_>) -> Exit {
    match carry_out(args, ui, planned, show) {
        Ok(exit) => exit,
        Err(failure) => {
            ui.error(&failure.message);
            failure.exit
        }
    }
}

fn carry_out(args: &RunArgs, ui: Ui, planned: &Planned, show: Show<'_>) -> Result<Exit, Failure> {
    let gating = Gating::of(args, &planned.loaded.scenario)?;
    let secrets = secrets(&planned.plan, ui)?;
    open_files::allow(&planned.plan, ui)?;
    let runtime = runtime()?;
    let (stop, progress) = (Stop::new(), progress(ui));
    let listening = signals::listen(&runtime, &stop, &progress);
    let (dir, plan) = results_dir(args, &planned.plan, ui)?;
    let (steps, within) = (&planned.plan.steps, Within { runtime: &runtime, stop: &stop, progress: &progress });
    let job = Job { args, ui, planned, plan: &plan, steps, dir: &dir, secrets: &secrets, within };
    let ended = job.whole(gating.as_ref(), show).map_err(|failure| kept(failure, &dir));
    drop(listening);
    // a second Ctrl-C leaves tasks behind, which are not waited for
    runtime.shutdown_background();
    ended
}

/// The failure with what the user can do about it, when files could not be written.
fn kept(failure: Failure, dir: &ResultsDir) -> Failure {
    if failure.exit != Exit::Results || !dir.plan().exists() {
        return failure;
    }
    let (message, dir) = (failure.message, dir.path().display());
    Failure::results(format!(
        "{message}\n  what was recorded is kept; `--resume {dir}` completes it once that is mended"
    ))
}

/// Makes the tables and the page of what a folder holds, without running anything; `why_not` tells of a run that
/// is not complete why it is not.
pub(super) fn put_together(
    args: &RunArgs,
    ui: Ui,
    planned: &Planned,
    why_not: &dyn Fn(&RunPlan) -> String,
) -> Result<Exit, Failure> {
    let (dir, plan) = results_dir(args, &planned.plan, ui)?;
    let ended = |run: &RunPlan| {
        if dir.run(&run.id).is_complete(&run.key, &plan.plan_hash) {
            return RunOutcome::Already;
        }
        let why = why_not(run);
        ui.error(&format!("`{}` was not run: {why}", run.id));
        RunOutcome::NotRun(why)
    };
    let runs = plan.runs.iter().map(|run| (run.id.clone(), ended(run))).collect();
    let outcome = Outcome { runs, interrupted: false };
    let (runtime, stop, progress) = (runtime()?, Stop::new(), Progress::silent());
    let within = Within { runtime: &runtime, stop: &stop, progress: &progress };
    let job = Job { args, ui, planned, plan: &plan, steps: &[], dir: &dir, secrets: &BTreeMap::new(), within };
    job.put_together(&outcome, BTreeMap::new(), &|plan, _, results| show_in_terminal(plan, results, ui))
}

/// What a campaign runs on.
fn runtime() -> Result<Runtime, Failure> {
    crate::execute::runtime()
        .map_err(|error| Failure::new(Exit::RunFailed, format!("the runtime cannot be started: {error}")))
}

/// The terminal's width, when stdout is one.
fn width() -> Option<u16> {
    comfy_table::Table::new().width()
}

/// Header values of every variant, from the environment.
fn secrets(plan: &Plan, ui: Ui) -> Result<BTreeMap<String, Secrets>, Failure> {
    let lookup = |name: &str| std::env::var(name).ok();
    let mut told = BTreeSet::new();
    let mut all = BTreeMap::new();
    for variant in &plan.variants {
        let endpoint = &variant.endpoint;
        let secrets = Secrets::resolve(endpoint, lookup).map_err(|error| Failure::new(Exit::Usage, &error))?;
        if let Some(name) = &endpoint.api_key_env
            && lookup(name).is_none_or(|key| key.trim().is_empty())
            && told.insert(name)
        {
            ui.note(&format!("environment variable `{name}` is not set; no API key is sent"));
        }
        all.insert(variant.name.clone(), secrets);
    }
    Ok(all)
}

/// The folder to fill, a new one or the one to complete, and the plan of all that it will hold.
pub(super) fn results_dir(args: &RunArgs, plan: &Plan, ui: Ui) -> Result<(ResultsDir, Plan), Failure> {
    if let Some(folder) = &args.resume {
        let dir = ResultsDir::resolve(folder).map_err(Failure::results)?;
        if let Some(link) = dir.link_within().map_err(Failure::results)? {
            let link = link.display();
            let message = format!("`{link}` is a link; what is resumed is written into folders and files only");
            return Err(Failure::results(message));
        }
        let whole = resumed(&dir, plan).map_err(|error| match error {
            ResumeError::Read(_) => Failure::results(error),
            ResumeError::OtherPlan { .. } => Failure::new(Exit::Usage, &error),
        })?;
        if dir.read_plan().map_err(Failure::results)? != whole {
            write_json(&dir.plan(), &whole).map_err(Failure::results)?;
        }
        return Ok((dir, whole));
    }
    let dir = ResultsDir::create(&args.out, plan, Timestamp::now()).map_err(Failure::results)?;
    if let Err(error) = dir.mark_latest() {
        ui.note(&format!("`latest` still names an earlier folder: {error}"));
    }
    Ok((dir, plan.clone()))
}

fn progress(ui: Ui) -> Progress {
    match (ui.quiet, ui.bar) {
        (true, _) => Progress::silent(),
        (false, true) => Progress::bar(),
        (false, false) => Progress::lines(),
    }
}

/// What every campaign of one command has in common.
#[derive(Clone, Copy)]
struct Within<'a> {
    runtime: &'a Runtime,
    stop: &'a Stop,
    progress: &'a Progress,
}

/// What a campaign and its outputs work with.
#[derive(Clone, Copy)]
struct Job<'a> {
    args: &'a RunArgs,
    ui: Ui,
    planned: &'a Planned,
    plan: &'a Plan,
    steps: &'a [Step],
    dir: &'a ResultsDir,
    secrets: &'a BTreeMap<String, Secrets>,
    within: Within<'a>,
}

impl Job<'_> {
    /// From the first request to the verdict. A stop that comes when everything is recorded does not keep
    /// the files from being written.
    fn whole(&self, gating: Option<&Gating>, show: Show<'_>) -> Result<Exit, Failure> {
        self.ui.note(&format!("results: {}", self.dir.path().display()));
        let summaries = RefCell::new(BTreeMap::new());
        let Some(outcome) = self.walked(&summaries)? else { return Ok(Exit::Interrupted) };
        let exit = if self.args.element {
            self.leave_the_rest(outcome, summaries.into_inner(), show)?
        } else {
            self.put_together(&outcome, summaries.into_inner(), show)?
        };
        let exit = if self.is_stopped() { Exit::Interrupted } else { exit };
        gating.map_or(Ok(exit), |gating| self.gate(gating, exit))
    }

    /// Writes and shows what came of a campaign: tables, page and comparisons.
    fn put_together(&self, outcome: &Outcome, summaries: outputs::Summaries, show: Show<'_>) -> Result<Exit, Failure> {
        let Self { plan, dir, ui, .. } = *self;
        let results = self.written(outcome, summaries)?;
        self.write_page(&results).map_err(Failure::results)?;
        show(plan, dir, &results).map_err(Failure::results)?;
        if plan.compare.is_some() {
            match planned_comparisons(dir.path(), ui.color_out, width()) {
                Ok(text) => {
                    ui.data(&text.map(|text| format!("\n{text}")).unwrap_or_default()).map_err(Failure::results)?;
                }
                // the results themselves are complete
                Err(why) => ui.note(&format!("the variants are not compared: {why}")),
            }
            if self.args.save_media {
                ui.note(&format!("whether they draw the same: omni-bench compare {}", dir.path().display()));
            }
        }
        ui.note(&format!("results: {}", dir.path().display()));
        Ok(verdict::verdict(plan, outcome, &results, ui))
    }

    /// Shows what an element measured, and leaves tables and page to the job that sees all of them.
    fn leave_the_rest(
        &self,
        mut outcome: Outcome,
        summaries: outputs::Summaries,
        show: Show<'_>,
    ) -> Result<Exit, Failure> {
        let plan = &self.planned.plan;
        outcome.runs.retain(|id, _| plan.run(id).is_some());
        let results = outputs::collect(plan, self.dir, &outcome, summaries).map_err(Failure::results)?;
        show(plan, self.dir, &results).map_err(Failure::results)?;
        Ok(verdict::verdict(plan, &outcome, &results, self.ui))
    }

    /// Carries out the campaign and writes its numbers; `None` when the user did not want to wait for the end.
    fn measure(&self) -> Result<Option<(Outcome, Results)>, Failure> {
        let summaries = RefCell::new(BTreeMap::new());
        let Some(outcome) = self.walked(&summaries)? else { return Ok(None) };
        let results = self.written(&outcome, summaries.into_inner())?;
        Ok(Some((outcome, results)))
    }

    fn walked(&self, summaries: &RefCell<outputs::Summaries>) -> Result<Option<Outcome>, Failure> {
        let outcome = self.within.runtime.block_on(self.campaign(summaries))?;
        if outcome.is_none() {
            self.within.progress.run_ended();
        }
        Ok(outcome)
    }

    /// The numbers, in their files.
    fn written(&self, outcome: &Outcome, summaries: outputs::Summaries) -> Result<Results, Failure> {
        let results = outputs::collect(self.plan, self.dir, outcome, summaries).map_err(Failure::results)?;
        outputs::write(self.plan, self.dir, &results).map_err(Failure::results)?;
        Ok(results)
    }

    fn is_stopped(&self) -> bool {
        self.within.stop.is_requested()
    }

    /// Walks the plan; `None` when the user did not want to wait for its end.
    async fn campaign(&self, summaries: &RefCell<outputs::Summaries>) -> Result<Option<Outcome>, Failure> {
        let plan = self.plan;
        let (Within { stop, progress, .. }, host) = (self.within, host_name());
        let devices = self.devices();
        let start_simulator = |variant: &_| simulated::start(plan, variant, self.ui);
        let null = simulated::start_null()
            .inspect_err(|error| self.ui.note(&format!("the client cannot be measured: {error}")))
            .ok();
        let campaign = Campaign {
            plan,
            steps: self.steps,
            dir: self.dir,
            phases: &|run| phases(plan, run, &self.planned.data),
            example: &|variant, phases, model| example::example(plan, variant, phases, model),
            secrets: self.secrets,
            simulator: plan.simulated.then_some(&start_simulator),
            null_server: null.as_ref().map(|(_, target)| target),
            job_path,
            watchdog: self.watchdog(),
            stop: stop.clone(),
            progress,
            save_media: self.args.save_media,
            fail_fast: self.args.fail_fast,
            devices: &devices,
            host: &host,
            slurm: SlurmFacts::of(|name| std::env::var(name).ok()),
            now: &Timestamp::now,
            say: &|say| self.say(say),
            on_run_end: &|run| {
                let summary = outputs::summarize_run(plan, self.dir, run)?;
                summaries.borrow_mut().extend(summary.map(|summary| (run.id.clone(), summary)));
                Ok(())
            },
        };
        tokio::select! {
            walked = walk(&campaign) => walked.map(Some).map_err(|error| match error {
                CampaignError::Results(_) => Failure::results(error),
                CampaignError::Command(_) => Failure::new(Exit::Usage, &error),
            }),
            () = stop.abandoned() => Ok(None),
        }
    }

    /// The GPUs of this machine. A test puts a recording of others in their place; results then say so.
    fn devices(&self) -> Result<Arc<dyn Devices>, String> {
        let recording = std::env::var_os(RECORDED_DEVICES).map(PathBuf::from);
        if self.plan.simulated && recording.is_none() {
            return Err("a simulator answers, which uses none; they were not asked".to_owned());
        }
        if let Some(path) = &recording {
            self.ui.note(&format!("GPUs are those of the recording `{}`, not of this machine", path.display()));
        }
        devices(recording.as_deref())
    }

    /// This binary, which guards the servers that it starts.
    fn watchdog(&self) -> Option<PathBuf> {
        self.plan.server.as_ref()?;
        std::env::current_exe()
            .inspect_err(|error| self.ui.note(&format!("servers are started without a watchdog: {error}")))
            .ok()
    }

    fn say(&self, say: Say<'_>) {
        match say {
            Say::Note(text) => self.ui.note(text),
            Say::Ask(text) => self.ui.ask(text),
            Say::Error(text) => self.ui.error(text),
        }
    }
}
