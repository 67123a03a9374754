//! The small JSON replies about a job: create, status, delete.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::message::{error_text, one_line, server_message, with_wait};
use super::metrics::{Told, positive};
use crate::catalog::{Api, ErrorClass, limits};
use crate::endpoint::types::{JobState, JobStatus, Reply};
use crate::record::RequestError;

/// Longest reply about a job, in bytes.
const LIMIT: usize = limits::MAX_JOB_REPLY;
/// Longest usable job id, in bytes.
const MAX_ID: usize = 256;
/// Everything but RFC 3986's unreserved characters.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Reads one reply about a job.
///
/// A failed job is answered with an error status and the job as body: that is a state, not an error.
/// Errors are of class [`ErrorClass::HttpStatus`] when the server refused the call. When it answered
/// with something that is no job, they are [`ErrorClass::PollError`], or
/// [`ErrorClass::InvalidResponse`] for a create call.
pub struct JobReader {
    reply: Reply,
    body: Vec<u8>,
    is_too_long: bool,
    is_create: bool,
}

impl JobReader {
    /// A reader for the reply to a status or delete call.
    pub fn new(reply: &Reply) -> Self {
        Self { reply: reply.clone(), body: Vec::new(), is_too_long: false, is_create: false }
    }

    /// A reader for the reply to a create call, which must name a job that can be asked for.
    pub fn for_create(reply: &Reply) -> Self {
        Self { is_create: true, ..Self::new(reply) }
    }

    /// Takes the next bytes of the body.
    pub fn feed(&mut self, chunk: &[u8]) {
        self.is_too_long |= self.body.len() + chunk.len() > LIMIT;
        if !self.is_too_long {
            self.body.extend_from_slice(chunk);
        }
    }

    /// Whether the body is, or says it will be, longer than a reply about a job can be: reading on is no use.
    pub fn is_too_long(&self) -> bool {
        self.is_too_long || self.reply.content_length.is_some_and(|length| length > LIMIT as u64)
    }

    /// The job's state.
    pub fn finish(self) -> Result<JobState, RequestError> {
        let status = self.reply.status;
        self.read().map_err(|error| error.status(status))
    }

    fn read(self) -> Result<JobState, RequestError> {
        let status = self.reply.status;
        let is_success = (200..300).contains(&status);
        let root = serde_json::from_slice::<Value>(&self.body);
        if !is_success {
            return match &root {
                Ok(root) if is_failed_job(root) => Ok(state(root, status)),
                _ => {
                    let message = with_wait(server_message(status, &self.body), &self.reply);
                    Err(RequestError::new(ErrorClass::HttpStatus, message))
                }
            };
        }
        let class = if self.is_create { ErrorClass::InvalidResponse } else { ErrorClass::PollError };
        let unreadable = |message: String| Err(RequestError::new(class, message));
        let received = self.body.len();
        match (root, self.reply.content_length) {
            _ if self.is_too_long() => {
                unreadable(format!("the job reply is longer than {LIMIT} bytes (limit `max_job_reply`)"))
            }
            (_, Some(length)) if (received as u64) < length => {
                unreadable(format!("the job reply ended after {received} of {length} bytes"))
            }
            (Err(_), _) if self.body.trim_ascii().is_empty() => unreadable("the job reply is empty".to_owned()),
            (Err(error), _) => unreadable(match self.reply.content_type.as_deref() {
                Some(other) if !other.contains("json") => {
                    format!("the job reply is `{}`, not json", one_line(other, 100))
                }
                _ => format!("the job reply is not json: {}", limits::json_words(&error)),
            }),
            (Ok(root), _) if word(&root).is_some() => {
                let job = state(&root, status);
                if self.is_create && segment(&job.id).is_none() {
                    return unreadable("the job has no usable `id`".to_owned());
                }
                Ok(job)
            }
            (Ok(root), _) => unreadable(match error_text(&root) {
                Some(message) => format!("the job reply is an error: {}", one_line(&message, 500)),
                None => "the job reply has no `status`".to_owned(),
            }),
        }
    }
}

/// Path of the job; `None` when the id cannot be part of a path.
pub fn job_path(id: &str) -> Option<String> {
    segment(id).map(|segment| format!("{}/{segment}", Api::Videos.path()))
}

/// Path of the job's content; `None` when the id cannot be part of a path.
pub fn content_path(id: &str) -> Option<String> {
    job_path(id).map(|path| path + "/content")
}

/// The id as one path segment. Dot segments would be resolved however they are written.
fn segment(id: &str) -> Option<String> {
    let is_usable = !id.is_empty() && id.len() <= MAX_ID && !id.chars().any(char::is_control);
    (is_usable && !matches!(id, "." | "..")).then(|| utf8_percent_encode(id, SEGMENT).to_string())
}

/// An error reply that is a job: a failed one, with its id.
fn is_failed_job(root: &Value) -> bool {
    root.get("id").is_some_and(Value::is_string) && word(root) == Some("failed")
}

/// The word for the job's state; a delete call answers `deleted` instead.
fn word(root: &Value) -> Option<&str> {
    let deleted = root.get("deleted").and_then(Value::as_bool) == Some(true);
    root.get("status").and_then(Value::as_str).or(deleted.then_some("deleted"))
}

fn state(root: &Value, http_status: u16) -> JobState {
    let status = match word(root).unwrap_or_default() {
        "queued" => JobStatus::Queued,
        "in_progress" => JobStatus::InProgress,
        "completed" => JobStatus::Completed,
        "failed" => JobStatus::Failed,
        other => JobStatus::Unknown(one_line(other, 100)),
    };
    let told = Told::from_json(root);
    let number = |name: &str| root.get(name).and_then(positive);
    JobState {
        id: root.get("id").and_then(Value::as_str).unwrap_or_default().to_owned(),
        error: (status == JobStatus::Failed).then(|| failure(root, http_status)),
        status,
        inference_time_s: told.inference_time_s,
        stage_ms: told.stage_ms,
        peak_memory_mb: told.peak_memory_mb,
        num_frames: frames(root),
        fps: number("fps"),
        duration_s: number("duration_s"),
    }
}

fn failure(root: &Value, http_status: u16) -> RequestError {
    let message = error_text(root).map(|message| one_line(&message, 500)).filter(|message| !message.is_empty());
    let message = message.unwrap_or_else(|| "the job failed and the server did not say why".to_owned());
    RequestError::new(ErrorClass::JobFailed, message).status(http_status)
}

/// Frames that the server made, under any of the names in use.
fn frames(root: &Value) -> Option<u64> {
    let count = |value: &Value| match value {
        Value::Array(list) => Some(list.len() as u64),
        other => other.as_u64(),
    };
    ["num_frames", "video_frames", "frames"].iter().find_map(|name| count(root.get(name)?).filter(|n| *n > 0))
}
