//! Samples of a run → what its server and GPUs did: memory, utilisation, power and energy, requests
//! running and waiting, times that the server tells. Means are over time, by the trapezoidal rule
//! between samples. What no sample tells is null.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sample::{real_u64, seconds};
use crate::record::{GpuProcess, GpuSample, ServerSample, TelemetrySample};

/// Share of a run that the samples must span for its energy to be told.
const COVERED: f64 = 0.9;

/// What a server and its GPUs did while a run went on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TelemetryFigures {
    /// Looks at the GPUs.
    pub gpu_samples: u64,
    /// Looks at the server's metrics.
    pub server_samples: u64,
    /// Time between the first and the last look at the GPUs, in seconds; null with fewer than two.
    pub gpu_span_s: Option<f64>,
    /// By what GPUs count as the server's; null when none was looked at.
    pub gpu_basis: Option<GpuBasis>,
    /// Every GPU that was looked at.
    pub gpus: Vec<GpuFigures>,
    /// Every process on a GPU that counts, the one with the most memory first.
    pub processes: Vec<ProcessFigures>,
    /// Memory in use on the counted GPU that used most, in MiB.
    pub gpu_memory_mb: Option<PeakMean>,
    /// Memory of the process that held most, in MiB.
    pub process_memory_mb: Option<PeakMean>,
    /// Mean share of time with a kernel running, over the GPUs that count.
    pub utilization: Option<f64>,
    /// Mean power of the GPUs that count together, in watts.
    pub power_w: Option<f64>,
    /// Energy of the GPUs that count together over the span of the samples, in joules; what they draw
    /// while idle included. Null when the samples span less than 90 % of the run.
    pub energy_j: Option<f64>,
    /// Where the energy comes from.
    pub energy_basis: Option<EnergyBasis>,
    /// Energy per request that succeeded; the work of those that failed included.
    pub joules_per_request: Option<f64>,
    /// Energy per picture received.
    pub joules_per_image: Option<f64>,
    /// Energy per clip received.
    pub joules_per_video: Option<f64>,
    /// Requests that the server said it was working on.
    pub running: Option<PeakMean>,
    /// Requests that it said were in its queue.
    pub waiting: Option<PeakMean>,
    /// Times that the server told over this run, by its own names: the unit is in the name.
    pub times: BTreeMap<String, ToldTime>,
}

/// By what a GPU counts as the server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GpuBasis {
    /// A process of the server that omni-bench started was on it.
    ServerProcesses,
    /// Some process was on it; whose cannot be told.
    Processes,
    /// All of the machine, because no process can be seen.
    All,
}

/// Where an energy comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EnergyBasis {
    /// The GPUs' energy counters: last minus first.
    Counter,
    /// Power over time, for at least one GPU.
    Power,
}

/// Largest value, and mean over time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PeakMean {
    /// Largest.
    pub max: f64,
    /// Mean over time.
    pub mean: f64,
}

/// A time that the server told.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToldTime {
    /// Observations within the run.
    pub n: f64,
    /// Their mean.
    pub mean: f64,
}

/// One GPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GpuFigures {
    /// Number with the driver.
    pub index: u32,
    /// Whether it counts as the server's.
    pub counted: bool,
    /// Memory in use, in MiB.
    pub memory_mb: Option<PeakMean>,
    /// Mean share of time with a kernel running.
    pub utilization: Option<f64>,
    /// Mean power in watts.
    pub power_w: Option<f64>,
    /// Energy in joules.
    pub energy_j: Option<f64>,
}

/// One process on one GPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessFigures {
    /// The GPU.
    pub gpu: u32,
    /// Process id as the driver knows it.
    pub pid: u32,
    /// Its name.
    pub name: Option<String>,
    /// Whether it is the server's.
    pub of_server: Option<bool>,
    /// Memory it held, in MiB.
    pub memory_mb: Option<PeakMean>,
}

/// What the run made, to divide energy by.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Made {
    /// First sent → last end.
    pub(super) duration_s: Option<f64>,
    pub(super) completed: u64,
    pub(super) images: Option<u64>,
    pub(super) videos: Option<u64>,
}

