//! What a comparison says of given numbers: signs, spreads, noise, poll gaps, levels, geometric means.

use omni_bench::compare::{Arm, Basis, Change, CompareSettings, Comparison, Doubt, MetricChange, compare};
use omni_bench::report::comparison_markdown;
use proptest::prelude::*;

use super::build::{Normal, alternating, arm, in_turn, micros, plan, point, repeat};

fn settings() -> CompareSettings {
    CompareSettings { resamples: 100, ..CompareSettings::default() }
}

fn compared([a, b]: &[Arm; 2]) -> Comparison {
    compare(a, b, &settings()).unwrap()
}

fn metric<'a>(comparison: &'a Comparison, name: &str) -> &'a MetricChange {
    let found = comparison.runs[0].metrics.iter().find(|metric| metric.metric == name);
    found.unwrap_or_else(|| panic!("{name}: {comparison:#?}"))
}

/// Runs of equal requests, one per given latency.
fn level(latencies: &[f64]) -> Vec<Vec<f64>> {
    latencies.iter().map(|latency| vec![*latency; 12]).collect()
}

/// Five repeats around a latency, with a little noise.
fn around(latency: f64, seed: u64) -> Vec<Vec<f64>> {
    let mut noise = Normal::new(seed);
    (0..5).map(|_| (0..12).map(|_| latency * (1.0 + 0.004 * noise.next())).collect()).collect()
}

#[test]
fn c80_a_latency_that_grows_is_worse_and_a_rate_that_grows_is_better() {
    let plan = plan(12, 1, "");
    let slower = compared(&alternating(&plan, &level(&[10.0; 5]), &level(&[12.0; 5])));
    let latency = metric(&slower, "latency_s.mean");
    assert_eq!((latency.baseline, latency.candidate, latency.direction), (10.0, 12.0, Change::Worse));
    assert!((latency.change.unwrap() - 0.2).abs() < 1e-12 && (latency.difference - 2.0).abs() < 1e-12);
    assert!(comparison_markdown(&slower, None).contains("+20.0 % (worse)"));
    let faster = compared(&alternating(&plan, &level(&[0.1; 5]), &level(&[0.1 / 1.2; 5])));
    let rate = metric(&faster, "throughput_per_s");
    assert_eq!(rate.direction, Change::Better);
    assert!((rate.baseline - 10.0).abs() < 1e-3 && (rate.candidate - 12.0).abs() < 1e-3, "{rate:?}");
    assert!(comparison_markdown(&faster, None).contains("+20.0 % (better)"));
}

