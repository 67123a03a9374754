//! The figures of a run, case by case.

use omni_bench::catalog::{ErrorClass, Flag, Validity, WarningKind};
use omni_bench::plan::{Plan, SloTarget};
use omni_bench::record::{Asked, Poll, Record, RunState, Status};
use omni_bench::summarize::{Distribution, RunFiles, Summary, summarize};
use omni_bench::units::Span;

use super::build::{
    all, calibrated, censored, failed, flagged, image, image_plan, in_turn, manifest, open_loop, picture, run, summary,
    us, video, video_plan, with_slo,
};

fn close(actual: Option<f64>, expected: f64, within: f64) {
    let actual = actual.expect("a number");
    assert!((actual - expected).abs() <= within, "{actual} is not {expected}");
}

fn kinds(summary: &Summary) -> Vec<WarningKind> {
    summary.warnings.iter().map(|warning| warning.kind).collect()
}

#[test]
fn ten_requests_one_after_another_are_valid_and_without_warnings() {
    let summary = summary(&image_plan(10), &in_turn(&[2.0; 10]));
    assert_eq!((summary.validity, kinds(&summary)), (Validity::Valid, vec![]));
    close(summary.throughput_per_s, 0.5, 1e-12);
    assert_eq!((summary.peak_concurrency, summary.headline.as_str()), (1, "latency"));
    assert_eq!(summary.latency_s.p99, Some(2.0));
    assert!(summary.percentiles["p50"].supported && !summary.percentiles["p99"].supported);
    assert_eq!(summary.mean_interval_s, Some([2.0, 2.0]));
}

#[test]
fn requests_are_always_the_sum_of_their_outcomes() {
    let records = vec![
        image(0, 0.0, 1.0),
        failed(image(1, 1.0, 2.0), ErrorClass::HttpStatus, "boom"),
        censored(image(2, 2.0, 3.0), "cut at 1s"),
        Record { status: Status::Cancelled, ..image(3, 3.0, 3.5) },
    ];
    let summary = summary(&image_plan(10), &records);
    assert_eq!([summary.completed, summary.failed, summary.censored, summary.cancelled], [1, 1, 1, 7]);
    assert_eq!(summary.requests, 10);
    assert_eq!(summary.validity, Validity::Invalid);
    assert!(kinds(&summary).contains(&WarningKind::Interrupted));
}

#[test]
fn an_interrupted_run_without_records_has_no_figures_and_no_zeros() {
    let plan = image_plan(3);
    let manifest = omni_bench::record::RunManifest { state: RunState::Interrupted, ..manifest(&plan.runs[0]) };
    let files = RunFiles { manifest: &manifest, records: &[], calibration: &[], warmup: &[], telemetry: &[] };
    let summary = summarize(&plan, &plan.runs[0], &files);
    assert_eq!((summary.cancelled, summary.validity), (3, Validity::Invalid));
    assert_eq!((summary.duration_s, summary.throughput_per_s, summary.lateness_ms), (None, None, None));
    assert_eq!(summary.latency_s, Distribution::default());
}

#[test]
fn when_all_fail_rates_are_zero_latencies_null_and_the_run_invalid() {
    let records: Vec<Record> = (0..10_u8)
        .map(|i| failed(image(i.into(), i.into(), f64::from(i) + 1.0), ErrorClass::HttpStatus, "no"))
        .collect();
    let summary = summary(&image_plan(10), &records);
    assert_eq!((summary.completed, summary.failed, summary.throughput_per_s), (0, 10, Some(0.0)));
    assert_eq!((summary.latency_s, summary.peak_memory_mb), (Distribution::default(), None));
    assert_eq!(summary.validity, Validity::Invalid);
    assert_eq!((summary.errors[0].count, summary.errors[0].request_ids.len()), (10, 10));
}

#[test]
fn allowed_failures_are_told_and_do_not_doubt_the_rest() {
    let mut plan = image_plan(3);
    plan.allow_failures = 1;
    let mut records = in_turn(&[1.0; 3]);
    records[1] = failed(records[1].clone(), ErrorClass::Io, "broken");
    let summary = summary(&plan, &records);
    assert_eq!((summary.validity, kinds(&summary)), (Validity::Valid, vec![WarningKind::Failures]));
}

