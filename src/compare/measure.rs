//! One metric of two arms → both values, the change with its interval, and the tests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::summarize::{COVERAGE, NORMAL_ABOVE, Sample, real};

use super::normal;
use super::rank::{RankTest, mann_whitney, signed_rank};
use super::resample::{Design, Drawn, differences};
use super::series::{Series, Stat};
use super::student::{self, TTest};

/// Repeats from which a claim goes beyond the runs that were made; a signed-rank test of fewer pairs, and the
/// spread of fewer runs, say next to nothing.
pub const REPEATS_FOR_A_CLAIM: usize = 5;

/// How far a claim reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Over repeats: another run of the same servers is expected to show it too.
    AcrossRepeats,
    /// Within these runs only; another run of the same server may differ by more.
    WithinThisRun,
    /// There is nothing to judge by.
    None,
}

/// On what scale arms are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// By their ratio.
    Log,
    /// By their difference, where a value may be 0.
    Linear,
}

impl Scale {
    /// How far `b` is above `a`.
    pub(crate) fn difference(self, a: f64, b: f64) -> f64 {
        match self {
            // a drawn value of 0 must not become infinite
            Self::Log => (b.max(f64::MIN_POSITIVE) / a.max(f64::MIN_POSITIVE)).ln(),
            Self::Linear => b - a,
        }
    }

    fn of(self, value: f64) -> f64 {
        match self {
            Self::Log => value.max(f64::MIN_POSITIVE).ln(),
            Self::Linear => value,
        }
    }

    /// A difference on this scale as a change relative to the baseline; `None` for one of 0.
    fn change(self, difference: f64, baseline: f64) -> Option<f64> {
        match self {
            Self::Log => Some(difference.exp_m1()),
            Self::Linear if baseline.abs() > 0.0 => Some(difference / baseline.abs()),
            Self::Linear => None,
        }
    }
}

/// What two arms say about one metric.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    /// Means over repeats.
    pub(crate) values: [f64; 2],
    /// Each repeat's value.
    pub(crate) repeats: [Vec<f64>; 2],
    /// Relative change; `None` when the baseline is 0.
    pub(crate) change: Option<f64>,
    /// 95 % interval of the change.
    pub(crate) interval: Option<[f64; 2]>,
    /// Two-sided p-value of the basis.
    pub(crate) p: Option<f64>,
    pub(crate) rank: Option<RankTest>,
    pub(crate) basis: Basis,
}

impl Measured {
    /// Whether all repeats of both arms have one value, as the memory of a pool of fixed size.
    pub(crate) fn is_constant(&self) -> bool {
        let mut values = self.repeats.iter().flatten();
        let first = values.next().copied().unwrap_or_default();
        values.all(|value| (value - first).abs() <= 0.0)
    }
}

/// Measures the difference; `None` when an arm has no runs.
pub(crate) fn measure(a: &[Series], b: &[Series], design: Design) -> Option<Measured> {
    let repeats = [a, b].map(|arm| arm.iter().map(Series::value).collect::<Vec<f64>>());
    let [first, second] = &repeats;
    let values = [mean(first)?, mean(second)?];
    let scale = if a.iter().chain(b).all(is_positive) { Scale::Log } else { Scale::Linear };
    let rank = rank(a, b, design, scale);
    let point = scale.difference(values[0], values[1]);
    let found = if a.len().min(b.len()) >= REPEATS_FOR_A_CLAIM {
        across(a, b, &repeats, design, scale)
    } else {
        within(a, b, design, scale, rank)
    };
    let ends = found.ends.and_then(|[low, high]| {
        let change = |reach: f64| scale.change(point + reach, values[0]);
        Some([change(low)?, change(high)?])
    });
    let change = relative(values);
    Some(Measured { values, repeats, change, interval: ends, p: found.p, rank, basis: found.basis })
}

fn relative([baseline, candidate]: [f64; 2]) -> Option<f64> {
    (baseline.abs() > 0.0).then(|| (candidate - baseline) / baseline.abs())
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / real(values.len()))
}

/// Whether every unit is above 0, so that whatever is drawn has a ratio. Shares are not taken for such, as
/// one request more may make a 0 of them.
fn is_positive(series: &Series) -> bool {
    match series {
        Series::Values(values, _) => {
            values.iter().all(|(_, value)| *value > 0.0) && !values.iter().all(|(_, value)| (*value - 1.0).abs() <= 0.0)
        }
        Series::Batches(batches) => batches.iter().all(|(amount, _)| *amount > 0.0),
        Series::Whole(value) => *value > 0.0,
    }
}

