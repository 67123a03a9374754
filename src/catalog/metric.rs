//! The names of the metrics, with unit and the direction in which they get better.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which way a metric improves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Smaller values are better.
    LowerIsBetter,
    /// Larger values are better.
    HigherIsBetter,
    /// Neither is better.
    Neutral,
}

/// The unit of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Per second.
    PerSecond,
    /// Per hour and GPU.
    PerHourPerGpu,
    /// Mebibytes as the server reports them (`peak_memory_mb`).
    Megabytes,
    /// A share between 0 and 1.
    Fraction,
    /// A ratio of two times.
    Ratio,
    /// A count.
    Count,
    /// Pixels.
    Pixels,
}

/// One metric of a run's summary, named by its path in `results.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricSpec {
    /// Path in the summary, dots between levels.
    pub name: &'static str,
    /// Heading in a table.
    pub label: &'static str,
    /// Unit of the value.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
}

use Direction::{HigherIsBetter as Higher, LowerIsBetter as Lower, Neutral};

const fn m(name: &'static str, label: &'static str, unit: Unit, direction: Direction) -> MetricSpec {
    MetricSpec { name, label, unit, direction }
}

/// Every metric that tables, comparisons and gates can name.
pub const METRICS: &[MetricSpec] = &[
    m("throughput_per_s", "Throughput", Unit::PerSecond, Higher),
    m("offered_per_s", "Offered", Unit::PerSecond, Neutral),
    m("goodput_per_s", "Goodput", Unit::PerSecond, Higher),
    m("duration_s", "Duration", Unit::Seconds, Neutral),
    m("latency_s.mean", "Mean Latency", Unit::Seconds, Lower),
    m("latency_s.std", "Latency Std", Unit::Seconds, Lower),
    m("latency_s.min", "Min Latency", Unit::Seconds, Lower),
    m("latency_s.p50", "P50 Latency", Unit::Seconds, Lower),
    m("latency_s.p90", "P90 Latency", Unit::Seconds, Lower),
    m("latency_s.p95", "P95 Latency", Unit::Seconds, Lower),
    m("latency_s.p99", "P99 Latency", Unit::Seconds, Lower),
    m("latency_s.max", "Max Latency", Unit::Seconds, Lower),
    m("response_time_s.mean", "Mean Response Time", Unit::Seconds, Lower),
    m("response_time_s.p50", "P50 Response Time", Unit::Seconds, Lower),
    m("response_time_s.p95", "P95 Response Time", Unit::Seconds, Lower),
    m("response_time_s.p99", "P99 Response Time", Unit::Seconds, Lower),
    m("images", "Images", Unit::Count, Neutral),
    m("images_per_s", "Images", Unit::PerSecond, Higher),
    m("pixels_per_image", "Pixels per Image", Unit::Pixels, Neutral),
    m("denoise_step_ms", "Denoise Step", Unit::Milliseconds, Lower),
    m("image_generation_ms.mean", "Mean Image Generation", Unit::Milliseconds, Lower),
    m("video_s_per_s", "Video Seconds per Second", Unit::Ratio, Higher),
    m("rtf.mean", "Mean RTF", Unit::Ratio, Lower),
    m("rtf.p99", "P99 RTF", Unit::Ratio, Lower),
    m("video_generation_ms.mean", "Mean Video Generation", Unit::Milliseconds, Lower),
    m("frames_per_s", "Frames", Unit::PerSecond, Higher),
    m("megapixel_steps_per_s", "Megapixel Steps", Unit::PerSecond, Higher),
    m("outputs_per_hour_per_gpu", "Outputs", Unit::PerHourPerGpu, Higher),
    m("peak_concurrency", "Peak Concurrency", Unit::Count, Neutral),
    m("peak_memory_mb.max", "Peak Memory", Unit::Megabytes, Lower),
    m("peak_memory_mb.mean", "Mean Peak Memory", Unit::Megabytes, Lower),
    m("slo.attainment", "SLO Attainment", Unit::Fraction, Higher),
    m("failed", "Failed", Unit::Count, Lower),
    m("censored", "Censored", Unit::Count, Lower),
    m("lateness_ms.p99", "P99 Lateness", Unit::Milliseconds, Lower),
];

/// The metric of that name.
pub fn metric(name: &str) -> Option<&'static MetricSpec> {
    METRICS.iter().find(|spec| spec.name == name)
}
