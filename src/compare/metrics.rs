//! A metric's name → what it is made of in a run, so that it can be judged and drawn again.

use crate::catalog::{Direction, Unit, metric};
use crate::record::{OutputKind, Record, Status};
use crate::summarize::{
    Sample, clip_s, denoise_step_ms, frames, megapixel_steps, real, real_u64, realtime_factor, seconds,
    told_generation_ms,
};

use super::arm::Repeat;
use super::series::{Series, Stat};

/// Batches that a run's rate is cut into, at most.
const BATCHES: usize = 10;

/// A metric that is compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Metric {
    /// Path in `results.json`.
    pub(crate) name: String,
    /// Heading.
    pub(crate) label: String,
    /// Unit.
    pub(crate) unit: Unit,
    /// Which way is better.
    pub(crate) direction: Direction,
}

impl Metric {
    /// The metric of that name; `None` when there is no such one. Stage times are named by their stage.
    pub(crate) fn named(name: &str) -> Option<Self> {
        if let Some(spec) = metric(name) {
            let label = match spec.unit {
                Unit::PerSecond => format!("{}/s", spec.label),
                _ => spec.label.to_owned(),
            };
            return Some(Self { name: name.to_owned(), label, unit: spec.unit, direction: spec.direction });
        }
        let (stage, _) = stage(name)?;
        let unit = Unit::Milliseconds;
        Some(Self { name: name.to_owned(), label: format!("Stage {stage}"), unit, direction: Direction::LowerIsBetter })
    }

    /// The mean time of a stage.
    pub(crate) fn of_stage(stage: &str) -> Option<Self> {
        Self::named(&format!("stage_ms.{stage}.mean"))
    }

    /// The quantile that it is, if it is one.
    pub(crate) fn share(&self) -> Option<f64> {
        match stat(self.name.rsplit('.').next()?)? {
            Stat::Quantile(share) => Some(share),
            Stat::Mean => None,
        }
    }

    /// Whether it is memory that the server reserved, which depends on what its pool has seen before.
    pub(crate) fn is_reserved_memory(&self) -> bool {
        self.unit == Unit::Megabytes
    }

    /// The metric in one run, of one class or all; `None` when it was not measured.
    pub(crate) fn series(&self, repeat: &Repeat, class: Option<&str>) -> Option<Series> {
        if let Some(amount) = amount(&self.name).filter(|_| class.is_none()) {
            return batches(repeat, amount).or_else(|| self.whole(repeat));
        }
        let Some((quantity, stat)) = quantity(&self.name) else {
            return self.whole(repeat).filter(|_| class.is_none());
        };
        let mut values: Vec<(usize, f64)> = match quantity {
            Quantity::Met => {
                let of_class = |record: &&Record| class.is_none_or(|class| record.class == class);
                let records = repeat.records.iter().filter(of_class);
                records.filter_map(|record| Some((record.index, repeat.met(record)?))).collect()
            }
            _ => repeat
                .successes(class)
                .filter_map(|record| Some((record.index, quantity.of(record)?)))
                .filter(|(_, value)| value.is_finite())
                .collect(),
        };
        values.sort_by_key(|(index, _)| *index);
        (!values.is_empty()).then_some(Series::Values(values, stat))
    }

    /// The same with every job taken to have ended as early as its polls allow; `None` for what is no
    /// latency, and when no job was polled.
    pub(crate) fn earliest(&self, repeat: &Repeat, class: Option<&str>) -> Option<f64> {
        let (quantity, stat) = quantity(&self.name)?;
        if !matches!(quantity, Quantity::Latency | Quantity::ResponseTime) {
            return None;
        }
        let mut polled = false;
        let early = repeat.successes(class).filter_map(|record| {
            let gap = record.job_bounds_us.map(|[low, high]| seconds(high.saturating_sub(low)));
            polled |= gap.is_some();
            Some(quantity.of(record)? - gap.unwrap_or_default())
        });
        let sample = Sample::of_finite(early.collect::<Vec<_>>())?;
        polled.then(|| match stat {
            Stat::Mean => sample.mean(),
            Stat::Quantile(share) => sample.quantile(share),
        })
    }

    fn whole(&self, repeat: &Repeat) -> Option<Series> {
        repeat.summary.metric(&self.name).map(Series::Whole)
    }
}

/// The stage and statistic of `stage_ms.NAME.mean`.
fn stage(name: &str) -> Option<(&str, Stat)> {
    let (stage, last) = name.strip_prefix("stage_ms.")?.rsplit_once('.')?;
    Some((stage, stat(last)?))
}

fn stat(name: &str) -> Option<Stat> {
    Some(match name {
        "mean" => Stat::Mean,
        "p50" => Stat::Quantile(0.5),
        "p90" => Stat::Quantile(0.9),
        "p95" => Stat::Quantile(0.95),
        "p99" => Stat::Quantile(0.99),
        _ => return None,
    })
}

/// A value per request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity<'a> {
    Latency,
    ResponseTime,
    ImageGenerationMs,
    VideoGenerationMs,
    Rtf,
    DenoiseStepMs,
    MemoryMb,
    Stage(&'a str),
    Met,
}

