//! Slurm's programs, as far as this tool needs them.

use std::path::Path;
use std::time::Duration;

use super::answer::{JobKey, Jobs, Told, parse_sacct, parse_squeue};
use super::program::{ProgramError, run};

/// How long a program may take; controllers of busy sites are slow.
const LIMIT: Duration = Duration::from_mins(2);

/// Submits a script and gives the number of its job.
pub fn submit(script: &Path) -> Result<u32, ProgramError> {
    let said = run("sbatch", &["--parsable".to_owned(), script.display().to_string()], LIMIT)?;
    let number = said.lines().last().and_then(|line| line.split(';').next()).and_then(|id| id.trim().parse().ok());
    number.ok_or_else(|| ProgramError::Answer {
        program: "sbatch".to_owned(),
        message: format!("`{said}` is not the number of a job"),
    })
}

/// Takes jobs back.
pub fn cancel(jobs: &[JobKey]) -> Result<(), ProgramError> {
    if jobs.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = jobs.iter().map(ToString::to_string).collect();
    run("scancel", &names, LIMIT).map(drop)
}

/// Host names of the partition's nodes; of all nodes without one.
pub fn hosts(partition: Option<&str>) -> Result<Vec<String>, ProgramError> {
    let mut words = ["-h", "-N", "-o", "%n"].map(str::to_owned).to_vec();
    words.extend(partition.into_iter().flat_map(|name| ["-p".to_owned(), name.to_owned()]));
    Ok(run("sinfo", &words, LIMIT)?.lines().map(|line| line.trim().to_owned()).collect())
}

/// What Slurm knows of jobs.
#[derive(Debug, Default)]
pub struct Known {
    /// By job; what is not there, Slurm does not know.
    pub jobs: Jobs,
    /// Who said so: `squeue`, `sacct`, or both.
    pub sources: Vec<&'static str>,
    /// Why nobody could be asked.
    pub error: Option<ProgramError>,
}

impl Known {
    /// What is known of a job. Of a task that is not told of, what is told of its array: one whose only task was
    /// cancelled while it waited is told without it.
    pub fn of(&self, key: JobKey) -> Option<&Told> {
        self.jobs.get(&key).or_else(|| self.jobs.get(&JobKey::job(key.job)))
    }
}

/// Asks the queue, which knows best of what has not ended, and where there is accounting also that, which knows
/// of what the queue has forgotten. Either of them alone will do.
pub fn ask(keys: &[JobKey]) -> Known {
    let mut known = Known::default();
    if keys.is_empty() {
        return known;
    }
    match jobs("squeue", &["--json", "-t", "all"].map(str::to_owned), parse_squeue) {
        Ok(jobs) => {
            known.sources.push("squeue");
            known.jobs = jobs;
        }
        Err(error) => known.error = Some(error),
    }
    let is_asked = |key: &JobKey| keys.iter().any(|asked| asked == key || JobKey::job(asked.job) == *key);
    known.jobs.retain(|key, _| is_asked(key));
    if keys.iter().all(|key| known.of(*key).is_some()) {
        return known;
    }
    let mut ids: Vec<u32> = keys.iter().map(|key| key.job).collect();
    ids.sort_unstable();
    ids.dedup();
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    // without accounting it fails, which is no news
    if let Ok(jobs) = jobs("sacct", &["--json".to_owned(), "-j".to_owned(), ids.join(",")], parse_sacct) {
        known.error = None;
        for (key, told) in jobs.into_iter().filter(|(key, _)| is_asked(key)) {
            if let std::collections::btree_map::Entry::Vacant(place) = known.jobs.entry(key) {
                place.insert(told);
                if known.sources.last() != Some(&"sacct") {
                    known.sources.push("sacct");
                }
            }
        }
    }
    known
}

fn jobs(program: &str, words: &[String], parse: fn(&str) -> Result<Jobs, String>) -> Result<Jobs, ProgramError> {
    let text = run(program, words, LIMIT)?;
    parse(&text).map_err(|message| ProgramError::Answer { program: program.to_owned(), message })
}