#[test]
fn with_censoring_percentiles_are_kaplan_meier_and_may_be_out_of_reach() {
    let mut plan = image_plan(4);
    plan.allow_failures = 1;
    let mut records = in_turn(&[10.0, 12.0, 14.0, 900.0]);
    records[3] = censored(records[3].clone(), "no reply within 15m");
    let summary = summary(&plan, &records);
    assert!(summary.kaplan_meier && !summary.throughput_comparable);
    assert_eq!((summary.latency_s.p50, summary.latency_s.p99), (Some(12.0), None));
    assert_eq!(summary.latency_s.at_least, Some(900.0));
    assert_eq!((summary.mean_interval_s, summary.percentiles["p50"].supported), (None, false));
    assert_eq!((summary.validity, kinds(&summary)), (Validity::Suspect, vec![WarningKind::Censoring]));
}

/// Case C07.
#[test]
fn several_outputs_per_request_are_counted_from_what_came_back() {
    let mut records = in_turn(&[2.0; 5]);
    for (record, outputs) in records.iter_mut().zip([4, 4, 3, 4, 4]) {
        record.asked.n = 4;
        record.outputs = (0..outputs).map(|place| picture(record.index, place, 512)).collect();
    }
    records[2] = flagged(records[2].clone(), Flag::FewerOutputs);
    let summary = summary(&image_plan(5), &records);
    assert_eq!(summary.images, Some(19));
    close(summary.images_per_s, 1.9, 1e-12);
    close(summary.throughput_per_s, 0.5, 1e-12);
    assert_eq!(kinds(&summary), [WarningKind::Flagged]);
    assert_eq!(summary.warnings[0].text, "of 5 successes: fewer_outputs 1");
}

#[test]
fn pictures_pixels_and_step_times_have_the_published_figures() {
    let mut records = vec![image(0, 0.0, 2.8), image(1, 2.8, 5.6), image(2, 5.6, 8.42)];
    for record in &mut records {
        record.outputs = vec![picture(record.index, 0, 1024)];
        record.generation_ms = Some(2731.96);
    }
    let summary = summary(&image_plan(3), &records);
    close(summary.throughput_per_s, 0.3563, 5e-5);
    close(summary.images_per_s, 0.3563, 5e-5);
    assert_eq!(summary.pixels_per_image, Some(1_048_576.0));
    close(summary.megapixels_per_s, 0.3736, 5e-5);
    close(summary.denoise_step_ms, 136.598, 1e-9);
    let generation = summary.image_generation_ms.expect("generation times");
    assert_eq!((generation.n, generation.mean, generation.std), (3, 2731.96, 0.0));
    close(summary.megapixel_steps_per_s, 20.0 * 3.0 * 1.048_576 / 8.42, 1e-9);
    close(summary.outputs_per_hour_per_gpu, 3.0 * 3600.0 / 8.42, 1e-9);
    assert_eq!((summary.rtf, summary.video_frames), (None, None));
}

#[test]
fn a_step_time_that_the_server_tells_is_taken_before_the_quotient() {
    let mut records = in_turn(&[3.0, 3.0]);
    for (record, ms) in records.iter_mut().zip([130.0, 140.0]) {
        record.generation_ms = Some(9999.0);
        record.stage_ms.insert("stage_1_denoise_step_latency_ms".to_owned(), ms);
    }
    close(summary(&image_plan(2), &records).denoise_step_ms, 135.0, 1e-9);
}

/// Case C22.
#[test]
fn published_video_figures_come_out() {
    let mut records =
        vec![video(0, 0.0, 4.62, 33, 24.0), video(1, 4.62, 9.24, 33, 24.0), video(2, 9.24, 13.86, 33, 24.0)];
    for record in &mut records {
        record.generation_ms = Some(4502.59);
    }
    let summary = summary(&video_plan(3), &records);
    close(summary.video_duration_s, 4.125, 1e-12);
    assert_eq!(summary.video_frames, Some(99));
    close(summary.video_s_per_s, 0.2976, 5e-5);
    let rtf = summary.rtf.expect("rtf");
    close(Some(rtf.mean), 3.2746, 5e-5);
    assert_eq!((rtf.n, rtf.std, rtf.basis.as_str()), (3, 0.0, "stage"));
    close(summary.video_generation_ms.map(|generation| generation.mean), 4502.59, 1e-9);
    assert_eq!(summary.images, None);
}

