//! One request as `records.jsonl` keeps it. Times are microseconds since the run's start (t0), in
//! modelled time when the run is simulated; what did not happen is null.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalog::{ErrorClass, Flag};

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The medium came back.
    Ok,
    /// It did not.
    Failed,
    /// A limit of the client cut it; the true time is longer than the recorded one.
    Censored,
    /// The run was stopped before it ended, or before it was sent.
    Cancelled,
}

/// Why a request did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestError {
    /// The class.
    pub class: ErrorClass,
    /// Never empty; the server's own words where it said any.
    pub message: String,
    /// HTTP status of the reply, when there was one; of an error told inside a stream, its own code.
    pub http_status: Option<u16>,
}

impl RequestError {
    /// An error without an HTTP status.
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), http_status: None }
    }

    /// The same error with the reply's status.
    #[must_use]
    pub fn status(mut self, http_status: u16) -> Self {
        self.http_status = Some(http_status);
        self
    }
}

/// What was asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Asked {
    /// Width in pixels.
    pub width: Option<u32>,
    /// Height in pixels.
    pub height: Option<u32>,
    /// Steps.
    pub num_inference_steps: Option<u32>,
    /// Frames.
    pub num_frames: Option<u32>,
    /// Frames per second.
    pub fps: Option<f64>,
    /// Outputs.
    pub n: u32,
}

/// Kind of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputKind {
    /// PNG picture.
    Png,
    /// JPEG picture.
    Jpeg,
    /// WebP picture.
    Webp,
    /// MP4 video.
    Mp4,
}

/// One picture or video that came back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    /// Format, from the bytes.
    pub kind: OutputKind,
    /// Width in pixels, from the bytes.
    pub width: Option<u32>,
    /// Height in pixels, from the bytes.
    pub height: Option<u32>,
    /// Frames of a video.
    pub frames: Option<u64>,
    /// Frames per second of a video.
    pub fps: Option<f64>,
    /// Length of a video in seconds.
    pub duration_s: Option<f64>,
    /// Size of the decoded medium in bytes.
    pub bytes: u64,
    /// BLAKE3 of the decoded medium, 64 hex digits.
    pub blake3: String,
}

/// What a streamed reply was made of besides its outputs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Streamed {
    /// When the first event, of whatever kind, was whole.
    pub first_event_us: Option<u64>,
    /// The beginning of the text that came on the way to the outputs.
    pub text: Option<String>,
}

/// One look at a job's state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Poll {
    /// When the poll was sent.
    pub sent_us: u64,
    /// When its answer had come, or its failure was known.
    pub at_us: u64,
    /// The job's state in the server's words, or the failure.
    pub status: String,
}

/// Everything known about one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// Position in the run, from 0.
    pub index: usize,
    /// Row of the dataset.
    pub row: usize,
    /// Shape class.
    pub class: String,
    /// Identity of the request in this run.
    pub request_id: String,
    /// The server's job, for videos.
    pub job_id: Option<String>,
    /// `X-Request-Id` of the reply.
    pub server_request_id: Option<String>,
    /// How it ended.
    pub status: Status,
    /// Why it did not succeed; null when it did.
    pub error: Option<RequestError>,
    /// When it was due: by schedule in open loop, when its slot was free in closed loop.
    pub due_us: u64,
    /// When the first byte was about to be sent; null when it never was.
    pub sent_us: Option<u64>,
    /// When the reply's headers had come (of the create call, for jobs).
    pub headers_us: Option<u64>,
    /// When the reply's first body byte had come (of the content, for jobs).
    pub first_byte_us: Option<u64>,
    /// When the reply's last body byte had come (of the content, for jobs).
    pub body_done_us: Option<u64>,
    /// When the reply was consumed, parsed and judged; for failures, when the failure was known.
    pub done_us: u64,
    /// done − sent.
    pub latency_us: Option<u64>,
    /// done − due.
    pub response_time_us: Option<u64>,
    /// When the job was known to exist.
    pub created_us: Option<u64>,
    /// When the first poll that found the job ended had its answer.
    pub first_terminal_us: Option<u64>,
    /// When the content was fetched whole.
    pub content_done_us: Option<u64>,
    /// When the job was known to be deleted again; after `done`, so in no latency.
    #[serde(default)]
    pub deleted_us: Option<u64>,
    /// Every poll.
    pub polls: Vec<Poll>,
    /// The job ended between these two times: the last poll that found it unfinished was sent, and
    /// the first that found it finished was answered.
    pub job_bounds_us: Option<[u64; 2]>,
    /// What was asked for.
    pub asked: Asked,
    /// Bytes of the reply's body as received.
    pub bytes: u64,
    /// What came back.
    pub outputs: Vec<Output>,
    /// What a streamed reply was made of; null for any other.
    pub stream: Option<Streamed>,
    /// When full validation had ended; null without it.
    pub judged_us: Option<u64>,
    /// Remarks.
    pub flags: Vec<Flag>,
    /// Generation time as the server tells it, in milliseconds.
    pub generation_ms: Option<f64>,
    /// Stage times in milliseconds, by the server's names.
    pub stage_ms: BTreeMap<String, f64>,
    /// Peak memory as the server tells it; 0 from the server means not measured and is null here.
    pub peak_memory_mb: Option<f64>,
    /// Target of this request in milliseconds, when its row or the scenario fixes one.
    pub slo_ms: Option<f64>,
    /// Seed sent.
    pub seed: Option<u64>,
    /// HTTP attempts of the first call; 2 when a stale connection was replaced.
    pub attempts: u32,
}

/// A job that exists on the server, one line of `jobs.jsonl`, written as soon as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CreatedJob {
    /// Request index; null for warm-up and calibration.
    pub index: Option<usize>,
    /// The server's job id.
    pub job_id: String,
    /// False in the line that says that the job is gone again.
    pub live: bool,
}
