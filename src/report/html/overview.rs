//! The top of the report: what it is about, what came out, what speaks against it, and every run.

use indexmap::IndexMap;

use super::grid::{Field, Grid, Heading};
use super::run::{RunView, anchor};
use crate::catalog::Validity;
use crate::plan::Plan;
use crate::report::figures;
use crate::report::number::fixed;
use crate::report::official::dataset_label;
use crate::report::text::{counted, inline};
use crate::summarize::{Results, Summary};

/// What was measured, in a line.
pub(super) fn lead(plan: &Plan) -> String {
    let parts = [
        format!("Scenario {}", plan.scenario),
        format!("{}, {}", inline(&plan.model), plan.task),
        counted(plan.variants.len() as u64, "variant"),
        counted(plan.datasets.len() as u64, "dataset"),
        format!("{} planned", counted(plan.runs.len() as u64, "run")),
    ];
    parts.join(" · ")
}

/// Name and figure of what one wants to know first; what does not occur is left out.
pub(super) fn tiles(results: &Results) -> Vec<(&'static str, String)> {
    let sum = |of: fn(&Summary) -> u64| results.runs.iter().map(of).sum::<u64>();
    let count = |validity: Validity| results.runs.iter().filter(|run| run.validity == validity).count();
    let some = |count: u64| (count > 0).then(|| count.to_string());
    let measured: f64 = results.runs.iter().filter_map(|run| run.duration_s).sum();
    let best = results.runs.iter().filter(|run| run.validity != Validity::Invalid && run.throughput_comparable);
    let best = best.filter_map(|run| run.throughput_per_s).fold(0.0, f64::max);
    let tiles = [
        ("Runs with results", Some(results.runs.len().to_string())),
        ("Not run", some(results.not_run.len() as u64)),
        ("Valid runs", some(count(Validity::Valid) as u64)),
        ("Suspect runs", some(count(Validity::Suspect) as u64)),
        ("Invalid runs", some(count(Validity::Invalid) as u64)),
        ("Requests", Some(sum(|run| run.requests).to_string())),
        ("Succeeded", Some(sum(|run| run.completed).to_string())),
        ("Failed", some(sum(|run| run.failed))),
        ("Cut by a limit", some(sum(|run| run.censored))),
        ("Cancelled", some(sum(|run| run.cancelled))),
        ("Time under load", (measured > 0.0).then(|| format!("{} s", fixed(measured, 1)))),
        ("Most requests/s", (best > 0.0).then(|| fixed(best, 3))),
    ];
    tiles.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// What speaks against the numbers: warnings, failures, and runs that did not take place, what is the
/// same for several runs once. Tables without rows are left out.
pub(super) fn doubts(results: &Results) -> Vec<Grid> {
    // what was seen → how many requests, and the places of the runs
    let mut warnings: IndexMap<[String; 3], (u64, Vec<usize>)> = IndexMap::new();
    let mut failures: IndexMap<[String; 3], (u64, Vec<usize>)> = IndexMap::new();
    for (place, run) in results.runs.iter().enumerate() {
        for warning in &run.warnings {
            let words = [warning.kind.to_string(), inline(&warning.text), run.validity.to_string()];
            warnings.entry(words).or_default().1.push(place);
        }
        for error in &run.errors {
            let words = [error.class.to_string(), inline(&error.message), String::new()];
            let (count, places) = failures.entry(words).or_default();
            *count += error.count;
            places.push(place);
        }
    }
    let mut tables = [
        Grid::of_words("Warnings", &["Kind", "What was seen", "Validity", "Runs"]),
        Grid::of_words("Failures", &["Class", "Message", "Requests", "Runs"]),
        Grid::of_words("Not run", &["Run", "Why"]),
    ];
    let [told, failed, not_run] = &mut tables;
    told.rows = warnings.into_iter().map(|(words, (_, places))| row(words, listed(results, &places))).collect();
    failed.rows = failures
        .into_iter()
        .map(|([class, message, _], (count, places))| {
            row([class, message, count.to_string()], listed(results, &places))
        })
        .collect();
    not_run.rows = results.not_run.iter().map(|run| row([run.id.clone()], Field::text(inline(&run.reason)))).collect();
    tables.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

fn row<const N: usize>(words: [String; N], last: Field) -> Vec<Field> {
    words.into_iter().map(Field::text).chain([last]).collect()
}

/// Links to the first of these runs, and how many more there are.
fn listed(results: &Results, places: &[usize]) -> Field {
    const MOST: usize = 8;
    let run = |place: &usize| Some((results.runs.get(*place)?.id.clone(), anchor(*place)));
    let rest = places.len().saturating_sub(MOST);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    Field { links: places.iter().take(MOST).filter_map(run).collect(), ..Field::text(more) }
}

/// Every run with its figures; a row leads to the run's requests, its longest time to the slowest one.
pub(super) fn runs(plan: &Plan, results: &Results, details: &[RunView]) -> Grid {
    let grid = Grid::of("Runs", &figures::runs(plan, results));
    let words = |heading: &str| Heading { heading: heading.to_owned(), number: false };
    let number = |heading: &str| Heading { heading: heading.to_owned(), number: true };
    let columns = vec![words("Dataset"), words("Variant"), number("Max Concur."), number("Slowest (s)")];
    let grid = grid.with_first(columns, |place| {
        let Some(run) = results.runs.get(place) else { return vec![Field::default(); 4] };
        let variant = plan.variant(&run.variant).map_or(&run.variant, |variant| &variant.label);
        let cap = match run.max_concurrency {
            Some(cap) => Field::number(Some(f64::from(cap)), 0),
            None => Field { number: true, ..Field::text("none") },
        };
        let longest = if run.headline == "response_time" { &run.response_time_s } else { &run.latency_s };
        let slowest = Field::number(longest.max, 3);
        let has_slowest = details.get(place).is_some_and(RunView::has_slowest);
        let slowest = if has_slowest { slowest.to(format!("{}-slowest", anchor(place))) } else { slowest };
        vec![Field::text(inline(dataset_label(plan, &run.dataset))), Field::text(inline(variant)), cap, slowest]
    });
    run_first(grid)
}

/// The run's name first, as the row's heading, with a link to its requests.
fn run_first(mut grid: Grid) -> Grid {
    const NAME: usize = 4;
    if grid.columns.len() > NAME {
        grid.columns[..=NAME].rotate_right(1);
    }
    for (place, row) in grid.rows.iter_mut().enumerate() {
        if let Some(first) = row.get_mut(..=NAME) {
            first.rotate_right(1);
        }
        if let Some(name) = row.first_mut() {
            name.link = Some(anchor(place));
        }
    }
    grid
}
