//! Formats that other tools read: JSON for github-action-benchmark, `OpenMetrics` text.

#![cfg(test)] // the lints that spare tests then spare their helpers too

mod benchmark_json;
mod command;
mod openmetrics;

use std::sync::LazyLock;

use omni_bench::catalog::{Validity, WarningKind};
use omni_bench::summarize::{Results, Warning};

use crate::history::archive::{Archive, read};

/// Results of a simulated run, as stored.
static STORED: LazyLock<Results> = LazyLock::new(|| {
    let archive = Archive::new();
    serde_json::from_value(read(&archive.template().join("results.json"))).unwrap()
});

/// Results of two measured repeats with round figures: the first valid, the second suspect.
fn measured() -> Results {
    let mut results = STORED.clone();
    results.simulated = false;
    for (run, validity) in results.runs.iter_mut().zip([Validity::Valid, Validity::Suspect]) {
        (run.simulated, run.speed, run.validity) = (false, 1.0, validity);
        run.warnings.clear();
        run.latency_s.mean = Some(2.0);
        run.mean_interval_s = Some([1.5, 2.5]);
        run.latency_s.p99 = Some(3.0);
        run.throughput_per_s = Some(0.25);
        run.denoise_step_ms = Some(12.5);
        run.rtf = None;
    }
    let text = "2 requests are few".to_owned();
    results.runs[1].warnings.push(Warning { kind: WarningKind::FewRequests, text });
    results
}
