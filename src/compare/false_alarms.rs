//! How often the method cries wolf on a set of runs: one variant's repeats are drawn into two arms that differ in
//! nothing, again and again, and every difference that is called significant is a false alarm.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arm::{Arm, Point, Repeat};
use super::comparison::{CompareError, CompareSettings, compare};
use super::measure::{Basis, REPEATS_FOR_A_CLAIM};
use crate::summarize::{SplitMix, real};

/// Version of a self-test.
pub const SELF_TEST_FORMAT: u32 = 1;
/// Pairs of arms that are drawn for each point.
pub const TRIALS: usize = 200;
/// Seed of the drawing.
const SEED: u64 = 0x0073_656C_6674_6573;
/// 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// What `compare --self` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelfTest {
    /// Version of this format.
    pub format: u32,
    /// Whose repeats were drawn.
    pub name: String,
    /// Pairs of arms drawn for each point.
    pub trials: u64,
    /// The points with at least two repeats.
    pub points: Vec<PointAlarms>,
    /// Points with a single repeat, which cannot be drawn from.
    pub single: Vec<String>,
}

/// The false alarms of one point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointAlarms {
    /// Run id without the repeat.
    pub id: String,
    /// Repeats that were drawn from, and in each drawn arm.
    pub repeats: u64,
    /// How far the method reaches with so many.
    pub basis: Basis,
    /// By metric.
    pub metrics: IndexMap<String, AlarmRate>,
    /// Of any metric.
    pub any: AlarmRate,
}

/// A rate of false alarms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AlarmRate {
    /// Trials in which a difference was called significant.
    pub alarms: u64,
    /// Their share.
    pub rate: f64,
    /// Lower end of its 95 % interval (Wilson, "Probable Inference", 1927).
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl AlarmRate {
    fn of(alarms: usize, trials: usize) -> Self {
        let (count, rate) = (real(trials), real(alarms) / real(trials));
        let square = Z * Z;
        let middle = (rate + square / (2.0 * count)) / (1.0 + square / count);
        let reach = Z / (1.0 + square / count) * (rate * (1.0 - rate) / count + square / (4.0 * count * count)).sqrt();
        Self { alarms: alarms as u64, rate, low: (middle - reach).max(0.0), high: (middle + reach).min(1.0) }
    }
}

/// Draws `trials` pairs of arms from the repeats of every point; `trials` is at least 1.
pub fn self_test(arm: &Arm, settings: &CompareSettings, trials: usize) -> Result<SelfTest, CompareError> {
    let mut random = SplitMix(SEED);
    let (mut points, mut single) = (Vec::new(), Vec::new());
    for point in &arm.points {
        if point.repeats.len() < 2 {
            single.push(point.id.clone());
        } else {
            points.push(alarms(point, settings, trials.max(1), &mut random)?);
        }
    }
    Ok(SelfTest { format: SELF_TEST_FORMAT, name: arm.name.clone(), trials: trials.max(1) as u64, points, single })
}

fn alarms(
    point: &Point,
    settings: &CompareSettings,
    trials: usize,
    random: &mut SplitMix,
) -> Result<PointAlarms, CompareError> {
    let mut counts: IndexMap<String, usize> = IndexMap::new();
    let mut any = 0;
    for _ in 0..trials {
        let (a, b) = (draw(point, 0, random), draw(point, 1, random));
        let comparison = compare(&a, &b, settings)?;
        let changes = comparison.runs.iter().flat_map(|run| &run.metrics);
        let mut alarmed = false;
        for change in changes {
            *counts.entry(change.metric.clone()).or_default() += usize::from(change.significant);
            alarmed |= change.significant;
        }
        any += usize::from(alarmed);
    }
    let claims = point.repeats.len() >= REPEATS_FOR_A_CLAIM;
    Ok(PointAlarms {
        id: point.id.clone(),
        repeats: point.repeats.len() as u64,
        basis: if claims { Basis::AcrossRepeats } else { Basis::WithinThisRun },
        metrics: counts.into_iter().map(|(name, alarms)| (name, AlarmRate::of(alarms, trials))).collect(),
        any: AlarmRate::of(any, trials),
    })
}

/// An arm of as many repeats, each any of the point's, in turn with the other arm's.
fn draw(point: &Point, side: i64, random: &mut SplitMix) -> Arm {
    let count = point.repeats.len();
    let repeats: Vec<Repeat> = (1..=count)
        .filter_map(|number| {
            let drawn = point.repeats.get(random.below(count))?;
            let number = u32::try_from(number).ok()?;
            Some(Repeat { number, started_us: Some(2 * i64::from(number) + side), ..drawn.clone() })
        })
        .collect();
    let name = if side == 0 { "A" } else { "B" };
    Arm { name: name.to_owned(), points: vec![Point { repeats, ..point.clone() }] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_the_interval_of_wilson() {
        // scipy.stats.binomtest(10, 200).proportion_ci(method="wilson")
        let found = AlarmRate::of(10, 200);
        assert!((found.low - 0.027_382_7).abs() < 1e-6 && (found.high - 0.089_577_8).abs() < 1e-6, "{found:?}");
        assert!(AlarmRate::of(0, 200).low <= 0.0 && AlarmRate::of(0, 200).high > 0.0);
    }
}