#[test]
fn c83_repeats_whose_bands_overlap_are_within_noise() {
    let arms = alternating(&plan(12, 1, ""), &level(&[10.0, 10.1, 9.9]), &level(&[10.2, 10.0, 10.3]));
    let comparison = compared(&arms);
    let mean = metric(&comparison, "latency_s.mean");
    assert_eq!((mean.significant, mean.doubt), (false, Some(Doubt::WithinNoise)));
    let near = |spread: Option<[f64; 2]>, ends: [f64; 2]| {
        spread.unwrap().iter().zip(ends).all(|(found, wanted)| (found - wanted).abs() < 1e-9)
    };
    assert!(near(mean.baseline_spread, [9.9, 10.1]) && near(mean.candidate_spread, [10.0, 10.3]), "{mean:?}");
    let text = comparison_markdown(&comparison, None);
    for part in ["+1.67 % (worse)", "10.0000 (9.9000–10.1000)", "10.1667 (10.0000–10.3000)", "~ within noise"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn c83_reserved_memory_has_a_tolerance_of_its_own() {
    let plan = plan(12, 1, "");
    let side = |memory: f64, late: i64| {
        let repeats = (1_u32..=3).map(|number| {
            let mut records = in_turn(&[10.0; 12]);
            for record in &mut records {
                record.peak_memory_mb = Some(memory);
            }
            repeat(&plan, number, 2 * i64::from(number) + late, records)
        });
        arm("x", point(&plan, repeats.collect()))
    };
    let comparison = compared(&[side(35926.0, 0), side(39026.0, 1)]);
    let memory = metric(&comparison, "peak_memory_mb.max");
    assert_eq!((memory.significant, memory.doubt, memory.direction), (false, Some(Doubt::BelowFloor), Change::Worse));
    let text = comparison_markdown(&comparison, None);
    assert!(text.contains("+8.63 % (worse)") && text.contains("reserved, pool dependent"), "{text}");
}

#[test]
fn c83_a_single_repeat_claims_nothing() {
    let comparison = compared(&alternating(&plan(12, 1, ""), &level(&[10.0]), &level(&[20.0])));
    let mean = metric(&comparison, "latency_s.mean");
    assert_eq!((mean.significant, mean.doubt), (false, Some(Doubt::OneRepeat)));
    assert!(comparison_markdown(&comparison, None).contains("~ one repeat: no claim"));
}

#[test]
fn a_change_below_the_floor_is_noise_however_certain() {
    let arms = alternating(&plan(12, 1, ""), &level(&[10.0; 5]), &level(&[10.05; 5]));
    let mean = |floor| {
        let settings = CompareSettings { effect_floor: floor, ..settings() };
        metric(&compare(&arms[0], &arms[1], &settings).unwrap(), "latency_s.mean").clone()
    };
    assert_eq!((mean(None).significant, mean(None).doubt), (false, Some(Doubt::BelowFloor)));
    assert!(mean(Some(0.001)).significant, "{:?}", mean(Some(0.001)));
    // half a millisecond is below what the client's timers can tell, whatever share it is
    let tiny = alternating(&plan(12, 1, ""), &level(&[0.001; 5]), &level(&[0.0015; 5]));
    assert_eq!(metric(&compared(&tiny), "latency_s.mean").doubt, Some(Doubt::BelowFloor));
}

#[test]
fn jobs_whose_poll_gaps_may_be_the_whole_difference_are_not_told_apart() {
    let plan = plan(12, 1, "");
    let side = |latency: f64, late: i64| {
        let repeats = (1_u32..=5).map(|number| {
            let mut records = in_turn(&[latency; 12]);
            for record in &mut records {
                record.job_bounds_us = Some([record.done_us - 500_000, record.done_us]);
            }
            repeat(&plan, number, 2 * i64::from(number) + late, records)
        });
        arm("x", point(&plan, repeats.collect()))
    };
    let near = compared(&[side(10.0, 0), side(9.7, 1)]);
    let mean = metric(&near, "latency_s.mean");
    assert_eq!((mean.significant, mean.doubt), (false, Some(Doubt::PollGaps)));
    let [low, high] = mean.poll_bounds.unwrap();
    // 9.2 of 10.0, and 9.7 of 9.5
    assert!((low + 0.08).abs() < 1e-9 && (high - (9.7 / 9.5 - 1.0)).abs() < 1e-9, "{low} {high}");
    assert!(metric(&compared(&[side(10.0, 0), side(8.0, 1)]), "latency_s.mean").significant);
    assert!(comparison_markdown(&near, None).contains("| Poll Gaps |"));
}

/// Arms of several levels, given by concurrency and latency of each arm.
fn sweep(levels: &[(usize, f64, f64)]) -> Comparison {
    let mut arms = [Vec::new(), Vec::new()];
    for (concurrency, a, b) in levels {
        let plan = plan(16, *concurrency, "");
        for (side, latency) in [(0, a), (1, b)] {
            let repeats = (1_u32..=5).map(|number| {
                // waves of as many requests as may be in flight
                let mut records = in_turn(&[*latency; 16]);
                for record in &mut records {
                    let at = (record.index / concurrency) as u64 * micros(*latency);
                    record.done_us = at + micros(*latency);
                    (record.due_us, record.sent_us) = (at, Some(at));
                }
                repeat(&plan, number, 2 * i64::from(number) + side, records)
            });
            arms[usize::from(side == 1)].push(point(&plan, repeats.collect()));
        }
    }
    let [a, b] = arms.map(|points| Arm { name: "x".to_owned(), points });
    compare(&a, &b, &settings()).unwrap()
}

#[test]
fn levels_tell_speed_up_efficiency_and_where_nothing_more_is_gained() {
    let comparison = sweep(&[(1, 2.0, 2.0), (2, 2.1, 2.0), (4, 4.2, 2.0), (8, 8.4, 2.5)]);
    let remarks = |of: fn(&omni_bench::compare::Level) -> &omni_bench::compare::Scaling| {
        comparison.levels.iter().map(|level| of(level).remark.clone()).collect::<Vec<_>>()
    };
    let no_gain = Some("no gain over c = 2".to_owned());
    assert_eq!(remarks(|level| &level.baseline), [None, None, no_gain.clone(), no_gain]);
    assert_eq!(remarks(|level| &level.candidate), [None, None, None, None]);
    let top = comparison.levels.last().unwrap();
    assert!((top.speed_up - 3.36).abs() < 0.01 && top.significant, "{top:?}");
    assert!((top.candidate.gain - 6.4).abs() < 0.01 && (top.candidate.efficiency - 0.8).abs() < 0.01, "{top:?}");
    assert!(!comparison.levels[0].significant);
}

#[test]
fn a_server_that_works_off_one_request_at_a_time_is_serialised() {
    let comparison = sweep(&[(1, 2.0, 2.0), (4, 8.0, 2.1)]);
    assert_eq!(comparison.levels[1].baseline.remark.as_deref(), Some("serialised"));
    assert_eq!(comparison.levels[1].candidate.remark, None);
}

#[test]
fn the_geometric_mean_is_over_the_ratios_of_all_points() {
    let comparison = sweep(&[(1, 2.0, 4.0), (2, 2.0, 1.0), (4, 2.0, 2.0)]);
    let mean = &comparison.geomean["latency_s.mean"];
    assert_eq!((mean.points, mean.significant), (3, [1, 1]));
    assert!(mean.change.abs() < 1e-9, "{mean:?}");
}

#[test]
fn classes_of_a_mix_are_compared_by_themselves() {
    let plan = plan(12, 1, "");
    let side = |dear: f64, late: i64| {
        let repeats = (1_u32..=5).map(|number| {
            let mut records = in_turn(&[[2.0, dear]; 6].concat());
            for record in records.iter_mut().filter(|record| record.index % 2 == 1) {
                record.class = "1024x1024-s20".to_owned();
            }
            repeat(&plan, number, 2 * i64::from(number) + late, records)
        });
        arm("x", point(&plan, repeats.collect()))
    };
    let comparison = compared(&[side(20.0, 0), side(10.0, 1)]);
    let classes = &comparison.runs[0].classes;
    let mean = |class: &str| &classes[class][0];
    assert_eq!(mean("512x512-s20").doubt, Some(Doubt::NoDifference));
    assert!(mean("1024x1024-s20").significant);
    assert!((mean("1024x1024-s20").change.unwrap() + 0.5).abs() < 1e-9);
}

#[test]
fn above_five_thousand_requests_nothing_is_drawn_again() {
    let plan = plan(3000, 1, "");
    let side = |latency: f64, seed: u64| {
        let mut noise = Normal::new(seed);
        vec![(0..3000).map(|_| latency * (1.0 + 0.1 * noise.next())).collect::<Vec<f64>>()]
    };
    let arms = alternating(&plan, &side(1.0, 1), &side(1.02, 2));
    let none = CompareSettings { resamples: 0, ..CompareSettings::default() };
    let comparison = compare(&arms[0], &arms[1], &none).unwrap();
    for name in ["latency_s.mean", "latency_s.p50", "latency_s.p99"] {
        let metric = metric(&comparison, name);
        let (low, high, change) = (metric.low.unwrap(), metric.high.unwrap(), metric.change.unwrap());
        assert!(low < change && change < high && high - low < 0.06, "{metric:?}");
        assert_eq!(metric.basis, Basis::WithinThisRun);
    }
    // the standard error of a ratio of two such means is 0.1 × √(2 / 3000)
    let mean = metric(&comparison, "latency_s.mean");
    let width = (mean.high.unwrap() - mean.low.unwrap()) / (2.0 * 1.96 * 1.02);
    assert!((width / (0.1 * (2.0_f64 / 3000.0).sqrt()) - 1.0).abs() < 0.25, "{width}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn swapping_the_arms_turns_every_sign_and_changes_no_verdict(latency in 1.0..20.0f64, by in 0.8..1.25f64, seed in 0u64..1000) {
        let plan = plan(12, 1, "");
        let [a, b] = alternating(&plan, &around(latency, seed), &around(latency * by, seed + 1));
        let (there, back) = (compared(&[a.clone(), b.clone()]), compared(&[b, a]));
        for (one, other) in there.runs[0].metrics.iter().zip(&back.runs[0].metrics) {
            prop_assert_eq!((one.significant, one.doubt), (other.significant, other.doubt));
            prop_assert_eq!((one.difference, one.p), (-other.difference, other.p));
            let turned = match one.direction {
                Change::Better => Change::Worse,
                Change::Worse => Change::Better,
                Change::Same => Change::Same,
            };
            prop_assert_eq!(other.direction, turned);
            if let (Some(low), Some(high)) = (one.low, other.high) {
                prop_assert!(((1.0 + low) * (1.0 + high) - 1.0).abs() < 1e-9, "{} {}", low, high);
            }
        }
    }

    #[test]
    fn arms_of_the_same_runs_differ_in_nothing(latency in 1.0..20.0f64, seed in 0u64..1000) {
        let runs = around(latency, seed);
        let comparison = compared(&alternating(&plan(12, 1, ""), &runs, &runs));
        for metric in &comparison.runs[0].metrics {
            prop_assert!(!metric.significant && metric.difference == 0.0, "{metric:?}");
        }
    }

    #[test]
    fn another_unit_of_time_changes_no_relative_figure(by in 0.9..1.2f64, seed in 0u64..1000) {
        let plan = plan(12, 1, "");
        // whole microseconds, so that only the unit differs
        let whole = |runs: Vec<Vec<f64>>, factor: f64| -> Vec<Vec<f64>> {
            let scaled = |value: f64| (value * 1e6).round() * factor / 1e6;
            runs.into_iter().map(|run| run.into_iter().map(scaled).collect()).collect()
        };
        let of = |factor: f64| {
            compared(&alternating(&plan, &whole(around(5.0, seed), factor), &whole(around(5.0 * by, seed + 1), factor)))
        };
        for (small, large) in of(1.0).runs[0].metrics.iter().zip(&of(3.0).runs[0].metrics) {
            prop_assert_eq!(small.significant, large.significant);
            for (small, large) in [(small.change, large.change), (small.low, large.low), (small.p, large.p)] {
                prop_assert!(small.is_none() == large.is_none());
                prop_assert!(small.zip(large).is_none_or(|(s, l)| (s - l).abs() < 1e-9), "{:?} {:?}", small, large);
            }
        }
    }
}
