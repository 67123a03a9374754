#![allow(warnings)]
//! Local stand-ins until `endpoint` and `plan::phases` land.
use bytes::Bytes;

use crate::catalog::ErrorClass;
use crate::endpoint::{Body, JobState, JobStatus, Reply, SaveMedia, Verdict, Wire};
use crate::record::{Output, OutputKind, RequestError};
use crate::workload::Request;

#[derive(Debug, Clone, Default)]
pub struct Phases {
    pub warmup: Vec<Request>,
    pub calibration: Vec<Request>,
    pub measured: Vec<Request>,
    pub due_s: Option<Vec<f64>>,
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct EncodeError(String);

impl Wire {
    pub fn encode(&self, request: &Request) -> Result<Body, EncodeError> {
        if request.prompt == "bad" {
            return Err(EncodeError("bad prompt".into()));
        }
        let text = serde_json::json!({"model": self.model, "prompt": request.prompt, "steps": request.shape.num_inference_steps}).to_string();
        let bytes = Bytes::from(text);
        let middle = bytes.len() / 2;
        Ok(Body {
            content_type: "application/json".into(),
            segments: vec![bytes.slice(..middle), bytes.slice(middle..)],
        })
    }
}

pub struct Judge {
    reply: Reply,
    seen: Vec<u8>,
}

impl Judge {
    pub fn reply(_: &Wire, _: &Request, reply: &Reply, _: Option<SaveMedia>) -> Self {
        Self { reply: reply.clone(), seen: Vec::new() }
    }
    pub fn content(_: &Wire, _: &Request, _: Option<&JobState>, reply: &Reply, _: Option<SaveMedia>) -> Self {
        Self { reply: reply.clone(), seen: Vec::new() }
    }
    pub fn feed(&mut self, chunk: &[u8]) {
        self.seen.extend_from_slice(chunk);
    }
    pub fn finish(self) -> Verdict {
        let mut verdict = Verdict { bytes: self.seen.len() as u64, ..Verdict::default() };
        if self.reply.status >= 300 {
            verdict.error = Some(
                RequestError::new(ErrorClass::HttpStatus, server_message(self.reply.status, &self.seen))
                    .status(self.reply.status),
            );
        } else if self.seen.len() < 40
            || (!self.seen.starts_with(b"{\"created") && self.seen.get(4..8) != Some(b"ftyp"))
        {
            verdict.error = Some(RequestError::new(ErrorClass::InvalidResponse, "no medium").status(self.reply.status));
        } else {
            verdict.outputs.push(Output {
                kind: OutputKind::Png,
                width: None,
                height: None,
                frames: None,
                fps: None,
                duration_s: None,
                bytes: 1,
                blake3: String::new(),
            });
        }
        verdict
    }
}

pub struct JobReader {
    reply: Reply,
    seen: Vec<u8>,
}

impl JobReader {
    pub fn new(reply: &Reply) -> Self {
        Self { reply: reply.clone(), seen: Vec::new() }
    }
    pub fn feed(&mut self, chunk: &[u8]) {
        self.seen.extend_from_slice(chunk);
    }
    pub fn finish(self) -> Result<JobState, RequestError> {
        let value: serde_json::Value = serde_json::from_slice(&self.seen).unwrap_or_default();
        let status = value["status"].as_str().unwrap_or_default().to_owned();
        if self.reply.status >= 300 && status != "failed" {
            return Err(RequestError::new(ErrorClass::HttpStatus, server_message(self.reply.status, &self.seen))
                .status(self.reply.status));
        }
        let Some(id) = value["id"].as_str() else {
            return Err(RequestError::new(ErrorClass::InvalidResponse, "no id"));
        };
        let error = (status == "failed")
            .then(|| RequestError::new(ErrorClass::JobFailed, value["error"]["message"].as_str().unwrap_or("failed")));
        let status = match status.as_str() {
            "queued" => JobStatus::Queued,
            "in_progress" => JobStatus::InProgress,
            "completed" => JobStatus::Completed,
            "failed" => JobStatus::Failed,
            _ => JobStatus::Unknown(status),
        };
        Ok(JobState {
            id: id.into(),
            status,
            error,
            inference_time_s: None,
            stage_ms: std::collections::BTreeMap::new(),
            peak_memory_mb: None,
            num_frames: None,
            fps: None,
            duration_s: None,
        })
    }
}

pub fn job_path(id: &str) -> Option<String> {
    Some(format!("/v1/videos/{id}"))
}
pub fn content_path(id: &str) -> Option<String> {
    Some(format!("/v1/videos/{id}/content"))
}
pub fn server_message(status: u16, body: &[u8]) -> String {
    let value: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    value["error"]["message"].as_str().map_or_else(|| format!("HTTP {status}"), str::to_owned)
}