/// The figures of a run's samples; `None` without samples.
pub(super) fn figures(samples: &[TelemetrySample], made: Made) -> Option<TelemetryFigures> {
    let mut figures = TelemetryFigures::default();
    let gpus: Vec<(f64, &[GpuSample])> =
        samples.iter().filter_map(|sample| Some((middle_s(sample), sample.gpus.as_deref()?))).collect();
    let server: Vec<(f64, &ServerSample)> =
        samples.iter().filter_map(|sample| Some((middle_s(sample), sample.server.as_ref()?))).collect();
    if gpus.is_empty() && server.is_empty() {
        return None;
    }
    figures.gpu_samples = gpus.len() as u64;
    figures.server_samples = server.len() as u64;
    fill_gpus(&mut figures, &gpus, made);
    let load = |of: fn(&ServerSample) -> Option<f64>| {
        peak_mean(&server.iter().filter_map(|(at, sample)| Some((*at, of(sample)?))).collect::<Vec<_>>())
    };
    figures.running = load(|sample| sample.running);
    figures.waiting = load(|sample| sample.waiting);
    if let (Some((_, first)), Some((_, last))) = (server.first(), server.last()) {
        figures.times = times(first, last);
    }
    Some(figures)
}

/// What was told held at some moment of the look; its middle is at most half a look wrong.
fn middle_s(sample: &TelemetrySample) -> f64 {
    seconds(sample.at_us) + seconds(sample.took_us) / 2.0
}

fn fill_gpus(figures: &mut TelemetryFigures, looks: &[(f64, &[GpuSample])], made: Made) {
    let mut series: IndexMap<u32, Vec<(f64, &GpuSample)>> = IndexMap::new();
    for (at, gpus) in looks {
        for gpu in *gpus {
            series.entry(gpu.index).or_default().push((*at, gpu));
        }
    }
    series.sort_unstable_keys();
    let Some(basis) = basis(&series) else { return };
    figures.gpu_basis = Some(basis);
    let span = looks.first().zip(looks.last()).map(|((first, _), (last, _))| last - first);
    figures.gpu_span_s = span.filter(|_| looks.len() > 1);
    let counted: Vec<u32> = series.iter().filter(|(_, looks)| counts(basis, looks)).map(|(index, _)| *index).collect();
    let energies = energies(&series, &counted);
    figures.gpus = series.iter().map(|(index, looks)| gpu(*index, looks, counted.contains(index), &energies)).collect();
    let own = || figures.gpus.iter().filter(|gpu| gpu.counted);
    figures.gpu_memory_mb = own().filter_map(|gpu| gpu.memory_mb).max_by(|a, b| a.max.total_cmp(&b.max));
    let shares: Option<Vec<f64>> = own().map(|gpu| gpu.utilization).collect();
    figures.utilization =
        shares.filter(|all| !all.is_empty()).map(|all| all.iter().sum::<f64>() / real_u64(all.len() as u64));
    figures.power_w = own().map(|gpu| gpu.power_w).sum::<Option<f64>>().filter(|_| !counted.is_empty());
    let energy = own().map(|gpu| gpu.energy_j).sum::<Option<f64>>().filter(|_| !counted.is_empty());
    let covered = figures.gpu_span_s.zip(made.duration_s).is_some_and(|(span, run)| span >= COVERED * run);
    figures.energy_j = energy.filter(|_| covered);
    let from_power =
        counted.iter().any(|index| energies.get(index).is_some_and(|(_, basis)| *basis == EnergyBasis::Power));
    figures.energy_basis = figures.energy_j.map(|_| if from_power { EnergyBasis::Power } else { EnergyBasis::Counter });
    let per = |count: Option<u64>| {
        let count = count.filter(|count| *count > 0)?;
        Some(figures.energy_j? / real_u64(count))
    };
    let each = [per(Some(made.completed)), per(made.images), per(made.videos)];
    [figures.joules_per_request, figures.joules_per_image, figures.joules_per_video] = each;
    figures.processes = processes(&series, &counted);
    let held = figures
        .processes
        .iter()
        .filter(|process| basis != GpuBasis::ServerProcesses || process.of_server == Some(true));
    figures.process_memory_mb = held.filter_map(|process| process.memory_mb).max_by(|a, b| a.max.total_cmp(&b.max));
}

type Series<'a> = [(f64, &'a GpuSample)];

fn listed<'a>(looks: &Series<'a>) -> impl Iterator<Item = &'a GpuProcess> {
    looks.iter().flat_map(|(_, gpu)| gpu.processes.iter().flatten())
}

fn basis(series: &IndexMap<u32, Vec<(f64, &GpuSample)>>) -> Option<GpuBasis> {
    let any = |test: fn(&GpuProcess) -> bool| series.values().any(|looks| listed(looks).any(test));
    if series.is_empty() {
        None
    } else if any(|process| process.of_server == Some(true)) {
        Some(GpuBasis::ServerProcesses)
    } else if any(|_| true) {
        Some(GpuBasis::Processes)
    } else {
        Some(GpuBasis::All)
    }
}

fn counts(basis: GpuBasis, looks: &Series<'_>) -> bool {
    match basis {
        GpuBasis::ServerProcesses => listed(looks).any(|process| process.of_server == Some(true)),
        GpuBasis::Processes => listed(looks).next().is_some(),
        GpuBasis::All => true,
    }
}

