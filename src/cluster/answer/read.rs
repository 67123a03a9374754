//! What `squeue --json` and `sacct --json` say of jobs. Their forms differ from each other and from version to
//! version: numbers come plain or as `{set, number}`, states as a word or a list, tasks that wait as one job
//! with a range (`7-11%8`) or a mask (`0xF80`), and exit codes as raw wait statuses.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Most tasks that a range or a mask may stand for.
const MOST_TASKS: u32 = 100_000;

/// A job, or a task of an array, by the name that Slurm's programs take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobKey {
    /// The job, or the array.
    pub job: u32,
    /// The task of the array.
    pub task: Option<u32>,
}

impl JobKey {
    /// A job in no array.
    pub const fn job(job: u32) -> Self {
        Self { job, task: None }
    }
}

impl fmt::Display for JobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.task {
            Some(task) => write!(f, "{}_{task}", self.job),
            None => write!(f, "{}", self.job),
        }
    }
}

/// State of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// In the queue.
    Pending,
    /// On a node, or on its way there or from there.
    Running,
    /// Ended by itself with exit code 0.
    Completed,
    /// Ended by itself otherwise.
    Failed,
    /// Taken back by someone.
    Cancelled,
    /// Ended at its time limit.
    Timeout,
    /// Its node went away.
    NodeFail,
    /// Ended at its memory limit.
    OutOfMemory,
    /// Made room for another.
    Preempted,
    /// Slurm does not know it any more, and it did not say how it ended.
    Lost,
    /// Slurm could not be asked.
    Unknown,
}

impl JobState {
    fn of(word: &str) -> Self {
        match word.split([' ', '+']).next().unwrap_or_default() {
            "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT" | "RESV_DEL_HOLD" => Self::Pending,
            "RUNNING" | "COMPLETING" | "CONFIGURING" | "SUSPENDED" | "STOPPED" | "SIGNALING" | "STAGE_OUT"
            | "RESIZING" => Self::Running,
            "COMPLETED" => Self::Completed,
            "CANCELLED" | "REVOKED" => Self::Cancelled,
            "TIMEOUT" | "DEADLINE" => Self::Timeout,
            "NODE_FAIL" | "BOOT_FAIL" => Self::NodeFail,
            "OUT_OF_MEMORY" => Self::OutOfMemory,
            "PREEMPTED" => Self::Preempted,
            "FAILED" => Self::Failed,
            _ => Self::Unknown,
        }
    }

    /// Whether nothing more will come of it.
    pub const fn has_ended(self) -> bool {
        !matches!(self, Self::Pending | Self::Running | Self::Unknown)
    }

    /// Whether it did not end by itself.
    pub const fn is_killed(self) -> bool {
        matches!(self, Self::Cancelled | Self::Timeout | Self::NodeFail | Self::OutOfMemory | Self::Preempted)
    }

    /// The word in tables and files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Timeout => "timeout",
            Self::NodeFail => "node_fail",
            Self::OutOfMemory => "out_of_memory",
            Self::Preempted => "preempted",
            Self::Lost => "lost",
            Self::Unknown => "unknown",
        }
    }
}

/// What Slurm says of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Its state.
    pub state: JobState,
    /// Why it waits, in Slurm's words; null when it does not.
    pub reason: Option<String>,
    /// Its exit code, where Slurm tells one; `sacct --json` of some versions tells none but 0.
    pub exit: Option<u8>,
    /// The node it is or was on.
    pub node: Option<String>,
}

/// Jobs by their names.
pub type Jobs = BTreeMap<JobKey, Told>;

/// Reads the answer of `squeue --json -t all`.
pub fn parse_squeue(text: &str) -> Result<Jobs, String> {
    let mut jobs = Jobs::new();
    for job in list(text)? {
        let Some(number) = job.get("job_id").and_then(small) else { continue };
        let array = job.get("array_job_id").and_then(small).filter(|array| *array > 0);
        let state = JobState::of(word(job.get("job_state")).unwrap_or_default());
        let told = Told {
            state,
            reason: word(job.get("state_reason"))
                .filter(|reason| state == JobState::Pending && *reason != "None")
                .map(str::to_owned),
            exit: job.get("exit_code").and_then(wait_status),
            node: node(job.get("nodes")),
        };
        let waiting = word(job.get("array_task_string")).filter(|tasks| !tasks.is_empty());
        match (array, job.get("array_task_id").and_then(small), waiting) {
            (None, _, _) => add(&mut jobs, JobKey::job(number), told),
            (Some(array), _, Some(tasks)) => {
                for task in range(tasks) {
                    jobs.entry(JobKey { job: array, task: Some(task) }).or_insert_with(|| told.clone());
                }
            }
            (Some(array), task, None) => add(&mut jobs, JobKey { job: array, task }, told),
        }
    }
    Ok(jobs)
}

