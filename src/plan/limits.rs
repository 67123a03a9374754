//! The bounds of a plan, as `plan.json` states them. They follow from constants and from settings that
//! the plan holds elsewhere, so they are no part of its hash, and plans stored without them read as before.

use serde::{Deserialize, Serialize};

use super::types::{EndpointPlan, Plan, RunPlan};
use crate::catalog::limits;
use crate::units::ByteSize;

/// Files that are open whatever the concurrency: streams, journals, the server's log and its pipes, the
/// runtime's own, what reports read.
const OPEN_ANYWAY: u64 = 64;
/// What is kept of the words of a reply (64 KiB of a document, as much of an error) and of its headers,
/// with room for the chunk that is being read.
const WORDS: u64 = 1 << 20;

/// What a plan allows. Errors name these keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Largest reply body of any variant (`endpoint.max_reply`).
    pub max_reply: ByteSize,
    /// All headers of a reply together.
    pub max_header: ByteSize,
    /// Headers of a reply.
    pub max_headers: u64,
    /// Reply about a job.
    pub max_job_reply: ByteSize,
    /// Levels of nested values.
    pub nesting: Nesting,
    /// Bytes of a line.
    pub line_length: LineLength,
    /// All files of a dataset together.
    pub dataset_bytes: ByteSize,
    /// A JSON file of a results folder.
    pub json_bytes: ByteSize,
    /// A scenario file.
    pub scenario_bytes: ByteSize,
    /// Redirects of one exchange, all within the server's origin.
    pub redirects: u32,
    /// Failed looks at a job, one after the other.
    pub poll_errors: u32,
    /// Steps of a page's template, or of a word of a server's command.
    pub template_steps: u64,
    /// What a page's template writes.
    pub template_output: ByteSize,
    /// A word of a server's command.
    pub word_bytes: ByteSize,
    /// Runs of a plan.
    pub runs: u64,
    /// Files that the run with the most connections has open at once.
    pub open_files: u64,
    /// What one request makes this tool hold at most besides its own body.
    pub memory_per_request: ByteSize,
}

/// Levels of nested values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nesting {
    /// A reply with media.
    pub reply: u64,
    /// A scenario.
    pub scenario: u64,
    /// A value in a `Request(…)` line.
    pub trace: u64,
    /// Any other JSON: lines of datasets and records, replies about jobs.
    pub json: u64,
}

/// Longest lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineLength {
    /// Of a dataset.
    pub dataset: ByteSize,
    /// Of a journal.
    pub journal: ByteSize,
}

impl Limits {
    /// The limits of a plan.
    pub fn of(plan: &Plan) -> Self {
        let endpoints = || plan.variants.iter().map(|variant| &variant.endpoint);
        let size = |bytes: usize| ByteSize::from(bytes as u64);
        Self {
            max_reply: endpoints().map(|endpoint| endpoint.max_reply).max().unwrap_or(size(0)),
            max_header: size(limits::MAX_HEADER_BYTES),
            max_headers: limits::MAX_HEADERS as u64,
            max_job_reply: size(limits::MAX_JOB_REPLY),
            nesting: Nesting {
                reply: limits::REPLY_LEVELS as u64,
                scenario: limits::SCENARIO_LEVELS as u64,
                trace: limits::TRACE_LEVELS as u64,
                json: limits::JSON_LEVELS as u64,
            },
            line_length: LineLength { dataset: size(limits::DATASET_LINE), journal: size(limits::JOURNAL_LINE) },
            dataset_bytes: ByteSize::from(limits::DATASET_BYTES),
            json_bytes: ByteSize::from(limits::JSON_BYTES),
            scenario_bytes: size(limits::SCENARIO_BYTES),
            redirects: limits::MOST_REDIRECTS,
            poll_errors: limits::MOST_POLL_ERRORS,
            template_steps: limits::TEMPLATE_STEPS,
            template_output: size(limits::TEMPLATE_OUTPUT),
            word_bytes: size(limits::WORD_BYTES),
            runs: u64::try_from(limits::MOST_RUNS).unwrap_or(u64::MAX),
            open_files: plan.runs.iter().map(|run| open_files(plan, run)).max().unwrap_or(OPEN_ANYWAY),
            memory_per_request: ByteSize::from(endpoints().map(memory).max().unwrap_or(WORDS)),
        }
    }
}

/// Files that a run has open at once: a connection for each request in flight, and its other end when
/// the simulator answers from the same process. What has no cap is counted as one, for nobody can say.
pub fn open_files(plan: &Plan, run: &RunPlan) -> u64 {
    let at_once = run.traffic.max_concurrency.unwrap_or(1).max(run.warmup.concurrency);
    // a cap above the number of requests is never reached
    let at_once = u64::from(at_once).min(run.traffic.requests.max(u64::from(run.warmup.requests)).max(1));
    let ends = if plan.simulated { 2 } else { 1 };
    OPEN_ANYWAY + at_once * ends
}

/// Pictures that are decoded whole are held as they came; all else streams through.
fn memory(endpoint: &EndpointPlan) -> u64 {
    let held = if endpoint.decodes_media() { endpoint.max_reply.bytes() } else { 0 };
    WORDS + limits::HELD_BYTES.max(held)
}
