//! Measured differences → changes that are called significant or not, and why not.

use super::arm::Repeat;
use super::holm::holm;
use super::measure::{Basis, Measured, REPEATS_FOR_A_CLAIM, measure};
use super::metrics::Metric;
use super::resample::Design;
use super::types::{Change, Doubt, MetricChange};
use crate::catalog::{Direction, Unit};
use crate::summarize::{COVERAGE, is_supported};

/// Relative change that is an effect when the scenario does not say: between two runs of one configuration,
/// clocks and temperatures alone make some tenths of a percent.
const FLOOR: f64 = 0.01;
/// The same of reserved memory: the same work has been seen to reserve 8.6 % more after other work.
const MEMORY_FLOOR: f64 = 0.1;

/// What decides whether a change is an effect.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Floors {
    /// Relative; `None` is the default.
    pub(super) relative: Option<f64>,
}

impl Floors {
    /// Whether a change is too small to matter, relatively or absolutely.
    fn is_below(self, metric: &Metric, change: Option<f64>, difference: f64) -> bool {
        let relative = self.relative.unwrap_or(FLOOR);
        let relative = if metric.is_reserved_memory() { relative.max(MEMORY_FLOOR) } else { relative };
        difference.abs() <= absolute_floor(metric.unit) || change.is_some_and(|change| change.abs() < relative)
    }
}

/// What clocks and counters cannot tell apart, in the unit of the metric.
const fn absolute_floor(unit: Unit) -> f64 {
    match unit {
        // of seconds a millisecond, because the client's own timers are no better
        Unit::Seconds | Unit::Fraction | Unit::Ratio => 1e-3,
        Unit::Milliseconds => 0.1,
        Unit::Megabytes => 1.0,
        Unit::PerSecond | Unit::PerHourPerGpu | Unit::Count | Unit::Pixels => 0.0,
    }
}

/// A table of metrics: a family of tests that are corrected together.
pub(super) struct Family<'a> {
    pub(super) metrics: Vec<Metric>,
    pub(super) baseline: &'a [Repeat],
    pub(super) candidate: &'a [Repeat],
    /// Of which class; `None` is all.
    pub(super) class: Option<&'a str>,
    pub(super) design: Design,
    pub(super) floors: Floors,
}

