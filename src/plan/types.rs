//! The types of a resolved plan, as stored in `plan.json`.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::compared::ComparePlan;
use super::limits::Limits;
use super::verify::Check;
use crate::catalog::{Api, FaultRule, SYNC_VIDEO_PATH, Spelling, Task};
use crate::scenario::model::{Arrival, ListForm, Order, Parallel, Restart, ServerMode, Validate};
use crate::units::{ByteSize, Limit, PixelSize, Rate, Span};
use crate::workload::Dataset;

/// Version of `plan.json`.
pub const PLAN_FORMAT: u32 = 1;

/// The resolved plan of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Version of this format.
    pub format: u32,
    /// omni-bench's version that made it.
    pub tool_version: String,
    /// The scenario's name, safe as a folder name.
    pub scenario: String,
    /// Title of the page.
    pub title: String,
    /// What the scenario is for.
    pub description: Option<String>,
    /// Free labels.
    pub tags: Vec<String>,
    /// Hash over everything else in this plan, 64 hex digits.
    pub plan_hash: String,
    /// Model id as sent; `auto` until the server has been asked.
    pub model: String,
    /// The task.
    pub task: Task,
    /// Whether the embedded simulator answers.
    pub simulated: bool,
    /// Time base of a simulated plan; 1 otherwise.
    pub speed: f64,
    /// Simulator cost model by name; `None` when the simulator picks by model.
    pub simulator_profile: Option<String>,
    /// Relative spread of simulated service times.
    pub simulator_noise: f64,
    /// Faults that the simulator commits, the chaos mix resolved; empty when another server answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub simulator_faults: Vec<FaultRule>,
    /// Declared facts.
    pub environment: IndexMap<String, Value>,
    /// How servers are started; `None` when they are already running or simulated.
    pub server: Option<ServerPlan>,
    /// Variants that some run uses, in the file's order.
    pub variants: Vec<VariantPlan>,
    /// Datasets that some run uses, in the file's order.
    pub datasets: IndexMap<String, Dataset>,
    /// Axes along which runs differ, in canonical order; they appear in ids and become columns.
    pub varying: Vec<Axis>,
    /// Repeats of each point.
    pub repeats: u32,
    /// Order of repeats.
    pub order: Order,
    /// The runs, in canonical order (not in order of execution; that is `steps`).
    pub runs: Vec<RunPlan>,
    /// What happens, in order.
    pub steps: Vec<Step>,
    /// How many servers are started.
    pub starts: u32,
    /// SLO settings.
    pub slo: Option<SloPlan>,
    /// Failed and censored requests per run that are still fine.
    pub allow_failures: u64,
    /// Which variants are compared, and how.
    pub compare: Option<ComparePlan>,
    /// File name of the dashboard page (not its folder), when the scenario has one.
    pub page: Option<String>,
    /// What is read, followed and held at most; absent in plans of older versions, and not in the hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
}

impl Plan {
    /// The variant of that name.
    pub fn variant(&self, name: &str) -> Option<&VariantPlan> {
        self.variants.iter().find(|variant| variant.name == name)
    }

    /// The run of that id.
    pub fn run(&self, id: &str) -> Option<&RunPlan> {
        self.runs.iter().find(|run| run.id == id)
    }
}

/// An axis of the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Variant.
    Variant,
    /// Dataset.
    Dataset,
    /// Concurrency cap.
    MaxConcurrency,
    /// Arrival rate.
    RequestRate,
    /// Request count.
    Requests,
    /// Output size.
    Size,
    /// Steps.
    NumInferenceSteps,
    /// Frames.
    NumFrames,
    /// Traffic seed.
    Seed,
}

