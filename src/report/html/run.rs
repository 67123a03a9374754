//! One run with its requests.

use serde::Serialize;

use super::ChartView;
use super::request::{RequestView, slowest, unsuccessful};
use crate::record::Record;
use crate::report::number::fixed;
use crate::report::text::inline;
use crate::summarize::{PeakMean, Summary};

/// A run for the template.
#[derive(Debug, Clone, Serialize)]
pub(super) struct RunView {
    anchor: String,
    id: String,
    validity: &'static str,
    words: String,
    warnings: Vec<String>,
    facts: Vec<(&'static str, String)>,
    charts: Vec<ChartView>,
    slowest: Vec<RequestView>,
    failed: Vec<RequestView>,
    more_failed: Option<String>,
    note: Option<&'static str>,
}

/// Anchor of the run at that place. Ids may hold what an anchor may not.
pub(super) fn anchor(place: usize) -> String {
    format!("run-{}", place + 1)
}

impl RunView {
    /// The run at that place among so many.
    pub(super) fn of(run: &Summary, records: &[Record], charts: Vec<ChartView>, place: usize, runs: usize) -> Self {
        // a report of very many runs has to open, too
        let most = (400 / runs.max(1)).clamp(3, 10);
        let anchor = anchor(place);
        let (failed, more_failed) = unsuccessful(run, records, 2 * most);
        Self {
            id: run.id.clone(),
            validity: run.validity.name(),
            words: words(run),
            warnings: run
                .warnings
                .iter()
                .map(|warning| format!("{}: {}", warning.kind, inline(&warning.text)))
                .collect(),
            facts: facts(run),
            charts,
            slowest: slowest(run, records, most, &anchor),
            failed,
            more_failed,
            note: records
                .is_empty()
                .then_some("The records of this run are not at hand, so its requests are not shown."),
            anchor,
        }
    }

    /// Whether there is a list of its slowest requests.
    pub(super) fn has_slowest(&self) -> bool {
        !self.slowest.is_empty()
    }
}

/// The run in a line.
fn words(run: &Summary) -> String {
    let mut parts = vec![format!("{} of {} succeeded", run.completed, run.requests)];
    parts.extend(run.throughput_per_s.map(|rate| format!("{} requests/s", fixed(rate, 3))));
    let (name, longest) = if run.headline == "response_time" {
        ("response time", &run.response_time_s)
    } else {
        ("latency", &run.latency_s)
    };
    parts.extend(longest.mean.map(|mean| format!("mean {name} {} s", fixed(mean, 3))));
    parts.extend(longest.max.map(|max| format!("slowest {} s", fixed(max, 3))));
    parts.join(" · ")
}

/// Figures that the table of runs does not have; what was not measured is left out.
fn facts(run: &Summary) -> Vec<(&'static str, String)> {
    let in_seconds = |value: Option<f64>| value.map(|value| format!("{} s", fixed(value, 3)));
    let told = run.telemetry.as_ref();
    let load = |load: PeakMean| format!("mean {}, most {}", fixed(load.mean, 2), fixed(load.max, 0));
    let memory = |memory: PeakMean| format!("peak {} MB, mean {} MB", fixed(memory.max, 0), fixed(memory.mean, 0));
    let joules = |energy: f64| format!("{} J", fixed(energy, 1));
    let facts = [
        ("First sent to last end", in_seconds(run.duration_s)),
        ("Peak concurrency", Some(run.peak_concurrency.to_string())),
        ("Mean wait for a slot", in_seconds(run.queue_s.mean)),
        ("Latency, standard deviation", in_seconds(run.latency_s.std)),
        ("Shortest latency", in_seconds(run.latency_s.min)),
        ("Outputs per hour and GPU", run.outputs_per_hour_per_gpu.map(|rate| fixed(rate, 2))),
        ("Megapixel steps per second", run.megapixel_steps_per_s.map(|rate| fixed(rate, 2))),
        ("Running at the server", told.and_then(|told| told.running).map(load)),
        ("Waiting at the server", told.and_then(|told| told.waiting).map(load)),
        ("GPU memory", told.and_then(|told| told.gpu_memory_mb).map(memory)),
        ("Largest process on a GPU", told.and_then(|told| told.process_memory_mb).map(memory)),
        (
            "GPU utilisation",
            told.and_then(|told| told.utilization).map(|share| format!("{} %", fixed(share * 100.0, 1))),
        ),
        ("GPU power", told.and_then(|told| told.power_w).map(|power| format!("{} W", fixed(power, 1)))),
        ("GPU energy", told.and_then(|told| told.energy_j).map(joules)),
        ("Energy per picture", told.and_then(|told| told.joules_per_image).map(joules)),
        ("Energy per clip", told.and_then(|told| told.joules_per_video).map(joules)),
        ("Key", Some(run.key.clone())),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
