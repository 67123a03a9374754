//! A record in the making. It outlives the work on its request, so that what was known when a
//! limit or a stop cut the work is kept.

use crate::catalog::Flag;
use crate::endpoint::Verdict;
use crate::record::{Output, Poll, Record, RequestError, Status, Streamed};

use super::attempt::Times;
use super::context::{Ended, Shared};
use super::fault::Fault;
use super::phase::Prepared;
use super::secrets::Secrets;

/// What is known so far about one request.
pub(crate) struct Draft {
    record: Record,
    /// The call that carries the request: the only one, or the create call of a job.
    pub(crate) call: Times,
    /// The latest fetch of a job's content.
    pub(crate) content: Option<Times>,
    /// Bytes of the outputs, until they are decoded whole.
    pictures: Vec<Vec<u8>>,
}

impl Draft {
    /// A request that has not been sent.
    pub(crate) fn new(prepared: &Prepared, shared: &Shared, due_us: u64) -> Self {
        let request = &prepared.request;
        let record = Record {
            index: request.index,
            row: request.row,
            class: prepared.class.as_ref().to_owned(),
            request_id: request.request_id.clone(),
            job_id: None,
            server_request_id: None,
            status: Status::Cancelled,
            error: None,
            due_us,
            sent_us: None,
            headers_us: None,
            first_byte_us: None,
            body_done_us: None,
            done_us: due_us,
            latency_us: None,
            response_time_us: None,
            created_us: None,
            first_terminal_us: None,
            content_done_us: None,
            deleted_us: None,
            polls: Vec::new(),
            job_bounds_us: None,
            asked: prepared.asked,
            bytes: 0,
            outputs: Vec::new(),
            stream: None,
            judged_us: None,
            flags: Vec::new(),
            generation_ms: None,
            stage_ms: std::collections::BTreeMap::new(),
            peak_memory_mb: None,
            slo_ms: request.slo_ms.or(shared.slo_ms),
            seed: request.seed,
            attempts: 1,
        };
        Self { record, call: Times::default(), content: None, pictures: Vec::new() }
    }

    /// The record of a request that was never sent because the run stopped.
    pub(crate) fn unsent(prepared: &Prepared, shared: &Shared, due_us: u64, now_us: u64) -> Record {
        let mut draft = Self::new(prepared, shared, due_us);
        draft.close(Err(Fault::cancelled("the run was stopped before the request was sent")), now_us);
        draft.record
    }

    /// The job exists on the server.
    pub(crate) fn created(&mut self, job_id: &str, now_us: u64) {
        self.record.job_id = Some(job_id.to_owned());
        self.record.created_us = Some(now_us);
    }

    /// The job's id, once it exists.
    pub(crate) fn job_id(&self) -> Option<String> {
        self.record.job_id.clone()
    }

    /// When the job was known to exist.
    pub(crate) fn created_us(&self) -> Option<u64> {
        self.record.created_us
    }

    /// Keeps a look at the job's state.
    pub(crate) fn polled(&mut self, poll: Poll) {
        self.record.polls.push(poll);
    }

    /// The job was found ended; `low_us` is when a look that still found it unfinished began.
    pub(crate) fn ended(&mut self, low_us: u64, at_us: u64) {
        self.record.first_terminal_us = Some(at_us);
        self.record.job_bounds_us = Some([low_us, at_us]);
    }

    /// Adds a remark, once.
    pub(crate) fn flag(&mut self, flag: Flag) {
        if !self.record.flags.contains(&flag) {
            self.record.flags.push(flag);
        }
    }

    /// Remarks what an exchange needed beyond a plain call.
    pub(crate) fn note(&mut self, times: &Times) {
        if times.attempts > 1 {
            self.flag(Flag::Retried);
        }
        if times.redirected {
            self.flag(Flag::Redirected);
        }
        self.record.attempts = self.record.attempts.max(times.attempts);
    }

