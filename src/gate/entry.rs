//! A measured point → its entry in a baseline file.

use super::baseline::{BaselineEntry, BaselineMetric};
use super::measured::Measured;
use crate::catalog::{Direction, METRICS, MetricSpec, Validity};
use crate::summarize::{Sample, mean_interval};

/// Metrics of which no baseline is kept: they tell how the run went, or are single requests.
const LEFT_OUT: [&str; 6] =
    ["failed", "censored", "lateness_ms.p99", "latency_s.std", "latency_s.min", "latency_s.max"];

impl BaselineEntry {
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
        let kept = METRICS.iter().filter(|spec| spec.direction != Direction::Neutral && !LEFT_OUT.contains(&spec.name));
        Ok(Self {
            id: point.id.clone(),
            key: point.key.clone(),
            workload_key: point.workload_key.clone(),
            config_key: point.config_key.clone(),
            hardware: point.hardware.clone(),
            simulated: point.simulated,
            n: first.requests,
            repeats: u32::try_from(point.repeats.len()).ok(),
            metrics: kept.filter_map(|spec| Some((spec.name.to_owned(), figure(point, spec)?))).collect(),
            fingerprint: point.facts.clone(),
        })
    }
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
