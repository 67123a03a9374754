//! Which charts there are, what they say, and how large they get.

use std::time::Instant;

use omni_bench::catalog::Task;
use omni_bench::plan::Axis;
use omni_bench::scenario::model::Parallel;
use serde_json::json;

use super::markup::{tags_of, tooltips};
use super::stored::Stored;
use crate::report::build::{self, censored, image_plan, in_turn};

/// The text of a chart, without markup.
fn words(svg: &str) -> String {
    let text = svg.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text.trim());
    text.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_sweep_has_every_chart() {
    let stored = Stored::sweep(&["seqs-1", "seqs-8"], &[1, 4], 30);
    let names = [
        "latency-A",
        "throughput-A",
        "pareto-A",
        "stages-A",
        "distribution-seqs-1_A_c1",
        "timeline-seqs-1_A_c1",
        "distribution-seqs-1_A_c4",
        "timeline-seqs-1_A_c4",
        "distribution-seqs-8_A_c1",
        "timeline-seqs-8_A_c1",
        "distribution-seqs-8_A_c4",
        "timeline-seqs-8_A_c4",
    ];
    assert_eq!(stored.names(), names);
    let runs: Vec<Option<String>> = stored.charts().into_iter().map(|chart| chart.run).collect();
    assert_eq!(runs[3..6], [None, Some("seqs-1/A/c1".to_owned()), Some("seqs-1/A/c1".to_owned())]);
}

#[test]
fn what_has_no_data_has_no_chart() {
    // one load, no stages: nothing to set against each other
    let one = Stored::of(image_plan(3), vec![in_turn(&[2.0, 3.0, 4.0])]);
    assert_eq!(one.names(), ["distribution-base_A_c1", "timeline-base_A_c1"]);
    // summaries without their records
    let mut without = Stored::of(image_plan(3), vec![in_turn(&[2.0, 3.0, 4.0])]);
    without.records.clear();
    assert!(without.names().is_empty());
    // nothing succeeded
    let records: Vec<_> = in_turn(&[900.0, 900.0]).into_iter().map(|record| censored(record, "cut")).collect();
    let mut plan = image_plan(2);
    plan.runs.push(build::run("base", "A", 2, 4));
    assert_eq!(Stored::of(plan, vec![records.clone(), records]).names(), ["timeline-base_A_c1", "timeline-base_A_c4"]);
    let mut empty = Stored::of(image_plan(3), vec![Vec::new()]);
    empty.results.runs.clear();
    assert!(empty.names().is_empty());
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let stored = || Stored::sweep(&["a", "b"], &[1, 2, 4], 50);
    assert_eq!(stored().charts(), stored().charts());
}

