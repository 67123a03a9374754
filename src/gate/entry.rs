//! A measured point → its entry in a baseline file.

use super::baseline::{BaselineEntry, BaselineMetric};
use super::measured::{Measured, is_supported};
use crate::catalog::{Direction, METRICS, MetricSpec, Validity};
use crate::summarize::{Sample, Summary, mean_interval};

/// Metrics of which no baseline is kept: they tell how the run went, or are single requests.
const LEFT_OUT: [&str; 6] =
    ["failed", "censored", "lateness_ms.p99", "latency_s.std", "latency_s.min", "latency_s.max"];

/// Fewest earlier runs that make a baseline.
pub const LEAST_RUNS: usize = 3;

impl BaselineEntry {
    /// The median of earlier runs of a point on the same hardware; `None` of fewer than [`LEAST_RUNS`]. A
    /// metric that fewer of them measured has no value. Their range is left out: in months of runs it would
    /// excuse nearly everything.
    pub fn median_of(point: &Measured, earlier: &[Summary]) -> Option<Self> {
        if earlier.len() < LEAST_RUNS {
            return None;
        }
        let figures = kept().filter_map(|spec| Some((spec.name.to_owned(), median(earlier, spec)?)));
        Some(Self {
            id: point.id.clone(),
            key: point.key.clone(),
            workload_key: point.workload_key.clone(),
            config_key: point.config_key.clone(),
            hardware: point.hardware.clone(),
            simulated: point.simulated,
            n: earlier.iter().map(|summary| summary.requests).min()?,
            repeats: u32::try_from(earlier.len()).ok(),
            metrics: figures.collect(),
            // a history keeps no facts beyond the key and the hardware, by which these runs were found
            fingerprint: indexmap::IndexMap::new(),
        })
    }

    /// What a point measured; why it is no baseline when it cannot be one. Percentiles that rest on too
    /// few requests are left out.
    pub fn of(point: &Measured) -> Result<Self, String> {
        if let Some(fault) = &point.fault {
            return Err(fault.clone());
        }
        if let Some(repeat) = point.repeats.iter().find(|repeat| repeat.validity == Validity::Invalid) {
            return Err(format!("the numbers of `{}` are invalid", repeat.id));
        }
        if let Some(repeat) = point.repeats.iter().find(|repeat| repeat.censored > 0) {
            return Err(format!("requests of `{}` were cut by a limit of the client", repeat.id));
        }
        let Some(first) = point.repeats.first() else { return Err("it has no numbers".to_owned()) };
        Ok(Self {
            id: point.id.clone(),
            key: point.key.clone(),
            workload_key: point.workload_key.clone(),
            config_key: point.config_key.clone(),
            hardware: point.hardware.clone(),
            simulated: point.simulated,
            n: first.requests,
            repeats: u32::try_from(point.repeats.len()).ok(),
            metrics: kept().filter_map(|spec| Some((spec.name.to_owned(), figure(point, spec)?))).collect(),
            fingerprint: point.facts.clone(),
        })
    }
}

/// Metrics of which a baseline is kept.
fn kept() -> impl Iterator<Item = &'static MetricSpec> {
    METRICS.iter().filter(|spec| spec.direction != Direction::Neutral && !LEFT_OUT.contains(&spec.name))
}

/// The median over those runs that measured a metric; `None` when none did.
fn median(earlier: &[Summary], spec: &MetricSpec) -> Option<BaselineMetric> {
    let measured = earlier.iter().filter(|summary| is_supported(summary, spec.name));
    let found: Vec<(f64, u64)> =
        measured.filter_map(|summary| Some((summary.metric(spec.name)?, summary.completed))).collect();
    let sample = Sample::of_finite(found.iter().map(|(value, _)| *value))?;
    if found.len() < LEAST_RUNS {
        let note = format!("{} of {} earlier runs measured it, fewer than {LEAST_RUNS}", found.len(), earlier.len());
        return Some(BaselineMetric::absent(spec.unit, Some(note)));
    }
    let n = found.iter().map(|(_, completed)| *completed).min();
    Some(BaselineMetric { n, ..BaselineMetric::of(sample.quantile(0.5), spec.unit) })
}

fn figure(point: &Measured, spec: &MetricSpec) -> Option<BaselineMetric> {
    if !point.is_supported(spec.name) {
        return None;
    }
    let sample = Sample::of_finite(point.values(spec.name)?)?;
    let several = point.repeats.len() > 1;
    let interval = if several { mean_interval(&sample) } else { None };
    Some(BaselineMetric {
        value: Some(sample.mean()),
        unit: spec.unit,
        n: point.observations(),
        low: interval.map(|[low, _]| low),
        high: interval.map(|[_, high]| high),
        range: several.then(|| [sample.min(), sample.max()]),
        note: None,
    })
}
