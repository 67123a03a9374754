//! Two arms → their comparison: which points belong together, whether they may be compared, and every change.

use indexmap::{IndexMap, IndexSet};

use super::arm::{Arm, Point};
use super::fingerprint::{self, Difference};
use super::judge::{Family, Floors, direction};
use super::levels::levels;
use super::measure::REPEATS_FOR_A_CLAIM;
use super::metrics::Metric;
use super::order::order;
use super::resample::Design;
use super::types::{
    COMPARISON_FORMAT, Change, Comparison, DifferenceKind, Excluded, Geomean, KeyDifference, MetricChange,
    PointComparison,
};
use crate::catalog::{Validity, metric};
use crate::summarize::real;

/// Draws of a bootstrap; the ends move by about 3 % of the interval's width from seed to seed.
pub const RESAMPLES: usize = 1_000;

/// How to compare.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareSettings {
    /// Keys that may differ.
    pub allow: Vec<String>,
    /// Relative change below which a difference is noise; `None` is 1 %.
    pub effect_floor: Option<f64>,
    /// Metrics by their path in `results.json`; `None` is the usual ones.
    pub metrics: Option<Vec<String>>,
    /// Draws of a bootstrap.
    pub resamples: usize,
}

impl Default for CompareSettings {
    fn default() -> Self {
        Self { allow: Vec::new(), effect_floor: None, metrics: None, resamples: RESAMPLES }
    }
}

/// What is wrong with the settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// No such key can be allowed.
    #[error("`--allow {key}` names no key; there are {}", known.join(", "))]
    UnknownKey {
        /// As given.
        key: String,
        /// What there is.
        known: Vec<String>,
    },
    /// No such metric.
    #[error("there is no metric `{0}`; they are named by their path in `results.json`, like `latency_s.p99`")]
    UnknownMetric(String),
}

/// Compares two arms. What differs and was not allowed is listed, and then nothing is compared.
pub fn compare(a: &Arm, b: &Arm, settings: &CompareSettings) -> Result<Comparison, CompareError> {
    let known = fingerprint::keys(a.points.iter().chain(&b.points));
    if let Some(key) = settings.allow.iter().find(|key| !known.contains(*key)) {
        return Err(CompareError::UnknownKey { key: key.clone(), known: known.into_iter().collect() });
    }
    if let Some(name) = settings.metrics.iter().flatten().find(|name| Metric::named(name).is_none()) {
        return Err(CompareError::UnknownMetric(name.clone()));
    }
    let (pairs, unpaired) = pairs(a, b);
    let mut comparison = Comparison {
        format: COMPARISON_FORMAT,
        baseline: a.name.clone(),
        candidate: b.name.clone(),
        simulated: a.points.iter().chain(&b.points).any(is_simulated),
        comparable: true,
        differing: Vec::new(),
        differences: Vec::new(),
        excluded: Vec::new(),
        unpaired,
        notes: Vec::new(),
        runs: Vec::new(),
        geomean: IndexMap::new(),
        levels: Vec::new(),
    };
    let fit = admit(&pairs, settings, &mut comparison);
    comparison.comparable = comparison.differing.is_empty() && comparison.excluded.is_empty() && !fit.is_empty();
    if pairs.is_empty() {
        comparison.notes.push("no point of one arm has its like in the other".to_owned());
    }
    if !comparison.differing.is_empty() {
        return Ok(comparison);
    }
    comparison.runs = fit.iter().map(|(a, b)| point(a, b, settings)).collect();
    let runs = &comparison.runs;
    let significant = |place: usize| {
        let changes = runs.get(place).into_iter().flat_map(|run| &run.metrics);
        changes.into_iter().any(|change| change.metric == "throughput_per_s" && change.significant)
    };
    comparison.levels = levels(&fit, significant);
    comparison.geomean = geomean(runs);
    let doubts = doubts(&fit);
    comparison.notes.extend(doubts);
    Ok(comparison)
}

