//! `plan --detectable`: how small a difference a plan could show, and what a wanted one takes.

use comfy_table::{CellAlignment, Table, presets};
use indexmap::IndexMap;
use serde::Serialize;

use super::compare::all_points;
use super::failure::Failure;
use super::stored;
use crate::cli::PlanArgs;
use crate::compare::{
    Basis, NoiseLevel, POWER, Point, REPEATS_FOR_A_CLAIM, detectable, noise, repeats_for, requests_for,
};
use crate::exit::Exit;
use crate::plan::{Plan, RunPlan};

/// The change that is looked for when none is given.
const EFFECT: f64 = 0.05;

/// What every point of a plan could show.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Designs {
    /// Two-sided level of the test.
    alpha: f64,
    /// Chance of seeing a difference that is there.
    power: f64,
    /// Where the spread comes from.
    source: String,
    /// The change that is wanted.
    effect: f64,
    points: Vec<DesignPoint>,
}

/// What one point could show.
#[derive(Debug, Clone, Serialize)]
struct DesignPoint {
    id: String,
    requests: u64,
    repeats: u32,
    /// Relative spread of equal requests within a run; null when the earlier results do not have the point.
    within: Option<f64>,
    /// Relative spread between runs; null when unknown.
    between: Option<f64>,
    /// The smallest relative change of the mean latency that two arms of this size show.
    detectable: Option<f64>,
    basis: Option<Basis>,
    /// Repeats that the wanted change takes with these requests; null when no number is enough.
    repeats_needed: Option<u64>,
    /// Requests that it takes with these repeats; null when no number is enough.
    requests_needed: Option<u64>,
}

/// Looks at every point of the plan with the spread of earlier results, else of the simulator's noise.
pub(super) fn designs(args: &PlanArgs, plan: &Plan) -> Result<Designs, Failure> {
    let effect = args.effect.as_deref().map_or(Ok(EFFECT), change)?;
    let (source, points) = match &args.from {
        Some(folder) => {
            let read = |error: &dyn std::fmt::Display| Failure { exit: Exit::Results, message: error.to_string() };
            let stored = stored::read(folder).map_err(|error| read(&error))?;
            let points = all_points(&stored).map_err(|error| read(&error))?;
            (format!("the spread of the mean latency in `{}`", folder.display()), Some(points))
        }
        None if plan.simulator_noise > 0.0 => {
            let source = "the simulator's noise, which has no spread between runs; real servers do".to_owned();
            (source, None)
        }
        None => {
            let message = "nothing tells how much runs scatter: `simulator.noise` is 0".to_owned();
            return Err(Failure::usage(format!("{message}; give earlier results with `--from RESULTS`")));
        }
    };
    let mut runs: IndexMap<(&str, &str), &RunPlan> = IndexMap::new();
    for run in plan.runs.iter().filter(|run| run.repeat == 1) {
        runs.insert((run.workload_key.as_str(), run.id.as_str()), run);
    }
    let level = |run: &RunPlan| match &points {
        Some(points) => like(points, run).and_then(noise),
        None => Some(NoiseLevel { within: plan.simulator_noise, between: None }),
    };
    let points: Vec<DesignPoint> =
        runs.into_values().map(|run| design(run, plan.repeats, level(run), effect)).collect();
    if points.iter().all(|point| point.detectable.is_none()) {
        let message = "the earlier results have no point of this plan with two or more requests".to_owned();
        return Err(Failure { exit: Exit::NotComparable, message });
    }
    Ok(Designs { alpha: 0.05, power: POWER, source, effect, points })
}

/// `5%` or `0.05`.
fn change(text: &str) -> Result<f64, Failure> {
    let (number, scale) = match text.trim().strip_suffix('%') {
        Some(number) => (number, 0.01),
        None => (text, 1.0),
    };
    let value = number.trim().parse::<f64>().ok().map(|number| number * scale);
    value.filter(|value| *value > 0.0 && value.is_finite()).ok_or_else(|| {
        Failure::usage(format!("`--effect {text}` is not a change above 0; write one like `5%` or `0.05`"))
    })
}

/// The earlier point that asked the same of the same configuration, else of another, else at the same place.
fn like<'a>(points: &'a [Point], run: &RunPlan) -> Option<&'a Point> {
    let place = run.id.strip_prefix(&format!("{}/", run.variant)).unwrap_or(&run.id);
    let same_work = |point: &&Point| point.workload_key == run.workload_key;
    points
        .iter()
        .find(|point| same_work(point) && point.variant == run.variant)
        .or_else(|| points.iter().find(same_work))
        .or_else(|| points.iter().find(|point| point.place == place && point.variant == run.variant))
        .or_else(|| points.iter().find(|point| point.place == place))
}

fn design(run: &RunPlan, repeats: u32, level: Option<NoiseLevel>, effect: f64) -> DesignPoint {
    let requests = run.traffic.requests;
    let found = level.and_then(|level| detectable(level, requests, repeats.into()));
    DesignPoint {
        id: run.id.clone(),
        requests,
        repeats,
        within: level.map(|level| level.within),
        between: level.and_then(|level| level.between),
        detectable: found.map(|found| found.effect),
        basis: found.map(|found| found.basis),
        repeats_needed: level.and_then(|level| repeats_for(level, requests, effect)),
        requests_needed: level.and_then(|level| requests_for(level, repeats.into(), effect)),
    }
}

/// The same for people.
pub(super) fn text(designs: &Designs) -> String {
    let percent =
        |value: Option<f64>| value.map_or_else(|| "n/a".to_owned(), |value| format!("{:.2} %", 100.0 * value));
    let count = |value: Option<u64>| value.map_or_else(|| "n/a".to_owned(), |value| value.to_string());
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let wanted = 100.0 * designs.effect;
    table.set_header([
        "run".to_owned(),
        "requests × repeats".to_owned(),
        "scatter within".to_owned(),
        "between runs".to_owned(),
        "shows from".to_owned(),
        format!("{wanted} % takes repeats"),
        "or requests".to_owned(),
    ]);
    for point in &designs.points {
        table.add_row([
            point.id.clone(),
            format!("{} × {}", point.requests, point.repeats),
            percent(point.within),
            percent(point.between),
            percent(point.detectable),
            count(point.repeats_needed),
            count(point.requests_needed),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let rows = table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n");
    let mut notes = vec![format!(
        "smallest change of the mean latency that two arms of this size show in {:.0} of 100 cases at the 5 % level, \
         one metric alone, from {}",
        100.0 * designs.power,
        designs.source
    )];
    if designs.points.iter().any(|point| point.basis == Some(Basis::WithinThisRun)) {
        notes.push(format!(
            "with fewer than {REPEATS_FOR_A_CLAIM} repeats this holds within the runs only; what it takes for a claim \
             beyond them stands under repeats"
        ));
    }
    if designs.points.iter().any(|point| point.between.is_none() && point.within.is_some()) {
        notes.push("how much runs differ among themselves is not known, so the true figures are larger".to_owned());
    }
    format!("{rows}\n\n{}\n", notes.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_a_percentage_or_a_share() {
        assert!((change("5%").unwrap() - 0.05).abs() < 1e-12 && (change(" 0.02").unwrap() - 0.02).abs() < 1e-12);
        for wrong in ["0", "-1%", "five", "%", "inf"] {
            assert!(change(wrong).unwrap_err().message.contains(wrong), "{wrong}");
        }
    }
}