/// Reads the answer of `sacct --json`.
pub fn parse_sacct(text: &str) -> Result<Jobs, String> {
    let mut jobs = Jobs::new();
    for job in list(text)? {
        let Some(number) = job.get("job_id").and_then(small) else { continue };
        let part = |name: &str| job.get("array").and_then(|array| array.get(name));
        let array = part("job_id").and_then(small).filter(|array| *array > 0);
        let state = JobState::of(word(job.get("state").and_then(|state| state.get("current"))).unwrap_or_default());
        let reason = word(job.get("state").and_then(|state| state.get("reason")));
        let code = job.get("exit_code").and_then(|exit| exit.get("return_code")).and_then(small);
        let told = Told {
            state,
            reason: reason.filter(|reason| state == JobState::Pending && *reason != "None").map(str::to_owned),
            // some versions say 0 of what failed
            exit: code
                .and_then(|code| u8::try_from(code).ok())
                .filter(|code| (*code == 0) == (state == JobState::Completed)),
            node: node(job.get("nodes")),
        };
        let waiting = word(part("task")).filter(|tasks| !tasks.is_empty());
        match (array, part("task_id").and_then(small), waiting) {
            (None, _, _) => add(&mut jobs, JobKey::job(number), told),
            // tasks that have begun may still be in the mask; what is said of them alone is newer
            (Some(array), _, Some(tasks)) => {
                for task in mask(tasks).unwrap_or_else(|| range(tasks)) {
                    jobs.entry(JobKey { job: array, task: Some(task) }).or_insert_with(|| told.clone());
                }
            }
            (Some(array), task, None) => add(&mut jobs, JobKey { job: array, task }, told),
        }
    }
    Ok(jobs)
}

fn add(jobs: &mut Jobs, key: JobKey, told: Told) {
    jobs.insert(key, told);
}

fn list(text: &str) -> Result<Vec<Value>, String> {
    let answer: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match answer.get("jobs") {
        Some(Value::Array(jobs)) => Ok(jobs.clone()),
        _ => Err("it has no list of `jobs`".to_owned()),
    }
}

/// A number, plain or as `{set, number}`.
fn small(value: &Value) -> Option<u32> {
    let number = match value {
        Value::Object(table) => {
            table.get("number").filter(|_| table.get("set").and_then(Value::as_bool) != Some(false))?
        }
        plain => plain,
    };
    u32::try_from(number.as_u64()?).ok()
}

/// A word, plain or the first of a list.
fn word(value: Option<&Value>) -> Option<&str> {
    match value? {
        Value::Array(words) => words.first()?.as_str(),
        plain => plain.as_str(),
    }
}

fn node(value: Option<&Value>) -> Option<String> {
    value?.as_str().filter(|nodes| !nodes.is_empty() && *nodes != "None assigned").map(str::to_owned)
}

/// The exit code of a raw wait status (1792 is 7 × 256), or of `{return_code}`; `None` after a signal.
fn wait_status(value: &Value) -> Option<u8> {
    if let Some(code) = value.get("return_code") {
        return u8::try_from(small(code)?).ok();
    }
    let [signal, code, ..] = small(value)?.to_le_bytes();
    (signal % 128 == 0).then_some(code)
}

/// The tasks of `0-3,7,10-20:2%8`.
fn range(text: &str) -> Vec<u32> {
    let tasks = text.split('%').next().unwrap_or_default().trim_matches(['[', ']']);
    let mut found = Vec::new();
    for part in tasks.split(',') {
        let (part, step) = part.split_once(':').map_or((part, 1), |(part, step)| (part, step.parse().unwrap_or(1)));
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.trim().parse::<u32>(), last.trim().parse::<u32>()) {
            found.extend((first..=last.min(first.saturating_add(MOST_TASKS))).step_by(usize::max(step, 1)));
        }
    }
    found
}

/// The tasks whose bits are set in `0xF80`.
fn mask(text: &str) -> Option<Vec<u32>> {
    let digits = text.split('%').next()?.strip_prefix("0x")?;
    let mut found = Vec::new();
    for (place, digit) in (0_u32..).zip(digits.chars().rev().take((MOST_TASKS / 4) as usize)) {
        let bits = digit.to_digit(16)?;
        found.extend((0..4).filter(|bit| (bits >> bit) & 1 == 1).map(|bit| place * 4 + bit));
    }
    Some(found)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
