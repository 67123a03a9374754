//! Scenario and data → [`Plan`].

use indexmap::IndexMap;

use super::compared::ComparePlan;
use super::draft::{Draft, draft};
use super::limits::Limits;
use super::runs::{Made, Maker, add};
use super::steps::{Servers, Slot, steps};
use super::traffic::slo;
use super::types::{Axis, PLAN_FORMAT, Plan, SloPlan, Step, VariantPlan};
use super::{ids, keys, request_fields};
use crate::diagnostic::{KeyPath, Problem};
use crate::scenario::Scenario;
use crate::scenario::model::{Arrival, Restart, ServerMode};
use crate::workload::{Class, Data, Dataset, Destination, Origin};

/// Who provides the servers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Hosting {
    /// They run already, under the scenario's URLs.
    Given,
    /// omni-bench starts them as `[server]` says.
    Launched,
    /// The embedded simulator answers.
    Simulated {
        /// Its time base.
        speed: f64,
    },
}

/// Seconds that one request of a class takes a variant's server when it is alone there.
pub type Estimate<'a> = &'a dyn Fn(&VariantPlan, &Dataset, &Class) -> Option<f64>;

/// What a plan is made from.
#[derive(Clone, Copy)]
pub struct PlanInput<'a> {
    /// What the user wrote.
    pub scenario: &'a Scenario,
    /// Its datasets.
    pub data: &'a Data,
    /// Who provides the servers.
    pub hosting: Hosting,
    /// Globs over run ids; without any, every run is selected.
    pub only: &'a [String],
    /// Repeats that replace the scenario's.
    pub repeats: Option<u32>,
    /// A model of request times, when there is one.
    pub estimate: Option<Estimate<'a>>,
}

/// Checks everything that needs no data; for a scenario whose data could not be loaded, so that all
/// problems are told at once.
pub fn check(scenario: &Scenario, hosting: Hosting, repeats: Option<u32>) -> Vec<Problem> {
    let mut problems = Vec::new();
    // only the problems are wanted
    drop(draft(scenario, hosting, repeats, &mut problems));
    problems
}

/// Plans a scenario, or tells every problem found.
pub fn plan(input: &PlanInput<'_>) -> Result<Plan, Vec<Problem>> {
    let mut problems = Vec::new();
    let draft = draft(input.scenario, input.hosting, input.repeats, &mut problems);
    let Some(draft) = draft else { return Err(problems) };
    check_data(input, &draft, &mut problems);
    let has_targets = used_datasets(input, &draft).any(|name| input.data.rows(name).any(|row| row.slo_ms.is_some()));
    let mut repeated = Vec::new();
    let slo = slo(input.scenario.slo.as_ref(), Some(has_targets), &mut repeated);
    for problem in repeated {
        add(problem, &mut problems);
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let varying = ids::varying(&draft.points);
    let made = Maker::new(input, &draft, slo, &varying).runs(&mut problems);
    let run_ids: Vec<&str> = made.iter().map(|made| made.run.id.as_str()).collect();
    let selected = ids::select(&run_ids, input.only, &mut problems);
    check_urls(input, &draft, &made, &selected, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut plan = assemble(input, &draft, slo, varying, &made, |_| true);
    // the hash is that of the plan of all runs, so that a later `--only` can add to the same results
    let Some(hash) = keys::plan_hash(&plan) else {
        return Err(vec![Problem::value(KeyPath::root(), "the plan cannot be written as JSON")]);
    };
    if selected.contains(&false) {
        let chosen = |number: usize| selected.get(number).copied().unwrap_or(false);
        let varying = std::mem::take(&mut plan.varying);
        plan = assemble(input, &draft, slo, varying, &made, chosen);
    }
    plan.plan_hash = hash;
    plan.limits = Some(Limits::of(&plan));
    let estimates = made.iter().zip(&selected).filter(|(_, selected)| **selected);
    for (run, (made, _)) in plan.runs.iter_mut().zip(estimates) {
        run.estimate_s = made.run.estimate_s;
    }
    Ok(plan)
}

fn used_datasets<'a>(input: &'a PlanInput<'_>, draft: &'a Draft) -> impl Iterator<Item = &'a str> {
    input.scenario.datasets.keys().enumerate().filter_map(|(position, name)| {
        draft.points.iter().any(|point| point.position(Axis::Dataset) == position).then_some(name.as_str())
    })
}

