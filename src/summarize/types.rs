//! The summary of a run, as in `results.json`. Seconds and milliseconds as the names say; what was
//! not measured is null, never 0.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::telemetry::TelemetryFigures;
use crate::catalog::{ErrorClass, Validity, WarningKind};
use crate::record::Spread;
use crate::units::Rate;

/// Version of `results.json`.
pub const RESULTS_FORMAT: u32 = 1;

/// `results.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Results {
    /// Version of this format.
    pub format: u32,
    /// Scenario name.
    pub scenario: String,
    /// Hash of the plan.
    pub plan_hash: String,
    /// Whether a simulator answered; such numbers are not measurements.
    pub simulated: bool,
    /// Time base of a simulation; 1 otherwise.
    pub speed: f64,
    /// Runs with records, in the plan's order.
    pub runs: Vec<Summary>,
    /// Runs without, and why.
    pub not_run: Vec<NotRun>,
}

/// A planned run that has no numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotRun {
    /// Run id.
    pub id: String,
    /// Why.
    pub reason: String,
}

/// The numbers of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Run id.
    pub id: String,
    /// Hash of workload and configuration.
    pub key: String,
    /// Hash of what was asked.
    pub workload_key: String,
    /// Hash of who answered.
    pub config_key: String,
    /// Variant.
    pub variant: String,
    /// Dataset.
    pub dataset: String,
    /// Cap; null when there was none.
    pub max_concurrency: Option<u32>,
    /// Rate asked for.
    pub request_rate: Rate,
    /// Repeat, from 1.
    pub repeat: u32,
    /// GPUs of the variant.
    pub gpus: u32,
    /// Whether a simulator answered.
    pub simulated: bool,
    /// Time base of a simulated run; 1 otherwise.
    pub speed: f64,
    /// Which latency SLO and page headline: `latency` in closed loop, `response_time` in open loop.
    pub headline: String,
    /// Requests planned; completed + failed + censored + cancelled.
    pub requests: u64,
    /// Successes.
    pub completed: u64,
    /// Failures.
    pub failed: u64,
    /// Cut by a limit of the client.
    pub censored: u64,
    /// Stopped by the user, or never sent.
    pub cancelled: u64,
    /// First sent → last end of any request, in seconds; null when nothing was sent.
    pub duration_s: Option<f64>,
    /// Successes per second over that time.
    pub throughput_per_s: Option<f64>,
    /// Whether that rate may be compared with another run's: not when a limit of the client cut
    /// requests, because their work was done or given up at a time that the limit chose.
    pub throughput_comparable: bool,
    /// Arrivals per second the schedule held; null in closed loop.
    pub offered_per_s: Option<f64>,
    /// Requests per second that met their SLO; null without one.
    pub goodput_per_s: Option<f64>,
    /// Sent → done over successes.
    pub latency_s: Distribution,
    /// Due → done over successes.
    pub response_time_s: Distribution,
    /// Due → sent over successes: the wait for a free slot of the client.
    pub queue_s: Distribution,
    /// Percentiles of the headline latency with n, support and interval, by name (`p50`, `p90`, `p95`, `p99`).
    pub percentiles: IndexMap<String, Percentile>,
    /// Whether the percentiles of both latencies are Kaplan–Meier estimates, because requests were censored.
    pub kaplan_meier: bool,
    /// 95 % interval of the mean headline latency in seconds, within this run and for its mix of
    /// classes; null when a class has fewer than 2 successes and when requests were censored, as the mean
    /// then leaves out the slow ones.
    pub mean_interval_s: Option<[f64; 2]>,
    /// Pictures received.
    pub images: Option<u64>,
    /// Pictures per second.
    pub images_per_s: Option<f64>,
    /// Mean pixels per picture.
    pub pixels_per_image: Option<f64>,
    /// Mean time per denoising step in milliseconds: as the server tells it, else its generation time by
    /// the steps asked for.
    pub denoise_step_ms: Option<f64>,
    /// Generation time of image requests, from the server, in milliseconds.
    pub image_generation_ms: Option<Mean99>,
    /// Sum of clip lengths in seconds.
    pub video_duration_s: Option<f64>,
    /// Sum of frames.
    pub video_frames: Option<u64>,
    /// Seconds of video per second of wall.
    pub video_s_per_s: Option<f64>,
    /// Real-time factor: generation time / clip length.
    pub rtf: Option<Rtf>,
    /// Generation time of video requests, from the server, in milliseconds.
    pub video_generation_ms: Option<Mean99>,
    /// Frames per second of wall.
    pub frames_per_s: Option<f64>,
    /// Output pixels × frames / 10⁶ per second of wall.
    pub megapixels_per_s: Option<f64>,
    /// width × height × frames × steps × outputs / 10⁶ per second of wall.
    pub megapixel_steps_per_s: Option<f64>,
    /// Outputs per hour and GPU.
    pub outputs_per_hour_per_gpu: Option<f64>,
    /// Most requests in flight at once, by a sweep over intervals.
    pub peak_concurrency: u64,
    /// Peak memory told by the server.
    pub peak_memory_mb: Option<Memory>,
    /// Stage times by the server's names, in milliseconds.
    pub stage_ms: BTreeMap<String, StageTime>,
    /// What the server and its GPUs did meanwhile; null when nobody looked.
    #[serde(default)]
    pub telemetry: Option<TelemetryFigures>,
    /// SLO attainment; null when no request had a target.
    pub slo: Option<Slo>,
    /// The same per class, cheapest shape first. A request that was never sent and left no record
    /// is in no class.
    pub classes: IndexMap<String, ClassSummary>,
    /// Sent − due in milliseconds; null when nothing was sent.
    pub lateness_ms: Option<Tail>,
    /// The same, counted: requests by how late they were sent, in fixed buckets from the smallest; empty when nothing was sent.
    #[serde(default)]
    pub lateness_buckets: Vec<LatenessBucket>,
    /// What the client itself costs, measured before the run; null when it could not be measured.
    #[serde(default)]
    pub client: Option<ClientFigures>,
    /// Where the time of successful jobs went; null when there were none.
    pub job_phases_s: Option<JobPhases>,
    /// Whether the numbers may be believed.
    pub validity: Validity,
    /// Why not, or not entirely.
    pub warnings: Vec<Warning>,
    /// Failures, grouped.
    pub errors: Vec<ErrorCount>,
}

