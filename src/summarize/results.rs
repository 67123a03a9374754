//! Summaries of all runs → `results.json`, with what only shows across runs.

use super::doubt::{Level, serialised};
use super::types::{NotRun, RESULTS_FORMAT, Results, Summary};
use crate::plan::{Plan, RunPlan};

/// Puts the summaries into the plan's order and adds the warnings that need several runs.
pub fn results(plan: &Plan, mut runs: Vec<Summary>, not_run: Vec<NotRun>) -> Results {
    let place = |id: &str| plan.runs.iter().position(|run| run.id == id).unwrap_or(usize::MAX);
    runs.sort_by_key(|summary| place(&summary.id));
    let levels: Vec<Option<(&RunPlan, Level)>> =
        runs.iter().map(|summary| Some((plan.run(&summary.id)?, level(summary)?))).collect();
    let warnings: Vec<_> = levels
        .iter()
        .map(|high| {
            let (run, high) = (*high)?;
            let lowest = levels
                .iter()
                .flatten()
                .filter(|(other, _)| is_same_sweep(run, other))
                .min_by_key(|(_, level)| level.concurrency)?;
            serialised(lowest.1, high)
        })
        .collect();
    for (summary, warning) in runs.iter_mut().zip(warnings) {
        summary.warnings.extend(warning);
    }
    let simulated = plan.simulated || runs.iter().any(|summary| summary.simulated);
    let speed = runs.iter().filter(|summary| summary.simulated).map(|summary| summary.speed).fold(plan.speed, f64::max);
    Results {
        format: RESULTS_FORMAT,
        scenario: plan.scenario.clone(),
        plan_hash: plan.plan_hash.clone(),
        simulated,
        speed,
        runs,
        not_run,
    }
}

fn level(summary: &Summary) -> Option<Level> {
    Some(Level {
        concurrency: summary.max_concurrency?,
        throughput_per_s: summary.throughput_per_s.filter(|rate| *rate > 0.0)?,
        latency_s: summary.latency_s.mean.filter(|mean| *mean > 0.0)?,
    })
}

/// Whether two runs differ in nothing but concurrency and request count.
fn is_same_sweep(a: &RunPlan, b: &RunPlan) -> bool {
    !a.traffic.arrivals.is_open_loop()
        && !b.traffic.arrivals.is_open_loop()
        && a.variant == b.variant
        && a.dataset == b.dataset
        && a.point == b.point
        && a.traffic.seed == b.traffic.seed
        && a.repeat == b.repeat
}
