//! The four endpoints and what each can do.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Task;

/// The blocking sibling of [`Api::Videos`]: one exchange that answers with the video itself.
pub const SYNC_VIDEO_PATH: &str = "/v1/videos/sync";

/// How bodies are spelled where a server reads one thing in more than one way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spelling {
    /// The way that most servers read.
    #[default]
    Plain,
    /// The way of vLLM-Omni's `diffusion_benchmark_serving.py`: what chat takes besides messages under a
    /// literal `extra_body`; videos with `width` and `height` for `size`, and without `model`.
    PythonClient,
}

/// One of the OpenAI-style endpoints omni-bench can drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// `/v1/chat/completions`: JSON; images come back inside the message.
    Chat,
    /// `/v1/images/generations`: JSON; text to image.
    Generations,
    /// `/v1/images/edits`: multipart; image to image.
    Edits,
    /// `/v1/videos`: multipart; an asynchronous job that is created, polled, fetched and deleted.
    Videos,
}

impl Api {
    /// Every endpoint.
    pub const ALL: [Self; 4] = [Self::Chat, Self::Generations, Self::Edits, Self::Videos];

    /// The canonical path.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Generations => "/v1/images/generations",
            Self::Edits => "/v1/images/edits",
            Self::Videos => "/v1/videos",
        }
    }

    /// The endpoint that a `path` value names: a canonical path, or one of the spellings that older
    /// benchmark clients used (`vllm-omni`, `openai`, `v1/videos`).
    pub fn from_path(path: &str) -> Option<Self> {
        match path.trim_end_matches('/') {
            "/v1/chat/completions" | "vllm-omni" | "v1/chat/completions" => Some(Self::Chat),
            "/v1/images/generations" | "openai" | "v1/images/generations" => Some(Self::Generations),
            "/v1/images/edits" | "v1/images/edits" => Some(Self::Edits),
            "/v1/videos" | "v1/videos" => Some(Self::Videos),
            _ => None,
        }
    }

    /// Whether the endpoint can carry out the task.
    pub const fn can_do(self, task: Task) -> bool {
        match self {
            // chat takes data-URL images, and returns images
            Self::Chat => matches!(task, Task::T2i | Task::I2i | Task::Ti2i | Task::It2i),
            Self::Generations => matches!(task, Task::T2i),
            Self::Edits => matches!(task, Task::I2i | Task::Ti2i | Task::It2i),
            Self::Videos => matches!(task, Task::T2v | Task::I2v | Task::Ti2v | Task::V2v),
        }
    }

    /// Whether requests are multipart forms rather than JSON.
    pub const fn is_multipart(self) -> bool {
        matches!(self, Self::Edits | Self::Videos)
    }
}

/// Whether a model takes uploaded reference videos in `video_reference`, and images and videos together
/// in `input_references`. MiniMax-H3 does: it reads its references from files that the server writes.
pub fn takes_video_reference(model: &str) -> bool {
    model.to_ascii_lowercase().contains("minimax-h3")
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.path())
    }
}
