//! Result tables as Markdown, CSV, JSON and for a terminal.

use omni_bench::catalog::{Api, DEGREES, ErrorClass, METRICS, Task};
use omni_bench::plan::{Axis, Plan, RunPlan};
use omni_bench::record::{Asked, Record};
use omni_bench::report::{csv, json, markdown, terminal};
use omni_bench::scenario::model::Parallel;
use omni_bench::summarize::{NotRun, Results, results};
use serde_json::json;

use super::build::{
    all, censored, dataset, failed, image, image_plan, in_turn, open_loop, plan, run, us, variant, video,
};

const IMAGE_HEADER: &str =
    "| Dataset Configuration | Max Concur. | CFG | Usp | Tp | VAE Parallel | Mean Latency (s) | P99 Latency (s) |";
const VIDEO_HEADER: &str = "| Dataset Configuration | Max Concur. | CFG | Usp | Tp | Hsdp | VAE Parallel | Mean Latency (s) | P99 Latency (s) |";

/// The dashboards' Qwen-Image table: one configuration, three datasets.
pub(super) fn qwen() -> (Plan, Results) {
    let parallel = Parallel { cfg: Some(2), ulysses: Some(2), ..Parallel::default() };
    let shape = |side: u32, steps: u32| json!({"width": side, "height": side, "num_inference_steps": steps});
    let mut mixed = dataset("C", "Dataset C", &[shape(512, 20), shape(1536, 35)]);
    mixed.description = Some("mixed resolution".to_owned());
    let datasets =
        vec![dataset("A", "Dataset A", &[shape(512, 20)]), dataset("B", "Dataset B", &[shape(1536, 35)]), mixed];
    let runs = vec![run("cfg2-usp2", "A", 1, 1), run("cfg2-usp2", "B", 10, 1), run("cfg2-usp2", "C", 3, 1)];
    let mut plan = plan(Task::T2i, vec![variant("cfg2-usp2", parallel, 4)], datasets, runs);
    plan.varying = vec![Axis::Dataset];
    let mut third = in_turn(&[2.2, 2.3, 19.7]);
    "1536x1536-s35".clone_into(&mut third[2].class);
    third[2].asked =
        Asked { width: Some(1536), height: Some(1536), num_inference_steps: Some(35), n: 1, ..Asked::default() };
    let results = all(&plan, &[in_turn(&[2.2087]), in_turn(&[19.6739; 10]), third]);
    (plan, results)
}

/// The dashboards' Wan2.2 table: two VAE degrees.
pub(super) fn wan() -> (Plan, Results) {
    let parallel = |vae| Parallel {
        cfg: Some(2),
        ulysses: Some(2),
        tensor: Some(1),
        hsdp: Some(true),
        vae_patch: vae,
        ..Parallel::default()
    };
    let fields = json!({"width": 854, "height": 480, "num_inference_steps": 3, "num_frames": 80, "fps": 16});
    let mut plan = plan(
        Task::T2v,
        vec![variant("vae1", parallel(None), 4), variant("vae4", parallel(Some(4)), 4)],
        vec![dataset("A", "Dataset A", &[fields])],
        vec![run("vae1", "A", 2, 1), run("vae4", "A", 2, 1)],
    );
    "Wan2.2".clone_into(&mut plan.title);
    "Wan-AI/Wan2.2-T2V-A14B-Diffusers".clone_into(&mut plan.model);
    for variant in &mut plan.variants {
        variant.endpoint.api = Api::Videos;
    }
    plan.varying = vec![Axis::Variant];
    plan.simulated = true;
    plan.speed = 20.0;
    let clips = |latency: f64| vec![video(0, 0.0, latency, 80, 16.0), video(1, latency, 2.0 * latency, 80, 16.0)];
    let results = all(&plan, &[clips(24.6766), clips(21.6810)]);
    (plan, results)
}

fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(str::trim).collect()
}

fn column<'a>(text: &'a str, header: &str, row: usize) -> &'a str {
    let lines: Vec<&str> = text.lines().collect();
    let place = cells(lines[0]).iter().position(|cell| *cell == header).expect("the column");
    cells(lines[2 + row])[place]
}

