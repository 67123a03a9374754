//! What further measurements of a failed run make of its verdict.

use omni_bench::gate::{Confirmation, Measured, Rules, Verdict, VerdictKind, gate};

use super::{baseline, entry, figure, measured};

const LATENCY: &str = "latency_s.mean";

fn judged(point: &Measured) -> Verdict {
    let known = baseline(vec![entry(&[(LATENCY, figure(LATENCY, 10.0))])]);
    gate(std::slice::from_ref(point), Some(&known), &Rules::default())
}

fn again(number: usize, point: &Measured) -> Confirmation {
    Confirmation { name: format!("confirm-{number}"), verdict: judged(point) }
}

fn broken() -> Measured {
    Measured { fault: Some("the server died".into()), ..measured(LATENCY, &[]) }
}

#[test]
fn the_first_re_run_that_passes_clears_and_its_figures_stand() {
    let (slow, fast) = (measured(LATENCY, &[15.0]), measured(LATENCY, &[10.5]));
    let mut verdict = judged(&slow);
    let confirmations = [again(1, &measured(LATENCY, &[14.0])), again(2, &fast)];
    assert_eq!(verdict.failing(&confirmations[..1]), ["v/A/c1"]);
    assert!(verdict.failing(&confirmations).is_empty());
    verdict.settle(&confirmations);
    assert_eq!((verdict.verdict, verdict.runs[0].verdict), (VerdictKind::Pass, VerdictKind::Pass));
    assert_eq!(verdict.metrics.iter().map(|metric| metric.value).collect::<Vec<_>>(), [Some(10.5)]);
    let wanted = "cleared by `confirm-2`, whose figures are shown; at first `latency_s.mean` 15.0000 beyond 11.0000; \
                  `confirm-1` failed too: `latency_s.mean` 14.0000 beyond 11.0000";
    assert_eq!(verdict.runs[0].notes, [wanted]);
}

#[test]
fn a_re_run_that_could_not_be_judged_clears_nothing() {
    let mut verdict = judged(&measured(LATENCY, &[15.0]));
    verdict.settle(&[again(1, &broken())]);
    assert_eq!(verdict.verdict, VerdictKind::Regression);
    assert_eq!(verdict.metrics[0].value, Some(15.0));
    let wanted = "not cleared by any re-run; `confirm-1` says nothing (run failed: the server died)";
    assert_eq!(verdict.runs[0].notes, [wanted]);
}

#[test]
fn re_runs_change_nothing_but_regressions() {
    let mut verdict = judged(&broken());
    let before = verdict.clone();
    assert!(verdict.failing(&[]).is_empty(), "a run that failed is no regression to confirm");
    verdict.settle(&[again(1, &measured(LATENCY, &[10.0]))]);
    assert_eq!(verdict, before);
    let mut verdict = judged(&measured(LATENCY, &[15.0]));
    let before = verdict.clone();
    verdict.settle(&[]);
    assert_eq!(verdict, before);
}
