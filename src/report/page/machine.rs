//! What was detected of the machines, beside what was declared: rows of the test-environment table.

use indexmap::IndexMap;

use crate::plan::Plan;
use crate::record::{DeviceSource, Environment, Machine, Role};
use crate::report::text::distinct;

/// A row: component, specification, source.
pub(super) type Row = [String; 3];

/// What is known of one fact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Detected values, each once, with the labels of the variants it holds for.
    pub(super) values: IndexMap<String, Vec<String>>,
    /// Why it was not detected, each reason once.
    pub(super) reasons: Vec<String>,
}

/// What was detected of the machines of one role, by the name of the fact.
pub(super) fn detected(plan: &Plan, environments: &[Environment], role: Role) -> IndexMap<String, Found> {
    let mut all: IndexMap<String, Found> = IndexMap::new();
    for environment in environments {
        let Some(machine) = environment.machine.as_ref().filter(|machine| machine.role == role) else { continue };
        let label = plan.variant(&environment.variant).map_or(&environment.variant, |variant| &variant.label);
        for (name, fact) in machine.facts() {
            let labels = all.entry(name.to_owned()).or_default().values.entry(fact).or_default();
            if !labels.contains(label) {
                labels.push(label.clone());
            }
        }
        for (name, why) in &machine.undetected {
            let reasons = &mut all.entry(name.clone()).or_default().reasons;
            if !reasons.contains(why) {
                reasons.push(why.clone());
            }
        }
    }
    all
}

/// Rows of what was detected and has no row of its own yet, then of what was not.
pub(super) fn rows(
    plan: &Plan,
    environments: &[Environment],
    told: &[&'static str],
    title: fn(&str) -> String,
) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut missing = Vec::new();
    for role in [Role::Server, Role::Client, Role::Simulator] {
        let named = |name: &str| match role {
            Role::Server => title(name),
            Role::Client => format!("Client: {}", title(name)),
            Role::Simulator => format!("Simulator's host: {}", title(name)),
        };
        for (name, found) in detected(plan, environments, role) {
            if role == Role::Server && told.contains(&name.as_str()) {
                continue;
            }
            let several = found.values.len() > 1;
            for (value, labels) in &found.values {
                let of = if several { format!(" ({})", labels.join(", ")) } else { String::new() };
                rows.push([format!("{}{of}", named(&name)), value.clone(), source(&name, environments)]);
            }
            if found.values.is_empty() {
                missing.push([named(&name), "not detected".to_owned(), found.reasons.join("; ")]);
            }
        }
    }
    if environments.iter().filter_map(|found| found.machine.as_ref()).any(|machine| machine.role == Role::Client) {
        let why = "it is another host; what is detected here is the client's";
        missing.push(["Server's machine".to_owned(), "not looked at".to_owned(), why.to_owned()]);
    }
    rows.extend(missing);
    rows
}

/// Who told a detected fact.
pub(super) fn source(fact: &str, environments: &[Environment]) -> String {
    const OF_DRIVER: [&str; 5] = ["gpu", "driver", "cuda", "power_limit", "interconnect"];
    if !OF_DRIVER.contains(&fact) {
        return if fact == "image_digest" { "the server's command".to_owned() } else { "detected".to_owned() };
    }
    let of = |machine: &Machine| {
        Some(match machine.devices? {
            DeviceSource::Nvml => "detected (NVML)".to_owned(),
            DeviceSource::Recording => "a recording, not this machine".to_owned(),
        })
    };
    distinct(environments.iter().filter_map(|found| of(found.machine.as_ref()?))).join(", ")
}
