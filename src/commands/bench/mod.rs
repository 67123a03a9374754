//! `omni-bench bench`: one run from the flags of vLLM-Omni's serving benchmark. In: flags. Out: the
//! equivalent scenario, carried out the same way as by `run`, and the figures as that script gives
//! them. Measures and plans nothing itself.

mod figures;
mod media;
mod scenario;
mod text;
mod wanted;

use std::io;
use std::path::Path;

use self::figures::Figures;
use self::wanted::Wanted;
use super::load::load_text;
use super::planning::{Planned, prepare_loaded};
use super::{Ui, fetch, run, stored};
use crate::cli::{BenchArgs, PlanningArgs, RunArgs, ScenarioArgs};
use crate::exit::Exit;
use crate::plan::Plan;
use crate::record::{Record, ResultsDir, write_json};
use crate::scenario::Scenario;
use crate::summarize::Results;
use crate::workload::{self, Sources};

/// What messages call the scenario that the flags stand for.
const SCENARIO: &str = "scenario of these flags";

pub(super) fn run(args: &BenchArgs, ui: Ui) -> Exit {
    let ui = Ui { bar: ui.bar && !args.disable_tqdm, ..ui };
    let bench = match Bench::new(args, ui) {
        Ok(bench) => bench,
        Err(message) => {
            ui.error(&message);
            return Exit::Usage;
        }
    };
    if args.print_scenario { bench.print() } else { bench.carry_out() }
}

/// A command line that makes sense.
struct Bench<'a> {
    args: &'a BenchArgs,
    ui: Ui,
    wanted: Wanted<'a>,
}

impl<'a> Bench<'a> {
    fn new(args: &'a BenchArgs, ui: Ui) -> Result<Self, String> {
        let wanted = Wanted::new(args)?;
        for note in &wanted.notes {
            ui.note(note);
        }
        let scenario = scenario::scenario(&wanted, false)?;
        for download in workload::downloads(&scenario) {
            let address = fetch::address(&download);
            ui.note(&format!("dataset `{}` is downloaded from {address} when it is not cached yet", download.dataset));
        }
        Ok(Self { args, ui, wanted })
    }

    /// The scenario, and its text; a trace is replayed when its rows say when they are due.
    fn text(&self, sources: impl Fn(&Scenario) -> Sources) -> Result<String, String> {
        let plain = scenario::scenario(&self.wanted, false)?;
        let replay = scenario::may_replay(&self.wanted) && self.has_time_stamps(&plain, sources);
        let scenario = if replay { scenario::scenario(&self.wanted, true)? } else { plain };
        text::text(&scenario).map_err(|error| format!("the scenario cannot be written: {error}"))
    }

    /// Whether every row of the trace says when it is due. One that was not downloaded yet is taken to do
    /// so; what is wrong with one that cannot be read is told by the planning that follows.
    fn has_time_stamps(&self, scenario: &Scenario, sources: impl Fn(&Scenario) -> Sources) -> bool {
        let name = scenario::name(self.args.dataset);
        match workload::load(scenario, &sources(scenario)) {
            Ok(data) => data.rows(name).all(|row| row.timestamp_s.is_some()),
            Err(_) => !workload::downloads(scenario).is_empty(),
        }
    }

    fn print(&self) -> Exit {
        match self.text(fetch::cached) {
            Ok(text) => self.ui.print(&text),
            Err(message) => self.refuse(&message),
        }
    }

    fn carry_out(&self) -> Exit {
        let planned = match self.text(|scenario| fetch::fetch(scenario, true, self.ui)) {
            Ok(text) => self.plan(&text, self.ui),
            Err(message) => return self.refuse(&message),
        };
        let planned = match planned {
            Ok(planned) => planned,
            Err(exit) => {
                self.ui.note("`--print-scenario` shows the whole scenario");
                return exit;
            }
        };
        if let Err(error) = self.make_folders() {
            self.ui.error(&error.to_string());
            return Exit::Results;
        }
        let args = self.run_args();
        run::carry_out_and_show(&args, self.ui, &planned, &|plan, dir, results| self.show(plan, dir, results))
    }

    fn plan(&self, text: &str, ui: Ui) -> Result<Planned, Exit> {
        prepare_loaded(load_text(SCENARIO, text, ui)?, &self.run_args().planning, true, ui)
    }

    fn run_args(&self) -> RunArgs {
        let scenario = ScenarioArgs { scenario: SCENARIO.into(), set: Vec::new() };
        let planning =
            PlanningArgs { simulate: self.args.simulate, speed: self.args.speed, ..PlanningArgs::all_of(scenario) };
        RunArgs {
            planning,
            out: self.args.out.clone(),
            resume: None,
            save_media: self.args.save_dir.is_some(),
            fail_fast: false,
            gate: false,
            confirm: 0,
            element: false,
        }
    }

    /// Before anything is sent, so that a typo does not cost the figures.
    fn make_folders(&self) -> io::Result<()> {
        let beside = self.args.output_file.as_deref().and_then(Path::parent).filter(|p| !p.as_os_str().is_empty());
        beside.into_iter().chain(self.args.save_dir.as_deref()).try_for_each(fs_err::create_dir_all)
    }

    /// Prints the figures and writes what the flags name.
    fn show(&self, plan: &Plan, dir: &ResultsDir, results: &Results) -> io::Result<()> {
        let Some(folder) = plan.runs.first().map(|run| dir.run(&run.id)) else { return Ok(()) };
        let records = stored::journal::<Record>(&folder.records())?.items;
        let figures = Figures {
            wanted: &self.wanted,
            plan,
            summary: results.runs.first(),
            not_run: results.not_run.first().map(|not_run| not_run.reason.as_str()),
            records: &records,
        };
        self.ui.data(&figures.text())?;
        self.tell_doubts(results);
        if let Some(save_dir) = &self.args.save_dir {
            let copied = media::copy(&folder.media(), save_dir)?;
            self.ui.note(&format!("{copied} files saved to {}", save_dir.display()));
        }
        if let Some(file) = &self.args.output_file {
            write_json(file, &figures.json())?;
            self.ui.note(&format!("figures saved to {}", file.display()));
        }
        Ok(())
    }

    /// What the sections have no place for.
    fn tell_doubts(&self, results: &Results) {
        for summary in &results.runs {
            for warning in &summary.warnings {
                self.ui.note(&format!("{}: {}", summary.validity, warning.text));
            }
            if let (true, Some(mean)) = (summary.headline == "response_time", summary.response_time_s.mean) {
                self.ui.note(&format!(
                    "latency begins when a request is sent; from the time it was due the mean is {mean:.4} s"
                ));
            }
        }
    }

    fn refuse(&self, message: &str) -> Exit {
        self.ui.error(message);
        Exit::Usage
    }
}
