//! The planner from the outside: scenario text in, plan or problems out.

#![cfg(test)] // the lints that spare tests then spare their helpers too

mod command;
mod errors;
mod keys;
mod matrix;
mod references;
mod requests;
mod trace;

use omni_bench::diagnostic::Problem;
use omni_bench::plan::{self, Hosting, Phases, Plan, PlanInput};
use omni_bench::scenario::Scenario;
use omni_bench::workload::{self, Data};

/// What every scenario of these tests begins with.
const HEAD: &str =
    "name = 'test'\n[model]\nid = 'Qwen/Qwen-Image'\ntask = 't2i'\n[endpoint]\nurl = 'http://localhost:8091'\n";

/// A dataset of one class.
const DATASET_A: &str = "[datasets.A]\nprofiles = [{ width = 512, height = 512, num_inference_steps = 20 }]\n";

/// The mixed dataset of the dashboards.
const DATASET_C: &str = "[datasets.C]
negative_prompt = true
profiles = [
  { width = 512, height = 512, num_inference_steps = 20, weight = 0.15 },
  { width = 768, height = 768, num_inference_steps = 20, weight = 0.25 },
  { width = 1024, height = 1024, num_inference_steps = 25, weight = 0.45 },
  { width = 1536, height = 1536, num_inference_steps = 35, weight = 0.15 },
]
";

const SIMULATED: Hosting = Hosting::Simulated { speed: 20.0 };

fn read(text: &str) -> Scenario {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn try_plan_with(scenario: &Scenario, hosting: Hosting, only: &[String]) -> Result<(Plan, Data), Vec<Problem>> {
    let data = workload::load(scenario, &workload::Sources::default())?;
    let input = PlanInput { scenario, data: &data, hosting, only, repeats: None, estimate: None };
    plan::plan(&input).map(|plan| (plan, data))
}

fn try_plan(text: &str, hosting: Hosting) -> Result<(Plan, Data), Vec<Problem>> {
    try_plan_with(&read(text), hosting, &[])
}

/// The plan of head, dataset A and more, for the simulator.
fn planned(more: &str) -> Plan {
    planned_data(&format!("{HEAD}{DATASET_A}{more}"), SIMULATED).0
}

fn planned_data(text: &str, hosting: Hosting) -> (Plan, Data) {
    try_plan(text, hosting).unwrap_or_else(|problems| panic!("{problems:#?}\n{text}"))
}

fn ids(plan: &Plan) -> Vec<&str> {
    plan.runs.iter().map(|run| run.id.as_str()).collect()
}

/// `path: message` of every problem of head, dataset A and more.
fn problems(more: &str) -> Vec<String> {
    problems_of(&format!("{HEAD}{DATASET_A}{more}"), SIMULATED)
}

fn problems_of(text: &str, hosting: Hosting) -> Vec<String> {
    let problems = try_plan(text, hosting).err().unwrap_or_default();
    problems.iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect()
}

/// The phases of the first run.
fn first_phases(text: &str) -> (Plan, Phases) {
    let (plan, data) = planned_data(text, SIMULATED);
    let phases = plan::phases(&plan, &plan.runs[0], &data);
    (plan, phases)
}
