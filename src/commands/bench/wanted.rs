//! The flags read together: which endpoint, which JSON, what contradicts what, what has no effect.

use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::catalog::{Api, is_known_field};
use crate::cli::{BenchArgs, BenchDataset};

/// Steps when nobody says.
const STEPS: u32 = 50;
/// Side of a picture for endpoints that the Python client always names a size to.
const SIDE: u32 = 1024;
/// `bot_task` of edits when nobody says.
const BOT_TASK: &str = "think";

/// A table of request fields, in the order of its text.
pub(super) type Table = IndexMap<String, Value>;

/// What was typed, checked as a whole.
#[derive(Debug)]
pub(super) struct Wanted<'a> {
    pub(super) args: &'a BenchArgs,
    pub(super) api: Api,
    /// Profiles of a random dataset, `weight` among their keys.
    pub(super) profiles: Vec<Table>,
    pub(super) extra_body: Table,
    /// Things the user should know; nothing to stop for.
    pub(super) notes: Vec<String>,
}

impl<'a> Wanted<'a> {
    /// Reads the flags together; the message of an error names the flag.
    pub(super) fn new(args: &'a BenchArgs) -> Result<Self, String> {
        let api = api(args)?;
        let mut wanted = Self { args, api, profiles: Vec::new(), extra_body: Table::new(), notes: Vec::new() };
        if let Some(text) = &args.extra_body {
            wanted.extra_body = json("--extra-body", "an object of request fields", text)?;
            // a null is a field that is not sent
            wanted.extra_body.retain(|_, value| !value.is_null());
            no_nulls("--extra-body", wanted.extra_body.values())?;
        }
        if let Some(text) = &args.random_request_config {
            wanted.profiles = json("--random-request-config", "a list of objects", text)?;
            if wanted.profiles.is_empty() {
                return Err("`--random-request-config` is an empty list; give at least one profile".to_owned());
            }
            for profile in &mut wanted.profiles {
                profile.retain(|_, value| !value.is_null());
            }
            no_nulls("--random-request-config", wanted.profiles.iter().flat_map(IndexMap::values))?;
        }
        wanted.check_dataset()?;
        wanted.check_contradictions()?;
        wanted.note_what_has_no_effect();
        wanted.note_what_is_not_known();
        Ok(wanted)
    }

    pub(super) const fn is_random(&self) -> bool {
        matches!(self.args.dataset, BenchDataset::Random)
    }

    pub(super) fn url(&self) -> String {
        let BenchArgs { base_url, host, port, .. } = self.args;
        match base_url {
            Some(url) => url.clone(),
            // an IPv6 address stands in brackets within a URL
            None if host.contains(':') && !host.starts_with('[') => format!("http://[{host}]:{port}"),
            None => format!("http://{host}:{port}"),
        }
    }

    /// Fields that fill the gaps of rows and profiles; a field that `--extra-body` gives is left to it.
    pub(super) fn defaults(&self) -> Table {
        let args = self.args;
        let (width, height) = match self.overrides().is_empty().then_some((args.width, args.height)) {
            Some((Some(width), Some(height))) => (Some(width), Some(height)),
            _ if self.always_has_size() && !self.extra_has(&["size", "width", "height"]) => (Some(SIDE), Some(SIDE)),
            _ => (None, None),
        };
        let one = (self.api == Api::Generations && !self.extra_has(&["num_outputs_per_prompt"])).then_some(1_u32);
        let fields = [
            ("width", width.map(Value::from)),
            ("height", height.map(Value::from)),
            ("num_inference_steps", Some(Value::from(args.num_inference_steps.unwrap_or(STEPS)))),
            ("num_frames", args.num_frames.filter(|_| self.has_frames()).map(Value::from)),
            ("fps", args.fps.filter(|_| self.has_frames()).map(number)),
            ("n", one.map(Value::from)),
            ("seed", args.seed.map(Value::from)),
        ];
        let left = |name: &str| !self.extra_body.contains_key(name);
        fields.into_iter().filter(|(name, _)| left(name)).filter_map(|(n, v)| Some((n.to_owned(), v?))).collect()
    }

