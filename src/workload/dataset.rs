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
    /// Synthetic reference images of every request that has none of its own.
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
        /// Files as resolved, or the address of a download.
        files: Vec<String>,
        /// What to do with fewer rows than requests.
        on_short: OnShort,
    },
    /// Rows of JSON lines or CSV.
    Custom {
        /// Files as resolved, or the address of a download.
        files: Vec<String>,
        /// What to do with fewer rows than requests.
        on_short: OnShort,
    },
    /// Prompts, or pictures with captions, of `VBench`.
    Vbench {
        /// The list or the folder, or the address of a download.
        files: Vec<String>,
        /// What to do with fewer rows than requests.
        on_short: OnShort,
    },
}

impl Origin {
    /// The files that rows were read from, or the address of their download.
    pub fn files(&self) -> &[String] {
        match self {
            Self::Random { .. } => &[],
            Self::Trace { files, .. } | Self::Custom { files, .. } | Self::Vbench { files, .. } => files,
        }
    }

    /// What happens with fewer rows than requests; `None` for synthetic data, which has no end.
    pub const fn on_short(&self) -> Option<OnShort> {
        match self {
            Self::Random { .. } => None,
            Self::Trace { on_short, .. } | Self::Custom { on_short, .. } | Self::Vbench { on_short, .. } => {
                Some(*on_short)
            }
        }
    }
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
    /// Rows that can be sent; `None` for synthetic data.
    pub rows: Option<u64>,
    /// Rows that could not be used, and were left out.
    pub bad_rows: u64,
    /// Lines of `Request(…)` or JSON files that were skipped as comments.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub comments: u64,
    /// SHA-256 of the data files, one after the other; `None` for synthetic data.
    pub sha256: Option<String>,
    /// Hash of what the dataset sends: data and settings, 16 hex digits.
    pub hash: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}