    /// The request has ended, at `now_us`.
    pub(crate) fn close(&mut self, end: Result<Verdict, Fault>, now_us: u64) {
        let (call, content) = (self.call.clone(), self.content.clone());
        self.note(&call);
        if let Some(content) = &content {
            self.note(content);
        }
        let record = &mut self.record;
        record.sent_us = call.sent_us;
        record.headers_us = call.headers_us;
        // of a job the body is its content, not the few words of the create call
        let body = if record.job_id.is_some() { content.as_ref() } else { Some(&call) };
        record.first_byte_us = body.and_then(|times| times.first_byte_us);
        record.body_done_us = body.and_then(|times| times.body_done_us);
        record.bytes = body.map_or(0, |times| times.bytes);
        if record.job_id.is_some() {
            record.content_done_us = record.body_done_us;
        }
        record.server_request_id = call.request_id.or(content.and_then(|times| times.request_id));
        record.stream = call.first_event_us.map(|at_us| Streamed { first_event_us: Some(at_us), text: None });
        match end {
            Ok(verdict) => self.judged(verdict),
            Err(fault) => {
                record.status = fault.status;
                record.error = Some(fault.error);
            }
        }
        let record = &mut self.record;
        record.done_us = now_us;
        record.latency_us = record.sent_us.map(|sent| now_us.saturating_sub(sent));
        record.response_time_us = record.sent_us.map(|_| now_us.saturating_sub(record.due_us));
    }

    fn judged(&mut self, verdict: Verdict) {
        let record = &mut self.record;
        record.status = if verdict.error.is_none() { Status::Ok } else { Status::Failed };
        record.error = verdict.error;
        record.outputs = verdict.outputs;
        let first_event_us = record.stream.as_ref().and_then(|stream| stream.first_event_us);
        record.stream = verdict.stream.map(|stream| Streamed { first_event_us, ..stream });
        self.pictures = verdict.pictures;
        record.generation_ms = verdict.generation_ms;
        record.stage_ms = verdict.stage_ms;
        record.peak_memory_mb = verdict.peak_memory_mb.filter(|mb| *mb > 0.0);
        record.server_request_id = verdict.server_request_id.or(record.server_request_id.take());
        for flag in verdict.flags {
            self.flag(flag);
        }
    }

    /// The bytes of the outputs, once.
    pub(crate) fn take_pictures(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.pictures)
    }

    /// What came back.
    pub(crate) fn outputs(&self) -> &[Output] {
        &self.record.outputs
    }

    /// The job is known to be gone.
    pub(crate) fn deleted(&mut self, now_us: u64) {
        self.record.deleted_us = Some(now_us);
    }

    /// Full validation has ended.
    pub(crate) fn inspected(&mut self, flags: Vec<Flag>, now_us: u64) {
        for flag in flags {
            self.flag(flag);
        }
        self.record.judged_us = Some(now_us);
    }

    /// Success or not.
    pub(crate) fn status(&self) -> Status {
        self.record.status
    }

    /// How it ended, in words without secrets.
    pub(crate) fn end(&self, secrets: &Secrets) -> Ended {
        let clean = |error: &RequestError| {
            let message = if error.message.trim().is_empty() { "no reason was given" } else { &error.message };
            RequestError { message: secrets.redact(message), ..error.clone() }
        };
        Ended { status: self.record.status, error: self.record.error.as_ref().map(clean) }
    }

    /// The finished record, without secrets in its texts.
    pub(crate) fn into_record(mut self, secrets: &Secrets) -> Record {
        self.record.error = self.end(secrets).error;
        let redactor = secrets.redactor();
        if redactor.is_empty() {
            return self.record;
        }
        let record = &mut self.record;
        for poll in &mut record.polls {
            poll.status = redactor.text(&poll.status);
        }
        if let Some(stream) = &mut record.stream {
            redactor.option(&mut stream.text);
        }
        redactor.option(&mut record.job_id);
        redactor.option(&mut record.server_request_id);
        record.stage_ms =
            std::mem::take(&mut record.stage_ms).into_iter().map(|(name, ms)| (redactor.text(&name), ms)).collect();
        self.record
    }
}