/// The ends of an interval as distances from the difference, a p-value, and how far both reach.
struct Found {
    ends: Option<[f64; 2]>,
    p: Option<f64>,
    basis: Basis,
}

/// Over repeats: Student's t of the repeats' values, of pairs where repeats were run next to each other;
/// the interval from repeats and requests drawn again.
///
/// Few repeats drawn again spread too little by √((R − 1)/R), and not as the normal distribution; both are
/// mended as Hesterberg, "What Teachers Should Know About the Bootstrap" (2015), section 5.3, says.
fn across(a: &[Series], b: &[Series], repeats: &[Vec<f64>; 2], design: Design, scale: Scale) -> Found {
    let [first, second] = repeats;
    let scaled = [first, second].map(|values| values.iter().map(|value| scale.of(*value)).collect::<Vec<f64>>());
    let test = test(&scaled, design.repeats_paired);
    let Some(TTest { p, error, free }) = test else { return Found { ends: None, p: None, basis: Basis::None } };
    let factor = student::quantile(f64::midpoint(1.0, COVERAGE), free);
    let units: usize = a.iter().chain(b).map(Series::units).sum();
    let error = if units > NORMAL_ABOVE || a.iter().chain(b).any(|series| matches!(series, Series::Whole(_))) {
        error
    } else {
        let drawn = differences(a, b, design, Drawn::Repeats, &|a, b| scale.difference(a, b));
        let fewest = real(first.len().min(second.len()));
        // the spread between repeats is the least that another run differs by
        (spread(&drawn) * (fewest / (fewest - 1.0)).sqrt()).max(error)
    };
    let ends = factor.map(|factor| [-factor * error, factor * error]);
    Found { ends, p: Some(p), basis: Basis::AcrossRepeats }
}

fn test([a, b]: &[Vec<f64>; 2], paired: bool) -> Option<TTest> {
    if paired && a.len() == b.len() {
        return student::paired(&a.iter().zip(b).map(|(a, b)| b - a).collect::<Vec<_>>());
    }
    student::welch(a, b)
}

/// Within the runs that there are: requests drawn again in blocks, or batch means; the p-value is that of the
/// rank test where it could be significant at all, else of the same draws.
fn within(a: &[Series], b: &[Series], design: Design, scale: Scale, rank: Option<RankTest>) -> Found {
    let of_rank = rank.filter(|rank| rank.least_p < 1.0 - COVERAGE).map(|rank| rank.p);
    let found = |ends, p: Option<f64>| Found { ends, p: of_rank.or(p), basis: Basis::WithinThisRun };
    let point = scale.difference(mean_of(a), mean_of(b));
    let units: usize = a.iter().chain(b).map(Series::units).sum();
    match (a.first(), b.first()) {
        (Some(Series::Batches(_)), Some(Series::Batches(_))) => match batch_test(a, b, design, scale) {
            Some(TTest { p, error, free }) => {
                let reach = student::quantile(f64::midpoint(1.0, COVERAGE), free).map(|factor| factor * error);
                found(reach.map(|reach| [-reach, reach]), Some(p))
            }
            None => Found { ends: None, p: None, basis: Basis::None },
        },
        (Some(Series::Values(..)), Some(Series::Values(..))) if units > NORMAL_ABOVE => {
            let ends = normal::interval(a, b, design.concurrency, scale);
            found(ends.map(|[low, high]| [low - point, high - point]), None)
        }
        (Some(Series::Values(first, _)), Some(Series::Values(second, _))) if first.len().min(second.len()) > 1 => {
            let mut drawn = differences(a, b, design, Drawn::Requests, &|a, b| scale.difference(a, b));
            drawn.sort_by(f64::total_cmp);
            let below = real(drawn.partition_point(|drawn| *drawn <= 0.0));
            let above = real(drawn.len() - drawn.partition_point(|drawn| *drawn < 0.0));
            let p = (2.0 * (below.min(above) + 1.0) / (real(drawn.len()) + 1.0)).min(1.0);
            let tail = f64::midpoint(0.0, 1.0 - COVERAGE);
            let ends =
                Sample::new(drawn).ok().map(|drawn| [tail, 1.0 - tail].map(|share| drawn.quantile(share) - point));
            found(ends, Some(p))
        }
        _ => Found { ends: None, p: None, basis: Basis::None },
    }
}

