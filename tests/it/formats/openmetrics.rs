//! `OpenMetrics` text, read back by strict rules here and by the parser of Python's `prometheus_client`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use omni_bench::catalog::Validity;
use omni_bench::report::openmetrics;
use omni_bench::summarize::Results;

use super::{STORED, measured};
use crate::support::skipped;

/// Name and labels of a sample.
type Sample = (String, BTreeMap<String, String>);

fn text(results: &[&Results]) -> String {
    openmetrics(results.iter().copied()).unwrap()
}

/// What a metric family says of itself.
#[derive(Debug, Default)]
struct Family {
    name: String,
    kind: Option<String>,
    unit: Option<String>,
    help: Option<String>,
    samples: usize,
}

/// Samples of the text, which must keep every rule of the specification that it could break.
fn strictly(text: &str) -> BTreeMap<Sample, f64> {
    let body = text.strip_suffix("# EOF\n").expect("the text ends with its end mark");
    let (mut families, mut family, mut samples) = (BTreeSet::new(), Family::default(), BTreeMap::new());
    for line in body.lines() {
        assert!(!line.is_empty() && line == line.trim(), "{line:?}");
        if let Some(comment) = line.strip_prefix("# ") {
            let [kind, name, rest] = comment.splitn(3, ' ').collect::<Vec<_>>().try_into().unwrap();
            if name != family.name {
                assert!(families.insert(name.to_owned()), "{name} is in one piece");
                family = Family { name: name.to_owned(), ..Family::default() };
            }
            assert_eq!(family.samples, 0, "{line} comes before the samples");
            let place = match kind {
                "TYPE" => &mut family.kind,
                "UNIT" => &mut family.unit,
                "HELP" => &mut family.help,
                _ => panic!("{line}"),
            };
            assert!(place.replace(rest.to_owned()).is_none(), "{line} is said once");
            continue;
        }
        let (sample, value) = read_sample(line);
        let suffix = match family.kind.as_deref() {
            Some("gauge") => "",
            Some("info") => "_info",
            other => panic!("{other:?}"),
        };
        assert_eq!(sample.0, format!("{}{suffix}", family.name));
        assert!(family.unit.as_ref().is_none_or(|unit| family.name.ends_with(&format!("_{unit}"))), "{family:?}");
        assert!(
            !["_total", "_created", "_count", "_sum", "_bucket", "_info"].iter().any(|end| family.name.ends_with(end))
        );
        family.samples += 1;
        assert!(samples.insert(sample, value).is_none(), "{line} is told once");
    }
    samples
}

/// Reads `name{label="value",…} number`.
fn read_sample(line: &str) -> (Sample, f64) {
    let (name, rest) = line.split_once('{').unwrap();
    assert!(is_name(name), "{name}");
    let mut labels = BTreeMap::new();
    let mut rest = rest;
    loop {
        let (label, after) = rest.split_once("=\"").unwrap();
        assert!(is_name(label) && !label.starts_with("__"), "{label}");
        let (value, after) = read_value(after);
        assert!(labels.insert(label.to_owned(), value).is_none(), "{label} twice in {line}");
        if let Some(number) = after.strip_prefix("} ") {
            let value: f64 = number.parse().unwrap();
            assert!(value.is_finite() && number.chars().all(|c| c.is_ascii_digit() || "+-.e".contains(c)), "{line}");
            return ((name.to_owned(), labels), value);
        }
        rest = after.strip_prefix(',').unwrap_or_else(|| panic!("{line}"));
    }
}

/// An escaped value up to its closing quote.
fn read_value(text: &str) -> (String, &str) {
    let (mut value, mut characters) = (String::new(), text.chars());
    loop {
        match characters.next().expect("a closing quote") {
            '"' => return (value, characters.as_str()),
            '\\' => value.push(match characters.next().unwrap() {
                'n' => '\n',
                other @ ('\\' | '"') => other,
                other => panic!("\\{other}"),
            }),
            other => value.push(other),
        }
    }
}

fn is_name(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && name.starts_with(|c: char| !c.is_ascii_digit())
}

/// The value of the only sample of that name and run.
fn value(samples: &BTreeMap<Sample, f64>, name: &str, run: &str) -> Option<f64> {
    let of = |labels: &BTreeMap<String, String>| labels["run"] == run && !labels.contains_key("occurrence");
    let found: Vec<f64> =
        samples.iter().filter(|((found, labels), _)| found == name && of(labels)).map(|(_, value)| *value).collect();
    assert!(found.len() < 2, "{name}");
    found.first().copied()
}

#[test]
fn the_text_keeps_the_rules_and_has_base_units() {
    let samples = strictly(&text(&[&measured()]));
    let value = |name: &str| value(&samples, name, "base/A/c1");
    assert_eq!(value("omni_bench_latency_mean_seconds"), Some(2.0));
    assert_eq!(value("omni_bench_latency_mean_low_seconds"), Some(1.5));
    assert_eq!(value("omni_bench_latency_mean_high_seconds"), Some(2.5));
    assert_eq!(value("omni_bench_latency_p99_seconds"), Some(3.0));
    assert_eq!(value("omni_bench_latency_p99_low_seconds"), None, "too few requests");
    assert_eq!(value("omni_bench_throughput_per_second"), Some(0.25));
    assert_eq!(value("omni_bench_denoise_step_seconds"), Some(0.0125));
    assert_eq!(value("omni_bench_completed"), Some(4.0));
    assert_eq!(value("omni_bench_failed"), Some(0.0));
    assert_eq!(value("omni_bench_run_info"), Some(1.0));
    assert_eq!(value("omni_bench_rtf_mean_ratio"), None, "not measured");
    let ((_, labels), _) = samples.iter().find(|((name, _), _)| name == "omni_bench_run_info").unwrap();
    assert_eq!(labels["validity"], "valid");
    assert_eq!([&labels["scenario"], &labels["max_concurrency"], &labels["request_rate"]], ["small", "1", "inf"]);
}

