//! Sections 2 and 8: where it ran, and what is known to repeat it.

use indexmap::IndexMap;

use super::PageFacts;
use super::machine::{self, Row};
use super::service::words;
use crate::catalog::{DEGREES, Validity};
use crate::plan::{Axis, Plan, RunPlan};
use crate::record::{Environment, Role, RunManifest, RunState, fact_of};
use crate::report::caption;
use crate::report::escape::prose;
use crate::report::markdown::render;
use crate::report::official::{axis_value, degree, degree_header};
use crate::report::table::{Column, Table};
use crate::report::text::{Text, distinct};
use crate::summarize::{Results, Summary};

/// 2: declared facts, what the servers said, and the tool.
pub(super) fn environment(plan: &Plan, results: &Results, facts: &PageFacts) -> String {
    let rendered = render(&table(plan, results, facts));
    if results.simulated && !plan.environment.is_empty() {
        format!("A simulator answered; declared facts say what the scenario is for, not what ran.\n\n{rendered}")
    } else {
        rendered
    }
}

/// The same as a table: who told what, and what nobody could tell.
pub(crate) fn table(plan: &Plan, results: &Results, facts: &PageFacts) -> Table {
    let mut table = Table {
        columns: vec![
            Column::text("component", "Component"),
            Column::text("specification", "Specification"),
            Column::text("source", "Source"),
        ],
        ..Table::default()
    };
    let mut add = |[component, specification, source]: Row| {
        table.rows.push(vec![component.into(), specification.into(), source.into()]);
    };
    let named = |component: &str, specification: String, source: &str| -> Row {
        [component.to_owned(), specification, source.to_owned()]
    };
    let (declared, told) = declared_rows(plan, facts);
    declared.into_iter().for_each(&mut add);
    add(named("Model", models(plan, facts).join(", "), "sent with every request"));
    let versions = versions(facts);
    if !versions.is_empty() {
        add(named("Server version", versions.join(", "), "told by /version"));
    }
    let served = distinct(facts.environments.iter().flat_map(|found| found.models.iter().flatten().cloned()));
    if !served.is_empty() {
        add(named("Models served", served.join(", "), "told by /v1/models"));
    }
    let gpus = distinct(plan.variants.iter().map(|v| v.gpus.to_string())).join(", ");
    add(named("GPUs per server", gpus, "scenario"));
    machine::rows(plan, &facts.environments, &told, title).into_iter().for_each(&mut add);
    let jobs = jobs(facts);
    if !jobs.is_empty() {
        add(named("Slurm jobs", jobs.join("; "), "told by Slurm"));
    }
    add(named("Benchmark", benchmark(plan, facts), "omni-bench itself"));
    let clients = caption::clients(results);
    if !clients.is_empty() {
        add(named("Client", clients.join("; "), "measured before the first run"));
    }
    if let Some(simulated) = caption::simulated(results) {
        add(named("Numbers", simulated, "told by /version"));
    }
    table
}

/// The tool with the commits that it was built from, as far as builds knew them.
fn benchmark(plan: &Plan, facts: &PageFacts) -> String {
    let short = |commit: &String| commit.chars().take(12).collect::<String>();
    let commits = distinct(facts.environments.iter().filter_map(|found| found.tool_commit.as_ref().map(short)));
    let commits = if commits.is_empty() { String::new() } else { format!(" (commit {})", commits.join(", ")) };
    format!("omni-bench {}{commits}", plan.tool_version)
}

/// Rows of declared facts, with what was detected of the same beside them, and the facts that have one.
fn declared_rows(plan: &Plan, facts: &PageFacts) -> (Vec<Row>, Vec<&'static str>) {
    let detected = machine::detected(plan, &facts.environments, Role::Server);
    let contradicted = |key: &str, value: &str| {
        let of = |found: &Environment| found.contradictions();
        facts.environments.iter().flat_map(of).any(|found| found.key == key && found.declared == value)
    };
    let (mut rows, mut told) = (Vec::new(), Vec::new());
    for (key, values) in declared(plan) {
        let fact = fact_of(&key);
        let found = fact.and_then(|fact| detected.get(fact));
        told.extend(fact.filter(|_| found.is_some()));
        let several = values.len() > 1;
        for (variants, value) in values {
            let component = if several { format!("{} ({})", title(&key), variants.join(", ")) } else { title(&key) };
            let who = if value == NOT_DECLARED { "" } else { "declared" };
            let beside = found.and_then(|found| seen(found, &variants));
            let by = machine::source(fact.unwrap_or_default(), &facts.environments);
            let source = match beside {
                None => who.to_owned(),
                Some(Err(why)) => parted(who, &format!("not detected: {why}")),
                Some(Ok(text)) if contradicted(&key, &value) => format!("{who}, and contradicted; {by}: {text}"),
                Some(Ok(text)) => parted(who, &format!("{by}: {text}")),
            };
            rows.push([component, value, source]);
        }
    }
    (rows, told)
}