/// What the rows of files rule out.
fn check_data(input: &PlanInput<'_>, draft: &Draft, problems: &mut Vec<Problem>) {
    for name in used_datasets(input, draft) {
        let is_download = input.scenario.datasets.get(name).is_some_and(|dataset| dataset.url.is_some());
        let at = KeyPath::root().key("datasets").key(name).key(if is_download { "url" } else { "path" });
        for variant in &draft.variants {
            let (api, allow_unknown) = (variant.endpoint.api, variant.endpoint.allow_unknown);
            for (key, place, value) in input.data.other_keys(name) {
                // defaults and overrides have places of their own
                let dataset = input.scenario.datasets.get(name);
                let elsewhere = dataset.is_some_and(|d| d.defaults.contains_key(key) || d.overrides.contains_key(key));
                if elsewhere {
                    continue;
                }
                if let Some(mut problem) = request_fields::one(api, allow_unknown, &at, key, value) {
                    problem.message = format!("{place}: {}", problem.message);
                    add(problem, problems);
                }
            }
            let destination =
                Destination { api, model: &draft.model, task: draft.task, extra_body: &variant.endpoint.extra_body };
            if let Some(fault) = input.data.misrouted(name, destination).filter(|_| api.can_do(draft.task)) {
                let at = KeyPath::root().key("datasets").key(name);
                add(Problem::value(at, fault), problems);
            }
        }
        if draft.rules.arrival == Arrival::Trace {
            let missing = input.data.rows(name).filter(|row| row.timestamp_s.is_none()).count();
            let rows = input.data.rows(name).count();
            let is_trace = input.data.dataset(name).is_some_and(|d| matches!(d.origin, Origin::Trace { .. }));
            let message = match (is_trace, missing) {
                (true, 0) => continue,
                (true, missing) => format!("{missing} of {rows} rows of dataset `{name}` have no `timestamp`"),
                (false, _) => format!("dataset `{name}` is not a trace and has no time stamps"),
            };
            add(Problem::value("traffic.arrival", message), problems);
        }
    }
}

/// Servers that run already need a URL each, and two variants on one URL would measure one server
/// twice. Only selected variants count: others may get the URL later.
fn check_urls(input: &PlanInput<'_>, draft: &Draft, made: &[Made], selected: &[bool], problems: &mut Vec<Problem>) {
    if input.hosting != Hosting::Given {
        return;
    }
    let mut urls: IndexMap<&str, usize> = IndexMap::new();
    for (position, variant) in draft.variants.iter().enumerate() {
        let used = made.iter().zip(selected).any(|(made, selected)| *selected && made.variant == position);
        if !used {
            continue;
        }
        let Some(url) = &variant.endpoint.url else {
            let message = format!("variant `{}` has no server: `endpoint.url` is missing", variant.name);
            let hint = "give `endpoint.url`, a `[server]` to start, or `--simulate`";
            problems.push(Problem::value("endpoint.url", message).hint(hint));
            continue;
        };
        if let Some(earlier) = urls.insert(url, position) {
            let other = draft.variants.get(earlier).map_or("", |variant| variant.name.as_str());
            let own = input.scenario.variants.get(position).and_then(|variant| variant.endpoint.as_ref());
            let at = match own {
                Some(own) if own.url.is_some() => KeyPath::from("variants").index(position).key("endpoint").key("url"),
                _ => KeyPath::from("endpoint.url"),
            };
            let message = format!(
                "variants `{other}` and `{}` have the same URL `{url}`: one server would be measured twice",
                variant.name
            );
            let hint = "give each its own `variants.endpoint.url`, add a `[server]`, or select one with `--only`";
            problems.push(Problem::value(at, message).hint(hint));
        }
    }
}