fn is_simulated(point: &Point) -> bool {
    point.repeats.iter().any(|repeat| repeat.summary.simulated)
}

/// Points that belong together, and the ids of those that are alone: of the same variant when both arms have
/// several, by what was asked, else by their place in the matrix. Two arms of one point each are a pair.
fn pairs<'a>(a: &'a Arm, b: &'a Arm) -> (Vec<(&'a Point, &'a Point)>, Vec<String>) {
    if let ([a], [b]) = (a.points.as_slice(), b.points.as_slice()) {
        return (vec![(a, b)], Vec::new());
    }
    let variants = |arm: &'a Arm| arm.points.iter().map(|point| point.variant.as_str()).collect::<IndexSet<&str>>();
    let by_variant = variants(a).len() > 1 || variants(b).len() > 1;
    let mut free: Vec<&Point> = b.points.iter().collect();
    let (mut pairs, mut alone) = (Vec::new(), Vec::new());
    for point in &a.points {
        let is_like = |other: &&Point| !by_variant || other.variant == point.variant;
        let same_work = |other: &&Point| is_like(other) && other.workload_key == point.workload_key;
        let same_place = |other: &&Point| is_like(other) && other.place == point.place;
        // several points may ask the same of two servers, so the place decides among them
        let found = free
            .iter()
            .position(|other| same_work(other) && same_place(other))
            .or_else(|| free.iter().position(same_work))
            .or_else(|| free.iter().position(same_place));
        match found {
            Some(place) => pairs.push((point, free.remove(place))),
            None => alone.push(format!("{} ({})", point.id, a.name)),
        }
    }
    alone.extend(free.into_iter().map(|point| format!("{} ({})", point.id, b.name)));
    (pairs, alone)
}

/// The pairs that may be compared; what hinders the others goes into the comparison.
fn admit<'a>(
    pairs: &[(&'a Point, &'a Point)],
    settings: &CompareSettings,
    comparison: &mut Comparison,
) -> Vec<(&'a Point, &'a Point)> {
    let mut unknown = IndexSet::new();
    let mut fit = Vec::new();
    for (a, b) in pairs {
        let found = fingerprint::differences(a, b);
        unknown.extend(found.unknown);
        for difference in found.conditions {
            let allowed = settings.allow.contains(&difference.key);
            let kind = if allowed { DifferenceKind::Allowed } else { DifferenceKind::Refused };
            list(&mut comparison.differences, difference, kind, &a.id);
        }
        for difference in found.configuration {
            list(&mut comparison.differences, difference, DifferenceKind::Configuration, &a.id);
        }
        match fingerprint::hindrance(a).or_else(|| fingerprint::hindrance(b)) {
            Some(reason) => comparison.excluded.push(Excluded { id: a.id.clone(), reason }),
            None => fit.push((*a, *b)),
        }
    }
    let refused = comparison.differences.iter().filter(|difference| difference.kind == DifferenceKind::Refused);
    comparison.differing =
        refused.map(|difference| difference.key.clone()).collect::<IndexSet<_>>().into_iter().collect();
    if !unknown.is_empty() {
        let keys: Vec<String> = unknown.into_iter().collect();
        comparison.notes.push(format!("unknown of both arms, and taken as equal: {}", keys.join(", ")));
    }
    fit
}

/// Adds a difference, or the pair to one that is listed already.
fn list(listed: &mut Vec<KeyDifference>, found: Difference, kind: DifferenceKind, id: &str) {
    let Difference { key, baseline, candidate } = found;
    let same = |other: &&mut KeyDifference| {
        (&other.key, &other.baseline, &other.candidate, other.kind) == (&key, &baseline, &candidate, kind)
    };
    match listed.iter_mut().find(same) {
        Some(other) => other.ids.push(id.to_owned()),
        None => listed.push(KeyDifference { key, baseline, candidate, kind, ids: vec![id.to_owned()] }),
    }
}

