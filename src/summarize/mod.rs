//! Records → numbers: percentiles, intervals, throughput, media, SLO, per class, warnings. Pure; a
//! summary can be made again from the files at any time. Never reads a clock or the network.

mod client;
mod concurrency;
mod doubt;
mod figures;
mod interval;
mod lateness;
mod media;
mod phases;
mod results;
mod row;
mod run;
mod sample;
mod slo;
mod survival;
mod telemetry;
mod types;

pub use doubt::doubt_unreadable;
pub(crate) use doubt::{Level, serialised};
pub(crate) use interval::{COVERAGE, NORMAL_ABOVE, SplitMix};
pub use interval::{is_supported, mean_interval, quantile_interval, stratified_mean_interval};
pub(crate) use media::{clip_s, denoise_step_ms, frames, megapixel_steps, realtime_factor, told_generation_ms};
pub use results::results;
pub use row::Row;
pub use run::{RunFiles, summarize, summarize_rows};
pub use sample::{Sample, SampleError};
pub(crate) use sample::{real, real_u64, seconds};
pub(crate) use survival::survival;
pub use telemetry::{EnergyBasis, GpuBasis, GpuFigures, PeakMean, ProcessFigures, TelemetryFigures, ToldTime};
pub use types::{
    Calibrated, ClassSummary, ClientFigures, Distribution, ErrorCount, JobPhases, LatenessBucket, Mean99, Memory,
    NotRun, Percentile, RESULTS_FORMAT, Results, Rtf, Slo, SloFit, StageTime, Summary, Tail, Warning,
};
