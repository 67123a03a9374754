//! A dataset as the plan keeps it: resolved, without its data.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::scenario::model::{OnShort, RequestSeed, Sampling};

/// A resolved dataset; part of `plan.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    /// Name.
    pub name: String,
    /// Name in tables.
    pub label: String,
    /// What it is.
    pub description: Option<String>,
    /// Where requests come from.
    pub origin: Origin,
    /// Whether every request carries a negative prompt.
    pub negative_prompt: bool,
    /// Fields that fill gaps.
    pub defaults: IndexMap<String, Value>,
    /// Fields that replace what rows say.
    pub overrides: IndexMap<String, Value>,
    /// Synthetic reference images of every request.
    pub images: Option<InputMedia>,
    /// Synthetic reference videos of every request.
    pub videos: Option<InputVideo>,
    /// Which seed is sent.
    pub request_seed: RequestSeed,
    /// Facts about the data.
    pub facts: Facts,
}

/// Where a dataset's requests come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "source")]
pub enum Origin {
    /// Synthetic prompts, shapes drawn from weighted profiles.
    Random {
        /// The profiles, at least one; weights are finite, not negative, not all zero.
        profiles: Vec<WeightedProfile>,
        /// How they are drawn.
        sampling: Sampling,
    },
    /// A recorded trace.
    Trace {
        /// Files, as resolved.
        files: Vec<String>,
        /// What to do with fewer rows than requests.
        on_short: OnShort,
    },
}

/// A profile with its weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WeightedProfile {
    /// Request fields.
    pub fields: IndexMap<String, Value>,
    /// Weight.
    pub weight: f64,
}

/// Synthetic reference media of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputMedia {
    /// How many.
    pub count: u32,
    /// Width in pixels; `None` follows the request, else 512.
    pub width: Option<u32>,
    /// Height in pixels; `None` follows the request, else 512.
    pub height: Option<u32>,
}

/// Synthetic reference videos of a request.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct InputVideo {
    /// How many.
    pub count: u32,
    /// Width in pixels; `None` follows the request, else 512.
    pub width: Option<u32>,
    /// Height in pixels; `None` follows the request, else 512.
    pub height: Option<u32>,
    /// Frames; `None` follows the request, else 33.
    pub num_frames: Option<u32>,
    /// Frames per second; `None` follows the request, else 24.
    pub fps: Option<f64>,
}

impl InputVideo {
    /// One video in the shape of the request.
    pub const fn one() -> Self {
        Self { count: 1, width: None, height: None, num_frames: None, fps: None }
    }
}

/// What is known about the data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Rows of a trace; `None` for synthetic data.
    pub rows: Option<u64>,
    /// Lines of a trace that could not be read, and were left out.
    pub bad_rows: u64,
    /// SHA-256 of the data files; `None` for synthetic data.
    pub sha256: Option<String>,
    /// Hash of what the dataset sends: data and settings, 16 hex digits.
    pub hash: String,
}