/// What a variant has that others declare a fact of, and it does not.
const NOT_DECLARED: &str = "not declared";

/// What was detected for these variants; the error is why it was not, `None` when nobody looked.
fn seen(found: &machine::Found, variants: &[&str]) -> Option<Result<String, String>> {
    let of = |labels: &Vec<String>| labels.iter().any(|label| variants.contains(&label.as_str()));
    let values = found.values.iter().filter(|(_, labels)| of(labels)).map(|(value, _)| value.as_str());
    let values = values.collect::<Vec<_>>().join(", ");
    let reasons = found.reasons.join("; ");
    match (values.is_empty(), reasons.is_empty()) {
        (false, _) => Some(Ok(values)),
        (true, false) => Some(Err(reasons)),
        (true, true) => None,
    }
}

fn parted(who: &str, what: &str) -> String {
    if who.is_empty() { what.to_owned() } else { format!("{who}; {what}") }
}

/// Declared facts by key; several values name the variants they hold for.
fn declared(plan: &Plan) -> IndexMap<String, Vec<(Vec<&str>, String)>> {
    let mut facts: IndexMap<String, Vec<(Vec<&str>, String)>> = IndexMap::new();
    let keys = plan.environment.keys().chain(plan.variants.iter().flat_map(|variant| variant.environment.keys()));
    let keys = distinct(keys.cloned());
    for key in keys {
        let values = facts.entry(key.clone()).or_default();
        for variant in &plan.variants {
            let value = variant.environment.get(&key).map_or_else(|| NOT_DECLARED.to_owned(), words);
            match values.iter_mut().find(|(_, known)| *known == value) {
                Some((variants, _)) => variants.push(&variant.label),
                None => values.push((vec![&variant.label], value)),
            }
        }
    }
    facts
}

/// A key as a title: `attention_backend` → `Attention backend`, `gpu` → `GPU`.
fn title(key: &str) -> String {
    const ACRONYMS: &[&str] = &["gpu", "gpus", "cpu", "cuda", "os", "ram", "nccl", "rocm", "vae"];
    let spoken: Vec<String> = key
        .split(['_', ' '])
        .filter(|word| !word.is_empty())
        .enumerate()
        .map(|(place, word)| {
            let mut letters = word.chars();
            match letters.next() {
                _ if ACRONYMS.contains(&word) => word.to_uppercase().replace("GPUS", "GPUs"),
                Some(first) if place == 0 => first.to_uppercase().chain(letters).collect(),
                _ => word.to_owned(),
            }
        })
        .collect();
    spoken.join(" ")
}

/// Model ids that were sent; the plan's own when no run has a manifest.
fn models(plan: &Plan, facts: &PageFacts) -> Vec<String> {
    let sent = distinct(facts.manifests.iter().map(|manifest| manifest.model.clone()));
    if sent.is_empty() { vec![plan.model.clone()] } else { sent }
}

/// Versions that the servers told.
fn versions(facts: &PageFacts) -> Vec<String> {
    let of = |manifest: &RunManifest| {
        let version = manifest.server.version.as_ref()?;
        Some(version.get("version").map_or_else(|| words(version), words))
    };
    distinct(facts.manifests.iter().filter_map(of))
}

/// Jobs that the servers were part of, with what they saw of their node.
fn jobs(facts: &PageFacts) -> Vec<String> {
    let of = |manifest: &RunManifest| {
        let slurm = manifest.server.slurm.as_ref()?;
        let variant = manifest.id.split('/').next().unwrap_or_default();
        let node = slurm.node.as_ref().map(|node| format!(" on {node}")).unwrap_or_default();
        let devices = slurm.cuda_visible_devices.as_deref().unwrap_or("not set");
        Some(format!("{variant}: job {}{node}, CUDA_VISIBLE_DEVICES {devices}", slurm.name()))
    };
    distinct(facts.manifests.iter().filter_map(of))
}

