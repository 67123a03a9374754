//! The video jobs, in memory as on the real server.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http::StatusCode;
use indexmap::IndexMap;
use serde_json::{Value, json};
use tokio::task::AbortHandle;

use super::random;
use super::reply::Refusal;

/// Finished jobs beyond this many, or beyond this many bytes, expire, oldest first.
const KEPT_JOBS: usize = 10_000;
const KEPT_BYTES: usize = 1 << 30;

/// How far a job is.
#[derive(Debug, Clone)]
pub(crate) enum Stage {
    Queued,
    InProgress,
    Completed(Completed),
    Failed { status: StatusCode, message: String },
}

/// What a completed job has.
#[derive(Debug, Clone)]
pub(crate) struct Completed {
    pub(crate) content: Bytes,
    pub(crate) inference_s: f64,
    pub(crate) stage_durations: Value,
    pub(crate) peak_memory_mb: f64,
    pub(crate) at: i64,
}

/// One job.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) id: String,
    pub(crate) model: String,
    pub(crate) prompt: String,
    pub(crate) size: Option<String>,
    pub(crate) seconds: String,
    pub(crate) quality: String,
    pub(crate) created_at: i64,
    pub(crate) stage: Stage,
}

impl Job {
    /// Whether nothing more happens to it.
    fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Completed(_) | Stage::Failed { .. })
    }

    fn bytes(&self) -> usize {
        match &self.stage {
            Stage::Completed(completed) => completed.content.len(),
            Stage::Queued | Stage::InProgress | Stage::Failed { .. } => 0,
        }
    }

    /// The job object.
    pub(crate) fn body(&self) -> Value {
        let (status, done) = match &self.stage {
            Stage::Queued => ("queued", None),
            Stage::InProgress => ("in_progress", None),
            Stage::Completed(completed) => ("completed", Some(completed)),
            Stage::Failed { .. } => ("failed", None),
        };
        let error = match &self.stage {
            Stage::Failed { status, message } => json!({"code": status.as_u16(), "message": message}),
            Stage::Queued | Stage::InProgress | Stage::Completed(_) => Value::Null,
        };
        json!({
            "model": self.model, "prompt": self.prompt, "id": self.id, "object": "video", "status": status,
            "size": self.size, "progress": if done.is_some() { 100 } else { 0 }, "seconds": self.seconds,
            "quality": self.quality, "completed_at": done.map(|done| done.at), "created_at": self.created_at,
            "remixed_from_video_id": null, "error": error, "media_type": "video/mp4", "expires_at": null,
            "file_name": done.map(|_| format!("{}.mp4", self.id)),
            "inference_time_s": done.map(|done| done.inference_s),
            "stage_durations": done.map_or_else(|| json!({}), |done| done.stage_durations.clone()),
            "peak_memory_mb": done.map_or(0.0, |done| done.peak_memory_mb), "action": null,
        })
    }
}

struct Entry {
    job: Job,
    task: Option<AbortHandle>,
}

/// All jobs in order of creation.
pub(crate) struct Jobs {
    seed: u64,
    created: AtomicU64,
    entries: Mutex<IndexMap<String, Entry>>,
}