/// One server configuration, resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariantPlan {
    /// Name.
    pub name: String,
    /// Name in tables.
    pub label: String,
    /// Parallel layout as written; an absent degree is off.
    pub parallel: Parallel,
    /// Serve arguments: those derived from `parallel` first, then the file's own, in its order.
    pub serve_args: IndexMap<String, Value>,
    /// How lists among them are written, by flag; those that are not here repeat their flag.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub serve_lists: IndexMap<String, ListForm>,
    /// GPUs it uses.
    pub gpus: u32,
    /// Hash of who answers (layout, serve arguments, GPUs), 16 hex digits.
    pub config_key: String,
    /// Endpoint settings.
    pub endpoint: EndpointPlan,
    /// Declared facts: the scenario's, overridden by the variant's.
    pub environment: IndexMap<String, Value>,
    /// What its server must show before it is measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verify: Vec<Check>,
}

/// Where requests go, resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndpointPlan {
    /// Base URL without a trailing slash; `None` when omni-bench starts the server and picks the port.
    pub url: Option<String>,
    /// Which endpoint.
    pub api: Api,
    /// Environment variable of the API key.
    pub api_key_env: Option<String>,
    /// Header name → environment variable.
    pub headers: IndexMap<String, String>,
    /// Fields of every request.
    pub extra_body: IndexMap<String, Value>,
    /// Readiness check.
    pub ready: ReadyPlan,
    /// Time limits.
    pub timeout: TimeoutPlan,
    /// Polling of jobs.
    pub poll: PollPlan,
    /// Stream edits.
    pub stream: bool,
    /// How bodies are spelled.
    #[serde(default)]
    pub spelling: Spelling,
    /// Blocking video endpoint.
    pub sync_video: bool,
    /// Ask for stage metrics.
    pub return_stage_metrics: bool,
    /// `bot_task` of every request.
    pub bot_task: Option<String>,
    /// Depth of the checks.
    pub validate: Validate,
    /// Send fields the endpoint is not known to read.
    pub allow_unknown: bool,
    /// Largest reply.
    pub max_reply: ByteSize,
    /// PEM file of the authorities that are trusted; `None` for the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<String>,
    /// Proxy.
    pub proxy: Option<String>,
    /// HTTP/2 with prior knowledge.
    pub http2: bool,
}

impl EndpointPlan {
    /// Whether the media that come back must be readable, or only be there.
    pub const fn reads_media(&self) -> bool {
        !matches!(self.validate, Validate::None)
    }

    /// Whether pictures that come back are decoded whole.
    pub const fn decodes_media(&self) -> bool {
        matches!(self.validate, Validate::Full)
    }

    /// The path that requests are sent to.
    pub const fn path(&self) -> &'static str {
        if self.sync_video { SYNC_VIDEO_PATH } else { self.api.path() }
    }
}

/// Readiness check, resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadyPlan {
    /// Path.
    pub path: String,
    /// How long to wait.
    pub timeout: Span,
}

/// Time limits, resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeoutPlan {
    /// Making a connection.
    pub connect: Limit,
    /// One HTTP exchange.
    pub request: Limit,
    /// A video job, from its creation.
    pub job: Limit,
}

/// Polling, resolved: next poll after max(first, growth × elapsed job time), at most max.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PollPlan {
    /// Shortest gap.
    pub first: Span,
    /// Share of the job's time so far.
    pub growth: f64,
    /// Longest gap.
    pub max: Span,
}

/// How servers are started, resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerPlan {
    /// Words of the command, minijinja templates.
    pub command: Vec<String>,
    /// Who starts it.
    pub mode: ServerMode,
    /// Extra environment.
    pub env: IndexMap<String, String>,
    /// Working directory.
    pub cwd: Option<String>,
    /// Readiness check.
    pub ready: ReadyPlan,
    /// Time to stop by itself.
    pub stop_grace: Span,
    /// When it is started anew.
    pub restart: Restart,
}

impl ServerPlan {
    /// Whether a person starts it when asked.
    pub const fn is_manual(&self) -> bool {
        matches!(self.mode, ServerMode::Manual)
    }

    /// Whether it is started anew after it ended by itself.
    pub const fn restarts_after_a_crash(&self) -> bool {
        matches!(self.restart, Restart::OnCrash)
    }
}

