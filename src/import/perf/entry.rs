//! An entry → its workload: task, endpoint, dataset, warm-up, with the defaults of the runner and of
//! the script written out.

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use super::super::document::{Findings, Node, kind};
use super::cases::Case;
use super::inline::InlineFile;
use super::sweep::{self, Step};
use super::{dataset, keys};
use crate::catalog::{Api, REFERENCE_COLUMNS, Task, is_known_field};
use crate::scenario::model::Dataset;

/// The script's default of `bot-task`, which it sends to edits.
const BOT_TASK: &str = "think";
/// Fields that a dataset takes without sending them as they are.
const DATASET_FIELDS: [&str; 5] = ["slo_ms", "num_outputs_per_prompt", "size", "prompt", "weight"];
/// The same for the columns of rows: their facts, and the media they name.
const ROW_FIELDS: [&str; 3] = ["text", "request_id", "timestamp"];

/// What must be equal for entries to share a scenario.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Setting {
    pub(super) model: String,
    pub(super) task: Task,
    pub(super) api: Api,
    pub(super) bot_task: Option<String>,
    pub(super) warmup: Warmup,
    pub(super) slo_scale: Option<f64>,
    pub(super) traffic_seed: u64,
    pub(super) job_timeout_s: Option<u64>,
}

/// Warm-up of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Warmup {
    pub(super) requests: u32,
    pub(super) concurrency: u32,
    pub(super) num_inference_steps: u32,
}

/// An entry, read.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) node: Node<'a>,
    pub(super) setting: Setting,
    pub(super) steps: Vec<Step>,
    pub(super) name: Option<String>,
    pub(super) dataset: Dataset,
    /// Rows written into the perf JSON.
    pub(super) rows: Option<InlineFile>,
    /// Whether fields are sent that the endpoint is not known to read.
    pub(super) allow_unknown: bool,
    pub(super) return_stage_metrics: bool,
    pub(super) baseline: Option<Node<'a>>,
    pub(super) tolerance: Option<Node<'a>>,
}

/// Reads an entry of a case.
pub(super) fn read<'a>(case: &Case<'a>, node: &Node<'a>, findings: &mut Findings) -> Option<Entry<'a>> {
    let keys = keys::hyphenated(node, "the script", findings);
    keys::unknown(&keys, findings);
    let reader = Reader { case, node, keys: &keys };
    let task = reader.task(findings)?;
    let api = reader.api(task, findings);
    let steps = sweep::steps(&keys, node, findings);
    let warmup = reader.warmup(findings);
    let (dataset, rows) = dataset::read(&reader, task, findings)?;
    let api = api?;
    let allow_unknown = reader.unread_fields(api, &dataset, rows.as_ref(), findings);
    let setting = Setting {
        model: case.model.to_owned(),
        task,
        api,
        bot_task: reader.bot_task(api, findings),
        warmup,
        slo_scale: reader.slo(findings),
        traffic_seed: reader.integer("random-request-seed", 0, findings).unwrap_or(42),
        job_timeout_s: reader.integer("video-job-timeout", 1, findings),
    };
    Some(Entry {
        node: node.clone(),
        setting,
        steps: steps?,
        name: reader.get("name").and_then(Node::text).map(str::to_owned),
        dataset,
        rows,
        allow_unknown,
        return_stage_metrics: reader.flag("return-stage-metrics", findings),
        baseline: reader.get("baseline").cloned(),
        tolerance: reader.get("baseline-tolerance").cloned(),
    })
}

/// An entry with the case around it and its keys by their hyphenated names.
pub(super) struct Reader<'r, 'a> {
    case: &'r Case<'a>,
    pub(super) node: &'r Node<'a>,
    pub(super) keys: &'r IndexMap<String, Node<'a>>,
}

