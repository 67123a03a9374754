//! `OpenMetrics` text 1.0: the metrics of every run as gauges, in base units, with the run as labels.

use std::collections::BTreeMap;

use serde_json::Value;

use super::text::Text;
use crate::catalog::{METRICS, Unit, Validity};
use crate::history::Figure;
use crate::summarize::{Results, Summary};

/// Counts that stand beside the metrics.
const COUNTS: [(&str, &str); 3] =
    [("requests", "Requests planned"), ("completed", "Completed"), ("cancelled", "Cancelled")];

/// What is told of an invalid run, too.
const ALWAYS: [&str; 5] = ["requests", "completed", "cancelled", "failed", "censored"];

/// The results as `OpenMetrics` text. A metric named `latency_s.p99` in `results.json` is the gauge
/// `omni_bench_latency_p99_seconds`; milliseconds become seconds, mebibytes bytes. Where the summary has a
/// 95 % interval there are `…_p99_low_seconds` and `…_p99_high_seconds`; a percentile without them rests
/// on too few requests. `omni_bench_run_info` tells key, plan, validity and, for simulated runs, the
/// speed. What was not measured has no sample, and of invalid runs only the counts are told. When several
/// results bring the same run, the label `occurrence` tells them apart.
pub fn openmetrics<'a>(results: impl IntoIterator<Item = &'a Results>) -> Result<String, serde_json::Error> {
    let mut runs = Vec::new();
    let mut seen = BTreeMap::new();
    for results in results {
        for summary in &results.runs {
            let same = (results.scenario.as_str(), summary.id.as_str(), summary.simulated);
            let occurrence = seen.entry(same).and_modify(|count| *count += 1).or_insert(1_u32);
            runs.push(Run::new(results, summary, *occurrence)?);
        }
    }
    let mut text = Text::default();
    info(&runs, &mut text);
    let counts = COUNTS.iter().map(|(name, help)| (*name, *help, Unit::Count));
    for (path, help, unit) in counts.chain(METRICS.iter().map(|spec| (spec.name, spec.label, spec.unit))) {
        let figures: Vec<(&Run<'_>, Figure)> = runs.iter().filter_map(|run| Some((run, run.figure(path)?))).collect();
        let value = |(run, figure): &(&Run<'_>, Figure)| Some((run.labels.clone(), figure.value));
        family(path, "", help, unit, figures.iter().filter_map(value), &mut text);
        for (place, end) in [("low", 0), ("high", 1)] {
            let bound = |(run, figure): &(&Run<'_>, Figure)| {
                figure.interval.and_then(|interval| Some((run.labels.clone(), *interval.get(end)?)))
            };
            let help = format!("{help}, {place} end of the 95 % interval within the run");
            family(path, place, &help, unit, figures.iter().filter_map(bound), &mut text);
        }
    }
    text.add("# EOF\n");
    Ok(text.finish())
}

/// A run with what is the same for all of its samples.
struct Run<'a> {
    results: &'a Results,
    summary: &'a Summary,
    value: Value,
    labels: String,
}

impl<'a> Run<'a> {
    fn new(results: &'a Results, summary: &'a Summary, occurrence: u32) -> Result<Self, serde_json::Error> {
        let cap = summary.max_concurrency.map_or_else(|| "none".to_owned(), |cap| cap.to_string());
        let (rate, repeat) = (summary.request_rate.to_string(), summary.repeat.to_string());
        let occurrence = (occurrence > 1).then(|| occurrence.to_string());
        let mut pairs: Vec<(&str, &str)> = vec![
            ("scenario", &results.scenario),
            ("run", &summary.id),
            ("variant", &summary.variant),
            ("dataset", &summary.dataset),
            ("max_concurrency", &cap),
            ("request_rate", &rate),
            ("repeat", &repeat),
            ("simulated", if summary.simulated { "true" } else { "false" }),
        ];
        pairs.extend(occurrence.as_deref().map(|occurrence| ("occurrence", occurrence)));
        let labels = labels(&pairs);
        Ok(Self { results, summary, value: serde_json::to_value(summary)?, labels })
    }

    fn figure(&self, path: &str) -> Option<Figure> {
        let told = self.summary.validity != Validity::Invalid || ALWAYS.contains(&path);
        Figure::of(&self.value, path).filter(|figure| told && figure.value.is_finite())
    }
}

fn info(runs: &[Run<'_>], text: &mut Text) {
    if runs.is_empty() {
        return;
    }
    text.add("# TYPE omni_bench_run info\n# HELP omni_bench_run What a run was\n");
    for run in runs {
        let more = labels(&[
            ("key", &run.summary.key),
            ("plan_hash", &run.results.plan_hash),
            ("validity", run.summary.validity.name()),
            ("speed", &run.summary.speed.to_string()),
        ]);
        text.add(format!("omni_bench_run_info{{{},{more}}} 1\n", run.labels));
    }
}

/// A family of gauges; nothing when it has no sample.
fn family(
    path: &str,
    place: &str,
    help: &str,
    unit: Unit,
    samples: impl Iterator<Item = (String, f64)>,
    text: &mut Text,
) {
    let (suffix, scale) = base_unit(unit);
    let name = name(path, place, unit, suffix);
    let mut samples = samples.peekable();
    if samples.peek().is_none() {
        return;
    }
    text.add(format!("# TYPE {name} gauge\n"));
    if let Some(suffix) = suffix {
        text.add(format!("# UNIT {name} {suffix}\n"));
    }
    text.add(format!("# HELP {name} {}\n", escaped(help)));
    for (labels, value) in samples {
        text.add(format!("{name}{{{labels}}} {}\n", value * scale));
    }
}

/// The base unit as the end of a name, and what makes a number one of it.
const fn base_unit(unit: Unit) -> (Option<&'static str>, f64) {
    match unit {
        Unit::Seconds => (Some("seconds"), 1.0),
        Unit::Milliseconds => (Some("seconds"), 1e-3),
        Unit::PerSecond => (Some("per_second"), 1.0),
        Unit::PerHourPerGpu => (Some("per_hour_per_gpu"), 1.0),
        Unit::Megabytes => (Some("bytes"), 1_048_576.0),
        Unit::Fraction | Unit::Ratio => (Some("ratio"), 1.0),
        Unit::Count | Unit::Pixels => (None, 1.0),
    }
}

/// `latency_s.p99` → `omni_bench_latency_p99_seconds`.
fn name(path: &str, place: &str, unit: Unit, suffix: Option<&str>) -> String {
    let (family, statistic) = path.split_once('.').unwrap_or((path, ""));
    let short = match unit {
        Unit::Seconds => "_s",
        Unit::Milliseconds => "_ms",
        Unit::PerSecond => "_per_s",
        Unit::PerHourPerGpu => "_per_hour_per_gpu",
        Unit::Megabytes => "_mb",
        Unit::Fraction | Unit::Ratio | Unit::Count | Unit::Pixels => "",
    };
    let stem = family.strip_suffix(short).unwrap_or(family).replace("_s_per_s", "_seconds_per_second");
    let parts = ["omni_bench", &stem, statistic, place, suffix.unwrap_or_default()];
    parts.iter().copied().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_").replace('.', "_")
}

fn labels(pairs: &[(&str, &str)]) -> String {
    pairs.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect::<Vec<_>>().join(",")
}

/// Label values and help texts have three characters that are written otherwise.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_metric_of_the_catalogue_has_a_name_of_its_own_and_so_have_its_bounds() {
        let names = METRICS.iter().flat_map(|spec| {
            let (suffix, _) = base_unit(spec.unit);
            ["", "low", "high"].map(|place| name(spec.name, place, spec.unit, suffix))
        });
        let names: Vec<String> = names.collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        let is_allowed = |name: &String| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        assert!(names.iter().all(is_allowed), "{names:?}");
    }
}