/// One run: a point of the matrix and a repeat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunPlan {
    /// Readable id, a relative path: `variant/dataset/c4` plus suffixes, `.r2` for repeats.
    pub id: String,
    /// What is asked and who answers, 16 hex digits.
    pub key: String,
    /// What is asked, 16 hex digits; equal for runs that can be compared.
    pub workload_key: String,
    /// Who answers, 16 hex digits.
    pub config_key: String,
    /// Variant name.
    pub variant: String,
    /// Dataset name.
    pub dataset: String,
    /// Traffic.
    pub traffic: TrafficPlan,
    /// Size, steps and frames set by an axis; they override the dataset's.
    pub point: Point,
    /// Warm-up.
    pub warmup: WarmupPlan,
    /// Repeat, from 1.
    pub repeat: u32,
    /// GPUs of the variant.
    pub gpus: u32,
    /// Expected time of the measured phase, warm-up and calibration in seconds, when a model can tell.
    pub estimate_s: Option<f64>,
}

/// Values that the shape axes put over the dataset's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Output size.
    pub size: Option<PixelSize>,
    /// Steps.
    pub num_inference_steps: Option<u32>,
    /// Frames.
    pub num_frames: Option<u32>,
}

/// Traffic of a run, resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrafficPlan {
    /// Measured requests.
    pub requests: u64,
    /// Most in flight; `None` is no cap, possible in open loop only.
    pub max_concurrency: Option<u32>,
    /// Arrivals per second, or `inf` for a closed loop.
    pub request_rate: Rate,
    /// How due times come about.
    pub arrivals: Arrivals,
    /// Seed of profile sampling; other seeds derive from it.
    pub seed: u64,
}

/// How due times come about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "process")]
pub enum Arrivals {
    /// Closed loop: a request is due when its slot is free.
    Closed,
    /// Equal gaps.
    Constant,
    /// Exponential gaps.
    Poisson,
    /// Gamma gaps of shape γ; coefficient of variation 1/√γ.
    Gamma {
        /// γ, above 0.
        burstiness: f64,
    },
    /// The trace's time stamps, this much faster.
    Trace {
        /// Factor, above 0.
        speed: f64,
    },
}

impl Arrivals {
    /// The scenario's name of an open-loop process; `None` in closed loop.
    pub const fn process(self) -> Option<Arrival> {
        match self {
            Self::Closed => None,
            Self::Constant => Some(Arrival::Constant),
            Self::Poisson => Some(Arrival::Poisson),
            Self::Gamma { .. } => Some(Arrival::Gamma),
            Self::Trace { .. } => Some(Arrival::Trace),
        }
    }

    /// Whether requests are sent at due times instead of as slots become free.
    pub const fn is_open_loop(self) -> bool {
        !matches!(self, Self::Closed)
    }
}

/// Warm-up of a run, resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmupPlan {
    /// Requests.
    pub requests: u32,
    /// In flight at once, at least 1.
    pub concurrency: u32,
    /// Steps that replace the measured ones; `None` keeps them.
    pub num_inference_steps: Option<u32>,
    /// Frames that replace the measured ones; `None` keeps them.
    pub num_frames: Option<u32>,
    /// Whether requests and concurrency follow the run (`match`) and shapes are the measured ones.
    pub matched: bool,
}

/// The service-level objective, resolved.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SloPlan {
    /// How a request's target comes about when its row has none.
    pub target: SloTarget,
    /// Share of requests that must meet their target.
    pub attainment: f64,
}

/// How a request's target comes about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SloTarget {
    /// This time.
    Latency(Span),
    /// This factor times the class's median calibration time.
    Scale {
        /// Factor, above 0.
        factor: f64,
        /// Calibration requests per class.
        calibration: u32,
    },
    /// Only rows that carry their own target count.
    RowOnly,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Start a server of this variant.
    StartServer {
        /// Variant name.
        variant: String,
    },
    /// Drive a run.
    Run {
        /// Run id.
        id: String,
    },
    /// Stop the variant's server.
    StopServer {
        /// Variant name.
        variant: String,
    },
}