    /// Fields that replace what the rows of a trace say.
    pub(super) fn overrides(&self) -> Table {
        let sides = [("width", self.args.width), ("height", self.args.height)];
        let trace = self.args.dataset == BenchDataset::Trace;
        sides.into_iter().filter(|_| trace).filter_map(|(n, v)| Some((n.to_owned(), Value::from(v?)))).collect()
    }

    /// Whether a synthetic negative prompt goes with every request.
    pub(super) fn negative_prompt(&self) -> bool {
        self.args.enable_negative_prompt && self.is_random() && !self.extra_has(&["negative_prompt"])
    }

    /// `bot_task` of every request, where it is sent.
    pub(super) fn bot_task(&self) -> Option<String> {
        let sent = self.api == Api::Edits && !self.extra_has(&["bot_task"]);
        sent.then(|| self.args.bot_task.clone().unwrap_or_else(|| BOT_TASK.to_owned()))
    }

    /// The `bot_task` that the figures name, from wherever it comes.
    pub(super) fn named_bot_task(&self) -> Option<Value> {
        let from_body = || self.extra_body.get("bot_task").filter(|_| self.api == Api::Edits).cloned();
        self.bot_task().map(Value::from).or_else(from_body)
    }

    pub(super) fn return_stage_metrics(&self) -> bool {
        self.args.return_stage_metrics && self.api == Api::Chat && !self.extra_has(&["return_stage_metrics"])
    }

    /// Fields of `--extra-body` that the endpoint is not known to read.
    pub(super) fn unknown_fields(&self) -> impl Iterator<Item = &str> {
        self.extra_body.keys().map(String::as_str).filter(|name| !is_known_field(self.api, name))
    }

    fn has_frames(&self) -> bool {
        matches!(self.api, Api::Videos | Api::Chat)
    }

    const fn always_has_size(&self) -> bool {
        matches!(self.api, Api::Generations | Api::Edits)
    }

    fn extra_has(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.extra_body.contains_key(*name))
    }

    fn check_dataset(&self) -> Result<(), String> {
        let BenchArgs { dataset, dataset_path, task, .. } = self.args;
        match (dataset, dataset_path) {
            (BenchDataset::Custom, None) => {
                Err("`--dataset custom` needs `--dataset-path`, a JSONL or CSV file".to_owned())
            }
            (BenchDataset::Vbench, None) if task.needs_image() => Err(format!(
                "`--dataset vbench --task {task}` needs `--dataset-path`, a folder with the pictures (and with \
                 `data/i2v-bench-info.json`, if it is there); they come through a script, and nothing that was \
                 downloaded is executed here"
            )),
            _ => Ok(()),
        }
    }

    /// A flag that was typed and a field of `--extra-body` cannot both be sent.
    fn check_contradictions(&self) -> Result<(), String> {
        let args = self.args;
        let size = args.width.zip(args.height).map(|(width, height)| format!("{width}x{height}"));
        let flags = [
            ("--width", "width", args.width.map(Value::from)),
            ("--height", "height", args.height.map(Value::from)),
            ("--width", "size", size.map(Value::from)),
            ("--num-frames", "num_frames", args.num_frames.map(Value::from)),
            ("--fps", "fps", args.fps.map(number)),
            ("--num-inference-steps", "num_inference_steps", args.num_inference_steps.map(Value::from)),
            ("--seed", "seed", args.seed.map(Value::from)),
            ("--bot-task", "bot_task", args.bot_task.as_deref().map(Value::from)),
        ];
        for (flag, name, typed) in flags {
            if let (Some(typed), Some(field)) = (typed, self.extra_body.get(name))
                && typed != *field
            {
                return Err(format!(
                    "`{flag}` and `--extra-body` contradict each other: `{name}` is {typed} in one and {field} in the other"
                ));
            }
        }
        Ok(())
    }

    fn note_what_has_no_effect(&mut self) {
        let (args, api) = (self.args, self.api);
        let frames = args.num_frames.is_some() || self.profiles.iter().any(|p| p.contains_key("num_frames"));
        let fps = args.fps.is_some() || self.profiles.iter().any(|p| p.contains_key("fps"));
        for (name, _) in [("num_frames", frames), ("fps", fps)].into_iter().filter(|(_, given)| *given) {
            if !self.has_frames() {
                self.notes.push(format!("`{api}` has no place for `{name}`; it is not sent"));
                for profile in &mut self.profiles {
                    profile.shift_remove(name);
                }
            }
        }
        let random = self.is_random();
        let mut idle = |flag: &str, given: bool, why: &str| {
            if given {
                self.notes.push(format!("`{flag}` has no effect: {why}"));
            }
        };
        idle("--enable-negative-prompt", args.enable_negative_prompt && !random, "the dataset is not random");
        idle("--random-request-config", args.random_request_config.is_some() && !random, "the dataset is not random");
        idle("--bot-task", args.bot_task.is_some() && api != Api::Edits, "it is sent to /v1/images/edits only");
        idle("--return-stage-metrics", args.return_stage_metrics && api != Api::Chat, "it is sent to chat only");
        if !random {
            self.profiles.clear();
        }
    }

    fn note_what_is_not_known(&mut self) {
        let api = self.api;
        let told: Vec<String> = self
            .unknown_fields()
            .map(|name| format!("`{api}` is not known to read `{name}` of `--extra-body`; it is sent all the same"))
            .collect();
        self.notes.extend(told);
    }
}

