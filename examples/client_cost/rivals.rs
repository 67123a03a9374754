//! Other clients against the same server.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::process::{Cost, have, run};
use crate::server::{MODEL, PATH, body};
use crate::{Outcome, process};

/// What a rival reached.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reached {
    pub(crate) per_s: f64,
    pub(crate) bytes_per_s: f64,
    /// Median, where it is told.
    pub(crate) latency_us: Option<f64>,
    pub(crate) cost: Cost,
}

/// `wrk`, with a script that sends the body.
pub(crate) struct Wrk {
    folder: TempDir,
}

impl Wrk {
    /// `None` when it is not installed.
    pub(crate) fn find() -> Outcome<Option<Self>> {
        if !have("wrk") {
            return Ok(None);
        }
        Ok(Some(Self { folder: tempfile::tempdir()? }))
    }

    pub(crate) fn run(&self, url: &str, side: u32, concurrency: u32, seconds: u32) -> Outcome<Reached> {
        let script = self.folder.path().join(format!("{side}.lua"));
        let text = format!(
            "wrk.method = 'POST'\nwrk.headers['Content-Type'] = 'application/json'\nwrk.body = '{}'\n",
            body(side)
        );
        fs_err::write(&script, text)?;
        let threads = concurrency.min(2);
        let (out, cost) = run(Command::new("wrk")
            .args([format!("-t{threads}"), format!("-c{concurrency}"), format!("-d{seconds}s"), "--latency".into()])
            .arg("-s")
            .arg(&script)
            .arg(format!("{url}{PATH}")))?;
        let field = |name: &str| {
            let line = out.lines().find_map(|line| line.trim().strip_prefix(name))?;
            line.split_whitespace().next().map(str::to_owned)
        };
        if out.contains("Non-2xx") || out.contains("Socket errors") {
            return Err(format!("wrk was refused: {out}").into());
        }
        let told = || format!("wrk said: {out}");
        Ok(Reached {
            per_s: field("Requests/sec:").and_then(|word| word.parse().ok()).ok_or_else(told)?,
            bytes_per_s: field("Transfer/sec:").and_then(|word| with_unit(&word, &BYTES)).ok_or_else(told)?,
            latency_us: field("50%").and_then(|word| with_unit(&word, &TIMES)),
            cost,
        })
    }
}

const BYTES: [(&str, f64); 4] = [("GB", 1_073_741_824.0), ("MB", 1_048_576.0), ("KB", 1024.0), ("B", 1.0)];
const TIMES: [(&str, f64); 3] = [("us", 1.0), ("ms", 1e3), ("s", 1e6)];

fn with_unit(word: &str, units: &[(&str, f64)]) -> Option<f64> {
    units.iter().find_map(|(unit, factor)| Some(word.strip_suffix(unit)?.parse::<f64>().ok()? * factor))
}

/// `oha`; `None` when it is not installed.
pub(crate) fn oha(url: &str, side: u32, concurrency: u32, seconds: u32) -> Outcome<Option<Reached>> {
    if !have("oha") {
        return Ok(None);
    }
    let (out, cost) = run(Command::new("oha")
        .args(["--no-tui", "--output-format", "json", "-m", "POST", "-T", "application/json", "-d", &body(side)])
        .args([format!("-c{concurrency}"), format!("-z{seconds}s"), format!("{url}{PATH}")]))?;
    let told: serde_json::Value = serde_json::from_str(&out)?;
    let figure = |name: &str| told.pointer(&format!("/summary/{name}")).and_then(serde_json::Value::as_f64);
    let per_s = figure("requestsPerSec").ok_or("oha told no rate")?;
    let median = told.pointer("/latencyPercentiles/p50").and_then(serde_json::Value::as_f64);
    let bytes_per_s = figure("sizePerSec").unwrap_or_default();
    Ok(Some(Reached { per_s, bytes_per_s, latency_us: median.map(|s| s * 1e6), cost }))
}

/// vLLM-Omni's own client, when `OMNI_BENCH_PYTHON_CLIENT` names its script. `OMNI_BENCH_PYTHON_ARGS` is added to
/// its flags, and `OMNI_BENCH_PYTHON` may name an interpreter.
pub(crate) struct Python {
    script: String,
    interpreter: String,
    more: Vec<String>,
}

impl Python {
    pub(crate) fn find() -> Option<Self> {
        let script = std::env::var("OMNI_BENCH_PYTHON_CLIENT").ok().filter(|script| Path::new(script).is_file())?;
        let more = std::env::var("OMNI_BENCH_PYTHON_ARGS").unwrap_or_default();
        let interpreter = std::env::var("OMNI_BENCH_PYTHON").unwrap_or_else(|_| "python3".into());
        Some(Self { script, interpreter, more: more.split_whitespace().map(str::to_owned).collect() })
    }

    /// Requests and processor time of a run; the time that it takes to start is its own and not counted in the rate.
    pub(crate) fn run(&self, url: &str, side: u32, concurrency: u32, requests: u64) -> Outcome<Reached> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("figures.json");
        let side = side.to_string();
        let (_, cost) = process::run(
            Command::new(&self.interpreter)
                .arg(&self.script)
                .args(["--base-url", url, "--endpoint", PATH, "--model", MODEL, "--dataset", "random", "--task", "t2i"])
                .args(["--width", &side, "--height", &side, "--num-inference-steps", "1", "--warmup-requests", "1"])
                .args(["--max-concurrency", &concurrency.to_string(), "--num-prompts", &requests.to_string()])
                .arg("--disable-tqdm")
                .args(&self.more)
                .arg("--output-file")
                .arg(&file),
        )?;
        let told: serde_json::Value = serde_json::from_str(&fs_err::read_to_string(&file)?)?;
        let per_s = told.get("throughput_qps").and_then(serde_json::Value::as_f64).ok_or("no `throughput_qps`")?;
        Ok(Reached { per_s, bytes_per_s: 0.0, latency_us: None, cost })
    }
}