#[test]
fn titles_say_what_is_compared_and_axes_have_units() {
    let mut stored = Stored::sweep(&["seqs-1", "seqs-8"], &[1, 4], 30);
    stored.results.simulated = true;
    stored.results.speed = 20.0;
    let latency = stored.chart("latency-A");
    assert_eq!(
        latency.title,
        "Latency against concurrency: Dataset A · Qwen-Image (Qwen/Qwen-Image, t2i) · 2 variants · simulated (20× \
         speed), not a measurement"
    );
    let text = words(&latency.svg);
    for part in ["simulated (20× speed), not a measurement", "Latency (s)", "Max concurrency", "P50", "P95", "P99"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(words(&stored.chart("throughput-A").svg).contains("Successes (requests/s)"));
    assert!(words(&stored.chart("pareto-A").svg).contains("Median latency (s), lower is better"));
    assert!(words(&stored.chart("stages-A").svg).contains("Time (s)"));
    let timeline = stored.chart("timeline-seqs-8_A_c4");
    assert!(timeline.title.contains("seqs-8/A/c4") && timeline.title.contains("variant seqs-8, 4 GPUs"));
    assert!(words(&timeline.svg).contains("Time since the start of the run (s)"));
    stored.results.simulated = false;
    assert!(!stored.chart("latency-A").svg.contains("simulated"));
}

#[test]
fn every_run_and_every_request_has_a_tooltip() {
    let stored = Stored::sweep(&["seqs-1", "seqs-8"], &[1, 4], 30);
    for name in ["latency-A", "throughput-A", "pareto-A", "stages-A"] {
        let svg = stored.chart(name).svg;
        let told = tooltips(&svg);
        for run in &stored.results.runs {
            assert!(told.iter().any(|text| text.contains(&run.id)), "{name} tells nothing of {}", run.id);
        }
    }
    let svg = stored.chart("timeline-seqs-1_A_c4").svg;
    assert_eq!(tooltips(&svg).len(), 30);
    assert!(
        tooltips(&svg)[0].starts_with("req-0001 · 512x512-s20 · ok · queue 0.02 s · generate "),
        "{:?}",
        tooltips(&svg)[0]
    );
    let svg = stored.chart("latency-A").svg;
    let supported = tooltips(&svg).into_iter().find(|text| text.contains("P50 ")).unwrap();
    assert!(supported.contains("95 % interval"), "{supported}");
}

#[test]
fn percentiles_without_support_are_hollow_and_say_so() {
    let few = Stored::sweep(&["a", "b"], &[1, 2], 20).chart("latency-A").svg;
    let unsupported = tooltips(&few).into_iter().filter(|text| text.contains("not supported")).count();
    // p95 and p99 of four runs
    assert_eq!(unsupported, 8);
    assert!(words(&few).contains("hollow: not supported"));
    let many = Stored::sweep(&["a", "b"], &[1, 2], 310).chart("latency-A").svg;
    assert!(!many.contains("not supported"));
}

#[test]
fn what_a_limit_cut_is_told_and_not_drawn_as_if_it_had_ended() {
    let mut plan = image_plan(4);
    plan.runs.push(build::run("base", "A", 4, 2));
    let mut records = in_turn(&[10.0, 12.0, 14.0, 900.0]);
    records[3] = censored(records[3].clone(), "no reply within 900 s");
    let stored = Stored::of(plan, vec![records.clone(), records]);
    let latency = stored.chart("latency-A").svg;
    assert!(tooltips(&latency).iter().any(|text| text.contains("P99 ≥ 900 s")), "{:?}", tooltips(&latency));
    assert!(words(&latency).contains("An arrow up: the true value is higher"));
    let distribution = words(&stored.chart("distribution-base_A_c1").svg);
    assert!(distribution.contains("Kaplan–Meier estimate: 1 request cut by a limit of the client"), "{distribution}");
    assert!(tooltips(&stored.chart("timeline-base_A_c1").svg)[3].contains("censored"));
}

#[test]
fn only_the_runs_on_the_front_keep_their_colour() {
    let svg = Stored::sweep(&["worse", "better"], &[1, 4], 30).chart("pareto-A").svg;
    let told = tooltips(&svg);
    assert!(told.iter().any(|text| text.starts_with("better") && text.ends_with("on the front")), "{told:?}");
    assert!(told.iter().any(|text| text.starts_with("worse") && text.ends_with("dominated")), "{told:?}");
    for group in svg.split("<g class=\"").skip(1).filter(|group| group.contains(" · dominated</title>")) {
        assert!(group.starts_with("dim\""), "{group}");
    }
}

#[test]
fn open_loop_runs_stand_along_their_rate_with_the_response_time() {
    let fields = json!({"width": 512, "height": 512, "num_inference_steps": 20});
    let run = |rate: f64| build::open_loop(build::run("base", "A", 10, 1), rate, None);
    let mut plan = build::plan(
        Task::T2i,
        vec![build::variant("base", Parallel::default(), 1)],
        vec![build::dataset("A", "Dataset A", &[fields])],
        vec![run(0.5), run(2.0)],
    );
    plan.varying = vec![Axis::RequestRate];
    let stored = Stored::of(plan, vec![in_turn(&[2.0; 10]), in_turn(&[3.0; 10])]);
    let chart = stored.chart("latency-A-open");
    assert!(chart.title.starts_with("Response time against request rate: Dataset A"), "{}", chart.title);
    assert!(words(&chart.svg).contains("Response time (s)"));
    let throughput = stored.chart("throughput-A-open").svg;
    assert!(tooltips(&throughput).contains(&"offered") && words(&throughput).contains("the rate that was offered"));
}

#[test]
fn hostile_names_stay_text() {
    const HOSTILE: &str = "</script></style><img src=x onerror=alert(1)>\"'&\u{1b}[31m\u{0}]]>";
    let mut stored = Stored::sweep(&["a", "b"], &[1, 2], 20);
    stored.plan.title = HOSTILE.to_owned();
    stored.plan.variants[0].label = HOSTILE.to_owned();
    stored.plan.datasets["A"].label = HOSTILE.to_owned();
    for run in &mut stored.results.runs {
        run.stage_ms = run.stage_ms.iter().map(|(name, stage)| (format!("{name}{HOSTILE}"), *stage)).collect();
    }
    for records in stored.records.values_mut() {
        for record in records.iter_mut() {
            record.class.push_str(HOSTILE);
            record.request_id.push_str(HOSTILE);
        }
    }
    let known = ["svg", "style", "g", "title", "text", "polyline", "polygon", "rect", "circle"];
    for chart in stored.charts() {
        for tag in tags_of(&chart.svg) {
            assert!(known.contains(&tag.as_str()), "{}: {tag}", chart.name);
        }
        assert!(chart.name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)), "{}", chart.name);
    }
}

