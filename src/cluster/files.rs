//! What a submission leaves in the results folder, under `cluster/`.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::answer::{JobKey, Told};
use super::elements::Element;
use crate::record::{ReadError, ResultsDir, SlurmFacts, read_json, write_atomic, write_json};

/// Version of `cluster.json`.
const CLUSTER_FORMAT: u32 = 1;

/// The folder `cluster/` of a results folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterDir(PathBuf);

impl ClusterDir {
    /// That of a results folder; nothing is looked at.
    pub fn of(results: &ResultsDir) -> Self {
        Self(results.path().join("cluster"))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// `token`: whoever reads it sees the folder that was submitted from.
    pub fn token(&self) -> PathBuf {
        self.0.join("token")
    }

    /// The script of the `number`-th submission by its name.
    pub fn script(&self, number: usize, name: &str) -> PathBuf {
        self.0.join(format!("{number}-{name}.sh"))
    }

    /// What a job prints.
    pub fn log(&self, key: JobKey) -> PathBuf {
        self.0.join(format!("{key}.log"))
    }

    fn mark(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.json"))
    }

    fn file(&self) -> PathBuf {
        self.0.join("cluster.json")
    }

    /// Makes the folder with a token, or reads what an earlier submission left.
    pub fn open(&self) -> Result<ClusterFile, ReadError> {
        if let Some(file) = self.read()? {
            return Ok(file);
        }
        fs_err::create_dir_all(&self.0)?;
        let token = format!("{:016x}", RandomState::new().hash_one(self.0.as_os_str()));
        write_atomic(&self.token(), token.as_bytes())?;
        let file = ClusterFile { format: CLUSTER_FORMAT, token, submissions: Vec::new() };
        self.write(&file)?;
        Ok(file)
    }

    /// Reads `cluster.json`; `None` when nothing was submitted.
    pub fn read(&self) -> Result<Option<ClusterFile>, ReadError> {
        let path = self.file();
        match read_json::<ClusterFile>(&path)? {
            Some(file) if file.format != CLUSTER_FORMAT => {
                let message = format!("format {} is not known to this version of omni-bench", file.format);
                Err(ReadError::Json { path, message })
            }
            found => Ok(found),
        }
    }

    /// Replaces `cluster.json`.
    pub fn write(&self, file: &ClusterFile) -> io::Result<()> {
        write_json(&self.file(), file)
    }

    /// What an element said of itself.
    pub fn read_mark(&self, key: JobKey) -> Result<Option<ElementMark>, ReadError> {
        read_json(&self.mark(&key.to_string()))
    }

    /// Keeps what an element says of itself.
    pub fn write_mark(&self, name: &str, mark: &ElementMark) -> io::Result<()> {
        write_json(&self.mark(name), mark)
    }
}

/// `cluster.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClusterFile {
    /// Version of this format.
    pub format: u32,
    /// What the token file holds.
    pub token: String,
    /// Every submission, the latest last.
    pub submissions: Vec<Submission>,
}

impl ClusterFile {
    /// Every job that was submitted: tasks of arrays, and the last job of each submission.
    pub fn keys(&self) -> Vec<JobKey> {
        let keys = |submission: &Submission| {
            let tasks = submission.arrays.iter().flat_map(|array| array.tasks().map(|(key, _)| key));
            tasks.chain(submission.merge.map(JobKey::job)).collect::<Vec<_>>()
        };
        self.submissions.iter().flat_map(keys).collect()
    }
}

/// One call of `submit`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Submission {
    /// Wall-clock time, RFC 3339 UTC.
    pub at: String,
    /// Arrays that Slurm accepted.
    pub arrays: Vec<SubmittedArray>,
    /// The job that puts the results together.
    pub merge: Option<u32>,
    /// Why the submission was taken back; null when it was not.
    pub refused: Option<String>,
}

/// An array that Slurm accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubmittedArray {
    /// Its job.
    pub job_id: u32,
    /// Its tasks, from 0.
    pub elements: Vec<Element>,
}

impl SubmittedArray {
    /// Its tasks with their names in the cluster.
    pub fn tasks(&self) -> impl Iterator<Item = (JobKey, &Element)> {
        (0..).zip(&self.elements).map(|(task, element)| (JobKey { job: self.job_id, task: Some(task) }, element))
    }
}

/// `<job>_<task>.json`: what an element says of itself while it runs, and what was seen of its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ElementMark {
    /// Where it runs; null when it never began.
    pub slurm: Option<SlurmFacts>,
    /// Wall-clock start on its node, RFC 3339 UTC.
    pub started_at: Option<String>,
    /// Exit code of its runs; null until they end, and when they were killed.
    pub exit: Option<u8>,
    /// What Slurm said of its end, kept because Slurm forgets.
    pub told: Option<Told>,
}
