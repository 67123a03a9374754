//! Standard errors and intervals without drawing again, for so many requests that it would only take time.

use crate::summarize::{COVERAGE, Sample, quantile_interval, real};

use super::measure::Scale;
use super::resample::block;
use super::series::{Series, Stat};
use super::student;

/// The interval of the difference of the arms' means over repeats, within these runs, on the scale.
///
/// Means: by the spread of the means of consecutive blocks. Quantiles: from each run's order statistics, put
/// together as Zou and Donner, "Construction of Confidence Limits about Effect Measures" (2008), do for
/// two estimates with limits of their own. `None` when a run has no such limits.
pub(crate) fn interval(a: &[Series], b: &[Series], concurrency: usize, scale: Scale) -> Option<[f64; 2]> {
    let (a, b) = (arm(a, concurrency)?, arm(b, concurrency)?);
    let difference = scale.difference(a.value, b.value);
    let reach = |of: f64, from: f64| scale.difference(of, from).abs();
    let down = reach(b.low, b.value).hypot(reach(a.high, a.value));
    let up = reach(b.high, b.value).hypot(reach(a.low, a.value));
    Some([difference - down, difference + up])
}

/// A mean over runs with its limits.
struct Limits {
    value: f64,
    low: f64,
    high: f64,
}

fn arm(runs: &[Series], concurrency: usize) -> Option<Limits> {
    let count = real(runs.len());
    let each: Vec<Limits> = runs.iter().map(|run| limits(run, concurrency)).collect::<Option<_>>()?;
    let value = each.iter().map(|run| run.value).sum::<f64>() / count;
    // independent runs: the squares of the reaches add up
    let reach = |of: &dyn Fn(&Limits) -> f64| each.iter().map(|run| of(run).powi(2)).sum::<f64>().sqrt() / count;
    let (down, up) = (reach(&|run| run.value - run.low), reach(&|run| run.high - run.value));
    Some(Limits { value, low: value - down, high: value + up })
}

fn limits(run: &Series, concurrency: usize) -> Option<Limits> {
    let value = run.value();
    match run {
        Series::Values(values, Stat::Mean) => {
            let size = block(values.len(), concurrency);
            let means: Vec<f64> = values
                .chunks_exact(size)
                .map(|block| block.iter().map(|(_, value)| value).sum::<f64>() / real(size))
                .collect();
            let error = student::paired(&means)?.error;
            let reach = student::quantile(f64::midpoint(1.0, COVERAGE), real(means.len()) - 1.0)? * error;
            Some(Limits { value, low: value - reach, high: value + reach })
        }
        Series::Values(values, Stat::Quantile(share)) => {
            let sample = Sample::of_finite(values.iter().map(|(_, value)| *value))?;
            let [low, high] = quantile_interval(&sample, *share)?;
            Some(Limits { value, low, high })
        }
        Series::Batches(_) | Series::Whole(_) => None,
    }
}
