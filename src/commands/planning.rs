//! Scenario arguments → a loaded scenario, its data and its plan; what `plan`, `run` and `validate`
//! have in common. Every problem of every stage is told before the first one stops anything.

use crate::cli::PlanningArgs;
use crate::diagnostic::{KeyPath, Problem};
use crate::execute::authorities;
use crate::exit::Exit;
use crate::plan::{self, Hosting, Plan, PlanInput, VariantPlan};
use crate::scenario::{Loaded, Scenario};
use crate::simulator::Settings;
use crate::workload::{self, Class, Data, Dataset};

use super::estimate::Estimator;
use super::fetch;
use super::gate::rules;
use super::load::load;
use super::{Ui, dashboard};

/// Time base of the simulator when neither scenario nor command line says.
const DEFAULT_SPEED: f64 = 20.0;

/// A scenario that can be carried out.
pub(super) struct Planned {
    /// The scenario with the places of its keys.
    pub(super) loaded: Loaded,
    /// Its datasets with their rows.
    pub(super) data: Data,
    /// What will be done.
    pub(super) plan: Plan,
}

/// Loads and plans, or tells every problem found on stderr.
pub(super) fn prepare(wanted: &PlanningArgs, ui: Ui) -> Result<Planned, Exit> {
    prepare_loaded(load(&wanted.scenario, ui)?, wanted, false, ui)
}

/// Plans a loaded scenario, or tells every problem found on stderr. `consent` allows the downloads that
/// the scenario itself does not allow.
pub(super) fn prepare_loaded(loaded: Loaded, wanted: &PlanningArgs, consent: bool, ui: Ui) -> Result<Planned, Exit> {
    let refused = |problems: &[Problem]| {
        Ui::talk(&loaded.render(problems, ui.color));
        Exit::Usage
    };
    let hosting = hosting(wanted, &loaded.scenario);
    let elsewhere = problems_of_others(&loaded.scenario);
    let sources = fetch::fetch(&loaded.scenario, consent, ui);
    let data = workload::load(&loaded.scenario, &sources).map_err(|mut problems| {
        // the scenario's other problems do not depend on the data
        let others = plan::check(&loaded.scenario, hosting, wanted.repeats).into_iter().chain(elsewhere.clone());
        for problem in others {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        refused(&problems)
    })?;
    for note in data.notes() {
        ui.note(note);
    }
    let estimator = Estimator::new(&loaded.scenario);
    let seconds = |variant: &VariantPlan, _: &Dataset, class: &Class| estimator.seconds(variant, class);
    let input = PlanInput {
        scenario: &loaded.scenario,
        data: &data,
        hosting,
        only: &wanted.only,
        repeats: wanted.repeats,
        estimate: Some(&seconds),
    };
    let plan = match plan::plan(&input) {
        Ok(plan) if elsewhere.is_empty() => plan,
        planned => {
            let mut problems = planned.err().unwrap_or_default();
            problems.extend(elsewhere);
            return Err(refused(&problems));
        }
    };
    Ok(Planned { loaded, data, plan })
}

/// Who provides the servers: the simulator when asked for, else `[server]`, else whoever runs at `url`.
fn hosting(wanted: &PlanningArgs, scenario: &Scenario) -> Hosting {
    if wanted.simulate {
        Hosting::Simulated { speed: wanted.speed.or(scenario.simulator.speed).unwrap_or(DEFAULT_SPEED) }
    } else if scenario.server.is_some() && !wanted.no_server {
        Hosting::Launched
    } else {
        Hosting::Given
    }
}

/// What only other stages can tell, not the plan.
fn problems_of_others(scenario: &Scenario) -> Vec<Problem> {
    let gate = scenario.gate.as_ref().and_then(|gate| rules(gate, None).err());
    let dashboard = dashboard::problems(scenario);
    let others = dashboard.into_iter().chain(simulator_problem(scenario)).chain(authority_problems(scenario));
    gate.unwrap_or_default().into_iter().chain(others).collect()
}

/// Whether the authorities to trust can be read is seen by the client alone.
fn authority_problems(scenario: &Scenario) -> Vec<Problem> {
    let own = scenario.variants.iter().enumerate().filter_map(|(number, variant)| {
        Some((variant.endpoint.as_ref()?, KeyPath::from("variants").index(number).key("endpoint")))
    });
    let all = std::iter::once((&scenario.endpoint, KeyPath::from("endpoint"))).chain(own);
    let written = all.filter_map(|(endpoint, at)| Some((endpoint.ca_file.as_deref()?, at.key("ca_file"))));
    written.filter_map(|(file, at)| Some(Problem::value(at, authorities(file).err()?))).collect()
}

/// The simulator's cost models are known to the simulator alone, not to the plan.
fn simulator_problem(scenario: &Scenario) -> Option<Problem> {
    let profile = scenario.simulator.profile.clone()?;
    let error = Settings { profile: Some(profile), ..Settings::default() }.check().err()?;
    Some(Problem::value("simulator.profile", error))
}
