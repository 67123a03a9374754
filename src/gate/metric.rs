//! One metric against its baseline or its limit.

use super::baseline::BaselineMetric;
use super::measured::Measured;
use super::rules::Tolerance;
use super::verdict::{MetricVerdict, Trend, VerdictKind};
use crate::catalog::{Direction, MetricSpec, Unit};
use crate::summarize::{Sample, mean_interval};

/// Relative slack for what binary fractions cannot hold: 0.07 × 0.9 is a little more than 0.063.
const EPSILON: f64 = 1e-9;

/// What a metric is in the repeats of a run.
struct Values {
    each: Vec<f64>,
    mean: f64,
    /// 95 % interval of the mean over repeats.
    interval: Option<[f64; 2]>,
}

impl Values {
    fn of(run: &Measured, metric: &str) -> Option<Self> {
        let each = run.values(metric)?;
        let sample = Sample::of_finite(each.iter().copied())?;
        let interval = if each.len() > 1 { mean_interval(&sample) } else { None };
        Some(Self { mean: sample.mean(), interval, each })
    }
}

/// Compares a metric with its baseline. It fails when the mean over repeats is worse by more than the
/// relative and the absolute tolerance, and the repeats bear that out: every one of them is beyond the
/// tolerance and outside the range of the baseline's repeats, or the mean's interval is. A single
/// repeat has no say in its own scatter.
pub(super) fn compare(run: &Measured, spec: &MetricSpec, tolerance: Tolerance, base: &BaselineMetric) -> MetricVerdict {
    let values = Values::of(run, spec.name);
    let mut found = blank(run, spec, values.as_ref());
    // a figure that no run measures is nothing to compare with
    let Some(known) = base.value.filter(|value| value.is_finite() && *value > 0.0) else {
        found.verdict = VerdictKind::NoBaseline;
        found.note = Some(base.note.clone().unwrap_or_else(|| "the baseline has no value above 0".to_owned()));
        return found;
    };
    found.baseline = Some(known);
    let sign = sign(spec.direction);
    let room = (tolerance.relative * known.abs()).max(tolerance.absolute);
    let limit = sign.mul_add(room, known);
    found.limit = Some(limit);
    let Some(values) = values else { return found };
    let worse = |value: f64, than: f64| sign * (value - than) > EPSILON * known.abs();
    found.change = Some((values.mean - known) / known.abs());
    found.direction = Some(match sign * (values.mean - known) {
        step if step.abs() <= EPSILON * known.abs() => Trend::Same,
        step if step > 0.0 => Trend::Worse,
        _ => Trend::Better,
    });
    if !worse(values.mean, limit) {
        found.verdict = VerdictKind::Pass;
        return found;
    }
    let in_range =
        |value: f64| base.range.is_some_and(|[low, high]| !worse(value, if sign > 0.0 { high } else { low }));
    let all_beyond = values.each.iter().all(|value| worse(*value, limit) && !in_range(*value));
    let interval_beyond = values.interval.is_some_and(|[low, high]| worse(if sign > 0.0 { low } else { high }, limit));
    if all_beyond || interval_beyond {
        found.verdict = VerdictKind::Regression;
    } else {
        found.verdict = VerdictKind::Pass;
        found.note = Some("beyond the tolerance, but within the scatter of the repeats".to_owned());
    }
    if found.note.is_none() {
        found.note = remark(run, spec);
    }
    found
}

/// Holds a metric against a limit.
pub(super) fn limit(run: &Measured, spec: &MetricSpec, limit: f64) -> MetricVerdict {
    let values = Values::of(run, spec.name);
    let mut found = blank(run, spec, values.as_ref());
    found.limit = Some(limit);
    if let Some(values) = values {
        // every repeat has to keep the limit: it is a promise, not an estimate
        let broken = values.each.iter().any(|value| sign(spec.direction) * (value - limit) > EPSILON * limit.abs());
        found.verdict = if broken { VerdictKind::Regression } else { VerdictKind::Pass };
        found.note = remark(run, spec);
    }
    found
}

/// A metric that the results do not have, until there is more to say.
fn blank(run: &Measured, spec: &MetricSpec, values: Option<&Values>) -> MetricVerdict {
    let end = |at: usize| values.and_then(|values| values.interval).and_then(|ends| ends.get(at).copied());
    MetricVerdict {
        id: run.id.clone(),
        metric: spec.name.to_owned(),
        unit: spec.unit,
        value: values.map(|values| values.mean),
        low: end(0),
        high: end(1),
        baseline: None,
        limit: None,
        change: None,
        direction: None,
        verdict: VerdictKind::NotComparable,
        note: values.is_none().then(|| "the run did not measure it".to_owned()),
    }
}

fn remark(run: &Measured, spec: &MetricSpec) -> Option<String> {
    if !run.is_supported(spec.name) {
        let n = run.observations().unwrap_or_default();
        return Some(format!("rests on {n} requests, too few for this percentile"));
    }
    (spec.unit == Unit::Megabytes)
        .then(|| "memory that the server reserves depends on what its pool has seen".to_owned())
}

/// 1 when larger is worse, −1 when smaller is.
const fn sign(direction: Direction) -> f64 {
    match direction {
        Direction::LowerIsBetter | Direction::Neutral => 1.0,
        Direction::HigherIsBetter => -1.0,
    }
}