/// A distribution; all null when there are no observations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Population standard deviation.
    pub std: Option<f64>,
    /// Smallest.
    pub min: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
    /// Longest time seen when requests were censored; a percentile that is null lies above it.
    #[serde(default)]
    pub at_least: Option<f64>,
}

/// Support of one percentile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Percentile {
    /// Observations it rests on.
    pub n: u64,
    /// Whether the two-sided 95 % order-statistic interval exists; never when requests were censored.
    pub supported: bool,
    /// Lower end in seconds; null when unsupported.
    pub low: Option<f64>,
    /// Upper end in seconds; null when unsupported.
    pub high: Option<f64>,
}

/// Mean, median and tail of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mean99 {
    /// Observations.
    pub n: u64,
    /// Mean.
    pub mean: f64,
    /// Population standard deviation.
    pub std: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
}

/// Real-time factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rtf {
    /// Clips whose length is known.
    pub n: u64,
    /// Mean.
    pub mean: f64,
    /// Population standard deviation.
    pub std: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// What the generation time is: `stage`, `inference_time_s`, `latency`, or `mixed`.
    pub basis: String,
}

/// Peak memory over requests that report it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// Requests that report it.
    pub n: u64,
    /// Largest.
    pub max: f64,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub median: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
}

/// One stage's time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StageTime {
    /// Requests that report it.
    pub n: u64,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
}

/// SLO attainment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slo {
    /// met / of.
    pub attainment: f64,
    /// Requests that met their target; equality counts.
    pub met: u64,
    /// Requests with a target; failures and censored ones count as missed.
    pub of: u64,
    /// Requests without one, which do not count.
    pub without_target: u64,
    /// Target per class in seconds; rows with their own are not listed.
    pub targets_s: IndexMap<String, f64>,
    /// `row`, `latency`, `scale × calibration`, `scale × fit`, or several joined by ` + `.
    pub basis: String,
    /// Share that was asked for.
    pub wanted: f64,
    /// Factor on the calibration time; null for targets that are not scaled.
    pub scale: Option<f64>,
    /// What was calibrated, by class; empty for targets that are not scaled.
    pub calibration: IndexMap<String, Calibrated>,
    /// The fit that gave uncalibrated classes their target; null when there were none.
    pub fit: Option<SloFit>,
}

