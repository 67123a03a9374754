//! Everything that a scenario says about the plan without looking at data: names, variants, traffic,
//! comparison and matrix, each checked, all problems together.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde_json::Value;

use super::axes::{MatrixPoint, shape_field};
use super::build::Hosting;
use super::matrix::{Matrix, unknown};
use super::runs::add;
use super::slurm::slurm_plan;
use super::traffic::{Rules, check_warmup, slo};
use super::types::{Axis, EndpointPlan, ServerPlan, VariantPlan};
use super::{endpoint, keys, request_fields, serve, verify};
use crate::catalog::{FaultRule, METRICS, Task, is_known_field, metric};
use crate::diagnostic::{KeyPath, Problem};
use crate::scenario::Scenario;
use crate::scenario::model::{Compare, Order, Restart, Variant};
use crate::units::{SafeName, Span};
use crate::workload::{Fields, Scope};

/// The name of the variant when the scenario has none.
const ONLY_VARIANT: &str = "default";

/// The part of a plan that needs no data.
pub(super) struct Draft {
    pub(super) name: String,
    pub(super) model: String,
    pub(super) task: Task,
    pub(super) rules: Rules,
    /// Every variant of the scenario, in its order.
    pub(super) variants: Vec<VariantPlan>,
    /// Baseline first, by position.
    pub(super) compare: Vec<usize>,
    pub(super) server: Option<ServerPlan>,
    pub(super) points: Vec<MatrixPoint>,
}

/// Drafts the plan; `None` when a problem leaves nothing to go on with.
pub(super) fn draft(
    scenario: &Scenario,
    hosting: Hosting,
    repeats: Option<u32>,
    problems: &mut Vec<Problem>,
) -> Option<Draft> {
    problems.extend(slurm_plan(scenario).err().unwrap_or_default());
    let name = required(scenario.name.as_deref(), "name", problems);
    let name = name.and_then(|name| safe_name(name, &"name".into(), problems));
    let model = required(scenario.model.id.as_deref(), "model.id", problems);
    if scenario.model.task.is_none() {
        let tasks = Task::ALL.map(Task::name).join(", ");
        problems.push(Problem::value("model.task", "`model.task` is required").hint(format!("one of {tasks}")));
    }
    check_simulator(scenario, hosting, problems);
    check_warmup(&scenario.warmup, problems);
    slo(scenario.slo.as_ref(), None, problems);
    check_dataset_names(scenario, problems);
    let server = server(scenario, hosting, problems);
    let rules = Rules::new(scenario, repeats, problems);
    check_restart(scenario, hosting, &rules, problems);

    // without a task nothing can be said about endpoints; any other task would make up problems
    let task = scenario.model.task?;
    let written = written_variants(scenario);
    let names = variant_names(&written, problems);
    let variants = variants(scenario, &written, &names, (task, hosting), problems);
    let matrix = Matrix::new(scenario, &rules, &names, problems);
    check_fields(scenario, &variants, problems);
    let points = matrix.points(problems);
    let used = points
        .as_deref()
        .map(|points| |position: usize| points.iter().any(|point| point.position(Axis::Variant) == position));
    let compare = match &used {
        Some(used) => compare(scenario, &names, used, problems),
        None => compare(scenario, &names, &|_| true, problems),
    };
    Some(Draft { name: name?, model: model?.to_owned(), task, rules, variants, compare, server, points: points? })
}

fn required<'a>(value: Option<&'a str>, key: &str, problems: &mut Vec<Problem>) -> Option<&'a str> {
    let given = value.filter(|value| !value.trim().is_empty());
    if given.is_none() {
        problems.push(Problem::value(key, format!("`{key}` is required")));
    }
    given
}

fn safe_name(name: &str, at: &KeyPath, problems: &mut Vec<Problem>) -> Option<String> {
    match name.parse::<SafeName>() {
        Ok(name) => Some(name.as_str().to_owned()),
        Err(error) => {
            problems.push(Problem::value(at.clone(), error.to_string()));
            None
        }
    }
}