/// The endpoint that the flags name, else the one of the task.
fn api(args: &BenchArgs) -> Result<Api, String> {
    let list = |apis: &[Api]| apis.iter().map(|api| format!("`{api}`")).collect::<Vec<_>>().join(", ");
    let named = |flag: &str, name: &Option<String>| -> Result<Option<Api>, String> {
        let Some(name) = name else { return Ok(None) };
        let known = Api::from_path(name.trim().trim_start_matches('/'));
        known
            .map(Some)
            .ok_or_else(|| format!("`{flag} {name}` is not an endpoint; the endpoints are {}", list(&Api::ALL)))
    };
    let (endpoint, backend) = (named("--endpoint", &args.endpoint)?, named("--backend", &args.backend)?);
    let api = match (endpoint, backend) {
        (Some(endpoint), Some(backend)) if endpoint != backend => {
            return Err(format!("`--endpoint` names `{endpoint}` and `--backend` names `{backend}`; give one of them"));
        }
        (Some(api), _) | (None, Some(api)) => api,
        // the scenario's default for t2i is another one
        (None, None) if args.task == crate::catalog::Task::T2i => Api::Chat,
        (None, None) => args.task.default_api(),
    };
    if api.can_do(args.task) {
        return Ok(api);
    }
    let able: Vec<Api> = Api::ALL.into_iter().filter(|api| api.can_do(args.task)).collect();
    Err(format!("`{api}` cannot do `--task {}`; endpoints that can: {}", args.task, list(&able)))
}

/// The JSON text of a flag; an error names the flag and the place in the text.
fn json<T: DeserializeOwned>(flag: &str, wanted: &str, text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let at = format!(" at line {line} column {column}");
        let message = error.to_string();
        let message = message.strip_suffix(&at).unwrap_or(&message);
        let kind = if error.is_data() { format!("is not {wanted}") } else { "is not JSON".to_owned() };
        // a value that is wrong as a whole has no column
        let column = if column == 0 { String::new() } else { format!(", column {column}") };
        format!("`{flag}` {kind} (line {line}{column}): {message}")
    })
}

/// A null inside a field has no spelling in a scenario.
fn no_nulls<'a>(flag: &str, values: impl Iterator<Item = &'a Value>) -> Result<(), String> {
    fn has_null(value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::Array(list) => list.iter().any(has_null),
            Value::Object(table) => table.values().any(has_null),
            Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
    }
    let mut values = values;
    values.find(|value| has_null(value)).map_or(Ok(()), |value| {
        Err(format!("`{flag}` has a null inside `{value}`; leave the key out, or give the field as JSON text"))
    })
}

/// A number without a fraction is written without one, as servers before fractional fps want it.
fn number(value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
    if value.fract() == 0.0 && value.abs() < 1e15 { Value::from(value as i64) } else { Value::from(value) }
}
