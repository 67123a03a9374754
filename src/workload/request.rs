//! One concrete request, before it is put on the wire.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalog::Task;

/// What decides a request's cost. `None` leaves the choice to the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shape {
    /// Width in pixels.
    pub width: Option<u32>,
    /// Height in pixels.
    pub height: Option<u32>,
    /// Denoising steps.
    pub num_inference_steps: Option<u32>,
    /// Frames of a video.
    pub num_frames: Option<u32>,
    /// Frames per second of a video.
    pub fps: Option<f64>,
}

/// Requests of the same task and shape: the unit of per-class statistics, SLO targets and cost.
///
/// Printed as `512x512-s20` or `854x480-s3-f80`; a part that the request leaves open is left out,
/// and with nothing known the class is `default`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Class {
    /// The task.
    pub task: Task,
    /// The shape; fps is not part of the class.
    pub shape: Shape,
}

impl Class {
    /// The class of requests of this task and shape; fps does not part classes.
    pub const fn new(task: Task, shape: Shape) -> Self {
        Self { task, shape: Shape { fps: None, ..shape } }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let (Some(width), Some(height)) = (self.shape.width, self.shape.height) {
            parts.push(format!("{width}x{height}"));
        }
        if let Some(steps) = self.shape.num_inference_steps {
            parts.push(format!("s{steps}"));
        }
        if let Some(frames) = self.shape.num_frames {
            parts.push(format!("f{frames}"));
        }
        if parts.is_empty() { f.write_str("default") } else { f.write_str(&parts.join("-")) }
    }
}

/// A reference image or video of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// Bytes in hand, uploaded as a file part or sent as a data URL.
    Bytes {
        /// The file's content, shared between requests.
        bytes: Bytes,
        /// Its media type, like `image/png`.
        mime: Arc<str>,
        /// File name told to the server.
        file_name: Arc<str>,
    },
    /// An `http(s)` URL that the server fetches.
    Url(Arc<str>),
}

/// One request of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Position in the run, from 0.
    pub index: usize,
    /// Row of the dataset it came from, from 0; the profile's position for random datasets.
    pub row: usize,
    /// Identity in records and file names; unique in the run.
    pub request_id: String,
    /// What is asked of the model.
    pub task: Task,
    /// Width, height, steps, frames, fps.
    pub shape: Shape,
    /// Prompt.
    pub prompt: String,
    /// Negative prompt.
    pub negative_prompt: Option<String>,
    /// Outputs asked for; `None` sends nothing, which means 1.
    pub n: Option<u32>,
    /// Seed sent to the server; 0 is a value.
    pub seed: Option<u64>,
    /// Every other request field, in the order of the file.
    pub fields: IndexMap<String, Value>,
    /// Reference images, in order.
    pub images: Vec<Reference>,
    /// Reference videos, in order.
    pub videos: Vec<Reference>,
    /// The row's own SLO in milliseconds.
    pub slo_ms: Option<f64>,
    /// The row's time stamp in seconds, as the trace has it.
    pub timestamp_s: Option<f64>,
}

impl Request {
    /// The request's class.
    pub fn class(&self) -> Class {
        Class::new(self.task, self.shape)
    }
}