fn mean_of(arm: &[Series]) -> f64 {
    arm.iter().map(Series::value).sum::<f64>() / real(arm.len().max(1))
}

/// Batches of both arms against each other: of pairs where they hold the same requests.
fn batch_test(a: &[Series], b: &[Series], design: Design, scale: Scale) -> Option<TTest> {
    let (a, b) = (batch_rates(a, scale), batch_rates(b, scale));
    test(&[a, b], design.requests_paired)
}

/// Rates of all batches that took time, on the scale.
fn batch_rates(arm: &[Series], scale: Scale) -> Vec<f64> {
    let of = |series: &Series| match series {
        Series::Batches(batches) => batches.clone(),
        Series::Values(..) | Series::Whole(_) => Vec::new(),
    };
    let batches = arm.iter().flat_map(of).filter(|(_, seconds)| *seconds > 0.0);
    batches.map(|(amount, seconds)| scale.of(amount / seconds)).collect()
}

fn spread(values: &[f64]) -> f64 {
    Sample::of_finite(values.iter().copied()).map_or(0.0, |sample| sample.std())
}

/// The rank test of what the metric is made of: its requests, its batches, or, for tails and whole runs, the
/// repeats. Pairs where the same requests were asked, in runs that belong together where there are as many.
fn rank(a: &[Series], b: &[Series], design: Design, scale: Scale) -> Option<RankTest> {
    let of_runs = |arm: &[Series]| arm.iter().map(Series::value).collect::<Vec<f64>>();
    let is_tail = |series: &Series| match series {
        Series::Values(_, Stat::Quantile(share)) => *share > 0.5,
        Series::Values(_, Stat::Mean) | Series::Batches(_) => false,
        Series::Whole(_) => true,
    };
    let (first, second) = (a.first()?, b.first()?);
    if is_tail(first) || is_tail(second) {
        let pairs = design.repeats_paired && a.len() == b.len();
        return (a.len().min(b.len()) > 1).then(|| tested(&of_runs(a), &of_runs(b), pairs, scale));
    }
    let values = |arm: &[Series]| arm.iter().flat_map(|series| units(series, scale)).collect::<Vec<f64>>();
    let aligned = a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_aligned(b));
    if design.requests_paired && !aligned {
        let differences = common(a, b, scale);
        return (!differences.is_empty()).then(|| signed_rank(&differences));
    }
    let (left, right) = (values(a), values(b));
    Some(tested_scaled(&left, &right, design.requests_paired))
}

/// Differences of requests that both arms answered, each the mean over its repeats.
fn common(a: &[Series], b: &[Series], scale: Scale) -> Vec<f64> {
    let (a, b) = (by_index(a, scale), by_index(b, scale));
    a.iter().filter_map(|(index, a)| b.get(index).map(|b| b - a)).collect()
}

fn by_index(arm: &[Series], scale: Scale) -> std::collections::BTreeMap<usize, f64> {
    let mut sums: std::collections::BTreeMap<usize, (f64, f64)> = std::collections::BTreeMap::new();
    for series in arm {
        let Series::Values(values, _) = series else { continue };
        for (index, value) in values {
            let (sum, count) = sums.entry(*index).or_default();
            *sum += scale.of(*value);
            *count += 1.0;
        }
    }
    sums.into_iter().map(|(index, (sum, count))| (index, sum / count)).collect()
}

fn units(series: &Series, scale: Scale) -> Vec<f64> {
    match series {
        Series::Values(values, _) => values.iter().map(|(_, value)| scale.of(*value)).collect(),
        Series::Batches(_) => batch_rates(std::slice::from_ref(series), scale),
        Series::Whole(value) => vec![scale.of(*value)],
    }
}

fn tested(a: &[f64], b: &[f64], pairs: bool, scale: Scale) -> RankTest {
    let scaled = |values: &[f64]| values.iter().map(|value| scale.of(*value)).collect::<Vec<f64>>();
    tested_scaled(&scaled(a), &scaled(b), pairs)
}

fn tested_scaled(a: &[f64], b: &[f64], pairs: bool) -> RankTest {
    if pairs && a.len() == b.len() {
        signed_rank(&a.iter().zip(b).map(|(a, b)| b - a).collect::<Vec<f64>>())
    } else {
        mann_whitney(a, b)
    }
}
