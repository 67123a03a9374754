//! Which runs are compared in one chart: runs of one dataset and shape, a series per variant, along
//! the load.

use indexmap::IndexMap;

use super::frame::Words;
use super::look::{LOOKS, Look};
use crate::plan::{Axis, Plan, RunPlan};
use crate::report::caption;
use crate::report::official::{axis_value, dataset_label};
use crate::report::table::{Cell, Value};
use crate::report::text::{counted, inline};
use crate::summarize::{Distribution, Results, Summary};

/// What is turned up along the horizontal axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Load {
    /// Requests in flight, in closed loop.
    Concurrency,
    /// Arrivals per second, in open loop.
    Rate,
}

impl Load {
    fn of(run: &Summary) -> Option<(Self, f64)> {
        if is_open_loop(run) {
            // a trace has no rate that was asked for
            return Some((Self::Rate, run.request_rate.per_second().or(run.offered_per_s)?));
        }
        Some((Self::Concurrency, f64::from(run.max_concurrency?)))
    }

    /// In a title.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Concurrency => "concurrency",
            Self::Rate => "request rate",
        }
    }

    /// Under an axis.
    pub(super) const fn axis(self) -> &'static str {
        match self {
            Self::Concurrency => "Max concurrency (requests in flight)",
            Self::Rate => "Request rate (requests/s)",
        }
    }

    /// What the user of such a server waits for.
    pub(super) const fn waited(self) -> &'static str {
        match self {
            Self::Concurrency => "Latency",
            Self::Rate => "Response time",
        }
    }
}

/// Whether requests came at times of their own.
pub(super) fn is_open_loop(run: &Summary) -> bool {
    run.headline == "response_time"
}

/// The latency that counts for a run: with the wait for a slot in open loop.
pub(super) fn headline(run: &Summary) -> &Distribution {
    if is_open_loop(run) { &run.response_time_s } else { &run.latency_s }
}

/// The unit of a throughput: by the hour when less than one request in ten seconds is done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pace {
    per_second: f64,
    /// `requests/s` or `requests/h`.
    pub(super) unit: &'static str,
}

impl Pace {
    /// The unit in which the largest of these rates per second reads well.
    pub(super) fn of(rates: impl IntoIterator<Item = f64>) -> Self {
        if rates.into_iter().fold(0.0, f64::max) < 0.1 {
            Self { per_second: 3600.0, unit: "requests/h" }
        } else {
            Self { per_second: 1.0, unit: "requests/s" }
        }
    }

    /// A rate per second in this unit.
    pub(super) fn told(self, rate: f64) -> f64 {
        rate * self.per_second
    }
}

/// A run at its load.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point<'a> {
    pub(super) load: f64,
    pub(super) run: &'a Summary,
}

/// Runs of one variant, by load.
#[derive(Debug, Clone)]
pub(super) struct Series<'a> {
    pub(super) label: String,
    pub(super) look: Look,
    pub(super) points: Vec<Point<'a>>,
}

impl Series<'_> {
    /// The highest throughput of its runs, in successes per second.
    fn best(&self) -> f64 {
        self.points.iter().filter_map(|point| point.run.throughput_per_s).fold(0.0, f64::max)
    }

    /// The value at each load, the mean over repeats; loads in ascending order.
    pub(super) fn line(&self, value: impl Fn(&Summary) -> Option<f64>) -> Vec<(f64, f64)> {
        let mut line: Vec<(f64, f64)> = Vec::new();
        for same in self.points.chunk_by(|a, b| a.load.total_cmp(&b.load).is_eq()) {
            let values: Vec<f64> = same.iter().filter_map(|point| value(point.run)).collect();
            if let (Some(point), false) = (same.first(), values.is_empty()) {
                line.push((point.load, values.iter().sum::<f64>() / super::scale::real(values.len())));
            }
        }
        line
    }
}

/// Runs that are drawn together.
#[derive(Debug, Clone)]
pub(super) struct Comparison<'a> {
    /// For a file name: the dataset and what else tells this one from others.
    pub(super) stem: String,
    pub(super) load: Load,
    /// Of the dataset, and what else tells this one from others.
    pub(super) place: String,
    pub(super) series: Vec<Series<'a>>,
    /// How many there are when not all are drawn.
    left_out: Option<(usize, usize)>,
}

/// Comparisons that are drawn at most.
const MOST: usize = 24;

impl<'a> Comparison<'a> {
    /// Every comparison, in the plan's order.
    pub(super) fn all(plan: &Plan, results: &'a Results) -> Vec<Self> {
        let mut groups: IndexMap<(Load, String, Vec<String>), Vec<Point<'a>>> = IndexMap::new();
        for run in &results.runs {
            let Some((load_kind, load)) = Load::of(run) else { continue };
            let apart = further(plan, load_kind).into_iter().filter_map(|axis| told(plan, plan.run(&run.id)?, axis));
            let key = (load_kind, run.dataset.clone(), apart.collect());
            groups.entry(key).or_default().push(Point { load, run });
        }
        let total = groups.len();
        let left_out = (total > MOST).then_some((MOST, total));
        let groups = groups.into_iter().take(MOST);
        groups
            .map(|((load, dataset, apart), points)| Self::of(plan, load, &dataset, &apart, points, left_out))
            .collect()
    }