/// Case C20.
#[test]
fn rtf_does_not_depend_on_the_client_and_names_its_basis() {
    let clip = |latency: f64| video(0, 0.0, latency, 48, 24.0);
    let told = |latency: f64, ms: f64| Record { generation_ms: Some(ms), ..clip(latency) };
    let rtf = |record: Record| summary(&video_plan(1), &[record]).rtf.map(|rtf| (rtf.mean, rtf.basis));
    assert_eq!(rtf(told(4.2, 4000.0)), Some((2.0, "stage".to_owned())));
    assert_eq!(rtf(told(8.0, 4000.0)), Some((2.0, "stage".to_owned())));
    assert_eq!(rtf(clip(6.0)), Some((3.0, "latency".to_owned())));
    let inference = flagged(told(6.0, 5000.0), Flag::RtfFromInferenceTime);
    assert_eq!(rtf(inference), Some((2.5, "inference_time_s".to_owned())));
    let mut two = vec![told(4.0, 4000.0), video(1, 4.0, 8.0, 48, 24.0)];
    assert_eq!(summary(&video_plan(2), &two).rtf.map(|rtf| rtf.basis), Some("mixed".to_owned()));
    two[1].outputs[0].duration_s = None;
    two[1].outputs[0].fps = None;
    assert_eq!(summary(&video_plan(2), &two).video_duration_s, Some(4.0));
}

#[test]
fn memory_that_was_not_measured_is_not_zero() {
    let mut records = in_turn(&[1.0; 6]);
    for (record, memory) in records.iter_mut().zip([Some(1000.0), None, None, Some(0.0), None, Some(1100.0)]) {
        record.peak_memory_mb = memory;
    }
    let memory = summary(&image_plan(6), &records).peak_memory_mb.expect("memory");
    assert_eq!((memory.n, memory.max, memory.mean), (2, 1100.0, 1050.0));
    assert_eq!(summary(&image_plan(6), &in_turn(&[1.0; 6])).peak_memory_mb, None);
}

#[test]
fn a_client_queue_is_in_the_response_time_and_not_in_the_latency() {
    let mut plan = image_plan(8);
    plan.runs = vec![open_loop(plan.runs[0].clone(), 10.0, Some(1))];
    let records: Vec<Record> = (0..8_u8)
        .map(|i| {
            let (due, sent) = (f64::from(i) * 0.1, f64::from(i) * 0.5);
            let mut record = image(i.into(), sent, sent + 0.5);
            record.due_us = us(due);
            record.response_time_us = Some(us(sent + 0.5 - due));
            record
        })
        .collect();
    let summary = summary(&plan, &records);
    assert_eq!((summary.latency_s.mean, summary.headline.as_str()), (Some(0.5), "response_time"));
    close(summary.response_time_s.mean, 1.9, 1e-9);
    close(summary.response_time_s.p50, 1.9, 1e-9);
    close(summary.response_time_s.p99, 3.272, 1e-9);
    close(summary.queue_s.mean, 1.4, 1e-9);
    close(summary.queue_s.p50, 1.4, 1e-9);
    close(summary.queue_s.p99, 2.772, 1e-9);
    close(summary.lateness_ms.map(|tail| tail.p99), 2772.0, 1e-6);
    close(summary.throughput_per_s, 2.0, 1e-12);
    close(summary.offered_per_s, 10.0, 1e-9);
    assert_eq!(
        (summary.validity, kinds(&summary)),
        (Validity::Valid, vec![WarningKind::Late, WarningKind::BelowOffered])
    );
}

#[test]
fn a_burst_above_the_asked_rate_does_not_make_that_rate_impossible() {
    let mut plan = image_plan(5);
    plan.runs = vec![open_loop(plan.runs[0].clone(), 1.5, Some(1))];
    let records: Vec<Record> = (0..5_u8)
        .map(|i| {
            let mut record = image(i.into(), f64::from(i) * 0.5, f64::from(i) * 0.5 + 0.5);
            record.due_us = us(f64::from(i) * 0.1);
            record
        })
        .collect();
    assert_eq!(kinds(&summary(&plan, &records)), [WarningKind::Late], "2/s are achieved and 1.5/s were asked");
    plan.runs[0].traffic.request_rate = omni_bench::units::Rate::PerSecond(10.0);
    assert_eq!(kinds(&summary(&plan, &records)), [WarningKind::Late, WarningKind::BelowOffered]);
}