/// The plan of the chosen runs, without hash and estimates.
fn assemble(
    input: &PlanInput<'_>,
    draft: &Draft,
    slo: Option<SloPlan>,
    varying: Vec<Axis>,
    made: &[Made],
    chosen: impl Fn(usize) -> bool,
) -> Plan {
    let scenario = input.scenario;
    let made: Vec<&Made> =
        made.iter().enumerate().filter(|(number, _)| chosen(*number)).map(|(_, made)| made).collect();
    let uses_variant = |position: usize| made.iter().any(|made| made.variant == position);
    let variants: Vec<VariantPlan> = (0..draft.variants.len())
        .filter(|position| uses_variant(*position))
        .filter_map(|position| draft.variants.get(position))
        .map(|variant| hosted(variant, input))
        .collect();
    let datasets = input.data.datasets().filter(|dataset| made.iter().any(|made| made.run.dataset == dataset.name));
    let (steps, starts) = ordered(input, draft, &made);
    let (simulated, speed) = match input.hosting {
        Hosting::Simulated { speed } => (true, speed),
        Hosting::Given | Hosting::Launched => (false, 1.0),
    };
    let compared: Vec<String> = draft
        .compare
        .iter()
        .filter(|position| uses_variant(**position))
        .filter_map(|position| draft.variants.get(*position).map(|variant| variant.name.clone()))
        .collect();
    let baseline_is_there = draft.compare.first().is_some_and(|baseline| uses_variant(*baseline));
    Plan {
        format: PLAN_FORMAT,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        scenario: draft.name.clone(),
        title: scenario.title.clone().unwrap_or_else(|| draft.name.clone()),
        description: scenario.description.clone(),
        tags: scenario.tags.clone(),
        plan_hash: String::new(),
        model: draft.model.clone(),
        task: draft.task,
        simulated,
        speed,
        simulator_profile: scenario.simulator.profile.clone(),
        simulator_noise: scenario.simulator.noise.unwrap_or(0.0),
        simulator_faults: if simulated { scenario.simulator.faults.rules() } else { Vec::new() },
        environment: scenario.environment.clone(),
        server: draft.server.clone(),
        variants,
        datasets: datasets.map(|dataset| (dataset.name.clone(), dataset.clone())).collect(),
        varying,
        repeats: draft.rules.repeats,
        order: draft.rules.order,
        runs: made.iter().map(|made| made.run.clone()).map(|run| super::RunPlan { estimate_s: None, ..run }).collect(),
        steps,
        starts,
        slo,
        allow_failures: draft.rules.allow_failures,
        compare: (baseline_is_there && compared.len() > 1).then(|| {
            let written = scenario.compare.as_ref();
            ComparePlan {
                variants: compared,
                effect_floor: written.and_then(|written| written.effect_floor),
                metrics: written.and_then(|written| written.metrics.clone()),
            }
        }),
        page: page(scenario),
        limits: None,
    }
}

/// The variant with the URL that counts under this hosting.
fn hosted(variant: &VariantPlan, input: &PlanInput<'_>) -> VariantPlan {
    let mut variant = variant.clone();
    let keeps_url = match input.hosting {
        Hosting::Given => true,
        Hosting::Simulated { .. } => false,
        Hosting::Launched => input.scenario.server.as_ref().is_some_and(|server| {
            // whoever starts it by hand, or fixes its port in the command, decides where it listens
            let picks_port = server.command.iter().any(|word| word.contains("{{") && word.contains("port"));
            server.mode == Some(ServerMode::Manual) || !picks_port
        }),
    };
    if !keeps_url {
        variant.endpoint.url = None;
    }
    variant
}

fn ordered(input: &PlanInput<'_>, draft: &Draft, made: &[&Made]) -> (Vec<Step>, u32) {
    let slots: Vec<Slot<'_>> = made
        .iter()
        .map(|made| Slot { id: &made.run.id, variant: made.variant, cell: made.cell, repeat: made.run.repeat })
        .collect();
    let names: Vec<&str> = draft.variants.iter().map(|variant| variant.name.as_str()).collect();
    let servers = match input.hosting {
        Hosting::Given => Servers::Given,
        Hosting::Simulated { .. } => Servers::Together,
        Hosting::Launched => {
            let restart = draft.server.as_ref().map(|server| server.restart);
            Servers::OneAtATime { per_repeat: restart == Some(Restart::PerRepeat) }
        }
    };
    steps(&slots, &names, &draft.compare, servers, draft.rules.order)
}

fn page(scenario: &Scenario) -> Option<String> {
    let page = scenario.dashboard.as_ref()?.page.as_ref()?;
    let name = std::path::Path::new(page).file_name()?;
    Some(name.to_string_lossy().into_owned())
}
