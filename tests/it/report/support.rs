//! Which percentiles are supported, how those that are not are told, and how doubt and censoring
//! reach every format.

use omni_bench::catalog::{ErrorClass, Task};
use omni_bench::plan::Plan;
use omni_bench::report::{PageFacts, csv, json, markdown, page, terminal};
use omni_bench::scenario::model::Parallel;
use omni_bench::summarize::Results;
use serde_json::Value;

use super::build::{all, censored, dataset, failed, image_plan, in_turn, plan, run, summary, variant};

/// Results of one run of so many requests.
fn of(requests: u16) -> (Plan, Results) {
    let plan = image_plan(requests.into());
    let latencies: Vec<f64> = (0..requests).map(|index| 2.0 + f64::from(index) / 1000.0).collect();
    let results = all(&plan, &[in_turn(&latencies)]);
    (plan, results)
}

/// What each format says, by its name.
fn every_format(plan: &Plan, results: &Results) -> [(&'static str, String); 5] {
    [
        ("terminal", terminal(plan, results, false, None)),
        ("markdown", markdown(plan, results)),
        ("page", page(plan, results, &PageFacts::default(), None).unwrap()),
        ("csv", csv(plan, results).unwrap()),
        ("json", json(results).unwrap()),
    ]
}

/// The cell of the only row of a CSV.
fn cell(text: &str, name: &str) -> String {
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let place = reader.headers().unwrap().iter().position(|key| key == name).expect("the column");
    reader.records().next().unwrap().unwrap()[place].to_owned()
}

#[test]
fn a_percentile_is_supported_from_exactly_the_count_at_which_its_interval_exists() {
    for (name, least) in [("p50", 6), ("p90", 29), ("p95", 59), ("p99", 299)] {
        for (n, supported) in [(1, false), (least - 1, false), (least, true)] {
            let (_, results) = of(n);
            let percentile = results.runs[0].percentiles[name];
            assert_eq!((percentile.n, percentile.supported), (n.into(), supported), "{name} of {n}");
            assert_eq!((percentile.low.is_some(), percentile.high.is_some()), (supported, supported), "{name} of {n}");
        }
    }
    assert!(!of(200).1.runs[0].percentiles["p99"].supported);
}

#[test]
fn an_unsupported_p99_is_marked_and_explained_and_a_supported_one_is_not() {
    for (n, note) in [(1, "n=1, no percentile"), (200, "299"), (298, "299")] {
        let (plan, results) = of(n);
        let [terminal, markdown, page, csv, json] = every_format(&plan, &results).map(|(_, text)| text);
        for text in [&terminal, &markdown, &page] {
            let row = text.lines().find(|line| line.contains("Dataset A | 1 |") || line.contains("base/A/c1"));
            assert!(row.is_some_and(|row| row.contains('¹')), "{text}");
            assert!(text.lines().any(|line| line.starts_with('¹') && line.contains(note)), "{n}: {text}");
        }
        assert_eq!(cell(&csv, "percentiles.p99.supported"), "false");
        assert!(!csv.contains('¹') && !cell(&csv, "latency_s.p99").is_empty());
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["runs"][0]["percentiles"]["p99"]["supported"], false);
    }
    let (plan, results) = of(299);
    for (format, text) in every_format(&plan, &results) {
        assert!(!text.contains('¹'), "{format}: {text}");
    }
    let text = csv(&plan, &results).unwrap();
    assert_eq!([cell(&text, "percentiles.p99.supported"), cell(&text, "percentiles.p99.n")], ["true", "299"]);
    assert!(cell(&text, "percentiles.p99.low").parse::<f64>().unwrap() > 2.0);
}

/// A run of three successes and one request that a limit cut at 900 s.
fn cut() -> (Plan, Results) {
    let mut plan = image_plan(4);
    plan.allow_failures = 1;
    let mut records = in_turn(&[10.0, 12.0, 14.0, 900.0]);
    records[3] = censored(records[3].clone(), "no reply within 15m");
    let results = all(&plan, &[records]);
    (plan, results)
}

#[test]
fn censoring_and_its_estimate_are_labelled_in_every_format() {
    let (plan, results) = cut();
    for (format, text) in every_format(&plan, &results) {
        let label = if format == "csv" || format == "json" { "kaplan_meier" } else { "percentiles by Kaplan–Meier" };
        assert!(text.contains(label), "{format}: {text}");
        assert!(text.contains("1 of 4 requests were cut by a limit of the client"), "{format}: {text}");
        assert!(format == "csv" || format == "json" || text.contains("≥ 900.0000"), "{format}: {text}");
    }
    let text = csv(&plan, &results).unwrap();
    assert_eq!([cell(&text, "kaplan_meier"), cell(&text, "latency_s.p99")], ["true", ""]);
    assert_eq!([cell(&text, "latency_s.at_least"), cell(&text, "throughput_comparable")], ["900", "false"]);
}

#[test]
fn without_censoring_nothing_speaks_of_it() {
    let (plan, results) = of(10);
    for (format, text) in every_format(&plan, &results) {
        assert!(!text.contains("Kaplan") && !text.contains('≥'), "{format}: {text}");
    }
    let text = csv(&plan, &results).unwrap();
    assert_eq!([cell(&text, "kaplan_meier"), cell(&text, "latency_s.at_least")], ["false", ""]);
    assert!(!results.runs[0].kaplan_meier);
}

