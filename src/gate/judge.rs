//! Runs, baseline and rules → verdict.

use indexmap::IndexMap;

use super::baseline::{Baseline, BaselineMetric};
use super::measured::Measured;
use super::metric;
use super::pair::{self, Pair};
use super::rules::{Rules, Tolerance, USUAL};
use super::verdict::{MetricVerdict, RunVerdict, VERDICT_FORMAT, Verdict, VerdictKind};
use crate::catalog::{MetricSpec, Validity, metric as spec};

/// Judges results. Without a baseline only limits are held against them, and a run of which nothing else
/// can be said has no baseline.
pub fn gate(runs: &[Measured], baseline: Option<&Baseline>, rules: &Rules) -> Verdict {
    let mut verdict = Verdict {
        format: VERDICT_FORMAT,
        verdict: VerdictKind::Pass,
        simulated: runs.iter().any(|run| run.simulated),
        baseline: baseline.map(|baseline| baseline.source.name.clone()),
        runs: Vec::new(),
        metrics: Vec::new(),
        notes: baseline.map(|baseline| unmatched(runs, baseline)).unwrap_or_default(),
    };
    for run in runs {
        let (told, metrics) = one(run, baseline, rules);
        verdict.verdict = verdict.verdict.max(told.verdict);
        verdict.runs.push(told);
        verdict.metrics.extend(metrics);
    }
    if runs.is_empty() {
        verdict.verdict = VerdictKind::RunFailed;
        verdict.notes.push("there is no run to judge".to_owned());
    }
    verdict
}

/// Entries of which the results have no run.
fn unmatched(runs: &[Measured], baseline: &Baseline) -> Vec<String> {
    let has_run = |id: &str, key: &str| runs.iter().any(|run| run.key == key || run.id == id);
    let missing: Vec<&str> = baseline
        .entries
        .iter()
        .filter(|entry| !has_run(&entry.id, &entry.key))
        .map(|entry| entry.id.as_str())
        .collect();
    if missing.is_empty() { Vec::new() } else { vec![format!("in the baseline only: {}", missing.join(", "))] }
}

fn one(run: &Measured, baseline: Option<&Baseline>, rules: &Rules) -> (RunVerdict, Vec<MetricVerdict>) {
    let mut told = RunVerdict {
        id: run.id.clone(),
        verdict: VerdictKind::Pass,
        reason: None,
        hardware: run.hardware.clone(),
        repeats: u32::try_from(run.repeats.len()).unwrap_or(u32::MAX),
        differences: Vec::new(),
        notes: Vec::new(),
    };
    if let Some(fault) = &run.fault {
        told.verdict = VerdictKind::RunFailed;
        told.reason = Some(fault.clone());
        return (told, Vec::new());
    }
    let limits = rules.limits().iter().filter_map(|(name, limit)| Some(metric::limit(run, spec(name)?, *limit)));
    let mut metrics: Vec<MetricVerdict> = limits.collect();
    match baseline {
        Some(baseline) => against(run, baseline, rules, &mut told, &mut metrics),
        None if metrics.is_empty() => refuse(&mut told, VerdictKind::NoBaseline, "there is no baseline".to_owned()),
        None => {}
    }
    let worst = metrics.iter().map(|metric| metric.verdict).max().unwrap_or(VerdictKind::Pass);
    told.verdict = told.verdict.max(worst);
    (told, metrics)
}

fn refuse(told: &mut RunVerdict, verdict: VerdictKind, reason: String) {
    told.verdict = verdict;
    told.reason = Some(reason);
}

/// Compares a run with its entry of the baseline, when that means something.
fn against(
    run: &Measured,
    baseline: &Baseline,
    rules: &Rules,
    told: &mut RunVerdict,
    metrics: &mut Vec<MetricVerdict>,
) {
    if let Some(why) = hindrance(run) {
        return refuse(told, VerdictKind::NotComparable, why);
    }
    let Some(Pair { entry, differences, notes }) = pair::find(run, baseline, &rules.allow) else {
        return refuse(told, VerdictKind::NoBaseline, "the baseline has no entry for this run".to_owned());
    };
    let refused: Vec<String> = differences
        .iter()
        .filter(|difference| !difference.allowed)
        .map(|difference| format!("`{}`", difference.key))
        .collect();
    told.notes = notes;
    told.differences = differences;
    if !refused.is_empty() {
        return refuse(
            told,
            VerdictKind::NotComparable,
            format!("differing from the baseline: {}", refused.join(", ")),
        );
    }
    let gated = gated(run, rules, &entry.metrics);
    if gated.is_empty() {
        return refuse(told, VerdictKind::NoBaseline, "the baseline has no metric that is gated".to_owned());
    }
    for (spec, tolerance) in gated {
        let absent = || BaselineMetric::absent(spec.unit, Some("the baseline does not have it".to_owned()));
        let base = entry.metrics.get(spec.name).cloned().unwrap_or_else(absent);
        metrics.push(metric::compare(run, spec, tolerance, &base));
    }
}

/// Why a run's numbers cannot be compared with any.
fn hindrance(run: &Measured) -> Option<String> {
    run.repeats.iter().find_map(|repeat| {
        if repeat.censored > 0 {
            let (cut, all) = (repeat.censored, repeat.requests);
            return Some(format!("`{}`: {cut} of {all} requests were cut by a limit of the client", repeat.id));
        }
        (repeat.validity == Validity::Invalid).then(|| {
            let why: Vec<&str> = repeat.warnings.iter().map(|warning| warning.text.as_str()).collect();
            format!("`{}`: its numbers are invalid: {}", repeat.id, why.join("; "))
        })
    })
}

/// Metrics to compare: those that the rules name, else the usual ones that the baseline has. Response times
/// are usual where they are the headline, in open loop.
fn gated(
    run: &Measured,
    rules: &Rules,
    known: &IndexMap<String, BaselineMetric>,
) -> Vec<(&'static MetricSpec, Tolerance)> {
    let named = rules.metrics().iter().filter_map(|(name, tolerance)| Some((spec(name)?, *tolerance)));
    let open = run.repeats.iter().all(|repeat| repeat.headline == "response_time");
    let usual =
        USUAL.iter().filter(|name| known.contains_key(**name) && (open || !name.starts_with("response_time_s")));
    let usual = usual.filter_map(|name| Some((spec(name)?, rules.common())));
    if rules.metrics().is_empty() { usual.collect() } else { named.collect() }
}