#[test]
fn a_server_that_falls_behind_without_a_cap_is_doubted_and_a_long_tail_is_not() {
    let behind = |gap: f64, service: f64| {
        let mut plan = image_plan(40);
        plan.runs = vec![open_loop(plan.runs[0].clone(), 1.0 / gap, None)];
        let mut free = 0.0_f64;
        let records: Vec<Record> = (0..40_u8)
            .map(|i| {
                let due = f64::from(i) * gap;
                free = free.max(due) + service;
                image(i.into(), due, free)
            })
            .collect();
        summary(&plan, &records)
    };
    let slow = behind(1.0, 2.0);
    assert_eq!((slow.validity, kinds(&slow)), (Validity::Suspect, vec![WarningKind::BelowOffered]));
    assert_eq!(kinds(&behind(10.0, 9.0)), []);
}

#[test]
fn mixed_shapes_have_their_own_rows_cheapest_first() {
    let mut records = in_turn(&[139.0, 25.0, 25.0, 25.0]);
    records[0].class = "1536x1536-s35".to_owned();
    records[0].asked =
        Asked { width: Some(1536), height: Some(1536), num_inference_steps: Some(35), n: 1, ..Asked::default() };
    let summary = summary(&image_plan(4), &records);
    assert_eq!(summary.latency_s.mean, Some(53.5));
    let means: Vec<_> = summary.classes.iter().map(|(name, class)| (name.as_str(), class.latency_s.mean)).collect();
    assert_eq!(means, [("512x512-s20", Some(25.0)), ("1536x1536-s35", Some(139.0))]);
}

#[test]
fn an_slo_counts_failures_as_missed_equality_as_met_and_no_target_not_at_all() {
    let mut records = in_turn(&[10.0, 30.0, 40.0, 1.0, 5.0]);
    records[3] = failed(records[3].clone(), ErrorClass::HttpStatus, "no");
    for record in records.iter_mut().take(4) {
        record.slo_ms = Some(36_000.0);
    }
    let mut by_row = with_slo(image_plan(5), SloTarget::RowOnly);
    by_row.allow_failures = 1;
    let slo = summary(&by_row, &records).slo.expect("slo");
    assert_eq!((slo.met, slo.of, slo.attainment, slo.basis.as_str()), (2, 4, 0.5, "row"));
    assert_eq!((slo.without_target, slo.scale, slo.fit), (1, None, None));
    let fixed = with_slo(image_plan(2), SloTarget::Latency(Span::seconds(36)));
    let slo = summary(&fixed, &in_turn(&[36.0, 36.000_001])).slo.expect("slo");
    assert_eq!((slo.met, slo.of, slo.basis.as_str()), (1, 2, "latency"));
    close(slo.targets_s.get("512x512-s20").copied(), 36.0, 0.0);
    assert_eq!(summary(&image_plan(2), &in_turn(&[1.0, 2.0])).slo, None);
}

#[test]
fn a_scaled_slo_takes_its_base_from_calibration_and_fits_unseen_classes() {
    let shaped = |index: usize, steps: u32, latency: f64| {
        let mut record = image(index, 0.0, latency);
        record.class = format!("1000x1000-s{steps}");
        record.asked =
            Asked { width: Some(1000), height: Some(1000), num_inference_steps: Some(steps), n: 1, ..Asked::default() };
        record
    };
    let plan = with_slo(image_plan(2), SloTarget::Scale { factor: 3.0, calibration: 3 });
    let calibration: Vec<Record> =
        [0.6, 0.7, 0.9].iter().map(|s| shaped(0, 2, *s)).chain([shaped(0, 10, 1.5)]).collect();
    let summary = calibrated(&plan, &[shaped(0, 2, 2.1), shaped(1, 20, 7.6)], &calibration);
    let slo = summary.slo.expect("slo");
    // medians 0.7 s and 1.5 s are 0.5 s + 0.1 s per step, so 20 steps take 2.5 s
    assert!((slo.targets_s["1000x1000-s2"] - 2.1).abs() < 1e-9);
    assert!((slo.targets_s["1000x1000-s20"] - 7.5).abs() < 1e-9);
    assert_eq!((slo.met, slo.of, slo.basis.as_str()), (1, 2, "scale × calibration + scale × fit"));
    let fit = slo.fit.expect("a fit");
    assert!((fit.a_s - 0.5).abs() < 1e-9 && (fit.b_s - 0.1).abs() < 1e-9 && fit.residual_s < 1e-9, "{fit:?}");
    assert_eq!((fit.n, slo.scale), (2, Some(3.0)));
    let calibrated: Vec<_> =
        slo.calibration.iter().map(|(class, time)| (class.as_str(), time.n, time.median_s)).collect();
    assert_eq!(calibrated, [("1000x1000-s2", 3, 0.7), ("1000x1000-s10", 1, 1.5)]);
    let bases = ["1000x1000-s2", "1000x1000-s20"].map(|class| summary.classes[class].slo_basis.clone());
    assert_eq!(bases, [Some("scale × calibration".to_owned()), Some("scale × fit".to_owned())]);
    assert_eq!((summary.classes["1000x1000-s2"].slo_met, summary.classes["1000x1000-s2"].slo_of), (1, 1));
    assert_eq!(summary.classes["1000x1000-s20"].slo_attainment, Some(0.0));
    let goodput = summary.goodput_per_s.zip(summary.duration_s).map(|(goodput, duration)| goodput * duration);
    close(goodput, 1.0, 1e-9);
}

