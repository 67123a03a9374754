//! `telemetry.jsonl`: what a server and its GPUs did while a run went on, a line per look. In: samples.
//! Out: a file that outlives a crash, and a reader for one run's part of it.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest line that is read, in bytes; one of 64 GPUs with 64 processes each stays below.
const LONGEST_LINE: u64 = 1 << 20;

/// One look at the GPUs, at the server's `/metrics`, or at both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TelemetrySample {
    /// The run that went on. First in its line, so that a reader need not parse the others'.
    pub run: String,
    /// When, in microseconds since the run's start on the clock of its records; modelled time of a simulated run.
    pub at_us: u64,
    /// How long the look took, on the same clock; what it tells held at some moment in between.
    pub took_us: u64,
    /// GPUs; null when they were not asked this time.
    pub gpus: Option<Vec<GpuSample>>,
    /// What `/metrics` told; null when it was not asked this time.
    pub server: Option<ServerSample>,
}

/// A GPU at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GpuSample {
    /// Number with the driver, from 0.
    pub index: u32,
    /// Memory in use in MiB.
    pub memory_mb: Option<f64>,
    /// Share of time with a kernel running over the driver's last sample period, 0 to 1.
    pub utilization: Option<f64>,
    /// Power drawn in watts.
    pub power_w: Option<f64>,
    /// Energy since the driver was loaded, in joules; only differences mean something.
    pub energy_j: Option<f64>,
    /// Processes that compute on it; null when the driver does not tell them.
    pub processes: Option<Vec<GpuProcess>>,
}

/// A process on a GPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GpuProcess {
    /// Process id as the driver knows it; inside a container it may be the host's.
    pub pid: u32,
    /// Its name; null when it cannot be seen from here.
    pub name: Option<String>,
    /// Whether it belongs to the server that omni-bench started; null when that cannot be told.
    pub of_server: Option<bool>,
    /// Memory it holds in MiB; null when the driver does not tell.
    pub memory_mb: Option<f64>,
}

/// What a server's `/metrics` told, summed over labels such as the stage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerSample {
    /// Requests being worked on.
    pub running: Option<f64>,
    /// Requests in its queue.
    pub waiting: Option<f64>,
    /// Requests that succeeded since its start.
    pub succeeded: Option<f64>,
    /// Requests that failed since its start.
    pub failed: Option<f64>,
    /// Families of times since its start, by the server's names without their prefix.
    pub times: BTreeMap<String, Total>,
}

/// A sum and how many observations it has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Total {
    /// Sum, in the unit that the family's name tells.
    pub sum: f64,
    /// Observations.
    pub count: f64,
}

/// The samples of one run in a file that holds those of all runs of a server. An absent file holds
/// none; a torn or foreign line is left out.
pub fn read_telemetry(path: &Path, run: &str) -> io::Result<Vec<TelemetrySample>> {
    let file = match fs_err::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let begins = format!("{{\"run\":{},", serde_json::to_string(run)?);
    let mut reader = BufReader::new(file);
    let (mut line, mut samples) = (Vec::new(), Vec::new());
    loop {
        line.clear();
        if reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(samples);
        }
        if line.starts_with(begins.as_bytes()) {
            samples.extend(serde_json::from_slice::<TelemetrySample>(&line).ok());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Journal;

    fn sample(run: &str, at_us: u64) -> TelemetrySample {
        TelemetrySample { run: run.to_owned(), at_us, took_us: 1, gpus: None, server: None }
    }

    #[test]
    fn a_run_gets_its_own_samples_and_torn_lines_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("telemetry.jsonl");
        assert_eq!(read_telemetry(&path, "v/A/c1").unwrap(), []);
        let mut journal = Journal::open(&path).unwrap();
        journal.append(&[sample("v/A/c1", 1), sample("v/A/c10", 2), sample("v/A/c1", 3)]).unwrap();
        fs_err::write(&path, [fs_err::read(&path).unwrap(), b"{\"run\":\"v/A/c1\",\"at_us\":".to_vec()].concat())
            .unwrap();
        let times =
            |run: &str| -> Vec<u64> { read_telemetry(&path, run).unwrap().iter().map(|sample| sample.at_us).collect() };
        assert_eq!(times("v/A/c1"), [1, 3]);
        assert_eq!(times("v/A/c10"), [2]);
    }
}
