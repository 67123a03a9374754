//! `[server]` and `[[variants]]`.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Endpoint, Ready};
use crate::units::Span;

/// How to start one server per variant.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    /// The command's words, each a minijinja template over `model`, `port`, `host`, `variant`, `gpus`;
    /// flags derived from `parallel` and `serve_args` are appended.
    pub command: Vec<String>,
    /// `launch` (default) starts the command; `manual` prints it and waits for the server to appear.
    pub mode: Option<ServerMode>,
    /// Extra environment variables; `${NAME}` is the value of this tool's own variable, so that keys need not be written.
    pub env: IndexMap<String, String>,
    /// Working directory, relative to this file.
    pub cwd: Option<String>,
    /// How to tell that the server is ready. Default timeout `20m`.
    pub ready: Option<Ready>,
    /// Time between asking the server to stop and killing its process group. Default `30s`.
    pub stop_grace: Option<Span>,
    /// When to start it anew: `never` (default, one start per variant), `per_repeat`, `on_crash`.
    pub restart: Option<Restart>,
    /// Checks that every variant's server runs what its flags promised, carried out when it is ready
    /// and before anything is measured.
    pub verify: Vec<Verify>,
}

/// One check of a server: `log`, or `path` with `equals` or `matches`. Texts may use the templates
/// `{{ model }}`, `{{ variant }}`, `{{ gpus }}`, `{{ parallel.… }}` and `{{ serve_args["…"] }}`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Verify {
    /// Regular expression that a line of the server's log must match.
    pub log: Option<String>,
    /// Path to ask, like `/v1/models`; the answer must be 2xx.
    pub path: Option<String>,
    /// JSON pointer into the answer, like `/data/0/id`. Default: the whole answer.
    pub json: Option<String>,
    /// The value that must stand there. A text that is one template keeps the type of its value.
    pub equals: Option<Value>,
    /// Regular expression that the text there must match; of other values, their JSON.
    pub matches: Option<String>,
}

/// Who starts the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerMode {
    /// omni-bench starts and stops it.
    #[default]
    Launch,
    /// A person starts it when asked.
    Manual,
}

/// When a server is started anew.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Restart {
    /// Once per variant.
    #[default]
    Never,
    /// For every repeat.
    PerRepeat,
    /// When it has ended by itself, at most three times per variant.
    OnCrash,
}

/// How a list among the serve arguments is written on the command line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ListForm {
    /// The flag once per item: `--flag a --flag b`.
    #[default]
    Repeat,
    /// One word: `--flag a,b`.
    Comma,
    /// The flag once, then a word per item: `--flag a b`.
    Words,
    /// Compact JSON: `--flag ["a","b"]`.
    Json,
}

/// One server configuration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Variant {
    /// Short name; part of run ids. Letters, digits, `.`, `_`, `-`.
    pub name: Option<String>,
    /// Name in tables; default the name.
    pub label: Option<String>,
    /// Parallel layout; derives the serve flags and the GPU count.
    pub parallel: Parallel,
    /// Serve arguments, without the leading dashes: true is a bare flag, false is left out, a table is
    /// compact JSON, a list repeats the flag unless `serve_lists` says otherwise.
    pub serve_args: IndexMap<String, Value>,
    /// How lists among `serve_args` are written, by flag: `repeat` (default), `comma`, `words`, `json`.
    pub serve_lists: IndexMap<String, ListForm>,
    /// GPUs this variant uses; default the product of the parallel degrees.
    pub gpus: Option<u32>,
    /// Endpoint settings of this variant; they win over `[endpoint]`.
    pub endpoint: Option<Endpoint>,
    /// Environment facts of this variant.
    pub environment: IndexMap<String, Value>,
    /// Checks of this variant's server, after those of `[server]`.
    pub verify: Vec<Verify>,
}

/// Parallel degrees; an absent one is off.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Parallel {
    /// Classifier-free guidance branches on separate GPUs.
    pub cfg: Option<u32>,
    /// Ulysses sequence parallelism.
    pub ulysses: Option<u32>,
    /// Ring attention.
    pub ring: Option<u32>,
    /// Tensor parallelism.
    pub tensor: Option<u32>,
    /// Pipeline parallelism.
    pub pipeline: Option<u32>,
    /// Data parallelism.
    pub data: Option<u32>,
    /// Patch parallelism of the VAE; uses the same GPUs.
    pub vae_patch: Option<u32>,
    /// Hybrid sharded weights.
    pub hsdp: Option<bool>,
    /// Tensor parallelism of the text encoder; uses the same GPUs.
    pub text_encoder_tensor: Option<u32>,
}

impl Parallel {
    /// The degree of that key; `None` when it is absent or no number.
    pub fn degree(&self, key: &str) -> Option<u32> {
        match key {
            "cfg" => self.cfg,
            "ulysses" => self.ulysses,
            "ring" => self.ring,
            "tensor" => self.tensor,
            "pipeline" => self.pipeline,
            "data" => self.data,
            "vae_patch" => self.vae_patch,
            "text_encoder_tensor" => self.text_encoder_tensor,
            _ => None,
        }
    }
}