    fn of(
        plan: &Plan,
        load: Load,
        dataset: &str,
        apart: &[String],
        points: Vec<Point<'a>>,
        left_out: Option<(usize, usize)>,
    ) -> Self {
        let mut series: IndexMap<String, Vec<Point<'a>>> = IndexMap::new();
        for point in points {
            series.entry(point.run.variant.clone()).or_default().push(point);
        }
        let series = series.into_iter().map(|(variant, mut points)| {
            points.sort_by(|a, b| a.load.total_cmp(&b.load));
            Series { label: variant_label(plan, &variant), look: Look::DIM, points }
        });
        let mut series: Vec<Series<'a>> = series.collect();
        give_looks(&mut series);
        let stem = std::iter::once(dataset.to_owned()).chain(apart.iter().map(|part| part.replace(' ', "")));
        let kind = match load {
            Load::Concurrency => "",
            Load::Rate => "-open",
        };
        let label = inline(dataset_label(plan, dataset));
        let place = std::iter::once(label).chain(apart.iter().cloned()).collect::<Vec<_>>().join(", ");
        Self { stem: format!("{}{kind}", stem.collect::<Vec<_>>().join("-")), load, place, series, left_out }
    }

    /// Every run with its load.
    pub(super) fn points(&self) -> impl Iterator<Item = Point<'a>> {
        self.series.iter().flat_map(|series| series.points.iter().copied())
    }

    /// The loads that were tried, each once, ascending.
    pub(super) fn loads(&self) -> Vec<f64> {
        let mut loads: Vec<f64> = self.points().map(|point| point.load).collect();
        loads.sort_by(f64::total_cmp);
        loads.dedup_by(|a, b| a.total_cmp(b).is_eq());
        loads
    }

    /// The words of a chart of these runs.
    pub(super) fn words(&self, plan: &Plan, results: &Results, what: &str) -> Words {
        let mut subtitle = vec![format!("{} ({}, {})", inline(&plan.title), inline(&plan.model), plan.task)];
        if let [only] = self.series.as_slice() {
            let gpus = only.points.first().map_or(0, |point| point.run.gpus);
            subtitle.push(format!("variant {}, {}", only.label, counted(gpus.into(), "GPU")));
        } else {
            subtitle.push(counted(self.series.len() as u64, "variant"));
        }
        let notes = self.left_out.map(|(drawn, total)| format!("The first {drawn} of {total} comparisons are drawn."));
        Words {
            title: format!("{what}: {}", self.place),
            subtitle: subtitle.join(" · "),
            simulated: caption::simulated(results),
            notes: notes.into_iter().collect(),
        }
    }
}

/// Gives every series a look of its own; of too many, the ones with the highest throughput.
fn give_looks(series: &mut [Series<'_>]) {
    let mut best: Vec<usize> = (0..series.len()).collect();
    best.sort_by(|a, b| {
        let rate = |place: &usize| series.get(*place).map_or(0.0, Series::best);
        rate(b).total_cmp(&rate(a)).then(a.cmp(b))
    });
    best.truncate(LOOKS);
    best.sort_unstable();
    for (number, place) in best.into_iter().enumerate() {
        if let Some(series) = series.get_mut(place) {
            series.look = Look::of(number);
        }
    }
}

/// A variant's name in charts.
pub(super) fn variant_label(plan: &Plan, name: &str) -> String {
    inline(plan.variant(name).map_or(name, |variant| &variant.label))
}

/// Axes besides variant, dataset and load that keep runs apart. Seeds and repeats are tries of the
/// same thing, and the number of requests follows the load.
fn further(plan: &Plan, load: Load) -> Vec<Axis> {
    let apart = |axis: &Axis| match axis {
        Axis::Size | Axis::NumInferenceSteps | Axis::NumFrames => true,
        Axis::MaxConcurrency => load == Load::Rate,
        Axis::Variant | Axis::Dataset | Axis::RequestRate | Axis::Requests | Axis::Seed => false,
    };
    plan.varying.iter().copied().filter(apart).collect()
}

/// The run's value on an axis, in words.
fn told(plan: &Plan, run: &RunPlan, axis: Axis) -> Option<String> {
    let value = axis_value(axis, plan, run);
    if value == Value::Absent {
        return None;
    }
    let value = Cell::from(value).raw();
    Some(match axis {
        Axis::NumInferenceSteps => format!("{value} steps"),
        Axis::NumFrames => format!("{value} frames"),
        Axis::MaxConcurrency => format!("cap {value}"),
        Axis::Variant | Axis::Dataset | Axis::RequestRate | Axis::Requests | Axis::Size | Axis::Seed => value,
    })
}
