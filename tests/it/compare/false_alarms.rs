//! Whether significance means something: pairs of arms that differ in nothing, and pairs that differ.

use omni_bench::compare::{Arm, Basis, CompareSettings, Comparison, Doubt, Point, Repeat, compare, self_test};
use omni_bench::summarize::Summary;

use super::build::{Normal, alternating, arm, in_turn, plan, point, summary};

const PAIRS: u32 = 400;
const REQUESTS: usize = 40;
const REPEATS: usize = 5;

/// The floor off, so that the tests alone decide; few draws, because there are hundreds of comparisons.
fn settings() -> CompareSettings {
    CompareSettings { effect_floor: Some(0.0), resamples: 40, ..CompareSettings::default() }
}

/// Runs that take turns on a machine that drifts by 0.5 % from run to run; they differ by 2 % from each other
/// and their requests by 5 %. `shift` is what the second arm's take longer.
struct Machine {
    template: Summary,
    plan: omni_bench::plan::Plan,
}

impl Machine {
    fn new() -> Self {
        let plan = plan(REQUESTS, 1, "");
        let template = summary(&plan, &in_turn(&[10.0; REQUESTS]));
        Self { template, plan }
    }

    fn pair(&self, seed: u64, repeats: usize, shift: f64) -> [Arm; 2] {
        let mut noise = Normal::new(seed);
        let mut sides: [Vec<Repeat>; 2] = [Vec::new(), Vec::new()];
        let mut run = 0;
        for k in 0..repeats {
            // A B, B A, …
            for side in [k % 2, 1 - k % 2] {
                let of_run = 10.0 * (1.0 + 0.005 * f64::from(run)) * (1.0 + 0.02 * noise.next());
                let slower = if side == 1 { shift } else { 1.0 };
                let latencies: Vec<f64> =
                    (0..REQUESTS).map(|_| slower * of_run * (1.0 + 0.05 * noise.next())).collect();
                sides[side].push(Repeat {
                    number: u32::try_from(k + 1).unwrap(),
                    started_us: Some(run.into()),
                    // the metrics of this test come from the records alone
                    summary: self.template.clone(),
                    records: in_turn(&latencies),
                });
                run += 1;
            }
        }
        let [a, b] = sides.map(|repeats| point(&self.plan, repeats));
        [arm("A", a), arm("B", b)]
    }

    fn compared(&self, seed: u64, repeats: usize, shift: f64) -> Comparison {
        let [a, b] = self.pair(seed, repeats, shift);
        compare(&a, &b, &settings()).unwrap()
    }
}

#[test]
fn equal_arms_are_told_apart_over_repeats_no_more_often_than_the_level_says() {
    let machine = Machine::new();
    let (mut of_mean, mut of_any, mut of_requests) = (0, 0, 0);
    for seed in 0..PAIRS {
        let comparison = machine.compared(seed.into(), REPEATS, 1.0);
        let metrics = &comparison.runs[0].metrics;
        assert!(metrics.iter().all(|metric| metric.basis == Basis::AcrossRepeats || !metric.significant));
        let mean = metrics.iter().find(|metric| metric.metric == "latency_s.mean").unwrap();
        of_mean += u32::from(mean.significant);
        of_any += u32::from(metrics.iter().any(|metric| metric.significant));
        of_requests += u32::from(mean.rank.unwrap().p < 0.05);
    }
    // 5 % and two standard errors of such a share of 400
    let most = f64::from(PAIRS) * (0.05 + 2.0 * (0.05_f64 * 0.95 / f64::from(PAIRS)).sqrt());
    assert!(
        f64::from(of_mean) <= most && f64::from(of_any) <= most,
        "{of_mean} and {of_any} of {PAIRS}, at most {most}"
    );
    // requests of a run share what their run has in common: tests on them would claim too much
    assert!(f64::from(of_requests) > 2.0 * most, "{of_requests} of {PAIRS}");
}

#[test]
fn a_shift_of_a_tenth_is_seen_in_more_than_nine_of_ten_pairs() {
    let machine = Machine::new();
    let pairs = 120;
    let seen = (0..pairs).filter(|seed| {
        let comparison = machine.compared(1_000 + seed, REPEATS, 1.1);
        let mean = &comparison.runs[0].metrics[0];
        assert_eq!(mean.metric, "latency_s.mean");
        mean.significant
    });
    let seen = seen.count() as u64;
    assert!(10 * seen > 9 * pairs, "{seen} of {pairs}");
}

#[test]
fn with_fewer_than_five_repeats_every_claim_is_within_this_run() {
    let machine = Machine::new();
    let mut claims = 0;
    for seed in 0..60 {
        let comparison = machine.compared(seed, 3, if seed % 2 == 0 { 1.0 } else { 1.2 });
        assert!(comparison.notes.iter().any(|note| note.contains("within this run")), "{:?}", comparison.notes);
        for metric in &comparison.runs[0].metrics {
            assert_ne!(metric.basis, Basis::AcrossRepeats);
            claims += usize::from(metric.significant);
        }
    }
    assert!(claims > 30, "{claims}");
}

#[test]
fn one_repeat_claims_nothing_however_large_the_difference() {
    let comparison = Machine::new().compared(7, 1, 2.0);
    let metrics = &comparison.runs[0].metrics;
    let supported = metrics.iter().filter(|metric| metric.doubt != Some(Doubt::TooFewRequests));
    for metric in supported {
        assert!(!metric.significant && metric.doubt == Some(Doubt::OneRepeat), "{metric:?}");
        assert_eq!(metric.basis, Basis::WithinThisRun);
    }
    let mean = &metrics[0];
    assert!(mean.low.unwrap() > 0.8 && mean.p.unwrap() < 1e-6, "{mean:?}");
    assert!(comparison.notes[0].contains("no difference is called significant"), "{:?}", comparison.notes);
}

/// Every repeat draws its latencies from one list.
fn one_point(repeats: usize) -> Point {
    let machine = Machine::new();
    let [a, _] = machine.pair(3, repeats, 1.0);
    a.points.into_iter().next().unwrap()
}

#[test]
fn the_self_test_finds_few_false_alarms_over_five_repeats_and_says_how_far_three_reach() {
    let five = self_test(&arm("five", one_point(REPEATS)), &settings(), 60).unwrap();
    let point = &five.points[0];
    assert_eq!((point.repeats, point.basis, five.trials), (5, Basis::AcrossRepeats, 60));
    assert!(point.any.rate <= 0.15 && point.any.low <= 0.05, "{:?}", point.any);
    let three = self_test(&arm("three", one_point(3)), &settings(), 20).unwrap();
    assert_eq!(three.points[0].basis, Basis::WithinThisRun);
    let one = self_test(&arm("one", one_point(1)), &settings(), 20).unwrap();
    assert!(one.points.is_empty() && one.single.len() == 1);
    assert_eq!(three, self_test(&arm("three", one_point(3)), &settings(), 20).unwrap());
}

#[test]
fn the_arms_of_this_test_take_turns() {
    let [a, b] = Machine::new().pair(1, 5, 1.0);
    let comparison = compare(&a, &b, &settings()).unwrap();
    assert_eq!(comparison.runs[0].order.sequence, "ABBAABBAAB");
    let [a, b] = alternating(&plan(4, 1, ""), &[vec![1.0; 4], vec![1.0; 4]], &[vec![1.0; 4], vec![1.0; 4]]);
    assert_eq!(compare(&a, &b, &settings()).unwrap().runs[0].order.sequence, "ABBA");
}
