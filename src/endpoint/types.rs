//! What goes over the boundary between the executor and the wire.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bytes::Bytes;
use indexmap::IndexMap;
use serde_json::Value;

use crate::catalog::{Api, Flag, SYNC_VIDEO_PATH, Spelling, Task};
use crate::record::{Output, RequestError, Streamed};

/// How requests to one endpoint are put on the wire; the same for every request of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Wire {
    /// The endpoint.
    pub api: Api,
    /// Task, which says what medium must come back.
    pub task: Task,
    /// Model id to send.
    pub model: String,
    /// Fields of every request; a row's own value wins.
    pub extra_body: IndexMap<String, Value>,
    /// `bot_task` of every request; a row's own value wins.
    pub bot_task: Option<String>,
    /// Ask for stage metrics, where the endpoint has them.
    pub return_stage_metrics: bool,
    /// Ask for a stream of events; edits only.
    pub stream: bool,
    /// How bodies are spelled where a server reads several ways.
    pub spelling: Spelling,
    /// Videos through the blocking endpoint.
    pub sync_video: bool,
    /// Whether media headers must be readable (`header`, `full`) or only present (`none`).
    pub check_media: bool,
    /// Whether pictures are kept to be decoded whole (`full`).
    pub keep_pictures: bool,
    /// Largest reply body in bytes.
    pub max_reply: u64,
}

impl Wire {
    /// The path that requests are sent to.
    pub const fn path(&self) -> &'static str {
        if self.sync_video { SYNC_VIDEO_PATH } else { self.api.path() }
    }
}

/// An encoded request body of known length. Segments are shared, not copied, when it is sent again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// Value of the `Content-Type` header.
    pub content_type: String,
    /// The bytes, in order.
    pub segments: Vec<Bytes>,
}

impl Body {
    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.segments.iter().map(|segment| segment.len() as u64).sum()
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The head of a reply, as the judge needs it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// `Content-Type`, when sent.
    pub content_type: Option<String>,
    /// `Content-Length`, when sent.
    pub content_length: Option<u64>,
    /// Other headers of interest, names in lower case (`x-request-id`, `x-inference-time-s`, …).
    pub headers: BTreeMap<String, String>,
}

/// Where outputs are kept when the user asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaveMedia {
    /// Folder; exists.
    pub folder: PathBuf,
    /// File name without number and extension, like `req_0001`.
    pub stem: String,
}

/// What a judge found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// Usable outputs.
    pub outputs: Vec<Output>,
    /// Why the request did not succeed; `None` when it did.
    pub error: Option<RequestError>,
    /// Remarks.
    pub flags: Vec<Flag>,
    /// Generation time told by the server, in milliseconds.
    pub generation_ms: Option<f64>,
    /// Stage times in milliseconds.
    pub stage_ms: BTreeMap<String, f64>,
    /// Peak memory told by the server; 0 is not measured.
    pub peak_memory_mb: Option<f64>,
    /// `X-Request-Id`.
    pub server_request_id: Option<String>,
    /// Body bytes received.
    pub bytes: u64,
    /// What came on the way, when the reply was a stream; its times are not the judge's.
    pub stream: Option<Streamed>,
    /// The outputs' bytes, when they are to be decoded whole.
    pub pictures: Vec<Vec<u8>>,
}

/// State of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobStatus {
    /// Waiting.
    Queued,
    /// Started.
    InProgress,
    /// Finished; the content can be fetched.
    Completed,
    /// Failed; see the job's error.
    Failed,
    /// A word this tool does not know.
    Unknown(String),
}

/// What a create or status call says about a job.
#[derive(Debug, Clone, PartialEq)]
pub struct JobState {
    /// The job's id.
    pub id: String,
    /// Its state.
    pub status: JobStatus,
    /// The server's words about a failure.
    pub error: Option<RequestError>,
    /// `inference_time_s`, which includes queueing in the engine.
    pub inference_time_s: Option<f64>,
    /// Stage times in milliseconds.
    pub stage_ms: BTreeMap<String, f64>,
    /// Peak memory; 0 is not measured.
    pub peak_memory_mb: Option<f64>,
    /// Frames the server says it made.
    pub num_frames: Option<u64>,
    /// Frames per second the server says it made.
    pub fps: Option<f64>,
    /// Clip length the server says it made, in seconds (never the echoed `seconds`).
    pub duration_s: Option<f64>,
}
