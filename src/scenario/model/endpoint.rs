//! `[endpoint]` and `[variants.endpoint]`.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalog::Spelling;
use crate::units::{ByteSize, Limit, Span};

/// Where requests go and how replies are read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Endpoint {
    /// Scheme, host and port, like `http://localhost:8091`; no path, no user name, no key.
    pub url: Option<String>,
    /// Endpoint path; the default follows the task. Also accepts `vllm-omni`, `openai`, `v1/videos`.
    pub path: Option<String>,
    /// Name of the environment variable that holds the API key.
    pub api_key_env: Option<String>,
    /// Extra headers: header name → name of the environment variable that holds its value.
    pub headers: IndexMap<String, String>,
    /// Request fields sent with every request; a dataset row's own value wins.
    pub extra_body: IndexMap<String, Value>,
    /// How to tell that the server is ready.
    pub ready: Option<Ready>,
    /// Time limits; `"none"` spells no limit.
    pub timeout: Option<Timeout>,
    /// How often a video job is polled.
    pub poll: Option<Poll>,
    /// Ask for a stream of events (edits only, multi-stage models only). Default false.
    pub stream: Option<bool>,
    /// How bodies are spelled where a server reads several ways: `plain` (default) or `python_client`.
    pub spelling: Option<Spelling>,
    /// Use `/v1/videos/sync`, one blocking request per video. Default false.
    pub sync_video: Option<bool>,
    /// Ask a multi-stage server for per-stage metrics. Default false.
    pub return_stage_metrics: Option<bool>,
    /// `bot_task` sent with every request, for instruction-tuned models.
    pub bot_task: Option<String>,
    /// How deep replies are checked: `header` (default), `full` (also decode pictures whole and flag damaged, blank and repeated ones) or `none`.
    pub validate: Option<Validate>,
    /// Send request fields that the endpoint is not known to read. Default false.
    pub allow_unknown: Option<bool>,
    /// Largest reply accepted. Default `512MB`.
    pub max_reply: Option<ByteSize>,
    /// PEM file with the certificates of a private authority, relative to this file. A server at an
    /// `https` URL is then trusted by these alone; default the system's authorities.
    pub ca_file: Option<String>,
    /// Proxy URL; default none, the environment's proxy settings are not used.
    pub proxy: Option<String>,
    /// Speak HTTP/2 from the first byte. Default false.
    pub http2: Option<bool>,
}

/// Readiness check.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ready {
    /// Path that answers 200 when the server is ready. Default `/health`; 404 there falls back to `/v1/models`.
    pub path: Option<String>,
    /// How long to wait. Default `120s`; `20m` for a server that omni-bench starts.
    pub timeout: Option<Span>,
}

/// Time limits of a request. Each one that runs out makes the request censored, not failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Timeout {
    /// Limit for making a connection. Default `10s`.
    pub connect: Option<Limit>,
    /// Limit for one HTTP exchange. Default `15m`.
    pub request: Option<Limit>,
    /// Limit for a video job, from its creation. Default `15m`.
    pub job: Option<Limit>,
}

/// Polling of video jobs: the next poll comes after max(first, growth × elapsed job time), at most `max`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Poll {
    /// Shortest gap. Default `50ms`.
    pub first: Option<Span>,
    /// Gap as a share of the job's time so far. Default 0.05.
    pub growth: Option<f64>,
    /// Longest gap. Default `2s`.
    pub max: Option<Span>,
}

/// How deep replies are checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Validate {
    /// Media headers must be readable.
    #[default]
    Header,
    /// Like `header`, and when a request has ended its pictures are decoded whole, outside the measured
    /// time. Damaged, single-coloured and repeated ones are flagged; the request stays a success and
    /// the run becomes suspect. Of videos the container is read whole in any case, and nothing more.
    Full,
    /// Only the reply's shape is looked at.
    None,
}
