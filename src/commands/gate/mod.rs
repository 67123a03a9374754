//! `omni-bench gate`: stored results and a baseline in, a verdict out.

mod history;
mod points;
mod rules;

use std::path::{Path, PathBuf};

pub(super) use points::{point_id, points};
pub(super) use rules::rules;

use history::earlier;

use super::Ui;
use super::failure::Failure;
use super::load::load;
use super::stored::{self, Stored};
use crate::cli::{GateArgs, GateFormat, ScenarioArgs};
use crate::diagnostic::{Problem, nearest};
use crate::exit::Exit;
use crate::gate::{Baseline, Measured, Rules, Verdict, VerdictKind, gate};
use crate::record::write_atomic;
use crate::report;
use crate::scenario::model::Gate;

/// What results are judged against, besides limits.
pub(super) enum Against {
    /// Nothing else.
    Limits,
    /// A baseline file.
    File(Baseline),
    /// The history in a file, and how many of its last runs.
    History(PathBuf, u32),
}

impl Against {
    /// The baseline in a file, when there is one.
    pub(super) fn file(file: Option<&Path>) -> Result<Self, Failure> {
        Ok(file.map(read).transpose()?.map_or(Self::Limits, Self::File))
    }
}

pub(super) fn run(args: &GateArgs, ui: Ui) -> Exit {
    let gate = match &args.scenario {
        None => Gate::default(),
        Some(scenario) => match load(&ScenarioArgs { scenario: scenario.clone(), set: Vec::new() }, ui) {
            Ok(loaded) => match loaded.scenario.gate {
                Some(gate) => gate,
                None => return told(ui, &Failure::usage(format!("`{}` has no `[gate]`", scenario.display()))),
            },
            Err(exit) => return exit,
        },
    };
    match carry_out(args, &gate, ui) {
        Ok(exit) => exit,
        Err(failure) => told(ui, &failure),
    }
}

fn told(ui: Ui, failure: &Failure) -> Exit {
    ui.error(&failure.message);
    failure.exit
}

fn carry_out(args: &GateArgs, written: &Gate, ui: Ui) -> Result<Exit, Failure> {
    let mut rules = told_rules(written, args.tolerance)?;
    rules.allow.clone_from(&args.allow);
    let against = match (&args.history, &args.baseline) {
        (Some(history), _) => Against::History(history.clone(), args.last),
        (None, Some(file)) => Against::file(Some(file))?,
        (None, None) => Against::file(written.baseline.as_deref().map(Path::new))?,
    };
    let verdict = judge(&stored::read(&args.results)?, &against, &rules)?;
    let text = match args.format {
        GateFormat::Terminal if args.output.is_some() => report::verdict_terminal(&verdict, false, None),
        GateFormat::Terminal => report::verdict_terminal(&verdict, ui.color_out, comfy_table::Table::new().width()),
        GateFormat::Json => json(&verdict)?,
        GateFormat::Markdown => report::verdict_markdown(&verdict),
        GateFormat::Junit => report::verdict_junit(&verdict),
    };
    let results = |error: std::io::Error| Failure { exit: Exit::Results, message: error.to_string() };
    match &args.output {
        Some(path) => write_atomic(path, text.as_bytes()).map_err(results)?,
        None => ui.data(&text).map_err(results)?,
    }
    if args.github_summary {
        summarize(&report::verdict_markdown(&verdict), ui).map_err(results)?;
    }
    Ok(exit(&verdict, args.allow_no_baseline))
}

/// The rules of a `[gate]`, or every one that means nothing.
pub(super) fn told_rules(written: &Gate, tolerance: Option<f64>) -> Result<Rules, Failure> {
    let told = |problem: &Problem| {
        let hint = problem.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        format!("`{}`: {}{hint}", problem.path, problem.message)
    };
    rules(written, tolerance)
        .map_err(|problems| Failure::usage(problems.iter().map(told).collect::<Vec<_>>().join("; ")))
}

/// Reads a baseline file; what is wrong with it is told with file, line and column.
fn read(file: &Path) -> Result<Baseline, Failure> {
    let text = fs_err::read_to_string(file).map_err(Failure::usage)?;
    Baseline::parse(&text).map_err(|error| Failure::usage(format!("`{}`: {error}", file.display())))
}

/// The verdict over stored results.
pub(super) fn judge(stored: &Stored, against: &Against, rules: &Rules) -> Result<Verdict, Failure> {
    if matches!(against, Against::Limits) && !rules.has_limits() {
        let message =
            "there is nothing to judge by: give `--baseline` or `--history`, or `[gate]` with a baseline or limits";
        return Err(Failure::usage(message));
    }
    let points = points(stored)?;
    let allowed = rules.allow.iter().any(|key| key == "simulated");
    let earlier = match against {
        Against::Limits | Against::File(_) => None,
        Against::History(file, last) => Some(earlier((file, *last), stored, &points, allowed)?),
    };
    let baseline = match against {
        Against::File(baseline) => Some(baseline),
        Against::Limits | Against::History(..) => earlier.as_ref().map(|earlier| &earlier.baseline),
    };
    check_allowed(&points, baseline, rules)?;
    let mut verdict = gate(&points, baseline, rules);
    for run in &mut verdict.runs {
        run.notes.extend(earlier.as_ref().and_then(|earlier| earlier.notes.get(&run.id)).cloned());
    }
    Ok(verdict)
}

/// Refuses to allow keys that nothing has, which are typos.
fn check_allowed(points: &[Measured], baseline: Option<&Baseline>, rules: &Rules) -> Result<(), Failure> {
    let entries = baseline.iter().flat_map(|baseline| &baseline.entries);
    let facts = points.iter().map(|point| &point.facts).chain(entries.map(|entry| &entry.fingerprint));
    let known: Vec<&str> = facts.flat_map(|facts| facts.keys().map(String::as_str)).collect();
    let own = ["gpu", "simulated", "error_rate", "workload", "configuration"];
    if let Some(key) = rules.allow.iter().find(|key| !known.contains(&key.as_str()) && !own.contains(&key.as_str())) {
        let near = nearest(key, known.iter().copied().chain(own));
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        return Err(Failure::usage(format!("there is no key `{key}` to allow{near}")));
    }
    Ok(())
}

/// How a process ends on a verdict: a failed run is told before a regression, that before what could not
/// be compared. Nothing to compare with is fine where the user says so.
pub(super) fn exit(verdict: &Verdict, allow_no_baseline: bool) -> Exit {
    match verdict.verdict {
        VerdictKind::Pass => Exit::Fine,
        VerdictKind::NoBaseline if allow_no_baseline => Exit::Fine,
        VerdictKind::NoBaseline | VerdictKind::NotComparable => Exit::NotComparable,
        VerdictKind::Regression => Exit::GateFailed,
        VerdictKind::RunFailed => Exit::RunFailed,
    }
}

fn json(verdict: &Verdict) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(verdict);
    text.map(|text| text + "\n").map_err(|error| Failure { exit: Exit::Results, message: error.to_string() })
}

/// Appends to the job summary of a GitHub workflow.
fn summarize(markdown: &str, ui: Ui) -> std::io::Result<()> {
    use std::io::Write as _;
    let Some(file) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|file| !file.is_empty()) else {
        ui.note("`GITHUB_STEP_SUMMARY` names no file; there is no summary");
        return Ok(());
    };
    let mut file = fs_err::OpenOptions::new().create(true).append(true).open(Path::new(&file))?;
    file.write_all(markdown.as_bytes())
}
