//! What the history keeps of one run.

use jiff::Timestamp;
use serde_json::Value;

use crate::catalog::Validity;
use crate::summarize::Summary;
use crate::units::Rate;

/// Where a summary comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Start of the measured phase; kept in microseconds.
    pub time: Timestamp,
    /// Scenario name.
    pub scenario: String,
    /// Hash of the plan.
    pub plan_hash: String,
    /// Name of the results folder, without what is above it.
    pub results: String,
    /// Model id that was sent.
    pub model: String,
    /// Task, in the scenario's spelling.
    pub task: String,
    /// Names and count of the GPUs; `unknown` when nobody told them.
    pub hardware: String,
}

/// One run in the history. Plan, run id and start make it the same run, wherever its folder went.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Where it comes from.
    pub origin: Origin,
    /// Run id.
    pub run: String,
    /// Hash of workload and configuration; with the hardware, what makes two entries one line.
    pub key: String,
    /// Hash of what was asked.
    pub workload_key: String,
    /// Hash of who answered.
    pub config_key: String,
    /// Variant.
    pub variant: String,
    /// Dataset.
    pub dataset: String,
    /// Cap; `None` when there was none.
    pub max_concurrency: Option<u32>,
    /// Rate asked for.
    pub request_rate: Rate,
    /// Repeat, from 1.
    pub repeat: u32,
    /// GPUs of the variant.
    pub gpus: u32,
    /// Successes.
    pub completed: u64,
    /// Whether the numbers may be believed.
    pub validity: Validity,
    /// Whether a simulator answered.
    pub simulated: bool,
    /// Time base of a simulated run; 1 otherwise.
    pub speed: f64,
    /// The whole summary as in `results.json`, of whatever version of the tool made it.
    pub summary: Value,
}

impl Entry {
    /// The entry of a summary.
    pub fn new(origin: Origin, summary: &Summary) -> Result<Self, serde_json::Error> {
        // what is finer than the database keeps must not make an entry differ from itself read back
        let time = Timestamp::from_microsecond(origin.time.as_microsecond()).unwrap_or(origin.time);
        Ok(Self {
            origin: Origin { time, ..origin },
            run: summary.id.clone(),
            key: summary.key.clone(),
            workload_key: summary.workload_key.clone(),
            config_key: summary.config_key.clone(),
            variant: summary.variant.clone(),
            dataset: summary.dataset.clone(),
            max_concurrency: summary.max_concurrency,
            request_rate: summary.request_rate,
            repeat: summary.repeat,
            gpus: summary.gpus,
            completed: summary.completed,
            validity: summary.validity,
            simulated: summary.simulated,
            speed: summary.speed,
            summary: serde_json::to_value(summary)?,
        })
    }

    /// The summary as this version of the tool knows it; an error when another version's differs too much.
    pub fn typed(&self) -> Result<Summary, serde_json::Error> {
        serde_json::from_value(self.summary.clone())
    }
}
