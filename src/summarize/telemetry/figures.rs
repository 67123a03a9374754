//! From samples to figures.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::types::{EnergyBasis, GpuBasis, GpuFigures, PeakMean, ProcessFigures, TelemetryFigures, ToldTime};
use crate::record::{GpuProcess, GpuSample, ServerSample, TelemetrySample, Total};
use crate::summarize::sample::{real_u64, seconds};

/// Share of a run that the samples must span for its energy to be told.
const COVERED: f64 = 0.9;

/// What the run made, to divide energy by.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Made {
    /// First sent → last end.
    pub(crate) duration_s: Option<f64>,
    pub(crate) completed: u64,
    pub(crate) images: Option<u64>,
    pub(crate) videos: Option<u64>,
}

/// The figures of a run's samples; `None` without samples.
pub(crate) fn figures(samples: &[TelemetrySample], made: Made) -> Option<TelemetryFigures> {
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
        let told = points(looks, |gpu| gpu.energy_j);
        let rising = told.len() == looks.len() && told.iter().is_sorted_by(|(_, a), (_, b)| a <= b);
        let (first, last) = (told.first()?, told.last()?);
        (rising && told.len() > 1).then_some(last.1 - first.1)
    };
    let of = |(index, looks): (&u32, &Vec<(f64, &GpuSample)>)| {
        let by_power = || area(&points(looks, |gpu| gpu.power_w));
        let energy = by_counter(looks).map(|energy| (energy, EnergyBasis::Counter));
        Some((*index, energy.or_else(|| Some((by_power()?, EnergyBasis::Power)))?))
    };
    series.iter().filter(|(index, _)| counted.contains(index)).filter_map(of).collect()
}

/// A process and its memory over time.
type Seen<'a> = (&'a GpuProcess, Vec<(f64, f64)>);

fn processes(series: &IndexMap<u32, Vec<(f64, &GpuSample)>>, counted: &[u32]) -> Vec<ProcessFigures> {
    let mut found: IndexMap<(u32, u32), Seen<'_>> = IndexMap::new();
    for (index, looks) in series.iter().filter(|(index, _)| counted.contains(index)) {
        for (at, gpu) in looks {
            for process in gpu.processes.iter().flatten() {
                let entry = found.entry((*index, process.pid)).or_insert((process, Vec::new()));
                entry.1.extend(process.memory_mb.map(|memory| (*at, memory)));
            }
        }
    }
    let of = |((gpu, pid), (process, memory)): ((u32, u32), Seen<'_>)| ProcessFigures {
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
    let of = |(name, total): (&String, &Total)| {
        let before = first.times.get(name).copied().unwrap_or_default();
        let (n, sum) = (total.count - before.count, total.sum - before.sum);
        (n > 0.0 && sum >= 0.0).then(|| (name.clone(), ToldTime { n, mean: sum / n }))
    };
    last.times.iter().filter_map(of).collect()
}

pub(super) fn peak_mean(points: &[(f64, f64)]) -> Option<PeakMean> {
    let max = points.iter().map(|(_, value)| *value).reduce(f64::max)?;
    Some(PeakMean { max, mean: mean(points)? })
}

/// Mean over time; of one point, its value.
pub(super) fn mean(points: &[(f64, f64)]) -> Option<f64> {
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