fn point(a: &Point, b: &Point, settings: &CompareSettings) -> PointComparison {
    let order = order(a, b);
    let requests_paired = a.workload_key == b.workload_key && classes_agree(a, b);
    let concurrency = [a, b].iter().filter_map(|point| point.concurrency).max().unwrap_or(1);
    let design = Design {
        repeats_paired: order.paired,
        requests_paired,
        concurrency: usize::try_from(concurrency).unwrap_or(1),
        resamples: settings.resamples,
    };
    let floors = Floors { relative: settings.effect_floor };
    let family = |metrics: Vec<Metric>, class| {
        let (baseline, candidate) = (a.repeats.as_slice(), b.repeats.as_slice());
        Family { metrics, baseline, candidate, class, design, floors }.changes()
    };
    let chosen = settings.metrics.as_ref();
    let metrics = match chosen {
        Some(names) => names.iter().filter_map(|name| Metric::named(name)).collect(),
        None => usual(a, b),
    };
    let stages = if chosen.is_some() { Vec::new() } else { stages(a) };
    let count = |point: &Point| point.repeats.iter().map(|repeat| repeat.summary.completed).sum::<u64>();
    PointComparison {
        id: a.id.clone(),
        candidate_id: b.id.clone(),
        repeats: [a.repeats.len() as u64, b.repeats.len() as u64],
        requests: [count(a), count(b)],
        paired: requests_paired,
        order,
        metrics: family(metrics, None),
        stages: family(stages, None),
        classes: classes(a).into_iter().map(|class| (class.to_owned(), family(of_class(a), Some(class)))).collect(),
    }
}

/// Whether equal positions ask for the same shapes.
fn classes_agree(a: &Point, b: &Point) -> bool {
    let (Some(a), Some(b)) = (a.repeats.first(), b.repeats.first()) else { return false };
    let by_index = |records: &[crate::record::Record]| {
        records.iter().map(|record| (record.index, record.class.clone())).collect::<std::collections::BTreeMap<_, _>>()
    };
    by_index(&a.records) == by_index(&b.records)
}

/// Classes by name, cheapest first; empty when there is only one.
fn classes(point: &Point) -> Vec<&str> {
    let classes: Vec<&str> = point
        .repeats
        .first()
        .into_iter()
        .flat_map(|repeat| repeat.summary.classes.keys().map(String::as_str))
        .collect();
    if classes.len() > 1 { classes } else { Vec::new() }
}

fn is_open_loop(point: &Point) -> bool {
    point.repeats.first().is_some_and(|repeat| repeat.summary.headline == "response_time")
}

/// The headline latency in its usual forms.
fn of_class(point: &Point) -> Vec<Metric> {
    let names: &[&str] = if is_open_loop(point) {
        &["response_time_s.mean", "response_time_s.p50", "response_time_s.p95"]
    } else {
        &["latency_s.mean", "latency_s.p50", "latency_s.p95"]
    };
    names.iter().filter_map(|name| Metric::named(name)).collect()
}

/// What is compared when nothing is asked for. What says the same twice is left out, because every test makes
/// the others weaker.
fn usual(a: &Point, b: &Point) -> Vec<Metric> {
    let mut names = if is_open_loop(a) {
        vec![
            "response_time_s.mean",
            "response_time_s.p50",
            "response_time_s.p95",
            "response_time_s.p99",
            "latency_s.mean",
        ]
    } else {
        vec!["latency_s.mean", "latency_s.p50", "latency_s.p90", "latency_s.p95", "latency_s.p99"]
    };
    names.extend(["throughput_per_s", "slo.attainment", "goodput_per_s", "rtf.mean", "rtf.p99"]);
    let several = |point: &Point| {
        point
            .repeats
            .iter()
            .any(|repeat| repeat.summary.images.is_some_and(|images| images != repeat.summary.completed))
    };
    if several(a) || several(b) {
        names.push("images_per_s");
    }
    let gpus = |point: &Point| point.repeats.first().map(|repeat| repeat.summary.gpus);
    if gpus(a) != gpus(b) {
        names.push("outputs_per_hour_per_gpu");
    }
    names.push("peak_memory_mb.max");
    names.into_iter().filter_map(Metric::named).collect()
}