#[test]
fn the_image_table_is_the_dashboards() {
    let (plan, results) = qwen();
    let text = markdown(&plan, &results);
    assert!(text.starts_with(&format!("{IMAGE_HEADER}\n")), "{text}");
    assert!(text.contains("| Dataset A | 1 | 2 | 2 | Off | Off | 2.2087 | 2.2087 ¹ |\n"), "{text}");
    assert!(text.contains("¹ n=1, no percentile"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn the_video_table_has_hsdp_after_tp_and_says_that_it_is_simulated() {
    let (plan, results) = wan();
    let text = markdown(&plan, &results);
    assert!(text.starts_with(&format!("{VIDEO_HEADER}\n")), "{text}");
    assert!(text.contains("| Dataset A | 1 | 2 | 2 | 1 | On | Off | 24.6766 | 24.6766 ¹ |"), "{text}");
    assert!(text.contains("simulated (20× speed), not a measurement"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn what_varies_beyond_the_official_columns_is_appended() {
    let mut plan = image_plan(2);
    plan.variants.push(variant("other", Parallel { ring: Some(2), ..Parallel::default() }, 2));
    plan.variants.push(variant("third", Parallel::default(), 1));
    plan.varying = vec![Axis::Variant, Axis::Seed];
    plan.repeats = 2;
    plan.runs = vec![run("base", "A", 2, 1), run("other", "A", 2, 1), run("third", "A", 2, 1)];
    plan.runs[1].traffic.seed = 7;
    plan.runs[2].repeat = 2;
    let results = all(&plan, &[in_turn(&[1.0, 2.0]), in_turn(&[1.0, 2.0]), in_turn(&[1.0, 2.0])]);
    let text = markdown(&plan, &results);
    let header = cells(text.lines().next().unwrap());
    assert_eq!(header[..8], cells(IMAGE_HEADER));
    assert_eq!(header[8..], ["Variant", "Ring", "GPUs", "Seed", "Repeat"]);
    assert_eq!([column(&text, "Variant", 1), column(&text, "Ring", 1), column(&text, "Seed", 1)], ["other", "2", "7"]);
    assert_eq!([column(&text, "Ring", 0), column(&text, "Repeat", 2)], ["Off", "2"]);
}

#[test]
fn an_open_loop_keeps_the_official_columns_and_appends_its_headline() {
    let mut plan = image_plan(2);
    plan.runs = vec![open_loop(plan.runs[0].clone(), 0.5, None)];
    let mut records = in_turn(&[1.0, 2.0]);
    for record in &mut records {
        record.response_time_us = record.latency_us.map(|latency| latency + us(3.0));
    }
    let text = markdown(&plan, &all(&plan, &[records]));
    assert_eq!(column(&text, "Max Concur.", 0), "none");
    assert_eq!(column(&text, "Mean Latency (s)", 0), "1.5000");
    assert_eq!(column(&text, "Mean Response Time (s)", 0), "4.5000");
    assert!(
        text.contains("open loop at 0.5 requests/s") && text.contains("the headline is the response time"),
        "{text}"
    );
}

#[test]
fn failure_and_censoring_are_marked_and_never_a_number() {
    let mut plan = image_plan(3);
    plan.runs.push(RunPlan { id: "base/A/c2".to_owned(), ..run("base", "A", 3, 2) });
    plan.allow_failures = 1;
    let mut cut = in_turn(&[1.0, 2.0, 900.0]);
    cut[2] = censored(cut[2].clone(), "no reply within 15m");
    let lost: Vec<Record> = in_turn(&[1.0; 3]).into_iter().map(|r| failed(r, ErrorClass::HttpStatus, "no")).collect();
    let text = markdown(&plan, &all(&plan, &[cut, lost]));
    assert!(column(&text, "P99 Latency (s)", 0).starts_with("≥ 900.0000 "), "{text}");
    assert!(column(&text, "Mean Latency (s)", 0).starts_with("1.5000 "), "{text}");
    assert!(column(&text, "Mean Latency (s)", 1).starts_with("n/a "), "{text}");
    assert_eq!(column(&text, "P99 Latency (s)", 1), "n/a");
    assert!(
        text.contains("suspect: 1 of 3 requests were cut") && text.contains("invalid: 3 of 3 requests failed"),
        "{text}"
    );
}

#[test]
fn runs_without_numbers_are_named_with_their_reason() {
    let plan = image_plan(1);
    let not_run = vec![NotRun { id: "base/A/c1".to_owned(), reason: "the server\ndid not start".to_owned() }];
    let results = results(&plan, Vec::new(), not_run);
    let text = markdown(&plan, &results);
    assert!(
        text.contains("No run has results.") && text.contains("Not run: `base/A/c1`: the server did not start"),
        "{text}"
    );
    assert!(terminal(&plan, &results, false, None).contains("base/A/c1: the server\ndid not start"));
}

#[test]
fn a_label_with_a_pipe_stays_one_cell() {
    let mut plan = image_plan(1);
    plan.datasets["A"].label = "512 | 20\nsteps".to_owned();
    let text = markdown(&plan, &all(&plan, &[in_turn(&[1.0])]));
    assert!(text.lines().nth(2).unwrap().starts_with("| 512 \\| 20 steps | 1 |"), "{text}");
}

#[test]
fn the_terminal_shows_runs_classes_warnings_and_errors() {
    let (plan, mut results) = qwen();
    let mut broken = in_turn(&[2.0; 3]);
    broken[1] = failed(broken[1].clone(), ErrorClass::HttpStatus, "CUDA out of memory");
    let failing = image_plan(3);
    let mut summary = super::build::summary(&failing, &broken);
    "cfg2-usp2/A/c1.r2".clone_into(&mut summary.id);
    results.runs.push(summary);
    insta::assert_snapshot!(terminal(&plan, &results, false, None));
    let (plan, results) = wan();
    insta::assert_snapshot!(terminal(&plan, &results, false, Some(100)));
}

#[test]
fn colour_is_only_used_when_asked_for() {
    let (plan, results) = qwen();
    assert!(!terminal(&plan, &results, false, Some(120)).contains('\u{1b}'));
    assert!(terminal(&plan, &results, true, Some(120)).contains('\u{1b}'));
}

#[test]
fn csv_reads_back_with_axes_layout_and_every_metric_unrounded() {
    let (plan, results) = qwen();
    let text = csv(&plan, &results).unwrap();
    let mut reader = csv_crate(&text);
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows: Vec<Vec<String>> = reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
    assert_eq!(rows.len(), results.runs.len());
    let cell = |row: usize, name: &str| {
        let place = header.iter().position(|key| key == name).unwrap_or_else(|| panic!("no column {name}"));
        rows[row][place].as_str()
    };
    for name in METRICS.iter().map(|metric| metric.name).chain(DEGREES.iter().map(|degree| degree.key)) {
        cell(0, name);
    }
    for (row, run) in results.runs.iter().enumerate() {
        assert_eq!((cell(row, "id"), cell(row, "dataset")), (run.id.as_str(), run.dataset.as_str()));
        let mean: f64 = cell(row, "latency_s.mean").parse().unwrap();
        assert_eq!(Some(mean), run.latency_s.mean);
    }
    assert_eq!([cell(0, "cfg"), cell(0, "tensor"), cell(0, "hsdp"), cell(0, "rtf.mean")], ["2", "", "false", ""]);
    assert_eq!([cell(0, "max_concurrency"), cell(0, "request_rate"), cell(0, "seed")], ["1", "inf", "42"]);
    assert!(!text.contains('¹'));
}

fn csv_crate(text: &str) -> ::csv::Reader<&[u8]> {
    ::csv::Reader::from_reader(text.as_bytes())
}

#[test]
fn csv_quotes_what_would_break_a_line() {
    let mut plan = image_plan(1);
    plan.datasets["A"].label = "a, \"b\"\nc".to_owned();
    let text = csv(&plan, &all(&plan, &[in_turn(&[1.0])])).unwrap();
    let row = csv_crate(&text).records().next().unwrap().unwrap();
    assert!(row.iter().any(|cell| cell == "a, \"b\"\nc"), "{text}");
}

#[test]
fn stage_times_follow_the_fixed_columns() {
    let mut record = image(0, 0.0, 1.0);
    record.stage_ms.insert("vae.decode".to_owned(), 12.5);
    let plan = image_plan(1);
    let text = csv(&plan, &all(&plan, &[vec![record]])).unwrap();
    assert!(text.lines().next().unwrap().contains("stage_ms.vae.decode.mean"), "{text}");
}

/// Case C10: servers count the words of a prompt as tokens; a picture has none.
#[test]
fn no_format_speaks_of_tokens() {
    let is_token_metric = |text: &str| {
        let words = |c: char| !c.is_ascii_alphanumeric();
        text.to_ascii_lowercase()
            .split(words)
            .any(|word| ["ttft", "tpot", "itl", "e2el"].contains(&word) || word.starts_with("token"))
    };
    assert!(is_token_metric("output_token_throughput") && is_token_metric("mean TTFT (ms)"));
    for (plan, results) in [qwen(), wan()] {
        let texts = [
            terminal(&plan, &results, false, None),
            csv(&plan, &results).unwrap(),
            markdown(&plan, &results),
            json(&results).unwrap(),
        ];
        for text in texts {
            assert!(!is_token_metric(&text), "{text}");
        }
    }
    assert!(!METRICS.iter().any(|metric| is_token_metric(metric.name)));
}

#[test]
fn json_reads_back_as_the_same_results_and_holds_no_nan() {
    let (_, results) = wan();
    let text = json(&results).unwrap();
    assert_eq!(serde_json::from_str::<Results>(&text).unwrap(), results);
    assert!(!text.contains("NaN") && text.ends_with("}\n"));
    assert!(text.contains("\"request_rate\": \"inf\""), "{text}");
}