impl Family<'_> {
    /// The changes of those metrics that both arms measured in every repeat.
    pub(super) fn changes(&self) -> Vec<MetricChange> {
        let measured: Vec<(&Metric, Measured, bool)> = self
            .metrics
            .iter()
            .filter_map(|metric| {
                let of = |arm: &[Repeat]| {
                    let runs = arm.iter().map(|repeat| metric.series(repeat, self.class));
                    runs.collect::<Option<Vec<_>>>().filter(|runs| !runs.is_empty())
                };
                let (a, b) = (of(self.baseline)?, of(self.candidate)?);
                let fewest = [&a, &b].map(|arm| arm.iter().map(super::series::Series::units).sum::<usize>());
                let fewest = fewest[0].min(fewest[1]) as u64;
                let supported = metric.share().is_none_or(|share| is_supported(fewest, share));
                Some((metric, measure(&a, &b, self.design)?, supported))
            })
            .collect();
        // what cannot be a finding is no test that the others must pay for
        let test = |measured: &Measured, supported: bool| measured.p.filter(|_| supported && !measured.is_constant());
        let tests: Vec<Option<f64>> =
            measured.iter().map(|(_, measured, supported)| test(measured, *supported)).collect();
        let adjusted = holm(&tests);
        measured
            .into_iter()
            .zip(adjusted)
            .map(|((metric, measured, supported), p_adjusted)| self.judge(metric, &measured, supported, p_adjusted))
            .collect()
    }

    fn judge(&self, metric: &Metric, measured: &Measured, supported: bool, p_adjusted: Option<f64>) -> MetricChange {
        let [baseline, candidate] = measured.values;
        let difference = candidate - baseline;
        let poll_bounds = self.poll_bounds(metric, measured.values);
        let [baseline_spread, candidate_spread] = measured.repeats.each_ref().map(|values| band(values));
        let doubt = self.doubt(metric, measured, supported, p_adjusted, poll_bounds);
        let constant = measured.is_constant();
        let interval = measured.interval.filter(|_| supported);
        MetricChange {
            metric: metric.name.clone(),
            label: metric.label.clone(),
            unit: metric.unit,
            baseline,
            candidate,
            baseline_spread,
            candidate_spread,
            difference,
            change: measured.change,
            direction: direction(metric.direction, difference),
            significant: doubt.is_none(),
            doubt,
            low: interval.map(|[low, _]| low),
            high: interval.map(|[_, high]| high),
            p: measured.p.filter(|_| supported && !constant),
            p_adjusted,
            rank: measured.rank.filter(|_| supported && !constant),
            basis: if supported { measured.basis } else { Basis::None },
            poll_bounds,
            note: metric
                .is_reserved_memory()
                .then(|| format!("reserved, pool dependent: an effect from {:.0} % on", MEMORY_FLOOR * 100.0)),
        }
    }

    /// Why the change is not called significant; `None` when it is.
    fn doubt(
        &self,
        metric: &Metric,
        measured: &Measured,
        supported: bool,
        p_adjusted: Option<f64>,
        poll_bounds: Option<[f64; 2]>,
    ) -> Option<Doubt> {
        let [baseline, candidate] = measured.values;
        let repeats = self.baseline.len().min(self.candidate.len());
        let holds_none = |[low, high]: [f64; 2]| low > 0.0 || high < 0.0;
        if measured.is_constant() {
            return Some(Doubt::NoDifference);
        }
        if !supported {
            return Some(Doubt::TooFewRequests);
        }
        if repeats < 2 {
            return Some(Doubt::OneRepeat);
        }
        if self.floors.is_below(metric, measured.change, candidate - baseline) {
            return Some(Doubt::BelowFloor);
        }
        if repeats < REPEATS_FOR_A_CLAIM && overlap(&measured.repeats) {
            return Some(Doubt::WithinNoise);
        }
        let (Some(p), Some(interval)) = (p_adjusted, measured.interval) else { return Some(Doubt::NoTest) };
        if p >= 1.0 - COVERAGE || !holds_none(interval) {
            return Some(Doubt::Chance);
        }
        poll_bounds.filter(|bounds| !holds_none(*bounds)).map(|_| Doubt::PollGaps)
    }

    /// By how much the change may be off because jobs ended at some time between two polls: the candidate's
    /// earliest against the baseline's recorded times, and the other way round.
    fn poll_bounds(&self, metric: &Metric, [baseline, candidate]: [f64; 2]) -> Option<[f64; 2]> {
        let earliest = |arm: &[Repeat], recorded: f64| {
            let values: Vec<f64> = arm.iter().filter_map(|repeat| metric.earliest(repeat, self.class)).collect();
            let count = crate::summarize::real(values.len());
            if values.is_empty() { (recorded, false) } else { (values.iter().sum::<f64>() / count, true) }
        };
        let (early_a, polled_a) = earliest(self.baseline, baseline);
        let (early_b, polled_b) = earliest(self.candidate, candidate);
        let ends = [early_b / baseline - 1.0, candidate / early_a - 1.0];
        ((polled_a || polled_b) && ends.iter().all(|end| end.is_finite())).then_some(ends)
    }
}

/// Which way a difference goes.
pub(super) fn direction(better: Direction, difference: f64) -> Change {
    let is_up = difference > 0.0;
    match better {
        _ if difference.abs() <= 0.0 => Change::Same,
        Direction::Neutral => Change::Same,
        Direction::HigherIsBetter if is_up => Change::Better,
        Direction::LowerIsBetter if !is_up => Change::Better,
        Direction::HigherIsBetter | Direction::LowerIsBetter => Change::Worse,
    }
}

/// Smallest and largest of several.
fn band(values: &[f64]) -> Option<[f64; 2]> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    (values.len() > 1).then_some([low, high])
}

/// Whether the repeats of two arms overlap.
fn overlap([a, b]: &[Vec<f64>; 2]) -> bool {
    match (band(a), band(b)) {
        (Some([low_a, high_a]), Some([low_b, high_b])) => low_a <= high_b && low_b <= high_a,
        _ => true,
    }
}