/// What a metric of requests is made of; `None` for rates and for numbers of the whole run.
fn quantity(name: &str) -> Option<(Quantity<'_>, Stat)> {
    match name {
        "denoise_step_ms" => return Some((Quantity::DenoiseStepMs, Stat::Mean)),
        "slo.attainment" => return Some((Quantity::Met, Stat::Mean)),
        _ => {}
    }
    if let Some((stage, stat)) = stage(name) {
        return Some((Quantity::Stage(stage), stat));
    }
    let (head, last) = name.rsplit_once('.')?;
    let quantity = match head {
        "latency_s" => Quantity::Latency,
        "response_time_s" => Quantity::ResponseTime,
        "image_generation_ms" => Quantity::ImageGenerationMs,
        "video_generation_ms" => Quantity::VideoGenerationMs,
        "rtf" => Quantity::Rtf,
        "peak_memory_mb" => Quantity::MemoryMb,
        _ => return None,
    };
    Some((quantity, stat(last)?))
}

impl Quantity<'_> {
    /// The value of a request that succeeded.
    fn of(self, record: &Record) -> Option<f64> {
        match self {
            Self::Latency => record.latency_us.map(seconds),
            Self::ResponseTime => record.response_time_us.map(seconds),
            Self::ImageGenerationMs if is_of_pictures(record) => told_generation_ms(&record.into()),
            Self::VideoGenerationMs if !is_of_pictures(record) => told_generation_ms(&record.into()),
            Self::Rtf => realtime_factor(&record.into()).map(|(factor, _)| factor),
            Self::DenoiseStepMs if is_of_pictures(record) => denoise_step_ms(&record.into()),
            Self::MemoryMb => record.peak_memory_mb.filter(|memory| *memory > 0.0),
            Self::Stage(name) => record.stage_ms.get(name).copied(),
            Self::ImageGenerationMs | Self::VideoGenerationMs | Self::DenoiseStepMs | Self::Met => None,
        }
    }
}

/// Whether what came back is pictures.
fn is_of_pictures(record: &Record) -> bool {
    record.outputs.iter().all(|output| !matches!(output.kind, OutputKind::Mp4))
}

/// What a rate counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Amount {
    Requests,
    Met,
    Images,
    VideoSeconds,
    Frames,
    MegapixelSteps,
    OutputsPerHourPerGpu,
}

fn amount(name: &str) -> Option<Amount> {
    Some(match name {
        "throughput_per_s" => Amount::Requests,
        "goodput_per_s" => Amount::Met,
        "images_per_s" => Amount::Images,
        "video_s_per_s" => Amount::VideoSeconds,
        "frames_per_s" => Amount::Frames,
        "megapixel_steps_per_s" => Amount::MegapixelSteps,
        "outputs_per_hour_per_gpu" => Amount::OutputsPerHourPerGpu,
        _ => return None,
    })
}

impl Amount {
    /// What a request that succeeded adds; `None` when it cannot be told, or means nothing here.
    fn of(self, repeat: &Repeat, record: &Record) -> Option<f64> {
        match self {
            Self::Requests => Some(1.0),
            Self::Met => repeat.met(record),
            Self::Images if is_of_pictures(record) => Some(real(record.outputs.len())),
            Self::VideoSeconds if !is_of_pictures(record) => clip_s(&record.into()),
            Self::Frames if !is_of_pictures(record) => frames(&record.into()).map(real_u64),
            Self::Images | Self::VideoSeconds | Self::Frames => None,
            Self::MegapixelSteps => megapixel_steps(&record.into()),
            Self::OutputsPerHourPerGpu => {
                let gpus = Some(repeat.summary.gpus).filter(|gpus| *gpus > 0)?;
                Some(real(record.outputs.len()) * 3600.0 / f64::from(gpus))
            }
        }
    }
}

/// The run's time cut where requests ended, into batches of as many ends: first sent → last end of any
/// request. Batch means are less dependent than requests are (Conway, "Some Tactical Problems in Digital
/// Simulation", 1963). `None` when nothing succeeded or an amount is unknown.
fn batches(repeat: &Repeat, amount: Amount) -> Option<Series> {
    let mut ends: Vec<(u64, f64)> = repeat
        .successes(None)
        .map(|record| Some((record.done_us, amount.of(repeat, record)?)))
        .collect::<Option<_>>()?;
    ends.sort_by_key(|(end, _)| *end);
    let sent = repeat.records.iter().filter(|record| record.status != Status::Cancelled || record.sent_us.is_some());
    let first = sent.clone().filter_map(|record| record.sent_us).min()?;
    let last = sent.filter(|record| record.sent_us.is_some()).map(|record| record.done_us).max()?;
    let together = usize::try_from(repeat.summary.max_concurrency.unwrap_or(1)).unwrap_or(1);
    let size = ends.len().div_ceil(BATCHES).max(together).max(1);
    let count = (ends.len() / size).max(1);
    let mut from = first;
    let mut batches = Vec::new();
    for (number, batch) in ends.chunks(size).enumerate() {
        // what does not fill a batch of its own goes to the last
        let to = match batch.last() {
            Some(_) if number + 1 >= count => last,
            Some((end, _)) => *end,
            None => continue,
        };
        let sum: f64 = batch.iter().map(|(_, amount)| amount).sum();
        match batches.last_mut() {
            Some(full) if number >= count => {
                let (amount, _): &mut (f64, f64) = full;
                *amount += sum;
            }
            _ => batches.push((sum, seconds(to.saturating_sub(from)))),
        }
        from = to;
    }
    (batches.iter().map(|(_, seconds)| seconds).sum::<f64>() > 0.0).then_some(Series::Batches(batches))
}