/// Calibration of one class, alone on the server.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibrated {
    /// Calibration requests that succeeded.
    pub n: u64,
    /// Their median latency in seconds.
    pub median_s: f64,
}

/// Time of a class as `a_s + b_s × steps × megapixels × frames`, by least squares over the medians of
/// the calibrated classes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SloFit {
    /// Classes it rests on.
    pub n: u64,
    /// Seconds that every request takes.
    pub a_s: f64,
    /// Seconds per step, megapixel and frame.
    pub b_s: f64,
    /// Root mean square error in seconds.
    pub residual_s: f64,
}

/// Numbers of one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClassSummary {
    /// Requests.
    pub requests: u64,
    /// Successes.
    pub completed: u64,
    /// Failures.
    pub failed: u64,
    /// Cut by a limit of the client.
    pub censored: u64,
    /// Stopped or never sent.
    pub cancelled: u64,
    /// Sent → done over successes; Kaplan–Meier percentiles when `censored` is not 0.
    pub latency_s: Distribution,
    /// Due → done over successes.
    pub response_time_s: Distribution,
    /// Percentiles of the class's headline latency with n, support and interval, by name.
    pub percentiles: IndexMap<String, Percentile>,
    /// 95 % interval of its mean headline latency in seconds, as of the run.
    pub mean_interval_s: Option<[f64; 2]>,
    /// SLO target in seconds.
    pub slo_target_s: Option<f64>,
    /// Where that target comes from: `latency`, `scale × calibration` or `scale × fit`.
    pub slo_basis: Option<String>,
    /// SLO attainment; null when no request of the class had a target.
    pub slo_attainment: Option<f64>,
    /// Requests of the class that met their target.
    pub slo_met: u64,
    /// Requests of the class with a target.
    pub slo_of: u64,
}

/// The parts of a video job's time, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobPhases {
    /// Sent → the job was known to exist.
    pub submit: Distribution,
    /// Known to exist → the poll that found it finished was answered; holds at most one gap between polls too many.
    pub wait: Distribution,
    /// Found finished → the content was fetched whole.
    pub content: Distribution,
    /// Done → the job was known to be deleted; in no latency. Jobs whose deletion is not known are left out.
    pub delete: Distribution,
}

/// Requests that were sent so late, but later than the bucket before ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatenessBucket {
    /// Upper end in milliseconds, itself included; null for what is later than all ends.
    pub up_to_ms: Option<f64>,
    /// How many.
    pub requests: u64,
}

/// Tail of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tail {
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest.
    pub max: f64,
}

/// The client against a server that answers at once, and how near the run came to that. Times and rates
/// are on the wall clock, in a simulated run too. The server of that measurement shares the processor with
/// the client, so for small bodies the client's true cost is below these times, and its highest rate above
/// this one; what it costs to read replies of megabytes is not in them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientFigures {
    /// Sent → done of a small request in milliseconds: what the client adds to every latency.
    pub added_latency_ms: Spread,
    /// Small exchanges per second that the client reaches.
    pub max_rate_per_s: f64,
    /// Due → released of a schedule in milliseconds.
    pub timer_error_ms: Spread,
    /// The run's exchanges per second / `max_rate_per_s`.
    pub rate_share: Option<f64>,
    /// Median added latency / the run's median latency.
    pub latency_share: Option<f64>,
    /// P99 of the added latency / the run's P99 latency.
    pub tail_share: Option<f64>,
    /// Whether the client could have been the bottleneck; a `client_bound` warning then says why.
    pub could_be_bottleneck: bool,
}

/// Doubt, as data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// Kind.
    pub kind: WarningKind,
    /// What was seen, with figures.
    pub text: String,
}

/// Failures of the same kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCount {
    /// Class.
    pub class: ErrorClass,
    /// Message.
    pub message: String,
    /// How many.
    pub count: u64,
    /// The first ten requests.
    pub request_ids: Vec<String>,
}