fn check_simulator(scenario: &Scenario, hosting: Hosting, problems: &mut Vec<Problem>) {
    let positive = |number: f64| number.is_finite() && number > 0.0;
    let settings = &scenario.simulator;
    if let Some(speed) = settings.speed.filter(|speed| !positive(*speed)) {
        problems.push(Problem::value("simulator.speed", format!("`{speed}` is not a number above 0")));
    } else if let Hosting::Simulated { speed } = hosting
        && !positive(speed)
    {
        problems.push(Problem::value(KeyPath::root(), format!("the speed `{speed}` is not a number above 0")));
    }
    if let Some(noise) = settings.noise.filter(|noise| !(noise.is_finite() && *noise >= 0.0)) {
        problems.push(Problem::value("simulator.noise", format!("`{noise}` is not a number of at least 0")));
    }
    let scale = settings.faults.chaos;
    if let Some(scale) = scale.filter(|scale| !(scale.is_finite() && *scale >= 0.0)) {
        problems.push(Problem::value("simulator.faults.chaos", format!("`{scale}` is not a number of at least 0")));
    } else if let Err((kind, text)) = FaultRule::check(&settings.faults.rules()) {
        // a rate of the mix alone is the mix's doing
        let key = if settings.faults.given().iter().any(|rule| rule.kind == kind) { kind.name() } else { "chaos" };
        problems.push(Problem::value(KeyPath::from("simulator.faults").key(key), text));
    }
}

fn check_dataset_names(scenario: &Scenario, problems: &mut Vec<Problem>) {
    let at = KeyPath::from("datasets");
    if scenario.datasets.is_empty() {
        problems.push(Problem::value(at, "a scenario needs at least one dataset").hint("write `[datasets.A]`"));
        return;
    }
    for name in scenario.datasets.keys() {
        if let Err(error) = name.parse::<SafeName>() {
            problems.push(Problem::key(at.key(name), error.to_string()));
        }
    }
}

fn server(scenario: &Scenario, hosting: Hosting, problems: &mut Vec<Problem>) -> Option<ServerPlan> {
    if hosting != Hosting::Launched {
        return None;
    }
    let at = KeyPath::from("server");
    let Some(written) = &scenario.server else {
        problems.push(Problem::value(at, "no `[server]` says how to start a server"));
        return None;
    };
    if written.command.is_empty() {
        problems.push(Problem::value(at.key("command"), "`server.command` is required to start a server"));
    }
    let ready = endpoint::ready(written.ready.as_ref(), None, Span::seconds(20 * 60));
    endpoint::check_ready(&ready, &at.key("ready"), problems);
    Some(ServerPlan {
        command: written.command.clone(),
        mode: written.mode.unwrap_or_default(),
        env: written.env.clone(),
        cwd: written.cwd.clone(),
        ready,
        stop_grace: written.stop_grace.unwrap_or(Span::seconds(30)),
        restart: written.restart.unwrap_or_default(),
    })
}

fn check_restart(scenario: &Scenario, hosting: Hosting, rules: &Rules, problems: &mut Vec<Problem>) {
    let fresh = scenario.server.as_ref().and_then(|server| server.restart) == Some(Restart::PerRepeat);
    if fresh && hosting == Hosting::Launched && rules.order == Order::Grouped && rules.repeats > 1 {
        problems.push(
            Problem::value("traffic.order", "grouped repeats would restart the server for every single run")
                .hint("write `order = \"interleaved\"`, or leave `server.restart` out"),
        );
    }
}

/// The scenario's variants with their places; one called `default` when there are none.
fn written_variants(scenario: &Scenario) -> Vec<(Variant, KeyPath)> {
    let at = KeyPath::from("variants");
    if scenario.variants.is_empty() {
        let only = Variant { name: Some(ONLY_VARIANT.to_owned()), ..Variant::default() };
        return vec![(only, at)];
    }
    scenario.variants.iter().cloned().enumerate().map(|(i, variant)| (variant, at.index(i))).collect()
}