#[test]
fn every_unit_becomes_its_base_unit() {
    let mut results = measured();
    let run = &mut results.runs[0];
    run.peak_memory_mb =
        Some(serde_json::from_str(r#"{"n":1,"max":2,"mean":1,"median":1,"p90":1,"p95":1,"p99":1}"#).unwrap());
    run.video_s_per_s = Some(0.5);
    run.outputs_per_hour_per_gpu = Some(900.0);
    let samples = strictly(&text(&[&results]));
    assert_eq!(value(&samples, "omni_bench_peak_memory_max_bytes", "base/A/c1"), Some(2_097_152.0));
    assert_eq!(value(&samples, "omni_bench_video_seconds_per_second_ratio", "base/A/c1"), Some(0.5));
    assert_eq!(value(&samples, "omni_bench_outputs_per_hour_per_gpu", "base/A/c1"), Some(900.0));
}

#[test]
fn of_an_invalid_run_only_the_counts_are_told() {
    let mut results = measured();
    results.runs[0].validity = Validity::Invalid;
    let samples = strictly(&text(&[&results]));
    assert_eq!(value(&samples, "omni_bench_latency_mean_seconds", "base/A/c1"), None);
    assert_eq!(value(&samples, "omni_bench_completed", "base/A/c1"), Some(4.0));
    assert_eq!(value(&samples, "omni_bench_latency_mean_seconds", "base/A/c1.r2"), Some(2.0));
}

#[test]
fn labels_are_escaped_and_the_same_run_of_two_results_is_told_apart() {
    let mut results = measured();
    results.scenario = "a\"b\\c\nd{e=\"f\"},#".to_owned();
    let samples = strictly(&text(&[&results, &results]));
    assert!(samples.keys().all(|(_, labels)| labels["scenario"] == results.scenario));
    let occurrences = samples.keys().filter(|(_, labels)| labels.get("occurrence").is_some_and(|told| told == "2"));
    assert_eq!(occurrences.count() * 2, samples.len());
}

#[test]
fn simulated_and_measured_figures_are_told_apart() {
    let samples = strictly(&text(&[&measured(), &STORED]));
    let simulated = |told: &str| samples.keys().filter(|(_, labels)| labels["simulated"] == told).count();
    assert!(simulated("true") > 20 && simulated("false") > 20);
    assert!(samples.keys().all(|(_, labels)| !labels.contains_key("occurrence")));
}

#[test]
fn no_results_are_an_empty_exposition() {
    assert_eq!(text(&[]), "# EOF\n");
    assert!(strictly(&text(&[])).is_empty());
}

/// Prints every sample as JSON, or fails when the text is not `OpenMetrics`.
const READER: &str = "
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as families
print(json.dumps([[s.name, s.labels, s.value] for family in families(sys.stdin.read()) for s in family.samples]))
";

/// What the parser of `prometheus_client` makes of a text; `None` when there is no such parser here.
fn by_python(text: &str) -> Option<Result<BTreeMap<Sample, f64>, String>> {
    use std::io::Write as _;
    let named = std::env::var_os("OMNI_BENCH_TEST_PYTHON").map(PathBuf::from);
    let python = named.unwrap_or_else(|| PathBuf::from("python3"));
    let probe = Command::new(&python).args(["-c", "import prometheus_client.openmetrics.parser"]).output().ok()?;
    if !probe.status.success() {
        return None;
    }
    let pipes = || Stdio::piped();
    let mut command = Command::new(python);
    let mut child = command.args(["-c", READER]).stdin(pipes()).stdout(pipes()).stderr(pipes()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    if !output.status.success() {
        return Some(Err(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let samples: Vec<(String, BTreeMap<String, String>, f64)> = serde_json::from_slice(&output.stdout).unwrap();
    Some(Ok(samples.into_iter().map(|(name, labels, value)| ((name, labels), value)).collect()))
}

#[test]
fn the_parser_of_prometheus_reads_the_same() {
    let mut odd = measured();
    odd.scenario = "a\"b\\c\nd{e=\"f\"},#".to_owned();
    for results in [vec![&measured(), &STORED], vec![&odd, &odd], vec![]] {
        let text = text(&results);
        match by_python(&text) {
            Some(Ok(samples)) => assert_eq!(samples, strictly(&text)),
            Some(Err(error)) => panic!("{error}\n{text}"),
            None => return skipped("the_parser_of_prometheus_reads_the_same", "no Python with `prometheus_client`"),
        }
    }
    // the parser does refuse
    let broken = text(&[&measured()])
        .replace("# UNIT omni_bench_duration_seconds seconds", "# UNIT omni_bench_duration_seconds ms");
    assert!(by_python(&broken).unwrap().is_err());
}