fn gpu(index: u32, looks: &Series<'_>, counted: bool, energies: &BTreeMap<u32, (f64, EnergyBasis)>) -> GpuFigures {
    let of = |value: fn(&GpuSample) -> Option<f64>| points(looks, value);
    GpuFigures {
        index,
        counted,
        memory_mb: peak_mean(&of(|gpu| gpu.memory_mb)),
        utilization: mean(&of(|gpu| gpu.utilization)),
        power_w: mean(&of(|gpu| gpu.power_w)),
        energy_j: energies.get(&index).map(|(energy, _)| *energy),
    }
}

fn points(looks: &Series<'_>, value: impl Fn(&GpuSample) -> Option<f64>) -> Vec<(f64, f64)> {
    looks.iter().filter_map(|(at, gpu)| Some((*at, value(gpu)?))).filter(|(_, value)| value.is_finite()).collect()
}

/// Energy of every GPU. The counter is exact where there is one; a counter that went back was set anew.
fn energies(series: &IndexMap<u32, Vec<(f64, &GpuSample)>>, counted: &[u32]) -> BTreeMap<u32, (f64, EnergyBasis)> {
    let by_counter = |looks: &Series<'_>| {
        let counter = points(looks, |gpu| gpu.energy_j);
        let rising = counter.len() == looks.len() && counter.iter().is_sorted_by(|(_, a), (_, b)| a <= b);
        let (first, last) = (counter.first()?, counter.last()?);
        (rising && counter.len() > 1).then_some(last.1 - first.1)
    };
    let of = |(index, looks): (&u32, &Vec<(f64, &GpuSample)>)| {
        let by_power = || area(&points(looks, |gpu| gpu.power_w));
        let energy = by_counter(looks).map(|energy| (energy, EnergyBasis::Counter));
        Some((*index, energy.or_else(|| Some((by_power()?, EnergyBasis::Power)))?))
    };
    series.iter().filter(|(index, _)| counted.contains(index)).filter_map(of).collect()
}

fn processes(series: &IndexMap<u32, Vec<(f64, &GpuSample)>>, counted: &[u32]) -> Vec<ProcessFigures> {
    let mut found: IndexMap<(u32, u32), (&GpuProcess, Vec<(f64, f64)>)> = IndexMap::new();
    for (index, looks) in series.iter().filter(|(index, _)| counted.contains(index)) {
        for (at, gpu) in looks {
            for process in gpu.processes.iter().flatten() {
                let entry = found.entry((*index, process.pid)).or_insert((process, Vec::new()));
                entry.1.extend(process.memory_mb.map(|memory| (*at, memory)));
            }
        }
    }
    let of = |((gpu, pid), (process, memory)): ((u32, u32), (&GpuProcess, Vec<(f64, f64)>))| ProcessFigures {
        gpu,
        pid,
        name: process.name.clone(),
        of_server: process.of_server,
        memory_mb: peak_mean(&memory),
    };
    let mut all: Vec<ProcessFigures> = found.into_iter().map(of).collect();
    let peak = |process: &ProcessFigures| process.memory_mb.map_or(0.0, |memory| memory.max);
    all.sort_by(|a, b| peak(b).total_cmp(&peak(a)));
    all
}

/// What sums and counts grew by between two looks.
fn times(first: &ServerSample, last: &ServerSample) -> BTreeMap<String, ToldTime> {
    let of = |(name, total): (&String, &crate::record::Total)| {
        let before = first.times.get(name).copied().unwrap_or_default();
        let (n, sum) = (total.count - before.count, total.sum - before.sum);
        (n > 0.0 && sum >= 0.0).then(|| (name.clone(), ToldTime { n, mean: sum / n }))
    };
    last.times.iter().filter_map(of).collect()
}

fn peak_mean(points: &[(f64, f64)]) -> Option<PeakMean> {
    let max = points.iter().map(|(_, value)| *value).reduce(f64::max)?;
    Some(PeakMean { max, mean: mean(points)? })
}

/// Mean over time; of one point, its value.
fn mean(points: &[(f64, f64)]) -> Option<f64> {
    let (first, last) = (points.first()?, points.last()?);
    let span = last.0 - first.0;
    if span > 0.0 { area(points).map(|area| area / span) } else { Some(last.1) }
}

/// The area below the line through the points; `None` when no time passes.
fn area(points: &[(f64, f64)]) -> Option<f64> {
    let strips = points.windows(2).map(|pair| match pair {
        [(from, a), (to, b)] => (to - from) * f64::midpoint(*a, *b),
        _ => 0.0,
    });
    (points.len() > 1).then(|| strips.sum())
}

#[cfg(test)]
mod tests;