#[test]
fn validity_and_its_reasons_are_in_every_format() {
    let (plan, results) = cut();
    for (format, text) in every_format(&plan, &results) {
        assert!(text.contains("suspect") && text.contains("means leave"), "{format}: {text}");
    }
    let mut plan = image_plan(3);
    let lost = in_turn(&[1.0; 3]).into_iter().map(|record| failed(record, ErrorClass::HttpStatus, "out of memory"));
    let lost = all(&plan, &[lost.collect()]);
    for (format, text) in every_format(&plan, &lost) {
        assert!(text.contains("invalid") && text.contains("3 of 3 requests failed; 0 are allowed"), "{format}: {text}");
        assert!(format == "csv" || text.contains("out of memory"), "{format}: {text}");
    }
    plan.runs[0].warmup.matched = false;
    let told = all(&plan, &[in_turn(&[1.0; 3])]);
    for (format, text) in every_format(&plan, &told) {
        assert!(text.contains("valid") && text.contains("does not have the count"), "{format}: {text}");
    }
}

#[test]
fn when_every_request_was_cut_a_percentile_is_a_bound_and_the_mean_absent() {
    let plan = image_plan(2);
    let records: Vec<_> = in_turn(&[5.0, 5.0]).into_iter().map(|record| censored(record, "cut")).collect();
    let results = all(&plan, &[records]);
    let run = &results.runs[0];
    assert!(run.kaplan_meier);
    assert_eq!((run.latency_s.mean, run.latency_s.p50, run.latency_s.at_least), (None, None, Some(5.0)));
    let text = markdown(&plan, &results);
    assert!(text.contains("| n/a ¹ | ≥ 5.0000 ² |"), "{text}");
}

#[test]
fn a_mixed_dataset_is_named_and_has_its_classes_below() {
    let shape = |steps: u32| serde_json::json!({"width": 512, "height": 512, "num_inference_steps": steps});
    let mut plan = plan(
        Task::T2i,
        vec![variant("base", Parallel::default(), 1)],
        vec![dataset("A", "Dataset A", &[shape(20)]), dataset("C", "Dataset C", &[shape(20), shape(50)])],
        vec![run("base", "A", 4, 1), run("base", "C", 4, 1)],
    );
    plan.varying = vec![omni_bench::plan::Axis::Dataset];
    let mut mixed = in_turn(&[25.0, 25.0, 25.0, 139.0]);
    "512x512-s50".clone_into(&mut mixed[3].class);
    mixed[3].asked.num_inference_steps = Some(50);
    let results = all(&plan, &[in_turn(&[1.0; 4]), mixed]);
    let text = markdown(&plan, &results);
    assert!(text.contains("Dataset C: a mix of shapes; the figures depend on the mix"), "{text}");
    assert!(!text.contains("Dataset A: a mix"), "{text}");
    assert!(text.contains("| base/C/c1 | 512x512-s20 | 3/3 | 25.0000 |"), "{text}");
    assert!(text.contains("| base/C/c1 | 512x512-s50 | 1/1 | 139.0000 |"), "{text}");
    let classes = &results.runs[1].classes;
    assert_eq!(classes["512x512-s20"].mean_interval_s, Some([25.0, 25.0]));
    assert_eq!((classes["512x512-s50"].mean_interval_s, classes["512x512-s50"].percentiles["p50"].n), (None, 1));
}

#[test]
fn a_narrow_terminal_loses_columns_before_it_breaks_numbers() {
    let (plan, results) = super::tables::qwen();
    for width in [80, 90, 100, 120] {
        let text = terminal(&plan, &results, false, Some(width));
        let widest = text.lines().filter(|line| line.starts_with('│')).map(|line| line.chars().count()).max();
        assert!(widest.is_some_and(|widest| widest <= usize::from(width)), "{text}");
        assert!(text.lines().any(|line| line.contains("cfg2-usp2/A/c1") && line.contains("valid")), "{text}");
    }
}

#[test]
fn memory_that_no_request_told_is_not_available_and_told_by_some_is_said() {
    let plan = image_plan(6);
    let mut records = in_turn(&[1.0; 6]);
    let text = terminal(&plan, &all(&plan, &[records.clone()]), false, None);
    assert!(text.contains("Memory (MB)") && text.contains("n/a") && !text.contains("0.00 "), "{text}");
    records[0].peak_memory_mb = Some(1000.0);
    records[5].peak_memory_mb = Some(1100.0);
    let text = terminal(&plan, &all(&plan, &[records]), false, None);
    assert!(text.contains("peak memory was told by 2 of 6 requests") && text.contains("1100 "), "{text}");
}

#[test]
fn pure_media_have_no_token_metrics() {
    let plan = image_plan(1);
    let text = serde_json::to_string(&summary(&plan, &in_turn(&[1.0]))).unwrap();
    for word in ["token", "ttft", "tpot", "itl"] {
        assert!(!text.contains(word), "{text}");
    }
}

#[test]
fn a_trace_is_an_open_loop_without_a_rate() {
    let mut plan = image_plan(2);
    plan.runs[0].traffic.arrivals = omni_bench::plan::Arrivals::Trace { speed: 1.0 };
    plan.runs[0].traffic.max_concurrency = None;
    let results = all(&plan, &[in_turn(&[1.0, 2.0])]);
    let text = page(&plan, &results, &PageFacts::default(), None).unwrap();
    assert!(!text.contains("closed loop"), "{text}");
    assert_eq!(text.matches("open loop at the time stamps of the data").count(), 2, "{text}");
}