impl<'a> Reader<'_, 'a> {
    pub(super) fn get(&self, key: &str) -> Option<&Node<'a>> {
        self.keys.get(key).filter(|node| !node.value.is_null())
    }

    pub(super) fn flag(&self, key: &str, findings: &mut Findings) -> bool {
        let Some(node) = self.get(key) else { return false };
        if !node.value.is_boolean() {
            findings.error(node, format!("`{key}` is true or false, not {}", kind(node.value)));
        }
        node.value == &Value::Bool(true)
    }

    pub(super) fn integer(&self, key: &str, least: u64, findings: &mut Findings) -> Option<u64> {
        let node = self.get(key)?;
        let number = node.value.as_u64().filter(|number| *number >= least);
        if number.is_none() {
            findings.error(node, format!("`{key}` must be a whole number of at least {least}, not `{}`", node.value));
        }
        number
    }

    pub(super) fn small(&self, key: &str, least: u64, findings: &mut Findings) -> Option<u32> {
        let number = self.integer(key, least, findings)?;
        let small = u32::try_from(number).ok();
        if let (None, Some(node)) = (small, self.get(key)) {
            findings.error(node, format!("`{key}` is too large"));
        }
        small
    }

    fn task(&self, findings: &mut Findings) -> Option<Task> {
        let Some(node) = self.get("task") else {
            findings.note(self.node, "the entry names no task; the runner then takes `t2i`");
            return Some(Task::T2i);
        };
        let task = node.text().and_then(|text| Task::ALL.into_iter().find(|task| task.name() == text));
        if task.is_none() {
            let names: Vec<&str> = Task::ALL.iter().map(|task| task.name()).collect();
            findings.error_hint(
                node,
                format!("there is no task {}", node.value),
                format!("the tasks are {}", names.join(", ")),
            );
        }
        task
    }

    /// The endpoint of the entry, else of the case, else the runner's own choice.
    fn api(&self, task: Task, findings: &mut Findings) -> Option<Api> {
        let own = self.get("endpoint").or_else(|| self.get("backend"));
        if let (Some(own), Some(case)) = (own, &self.case.endpoint)
            && own.text().and_then(Api::from_path) != case.text().and_then(Api::from_path)
        {
            findings.note(own, format!("the entry says {}, the case {}; the entry counts", own.value, case.value));
        }
        let Some(node) = own.or(self.case.endpoint.as_ref()) else { return Some(self.default_api(task, findings)) };
        let known = || Api::ALL.map(|api| format!("`{api}`")).join(", ");
        let Some(api) = node.text().and_then(Api::from_path) else {
            findings.error_hint(
                node,
                format!("{} is not an endpoint", node.value),
                format!("the endpoints are {}", known()),
            );
            return None;
        };
        if !api.can_do(task) {
            let able = Api::ALL.into_iter().filter(|api| api.can_do(task)).map(|api| format!("`{api}`"));
            let hint = format!("endpoints that can: {}", able.collect::<Vec<_>>().join(", "));
            findings.error_hint(node, format!("`{api}` cannot do task `{task}`"), hint);
            return None;
        }
        Some(api)
    }

    fn default_api(&self, task: Task, findings: &mut Findings) -> Api {
        let (runner, script) = default_apis(task);
        let message = match runner {
            Some(api) if api == script => return api,
            Some(api) => format!(
                "no endpoint is named: the runner sends `{task}` to `{api}`, the script alone to `{script}`; the scenario says `{api}`"
            ),
            None => format!(
                "no endpoint is named and the runner has none for `{task}`; the scenario says `{script}`, as the script does"
            ),
        };
        findings.note(self.node, message);
        runner.unwrap_or(script)
    }

    fn bot_task(&self, api: Api, findings: &mut Findings) -> Option<String> {
        match self.get("bot-task") {
            Some(node) => {
                let text = node.text();
                if text.is_none() {
                    findings.error(node, format!("`bot-task` is text, not {}", kind(node.value)));
                } else if !is_known_field(api, "bot_task") {
                    findings.note(node, format!("`{api}` does not read `bot_task`; it is left out"));
                    return None;
                }
                text.map(str::to_owned)
            }
            None => (api == Api::Edits).then(|| BOT_TASK.to_owned()),
        }
    }

    fn warmup(&self, findings: &mut Findings) -> Warmup {
        Warmup {
            requests: self.small("warmup-requests", 0, findings).unwrap_or(1),
            concurrency: self.small("warmup-concurrency", 1, findings).unwrap_or(1),
            num_inference_steps: self.small("warmup-num-inference-steps", 1, findings).unwrap_or(2),
        }
    }

    fn slo(&self, findings: &mut Findings) -> Option<f64> {
        if !self.flag("slo", findings) {
            return None;
        }
        let Some(node) = self.get("slo-scale") else { return Some(3.0) };
        let scale = node.value.as_f64().filter(|scale| scale.is_finite() && *scale > 0.0);
        if scale.is_none() {
            findings.error(node, format!("`slo-scale` must be a number above 0, not `{}`", node.value));
        }
        scale
    }

    /// Whether fields are sent that the endpoint ignores; then they are named.
    fn unread_fields(&self, api: Api, dataset: &Dataset, rows: Option<&InlineFile>, findings: &mut Findings) -> bool {
        let tables = [&dataset.defaults, &dataset.overrides];
        let fields = tables.into_iter().chain(dataset.profiles.iter().map(|profile| &profile.fields)).flatten();
        let columns = rows.map(InlineFile::columns).unwrap_or_default();
        let columns = columns
            .iter()
            .map(String::as_str)
            .filter(|column| !ROW_FIELDS.contains(column) && !REFERENCE_COLUMNS.contains(column));
        let unread: IndexSet<&str> = fields
            .map(|(key, _)| key.as_str())
            .chain(columns)
            .filter(|key| !DATASET_FIELDS.contains(key) && !is_known_field(api, key))
            .collect();
        if unread.is_empty() {
            return false;
        }
        let place = match api {
            Api::Chat => "; fields of the model belong under `extra_args`",
            Api::Generations | Api::Videos => "; fields of the model belong under `extra_params`",
            Api::Edits => "",
        };
        let message = format!(
            "`{api}` does not read `{}`: they are sent as the file says (`allow_unknown`) and change nothing{place}",
            unread.into_iter().collect::<Vec<_>>().join("`, `")
        );
        findings.note(self.get("extra-body").unwrap_or(self.node), message);
        true
    }
}

/// Where the runner and the script send a task when nobody says; the runner knows no endpoint for some.
pub(super) const fn default_apis(task: Task) -> (Option<Api>, Api) {
    match task {
        Task::T2i => (Some(Api::Chat), Api::Chat),
        Task::I2i | Task::Ti2i => (Some(Api::Chat), Api::Edits),
        Task::It2i => (None, Api::Edits),
        Task::T2v | Task::I2v | Task::Ti2v | Task::V2v => (Some(Api::Videos), Api::Videos),
    }
}