/// Times that the server tells of its own work.
fn stages(point: &Point) -> Vec<Metric> {
    let told = ["denoise_step_ms", "image_generation_ms.mean", "video_generation_ms.mean"];
    let stages: IndexSet<&str> =
        point.repeats.iter().flat_map(|r| r.summary.stage_ms.keys().map(String::as_str)).collect();
    told.into_iter().filter_map(Metric::named).chain(stages.into_iter().filter_map(Metric::of_stage)).collect()
}

/// The geometric mean of the ratios of every metric, where there are several points.
fn geomean(runs: &[PointComparison]) -> IndexMap<String, Geomean> {
    let mut ratios: IndexMap<&str, Vec<(f64, &MetricChange)>> = IndexMap::new();
    for change in runs.iter().flat_map(|run| &run.metrics) {
        if change.baseline > 0.0 && change.candidate > 0.0 {
            ratios.entry(&change.metric).or_default().push(((change.candidate / change.baseline).ln(), change));
        }
    }
    ratios
        .into_iter()
        .filter(|(_, ratios)| ratios.len() > 1)
        .filter_map(|(name, ratios)| {
            let change = (ratios.iter().map(|(ratio, _)| ratio).sum::<f64>() / real(ratios.len())).exp_m1();
            let better = metric(name)?.direction;
            let count = |way: Change| {
                ratios.iter().filter(|(_, change)| change.significant && change.direction == way).count() as u64
            };
            let geomean = Geomean {
                points: ratios.len() as u64,
                change,
                direction: direction(better, change),
                significant: [count(Change::Better), count(Change::Worse)],
            };
            Some((name.to_owned(), geomean))
        })
        .collect()
}

/// What cannot be claimed, and which runs are in doubt themselves.
fn doubts(pairs: &[(&Point, &Point)]) -> Vec<String> {
    let mut notes = Vec::new();
    let fewest = pairs.iter().map(|(a, b)| a.repeats.len().min(b.repeats.len())).min();
    match fewest {
        Some(1) => notes.push(
            "one repeat: intervals hold within this run; how much two runs of the same server differ was not measured, \
             so no difference is called significant"
                .to_owned(),
        ),
        Some(repeats) if repeats < REPEATS_FOR_A_CLAIM => notes.push(format!(
            "{repeats} repeats: what is called significant is so within this run; a claim about other runs of the same \
             servers takes at least {REPEATS_FOR_A_CLAIM}"
        )),
        _ => {}
    }
    let mut suspects = IndexSet::new();
    for repeat in pairs.iter().flat_map(|(a, b)| a.repeats.iter().chain(&b.repeats)) {
        if repeat.summary.validity == Validity::Suspect {
            suspects.insert(repeat.summary.id.as_str());
        }
    }
    if !suspects.is_empty() {
        let ids: Vec<&str> = suspects.into_iter().collect();
        let more = ids.len().saturating_sub(2);
        let named: Vec<&str> = ids.into_iter().take(2).collect();
        let others = if more > 0 { format!(" and {more} more") } else { String::new() };
        notes.push(format!("numbers in doubt, as their own reports say: {}{others}", named.join(", ")));
    }
    let speeds = |of: &dyn Fn(&(&Point, &Point)) -> Option<f64>| pairs.iter().filter_map(of).fold(0.0, f64::max);
    let (a, b) = (speeds(&|(a, _)| speed(a)), speeds(&|(_, b)| speed(b)));
    if (a - b).abs() > 0.0 {
        notes.push(format!("simulated at {a}× and {b}× speed: the client's own delays weigh differently"));
    }
    notes
}

fn speed(point: &Point) -> Option<f64> {
    point.repeats.first().filter(|repeat| repeat.summary.simulated).map(|repeat| repeat.summary.speed)
}