#[test]
fn a_target_is_that_of_the_measured_shape_and_never_of_a_shorter_warm_up() {
    // 0.5 s + 0.1 s per step: in proportion to a warm-up of 2 steps, 20 steps would have 7.0 s and a target of 21 s
    let plan = with_slo(image_plan(3), SloTarget::Scale { factor: 3.0, calibration: 3 });
    let slo = calibrated(&plan, &in_turn(&[2.5, 7.5, 7.500_001]), &in_turn(&[2.5; 3])).slo.expect("slo");
    close(slo.targets_s.get("512x512-s20").copied(), 7.5, 1e-9);
    assert_eq!((slo.met, slo.of, slo.basis.as_str()), (2, 3, "scale × calibration"));
    // 189 frames of 120.8 s, not 35 × 189 × a frame of a warm-up with one frame
    let clip = |latency: f64| video(0, 0.0, latency, 189, 24.0);
    let plan = with_slo(video_plan(1), SloTarget::Scale { factor: 3.0, calibration: 1 });
    let slo = calibrated(&plan, &[clip(121.0)], &[clip(120.8)]).slo.expect("slo");
    close(slo.targets_s.values().next().copied(), 362.4, 1e-9);
    // a class that was not calibrated, and no line to take it from: no target, and said so
    let mut other = in_turn(&[2.5, 2.5]);
    "512x512-s50".clone_into(&mut other[1].class);
    let plan = with_slo(image_plan(2), SloTarget::Scale { factor: 3.0, calibration: 1 });
    let slo = calibrated(&plan, &other, &in_turn(&[2.5])).slo.expect("slo");
    assert_eq!((slo.of, slo.without_target), (1, 1));
}

#[test]
fn a_step_time_that_the_server_tells_goes_before_one_that_is_worked_out() {
    let mut record = Record { generation_ms: Some(2000.0), ..image(0, 0.0, 3.0) };
    close(summary(&image_plan(1), &[record.clone()]).denoise_step_ms, 100.0, 1e-9);
    record.stage_ms.insert("stage_0_denoise_step_latency_ms".to_owned(), 0.0);
    record.stage_ms.insert("stage_1_denoise_step_latency_ms".to_owned(), 96.5);
    record.stage_ms.insert("vae.decode".to_owned(), 300.0);
    let summary = summary(&image_plan(1), &[record]);
    close(summary.denoise_step_ms, 96.5, 1e-9);
    let stage = summary.stage_ms["vae.decode"];
    assert_eq!((stage.n, stage.mean, stage.p50, stage.p99), (1, 300.0, 300.0, 300.0));
}

#[test]
fn coarse_polls_are_told_and_fine_ones_are_not() {
    let job = |gap: f64| {
        let mut record = video(0, 0.0, 10.2, 33, 24.0);
        record.created_us = Some(0);
        record.first_terminal_us = Some(us(10.1));
        let mut polls = Vec::new();
        let mut at = gap;
        while at < 10.1 {
            polls.push(Poll { sent_us: us(at), at_us: us(at + 0.01), status: "in_progress".to_owned() });
            at += gap;
        }
        record.polls = polls;
        kinds(&summary(&video_plan(1), &[record]))
    };
    assert_eq!(job(2.0), [WarningKind::CoarsePolls]);
    assert_eq!(job(0.5), []);
}