#[test]
fn charts_are_legible_in_both_schemes_and_fixed_to_no_colour() {
    for chart in Stored::sweep(&["a", "b"], &[1, 4], 20).charts() {
        assert!(chart.svg.contains("@media (prefers-color-scheme:dark)"), "{}", chart.name);
        let drawing = chart.svg.split_once("</style>").unwrap().1;
        assert!(!drawing.contains('#') && !drawing.contains("rgb"), "{}", chart.name);
        assert!(!chart.svg.contains("NaN") && !chart.svg.contains("inf"), "{}", chart.name);
    }
}

#[test]
fn ten_thousand_requests_are_sampled_and_the_chart_says_so() {
    let stored = Stored::sweep(&["a"], &[8], 10_000);
    let timeline = stored.chart("timeline-a_A_c8");
    assert!(timeline.svg.len() < 300_000, "{} bytes", timeline.svg.len());
    assert!(words(&timeline.svg).contains("of 10000 requests are drawn"), "{}", words(&timeline.svg));
    let slowest = stored.records["a/A/c8"].iter().max_by_key(|record| record.response_time_us).unwrap();
    assert!(tooltips(&timeline.svg).iter().any(|text| text.starts_with(&slowest.request_id)));
    let distribution = stored.chart("distribution-a_A_c8");
    assert!(distribution.svg.len() < 60_000, "{} bytes", distribution.svg.len());
    assert!(words(&distribution.svg).contains("steps are drawn"));
}

#[test]
fn two_hundred_runs_stay_bounded_and_every_series_is_accounted_for() {
    let names: Vec<String> = (0..40).map(|number| format!("variant-{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let stored = Stored::sweep(&names, &[1, 2, 4, 8, 16], 60);
    let started = Instant::now();
    let charts = stored.charts();
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
    assert_eq!(charts.len(), 4 + 2 * 200);
    assert!(charts.iter().map(|chart| chart.svg.len()).sum::<usize>() < 10_000_000);
    assert!(charts.iter().all(|chart| chart.svg.len() < 500_000));
    let latency = &charts[0].svg;
    assert!(words(latency).contains("32 others, none with more throughput, named by tooltips"), "{}", words(latency));
    assert!(tooltips(latency).iter().any(|text| text.contains("variant-39/A/c16")));
    assert!(words(&charts[3].svg).contains("of 200 runs are drawn"));
}
