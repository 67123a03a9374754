//! Where things stand in a results folder.

use std::path::{Path, PathBuf};

use crate::units::SafeName;

/// A results folder, `results/<scenario>/<stamp>-<hash>/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultsDir(PathBuf);

impl ResultsDir {
    /// The folder at this path; nothing is looked at.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// `plan.json`.
    pub fn plan(&self) -> PathBuf {
        self.0.join("plan.json")
    }

    /// `client.json`.
    pub fn client(&self) -> PathBuf {
        self.0.join("client.json")
    }

    /// The folder of a run; ids are relative paths made of safe names, and are made so if they are not.
    pub fn run(&self, id: &str) -> RunDir {
        let safe = id.split('/').map(|part| SafeName::lossy(part).as_str().to_owned());
        RunDir(safe.fold(self.0.join("runs"), |path, part| path.join(part)))
    }

    /// The folder of the `number`-th server of a variant, from 1.
    pub fn server(&self, variant: &str, number: u32) -> PathBuf {
        self.0.join("servers").join(format!("{}-{number}", SafeName::lossy(variant)))
    }

    /// `environment.json` of the server in the folder that a manifest names.
    pub fn environment(&self, folder: &str) -> PathBuf {
        self.0.join("servers").join(SafeName::lossy(folder).as_str()).join("environment.json")
    }

    /// `telemetry.jsonl` of the server in the folder that a manifest names.
    pub fn telemetry(&self, folder: &str) -> PathBuf {
        self.0.join("servers").join(SafeName::lossy(folder).as_str()).join("telemetry.jsonl")
    }

    /// `results.json`.
    pub fn results_json(&self) -> PathBuf {
        self.0.join("results.json")
    }

    /// `results.csv`.
    pub fn results_csv(&self) -> PathBuf {
        self.0.join("results.csv")
    }

    /// `results.md`.
    pub fn results_md(&self) -> PathBuf {
        self.0.join("results.md")
    }

    /// The copy of the dashboard page.
    pub fn page(&self, file_name: &str) -> PathBuf {
        self.0.join(SafeName::lossy(file_name).as_str())
    }
}

/// The folder of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDir(pub(super) PathBuf);

impl RunDir {
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// `run.json`.
    pub fn manifest(&self) -> PathBuf {
        self.0.join("run.json")
    }

    /// `heartbeat`, which whoever works on the run rewrites, and which is gone when they are done.
    pub fn heartbeat(&self) -> PathBuf {
        self.0.join("heartbeat")
    }

    /// `request.json`, the first measured request as it goes over the wire.
    pub fn request(&self) -> PathBuf {
        self.0.join("request.json")
    }

    /// `records.jsonl`.
    pub fn records(&self) -> PathBuf {
        self.0.join("records.jsonl")
    }

    /// `jobs.jsonl`.
    pub fn jobs(&self) -> PathBuf {
        self.0.join("jobs.jsonl")
    }

    /// `warmup.jsonl`.
    pub fn warmup(&self) -> PathBuf {
        self.0.join("warmup.jsonl")
    }

    /// `calibration.jsonl`.
    pub fn calibration(&self) -> PathBuf {
        self.0.join("calibration.jsonl")
    }

    /// `summary.json`.
    pub fn summary(&self) -> PathBuf {
        self.0.join("summary.json")
    }

    /// Folder of saved media.
    pub fn media(&self) -> PathBuf {
        self.0.join("media")
    }

    /// Where an earlier attempt of this run is kept.
    #[must_use]
    pub fn attempt(&self, number: u32) -> Self {
        let mut name = self.0.file_name().unwrap_or_default().to_owned();
        name.push(format!(".attempt-{number}"));
        Self(self.0.with_file_name(name))
    }
}
