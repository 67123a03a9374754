//! Throughput by concurrency: what each arm gains from more requests in flight, and how far the candidate is
//! ahead at each level.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arm::Point;
use crate::summarize::{self, real, serialised};

/// Gain below which a level is none over an earlier one.
const GAIN: f64 = 1.05;

/// Both arms at one level of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    /// The sweep: all that these levels have in common.
    pub sweep: String,
    /// Requests in flight at most.
    pub concurrency: u32,
    /// The candidate's throughput by the baseline's.
    pub speed_up: f64,
    /// Whether that difference is significant.
    pub significant: bool,
    /// The baseline.
    pub baseline: Scaling,
    /// The candidate.
    pub candidate: Scaling,
}

/// One arm at one level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scaling {
    /// Successes per second, the mean over repeats.
    pub throughput_per_s: f64,
    /// Mean latency in seconds.
    pub latency_s: f64,
    /// Throughput by that of the sweep's lowest level.
    pub gain: f64,
    /// That gain by the growth of concurrency: 1 is perfect scaling.
    pub efficiency: f64,
    /// `no gain over c = 2` or `serialised`; null when throughput still grows.
    pub remark: Option<String>,
}

/// The levels of every sweep with several; `significant` tells of pairs by their position.
pub(super) fn levels(pairs: &[(&Point, &Point)], significant: impl Fn(usize) -> bool) -> Vec<Level> {
    let mut sweeps: Vec<&str> = Vec::new();
    for (a, b) in pairs {
        if let Some(sweep) = a.sweep.as_deref().filter(|_| b.sweep.is_some())
            && !sweeps.contains(&sweep)
        {
            sweeps.push(sweep);
        }
    }
    sweeps.into_iter().flat_map(|sweep| of_sweep(sweep, pairs, &significant)).collect()
}

fn of_sweep(sweep: &str, pairs: &[(&Point, &Point)], significant: &impl Fn(usize) -> bool) -> Vec<Level> {
    let mut members: Vec<(usize, summarize::Level, summarize::Level)> = pairs
        .iter()
        .enumerate()
        .filter(|(_, (a, _))| a.sweep.as_deref() == Some(sweep))
        .filter_map(|(place, (a, b))| Some((place, level(a)?, level(b)?)))
        .filter(|(_, a, b)| a.concurrency == b.concurrency)
        .collect();
    members.sort_by_key(|(_, a, _)| a.concurrency);
    if members.len() < 2 {
        return Vec::new();
    }
    let baselines: Vec<summarize::Level> = members.iter().map(|(_, a, _)| *a).collect();
    let candidates: Vec<summarize::Level> = members.iter().map(|(_, _, b)| *b).collect();
    members
        .iter()
        .enumerate()
        .filter_map(|(number, (place, a, b))| {
            Some(Level {
                sweep: sweep.to_owned(),
                concurrency: a.concurrency,
                speed_up: b.throughput_per_s / a.throughput_per_s,
                significant: significant(*place),
                baseline: scaling(&baselines, number)?,
                candidate: scaling(&candidates, number)?,
            })
        })
        .collect()
}

/// Means over repeats; `None` for what has no cap, or nothing above 0.
fn level(point: &Point) -> Option<summarize::Level> {
    let mean = |of: &dyn Fn(&super::arm::Repeat) -> Option<f64>| {
        let values: Vec<f64> = point.repeats.iter().map(of).collect::<Option<_>>()?;
        let mean = values.iter().sum::<f64>() / real(values.len());
        (mean > 0.0).then_some(mean)
    };
    Some(summarize::Level {
        concurrency: point.concurrency?,
        throughput_per_s: mean(&|repeat| repeat.summary.throughput_per_s)?,
        latency_s: mean(&|repeat| repeat.summary.latency_s.mean)?,
    })
}

fn scaling(levels: &[summarize::Level], number: usize) -> Option<Scaling> {
    let (first, here) = (levels.first()?, levels.get(number)?);
    let gain = here.throughput_per_s / first.throughput_per_s;
    let growth = f64::from(here.concurrency) / f64::from(first.concurrency);
    let earlier = levels.iter().take(number);
    // the lowest level that already gives what this one gives
    let reached = earlier.clone().find(|level| here.throughput_per_s < GAIN * level.throughput_per_s);
    let remark = if serialised(*first, *here).is_some() {
        Some("serialised".to_owned())
    } else {
        reached.map(|level| format!("no gain over c = {}", level.concurrency))
    };
    let (throughput_per_s, latency_s) = (here.throughput_per_s, here.latency_s);
    Some(Scaling { throughput_per_s, latency_s, gain, efficiency: gain / growth, remark })
}