/// 8: what is recorded, and what is missing and where it would be declared.
pub(super) fn checklist(plan: &Plan, results: &Results, facts: &PageFacts) -> String {
    let mut list = List { text: Text::default(), simulated: results.simulated };
    let found = machine::detected(plan, &facts.environments, Role::Server);
    let seen = |names: &[&str]| -> Vec<String> {
        names.iter().filter_map(|name| found.get(*name)).flat_map(|found| found.values.keys().cloned()).collect()
    };
    list.declared(plan, "GPU", &["gpu", "accelerator", "npu"], "gpu", &seen(&["gpu"]));
    list.declared(plan, "Driver and CUDA", &["driver", "cuda", "rocm"], "driver", &seen(&["driver", "cuda"]));
    list.declared(plan, "Image digest", &["image", "container", "digest"], "image_digest", &seen(&["image_digest"]));
    list.item("Server version", &versions(facts).join(", "), "the servers told none");
    list.item("Model", &models(plan, facts).join(", "), "the plan names none");
    list.item("Parallel configuration", &layouts(plan), "the plan has no variants");
    list.item("Shapes and steps", &shapes(results), "no request was recorded");
    let seeds = caption::values(plan, |run| axis_value(Axis::Seed, plan, run)).join(", ");
    list.item("Seed of the request sequence", &seeds, "the plan has no runs");
    list.item("Warm-up at the load's concurrency and shapes", &warmup(plan), &unmatched(plan));
    list.declared(plan, "No background work", &["background", "exclusive"], "background_work", &idle(facts));
    list.item("Every run complete and valid", &complete(plan, results, facts), &incomplete(plan, results, facts));
    list.item("Client not the bottleneck", &unbound(results), &bound(results));
    list.item("Data", &data(plan), "the plan has no datasets");
    list.item("When", &span(facts), "no run has a start and an end");
    list.item("Plan", &format!("`{}`, omni-bench {}", plan.plan_hash, plan.tool_version), "");
    list.item("Scenario file", &code(&facts.scenario_file), "its name was not recorded");
    list.item("Results folder", &code(&facts.results_folder), "its name was not recorded");
    list.item("Numbers are measured", &measured(results), &caption::simulated(results).unwrap_or_default());
    list.text.finish()
}

/// Items with a box that is ticked when the fact is there.
struct List {
    text: Text,
    simulated: bool,
}

impl List {
    fn item(&mut self, name: &str, recorded: &str, missing: &str) {
        let (tick, text) = if recorded.is_empty() { (' ', missing) } else { ('x', recorded) };
        self.text.add(format!("- [{tick}] {name}: {}\n", prose(text)));
    }

    /// A fact from `[environment]`, found by a word in its key, else as it was detected.
    fn declared(&mut self, plan: &Plan, name: &str, keys: &[&str], example: &str, detected: &[String]) {
        let found: Vec<String> = declared(plan)
            .iter()
            .filter(|(key, _)| keys.iter().any(|word| key.to_lowercase().contains(word)))
            .flat_map(|(_, values)| values.iter().map(|(_, value)| value.clone()))
            .collect();
        let found = found.join(", ");
        match (self.simulated, found.is_empty()) {
            (false, true) if !detected.is_empty() => {
                self.item(name, &format!("{} (detected)", detected.join(", ")), "");
            }
            (_, true) => self.item(name, "", &format!("not recorded; declare `{example}` in `[environment]`")),
            (true, false) => self.item(name, "", &format!("{found} is declared, and a simulator answered")),
            (false, false) => self.item(name, &found, ""),
        }
    }
}

/// Says so when the GPUs of every server were seen idle before it was started.
fn idle(facts: &PageFacts) -> Vec<String> {
    let quiet = |found: &Environment| {
        let background = found.machine.as_ref().and_then(|machine| machine.background.as_ref());
        background.is_some_and(|gpus| {
            gpus.iter().all(|gpu| gpu.utilization.is_some_and(|share| share <= 0.0) && gpu.processes == Some(0))
        })
    };
    let all = !facts.environments.is_empty() && facts.environments.iter().all(quiet);
    all.then(|| "no process on a GPU before the servers were started".to_owned()).into_iter().collect()
}

fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{text}`") }
}

fn layouts(plan: &Plan) -> String {
    let of = |variant: &crate::plan::VariantPlan| {
        let on: Vec<String> = DEGREES
            .iter()
            .map(|spec| (degree_header(spec.key), degree(variant, spec.key)))
            .filter(|(_, value)| value != "Off")
            .map(|(header, value)| format!("{header} {value}"))
            .collect();
        let layout = if on.is_empty() { "all off".to_owned() } else { on.join(", ") };
        format!("{}: {layout}, GPUs {}", variant.label, variant.gpus)
    };
    plan.variants.iter().map(of).collect::<Vec<_>>().join("; ")
}

/// Classes seen in the results.
fn shapes(results: &Results) -> String {
    distinct(results.runs.iter().flat_map(|run| run.classes.keys().cloned())).join(", ")
}

fn warmup(plan: &Plan) -> String {
    let matched = !plan.runs.is_empty() && plan.runs.iter().all(|run| run.warmup.matched);
    if matched { "yes, in every run".to_owned() } else { String::new() }
}

fn unmatched(plan: &Plan) -> String {
    let ids: Vec<String> = plan.runs.iter().filter(|run| !run.warmup.matched).map(|run| code(&run.id)).collect();
    format!("not in {}", ids.join(", "))
}

fn is_complete(run: &RunPlan, results: &Results, facts: &PageFacts) -> bool {
    let summary = results.runs.iter().find(|summary| summary.id == run.id);
    let manifest = facts.manifests.iter().find(|manifest| manifest.id == run.id);
    summary.is_some_and(|summary| summary.validity == Validity::Valid)
        && manifest.is_none_or(|manifest| manifest.state == RunState::Complete)
}

fn complete(plan: &Plan, results: &Results, facts: &PageFacts) -> String {
    let all = plan.runs.iter().all(|run| is_complete(run, results, facts));
    if all { format!("{} of {}", plan.runs.len(), plan.runs.len()) } else { String::new() }
}

fn incomplete(plan: &Plan, results: &Results, facts: &PageFacts) -> String {
    let ids: Vec<String> =
        plan.runs.iter().filter(|run| !is_complete(run, results, facts)).map(|run| code(&run.id)).collect();
    format!("not {}", ids.join(", "))
}

/// What the client costs, when it was measured for every run and could have been the bottleneck of none.
fn unbound(results: &Results) -> String {
    let is_free = |run: &Summary| run.client.is_some_and(|client| !client.could_be_bottleneck);
    let all = !results.runs.is_empty() && results.runs.iter().all(is_free);
    if all { caption::clients(results).join("; ") } else { String::new() }
}

fn bound(results: &Results) -> String {
    let runs = |is: fn(&Summary) -> bool| -> Vec<String> {
        results.runs.iter().filter(|run| is(run)).map(|run| code(&run.id)).collect()
    };
    let bound = runs(|run| run.client.is_some_and(|client| client.could_be_bottleneck));
    let unknown = runs(|run| run.client.is_none());
    match (bound.is_empty(), unknown.len() == results.runs.len()) {
        (_, true) => "the client was not measured".to_owned(),
        (false, _) => format!("it may have been in {}", bound.join(", ")),
        (true, _) => format!("the client was not measured for {}", unknown.join(", ")),
    }
}

fn data(plan: &Plan) -> String {
    let datasets = plan.datasets.values().map(|dataset| match &dataset.facts.sha256 {
        Some(sum) => format!("{}: SHA-256 `{sum}`", dataset.label),
        None => format!("{}: hash `{}`", dataset.label, dataset.facts.hash),
    });
    datasets.collect::<Vec<_>>().join(", ")
}

/// First start → last end; RFC 3339 in UTC sorts as text.
fn span(facts: &PageFacts) -> String {
    let first = facts.manifests.iter().filter_map(|manifest| manifest.started_at.as_deref()).min();
    let last = facts.manifests.iter().filter_map(|manifest| manifest.ended_at.as_deref()).max();
    first
        .zip(last)
        .map(|(first, last)| format!("{} to {}", whole_second(first), whole_second(last)))
        .unwrap_or_default()
}

/// `2026-09-01T10:00:05.123456789Z` → `2026-09-01 10:00:05 UTC`; another form stays as it is.
fn whole_second(time: &str) -> String {
    match (time.split_once('T'), time.ends_with('Z')) {
        (Some((date, clock)), true) => {
            let clock = clock.trim_end_matches('Z');
            format!("{date} {} UTC", clock.split_once('.').map_or(clock, |(whole, _)| whole))
        }
        _ => time.to_owned(),
    }
}

fn measured(results: &Results) -> String {
    if results.simulated { String::new() } else { "yes".to_owned() }
}
