//! Plan → elements, each a set of runs that one job carries out, and arrays of elements of one GPU count.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plan::{Plan, RunPlan, SlurmPlan};

/// How much longer than estimated an element may take.
const MARGIN: f64 = 2.0;
/// What every element gets on top, for queues of files and a slow start.
const GRACE_S: f64 = 300.0;

/// Runs that one job carries out on one node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Element {
    /// Its variants; more than one where they are compared.
    pub variants: Vec<String>,
    /// GPUs of each of them.
    pub gpus: u32,
    /// Ids of its runs, in the plan's order.
    pub runs: Vec<String>,
    /// The globs that select them.
    pub only: Vec<String>,
    /// Expected seconds of its runs on the wall, when a model can tell.
    pub estimate_s: Option<f64>,
    /// Time limit in minutes; null leaves it to the partition.
    pub limit_min: Option<u32>,
}

impl Element {
    /// GPU-hours at most, when it has a time limit of its own.
    pub fn gpu_hours(&self) -> Option<f64> {
        Some(f64::from(self.limit_min?) / 60.0 * f64::from(self.gpus))
    }
}

/// Elements of one GPU count, which are the tasks of one job array in this order.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// GPUs of each task.
    pub gpus: u32,
    /// The tasks, from 0.
    pub elements: Vec<Element>,
}

impl Array {
    /// The longest limit of its elements, which is the limit of every task: an array has one shape.
    pub fn limit_min(&self) -> Option<u32> {
        self.elements.iter().map(|element| element.limit_min).collect::<Option<Vec<_>>>()?.into_iter().max()
    }
}

/// Arrays of the wanted runs, by GPU count. A variant is an element; compared variants of equal GPU counts are
/// one, so that they meet the same node. `whole` says that the plan holds every run of its scenario, so that a
/// variant can be selected by its name.
pub fn arrays(plan: &Plan, slurm: &SlurmPlan, whole: bool, wanted: &dyn Fn(&RunPlan) -> bool) -> Vec<Array> {
    let compared = plan.compare.as_ref().map(|compare| compare.variants.as_slice()).unwrap_or_default();
    let mut groups: Vec<(u32, bool, Vec<&str>)> = Vec::new();
    for variant in &plan.variants {
        let (gpus, is_compared) = (variant.gpus, compared.contains(&variant.name));
        match groups.iter_mut().find(|(others, shares, _)| is_compared && *shares && *others == gpus) {
            Some((_, _, names)) => names.push(&variant.name),
            None => groups.push((gpus, is_compared, vec![&variant.name])),
        }
    }
    let mut arrays: BTreeMap<u32, Vec<Element>> = BTreeMap::new();
    for (gpus, _, names) in groups {
        let is_of = |run: &&RunPlan| names.contains(&run.variant.as_str()) && wanted(run);
        let runs: Vec<&RunPlan> = plan.runs.iter().filter(is_of).collect();
        if !runs.is_empty() {
            arrays.entry(gpus).or_default().push(element(plan, slurm, whole, gpus, &names, &runs));
        }
    }
    let mut arrays: Vec<Array> = arrays.into_iter().map(|(gpus, elements)| Array { gpus, elements }).collect();
    for array in &mut arrays {
        let limit = array.limit_min();
        array.elements.iter_mut().for_each(|element| element.limit_min = limit);
    }
    arrays
}

fn element(plan: &Plan, slurm: &SlurmPlan, whole: bool, gpus: u32, names: &[&str], runs: &[&RunPlan]) -> Element {
    let variants: Vec<&str> =
        names.iter().copied().filter(|name| runs.iter().any(|run| run.variant == *name)).collect();
    let mut only = Vec::new();
    for name in &variants {
        let own = runs.iter().filter(|run| run.variant == *name);
        let all = plan.runs.iter().filter(|run| run.variant == *name).count();
        if whole && own.clone().count() == all {
            only.push(format!("{name}/**"));
        } else {
            only.extend(own.map(|run| run.id.clone()));
        }
    }
    let seconds: Option<f64> = runs.iter().map(|run| run.estimate_s).sum();
    let estimate_s = seconds.map(|seconds| seconds / plan.speed);
    let limit_min =
        slurm.time_min.or_else(|| estimate_s.map(|seconds| limit(seconds, starting(plan, &variants, runs))));
    Element {
        variants: variants.into_iter().map(str::to_owned).collect(),
        gpus,
        runs: runs.iter().map(|run| run.id.clone()).collect(),
        only,
        estimate_s,
        limit_min,
    }
}

/// Seconds that the starts and stops of an element's servers may take.
fn starting(plan: &Plan, variants: &[&str], runs: &[&RunPlan]) -> f64 {
    let Some(server) = &plan.server else { return 0.0 };
    let repeats = runs.iter().map(|run| run.repeat).max().unwrap_or(1);
    let rounds = if server.restarts_per_repeat() { repeats } else { 1 };
    let each = server.ready.timeout.duration() + server.stop_grace.duration();
    each.as_secs_f64() * f64::from(rounds) * f64::from(u32::try_from(variants.len()).unwrap_or(u32::MAX))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, and Slurm refuses such a limit"
)]
fn limit(estimate_s: f64, starting_s: f64) -> u32 {
    ((estimate_s * MARGIN + starting_s + GRACE_S) / 60.0).ceil() as u32
}