fn variant_names(written: &[(Variant, KeyPath)], problems: &mut Vec<Problem>) -> Vec<String> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut names = Vec::new();
    for (i, (variant, at)) in written.iter().enumerate() {
        let name = variant.name.as_deref().unwrap_or_default();
        if variant.name.is_none() {
            problems.push(Problem::value(at.key("name"), format!("variant {} has no `name`", i + 1)));
        } else if let Some(earlier) = seen.insert(name, i) {
            let message = format!("the name `{name}` is already that of `variants[{earlier}]`");
            problems.push(Problem::value(at.key("name"), message));
        } else if safe_name(name, &at.key("name"), problems).is_none() {
            seen.remove(name);
        }
        names.push(name.to_owned());
    }
    names
}

fn variants(
    scenario: &Scenario,
    written: &[(Variant, KeyPath)],
    names: &[String],
    (task, hosting): (Task, Hosting),
    problems: &mut Vec<Problem>,
) -> Vec<VariantPlan> {
    let mut plans = Vec::new();
    for ((variant, at), name) in written.iter().zip(names) {
        let layout = serve::layout(variant, at, problems);
        let own = variant.endpoint.as_ref().map(|own| (own, at.key("endpoint")));
        let mut found = Vec::new();
        let endpoint = endpoint::resolve(&scenario.endpoint, own, task, &mut found);
        let mut environment = scenario.environment.clone();
        environment.extend(variant.environment.clone());
        let mut plan = VariantPlan {
            name: name.clone(),
            label: variant.label.clone().unwrap_or_else(|| name.clone()),
            config_key: keys::config_key(&layout),
            parallel: layout.parallel,
            serve_args: layout.serve_args,
            serve_lists: layout.serve_lists,
            gpus: layout.gpus,
            endpoint,
            environment,
            verify: Vec::new(),
        };
        plan.verify = verify::of_variant(scenario, hosting, (&plan, at), &variant.verify, &mut found);
        // a fault of `[endpoint]` or `[server]` is seen by every variant
        for problem in found {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        plans.push(plan);
    }
    plans
}

/// Baseline and candidates by position, empty without `[compare]`.
fn compare(
    scenario: &Scenario,
    names: &[String],
    used: &dyn Fn(usize) -> bool,
    problems: &mut Vec<Problem>,
) -> Vec<usize> {
    let Some(written) = &scenario.compare else { return Vec::new() };
    let at = KeyPath::from("compare");
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    judged_by(written, &at, problems);
    let before = problems.len();
    let mut find = |name: &str, at: &KeyPath| {
        let found = known.iter().position(|known| *known == name);
        match found {
            None => problems.push(unknown(at, "variant", name, &known)),
            Some(position) if !used(position) => {
                problems.push(Problem::value(at.clone(), format!("variant `{name}` is not part of the matrix")));
            }
            Some(_) => {}
        }
        found
    };
    let mut group: Vec<usize> = Vec::new();
    let mut doubled: Vec<(KeyPath, &str)> = Vec::new();
    if let Some(baseline) = &written.baseline {
        group.extend(find(baseline, &at.key("baseline")));
    }
    for (i, name) in written.candidates.iter().enumerate() {
        let at = at.key("candidates").index(i);
        match find(name, &at) {
            Some(position) if group.contains(&position) => doubled.push((at, name)),
            found => group.extend(found),
        }
    }
    if written.baseline.is_none() {
        problems.push(Problem::key(at.clone(), "`compare` needs a `baseline`"));
    }
    for (at, name) in doubled {
        problems.push(Problem::value(at, format!("variant `{name}` is already compared")));
    }
    if written.candidates.is_empty() && problems.len() == before {
        let others: Vec<usize> =
            (0..names.len()).filter(|position| used(*position) && !group.contains(position)).collect();
        group.extend(others);
    }
    if group.len() < 2 && problems.len() == before {
        problems.push(Problem::key(at, "there is no other variant to compare with the baseline"));
    }
    group
}

/// The floor and the metrics of a comparison.
fn judged_by(written: &Compare, at: &KeyPath, problems: &mut Vec<Problem>) {
    if let Some(floor) = written.effect_floor.filter(|floor| !(0.0..1.0).contains(floor)) {
        let message = format!("a relative change from 0 to below 1 is expected, not `{floor}`");
        problems.push(Problem::value(at.key("effect_floor"), message).hint("0.02 is 2 %"));
    }
    if written.metrics.as_ref().is_some_and(Vec::is_empty) {
        let problem = Problem::value(at.key("metrics"), "there is no metric to compare");
        problems.push(problem.hint("leave `metrics` out to compare the usual ones"));
    }
    for (i, name) in written.metrics.iter().flatten().enumerate() {
        let is_stage = name
            .strip_prefix("stage_ms.")
            .is_some_and(|rest| rest.rsplit_once('.').is_some_and(|(_, last)| matches!(last, "mean" | "p50" | "p99")));
        if metric(name).is_none() && !is_stage {
            let names: Vec<&str> = METRICS.iter().map(|spec| spec.name).collect();
            problems.push(unknown(&at.key("metrics").index(i), "metric", name, &names));
        }
    }
}

/// Checks every table of request fields against the endpoints that will get it.
fn check_fields(scenario: &Scenario, variants: &[VariantPlan], problems: &mut Vec<Problem>) {
    for (i, variant) in variants.iter().enumerate() {
        let EndpointPlan { api, allow_unknown, .. } = variant.endpoint;
        let own = scenario.variants.get(i).and_then(|variant| variant.endpoint.as_ref());
        for (key, value) in &variant.endpoint.extra_body {
            let at = match own {
                Some(own) if own.extra_body.contains_key(key) => {
                    KeyPath::from("variants").index(i).key("endpoint").key("extra_body")
                }
                _ => KeyPath::from("endpoint.extra_body"),
            };
            let table = IndexMap::from([(key.clone(), value.clone())]);
            let (_, faults) = Fields::read(&table, Scope::Table);
            for fault in faults {
                add(Problem::value(at.key(fault.key), fault.message), problems);
            }
            request_fields::check(api, allow_unknown, &at, &table, problems);
        }
        if let Some((given, missing)) = gaps(&variant.endpoint).lone_side() {
            let at = KeyPath::from("endpoint.extra_body").key(given);
            add(Problem::value(at, format!("`{given}` needs `{missing}`")), problems);
        }
        for (name, dataset) in &scenario.datasets {
            let at = KeyPath::root().key("datasets").key(name);
            let mut check = |at: &KeyPath, table: &IndexMap<String, Value>| {
                request_fields::check(api, allow_unknown, at, table, problems);
            };
            check(&at.key("defaults"), &dataset.defaults);
            check(&at.key("override"), &dataset.overrides);
            for (number, profile) in dataset.profiles.iter().enumerate() {
                let at = at.key("profiles").index(number);
                request_fields::check_profile(api, allow_unknown, &at, &profile.fields, problems);
            }
        }
        if !allow_unknown {
            check_shape_fields(scenario, variant, problems);
        }
    }
}

/// Axes and warm-up settings also set request fields.
fn check_shape_fields(scenario: &Scenario, variant: &VariantPlan, problems: &mut Vec<Problem>) {
    let matrix = &scenario.matrix;
    let given = [
        (Axis::Size, matrix.size.is_some()),
        (Axis::NumInferenceSteps, matrix.num_inference_steps.is_some()),
        (Axis::NumFrames, matrix.num_frames.is_some()),
    ];
    let axes = given.into_iter().filter(|(_, given)| *given);
    let mut fields: Vec<(KeyPath, &str)> =
        axes.filter_map(|(axis, _)| Some((KeyPath::from("matrix").key(axis.key()), shape_field(axis)?))).collect();
    for (i, point) in matrix.include.iter().enumerate() {
        if point.num_frames.is_some() {
            fields.push((KeyPath::from("matrix.include").index(i).key("num_frames"), "num_frames"));
        }
    }
    if scenario.warmup.num_frames.is_some() {
        fields.push(("warmup.num_frames".into(), "num_frames"));
    }
    let api = variant.endpoint.api;
    for (at, field) in fields.into_iter().filter(|(_, field)| !is_known_field(api, field)) {
        add(request_fields::ignored(api, &at, field), problems);
    }
}

/// The fields of every request that fill what a row leaves open. Faults are told by `check_fields`.
pub(super) fn gaps(endpoint: &EndpointPlan) -> Fields {
    Fields::read(&endpoint.extra_body, Scope::Table).0
}