impl Jobs {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed: random::mix(seed), created: AtomicU64::new(0), entries: Mutex::new(IndexMap::new()) }
    }

    /// An id nobody has.
    pub(crate) fn new_id(&self) -> String {
        let index = self.created.fetch_add(1, Ordering::Relaxed);
        format!("video_gen_{:016x}{:016x}", random::nth(self.seed, index), index)
    }

    fn with<T>(&self, look: impl FnOnce(&mut IndexMap<String, Entry>) -> T) -> T {
        // a panic under the lock leaves whole entries, so a poisoned map is still right
        let mut entries = self.entries.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        look(&mut entries)
    }

    /// Adds a job.
    pub(crate) fn insert(&self, job: Job) {
        self.with(|entries| {
            expire(entries, KEPT_JOBS.saturating_sub(1), KEPT_BYTES);
            entries.insert(job.id.clone(), Entry { job, task: None });
        });
    }

    /// Remembers what runs a job, to end it.
    pub(crate) fn run_by(&self, id: &str, task: Option<AbortHandle>) {
        self.with(|entries| {
            if let Some(entry) = entries.get_mut(id) {
                entry.task = task;
            }
        });
    }

    /// Moves a job on; one that was deleted meanwhile is left alone.
    pub(crate) fn set(&self, id: &str, stage: Stage) {
        self.with(|entries| {
            if let Some(entry) = entries.get_mut(id) {
                entry.job.stage = stage;
            }
        });
    }

    /// One job.
    pub(crate) fn get(&self, id: &str) -> Result<Job, Refusal> {
        self.with(|entries| entries.get(id).map(|entry| entry.job.clone())).ok_or_else(Refusal::no_video)
    }

    /// Removes a job and ends its task.
    pub(crate) fn delete(&self, id: &str) -> Result<(), Refusal> {
        let entry = self.with(|entries| entries.shift_remove(id)).ok_or_else(Refusal::no_video)?;
        if let Some(task) = entry.task {
            task.abort();
        }
        Ok(())
    }

    /// Forgets all jobs and ends their tasks, as a restart does.
    pub(crate) fn forget(&self) {
        let all = self.with(std::mem::take);
        for task in all.into_values().filter_map(|entry| entry.task) {
            task.abort();
        }
    }

    /// A page of jobs after the named one, and whether more follow. An unknown name gives an empty page.
    pub(crate) fn page(&self, after: Option<&str>, limit: usize, newest_first: bool) -> (Vec<Job>, bool) {
        self.with(|entries| {
            let in_order: Vec<&Job> = if newest_first {
                entries.values().rev().map(|entry| &entry.job).collect()
            } else {
                entries.values().map(|entry| &entry.job).collect()
            };
            let start = match after {
                None => Some(0),
                Some(after) => in_order.iter().position(|job| job.id == after).map(|index| index + 1),
            };
            let rest = start.and_then(|start| in_order.get(start..)).unwrap_or_default();
            (rest.iter().take(limit).map(|job| (*job).clone()).collect(), rest.len() > limit)
        })
    }
}

fn expire(entries: &mut IndexMap<String, Entry>, kept_jobs: usize, kept_bytes: usize) {
    let mut bytes: usize = entries.values().map(|entry| entry.job.bytes()).sum();
    while entries.len() > kept_jobs || bytes > kept_bytes {
        let oldest = entries.values().find(|entry| entry.job.is_over()).map(|entry| entry.job.id.clone());
        let Some(entry) = oldest.and_then(|id| entries.shift_remove(&id)) else { return };
        bytes -= entry.job.bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(jobs: &Jobs, bytes: usize) -> String {
        let id = jobs.new_id();
        let stage = Stage::Completed(Completed {
            content: Bytes::from(vec![0; bytes]),
            inference_s: 1.0,
            stage_durations: json!({}),
            peak_memory_mb: 1.0,
            at: 1,
        });
        let text = String::new;
        jobs.insert(Job {
            id: id.clone(),
            model: text(),
            prompt: text(),
            size: None,
            seconds: "4".into(),
            quality: text(),
            created_at: 1,
            stage,
        });
        id
    }

    #[test]
    fn the_oldest_finished_jobs_expire_first_and_running_ones_never() {
        let jobs = Jobs::new(1);
        let ids: Vec<String> = (0..4).map(|_| completed(&jobs, 100)).collect();
        jobs.set(&ids[0], Stage::InProgress);
        jobs.with(|entries| expire(entries, 3, 1000));
        assert!(jobs.get(&ids[0]).is_ok() && jobs.get(&ids[1]).is_err() && jobs.get(&ids[2]).is_ok());
        jobs.with(|entries| expire(entries, 10, 100));
        assert!(jobs.get(&ids[0]).is_ok() && jobs.get(&ids[2]).is_err() && jobs.get(&ids[3]).is_ok());
    }

    #[test]
    fn pages_follow_each_other_in_both_orders() {
        let jobs = Jobs::new(1);
        let ids: Vec<String> = (0..5).map(|_| completed(&jobs, 1)).collect();
        let names = |(page, more): (Vec<Job>, bool)| (page.into_iter().map(|job| job.id).collect::<Vec<_>>(), more);
        assert_eq!(names(jobs.page(None, 2, true)), (vec![ids[4].clone(), ids[3].clone()], true));
        assert_eq!(names(jobs.page(Some(&ids[3]), 5, true)), (ids[..3].iter().rev().cloned().collect(), false));
        assert_eq!(names(jobs.page(Some(&ids[1]), 2, false)), (ids[2..4].to_vec(), true));
        assert_eq!(names(jobs.page(Some("unknown"), 2, false)), (vec![], false));
        assert_eq!(names(jobs.page(None, 0, false)), (vec![], true));
    }
}