#[test]
fn copies_of_one_picture_cast_doubt_when_they_are_most_of_the_replies() {
    let mut records = in_turn(&[1.0; 4]);
    records[1].outputs = records[0].outputs.clone();
    assert_eq!(summary(&image_plan(4), &records).validity, Validity::Valid);
    records[2].outputs = records[0].outputs.clone();
    let summary = summary(&image_plan(4), &records);
    assert_eq!((summary.validity, kinds(&summary)), (Validity::Suspect, vec![WarningKind::DuplicateOutputs]));
}

#[test]
fn a_slow_client_in_closed_loop_is_doubted() {
    let mut records = in_turn(&[1.0; 4]);
    for record in &mut records {
        record.due_us = record.sent_us.unwrap_or_default().saturating_sub(us(0.2));
    }
    records[0].due_us = 0;
    let summary = summary(&image_plan(4), &records);
    assert_eq!((summary.validity, kinds(&summary)), (Validity::Suspect, vec![WarningKind::ClientBound]));
}

#[test]
fn too_few_requests_for_the_concurrency_and_another_warm_up_only_warn() {
    let mut plan = image_plan(10);
    plan.runs[0].traffic.max_concurrency = Some(8);
    plan.runs[0].warmup.matched = false;
    let records: Vec<Record> =
        (0..10).map(|i| image(i, f64::from(u8::from(i >= 8)), f64::from(u8::from(i >= 8)) + 1.0)).collect();
    let summary = summary(&plan, &records);
    assert_eq!((summary.validity, summary.peak_concurrency), (Validity::Valid, 8));
    assert_eq!(kinds(&summary), [WarningKind::FewRequests, WarningKind::UnmatchedWarmup]);
}

#[test]
fn a_server_that_works_off_one_request_at_a_time_shows_across_runs() {
    let mut plan = image_plan(8);
    plan.runs = [1, 2, 8].map(|cap| run("base", "A", 32, cap)).into();
    let sweep = |cap: u8| -> Vec<Record> {
        (0..32_u8).map(|i| image(i.into(), f64::from(i.saturating_sub(cap - 1)), f64::from(i) + 1.0)).collect()
    };
    let results = all(&plan, &[sweep(1), sweep(2), sweep(8)]);
    let serialised: Vec<bool> = results.runs.iter().map(|run| kinds(run).contains(&WarningKind::Serialised)).collect();
    assert_eq!(serialised, [false, true, true]);
    assert_eq!(results.runs[2].validity, Validity::Valid);
}

#[test]
fn errors_are_grouped_with_the_first_requests() {
    let mut records = in_turn(&[1.0; 15]);
    for record in records.iter_mut().skip(2) {
        *record = failed(record.clone(), ErrorClass::HttpStatus, "out of memory");
    }
    records[1] = failed(records[1].clone(), ErrorClass::Io, "reset");
    let errors = summary(&image_plan(15), &records).errors;
    assert_eq!(
        errors.iter().map(|error| (error.class, error.count)).collect::<Vec<_>>(),
        [(ErrorClass::HttpStatus, 13), (ErrorClass::Io, 1)]
    );
    assert_eq!((errors[0].request_ids.len(), errors[0].request_ids[0].as_str()), (10, "req-0003"));
}

#[test]
fn every_catalogued_metric_has_its_number_in_some_run() {
    let mut images = in_turn(&[1.0; 3]);
    let mut clips = vec![video(0, 0.0, 4.0, 33, 24.0)];
    for record in images.iter_mut().chain(&mut clips) {
        record.generation_ms = Some(900.0);
        record.peak_memory_mb = Some(1.0);
    }
    let fixed = |plan: Plan| with_slo(plan, SloTarget::Latency(Span::seconds(36)));
    let mut open = fixed(image_plan(3));
    open.runs = vec![open_loop(open.runs[0].clone(), 1.0, None)];
    let runs = [summary(&open, &images), summary(&fixed(video_plan(1)), &clips)];
    for metric in omni_bench::catalog::METRICS {
        assert!(runs.iter().any(|run| run.metric(metric.name).is_some()), "{}", metric.name);
    }
}
