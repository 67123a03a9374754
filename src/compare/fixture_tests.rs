//! The tests and bootstraps against scipy's.

use serde::Deserialize;

use super::detectable::{NoiseLevel, detectable};
use super::holm::holm;
use super::rank::{mann_whitney, signed_rank};
use super::resample::{Design, Drawn, differences};
use super::series::Series;
use super::student::{paired, welch};
use crate::summarize::{Sample, real};

#[derive(Deserialize)]
struct Fixture {
    signed_rank: Vec<Signed>,
    mann_whitney: Vec<TwoSamples>,
    t_tests: Vec<TTests>,
    blocks: Blocks,
    detectable: Vec<Planned>,
    holm: Adjusted,
}

#[derive(Deserialize)]
struct Signed {
    differences: Vec<f64>,
    exact: bool,
    p: f64,
}

#[derive(Deserialize)]
struct TwoSamples {
    a: Vec<f64>,
    b: Vec<f64>,
    exact: bool,
    p: f64,
}

#[derive(Deserialize)]
struct TTests {
    a: Vec<f64>,
    b: Vec<f64>,
    welch: Student,
    paired: Option<Student>,
}

#[derive(Deserialize)]
struct Student {
    p: f64,
    free: f64,
}

#[derive(Deserialize)]
struct Blocks {
    a: Vec<f64>,
    b: Vec<f64>,
    error: f64,
}

#[derive(Deserialize)]
struct Planned {
    within: f64,
    between: f64,
    requests: u64,
    repeats: u64,
    effect: f64,
    power: f64,
}

#[derive(Deserialize)]
struct Adjusted {
    p: Vec<f64>,
    adjusted: Vec<f64>,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("../../tests/fixtures/compare/tests.json")).unwrap()
}

fn near(found: f64, wanted: f64) -> bool {
    (found - wanted).abs() <= 1e-9 + 1e-7 * wanted.abs()
}

#[test]
fn rank_tests_are_those_of_scipy() {
    let fixture = fixture();
    assert!(fixture.signed_rank.len() >= 8 && fixture.mann_whitney.len() >= 6);
    for (number, Signed { differences, exact, p }) in fixture.signed_rank.into_iter().enumerate() {
        let found = signed_rank(&differences);
        assert!(near(found.p, p) && found.exact == exact, "{number}: {found:?} {p}");
    }
    for (number, TwoSamples { a, b, exact, p }) in fixture.mann_whitney.into_iter().enumerate() {
        let found = mann_whitney(&a, &b);
        assert!(near(found.p, p) && found.exact == exact, "{number}: {found:?} {p}");
    }
}

#[test]
fn t_tests_are_those_of_scipy() {
    let mut pairs = 0;
    for TTests { a, b, welch: wanted, paired: of_pairs } in fixture().t_tests {
        let found = welch(&a, &b).unwrap();
        assert!(near(found.p, wanted.p) && near(found.free, wanted.free), "{found:?}");
        let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
        if let Some(wanted) = of_pairs {
            let found = paired(&differences).unwrap();
            assert!(near(found.p, wanted.p) && near(found.free, wanted.free), "{found:?}");
            pairs += 1;
        }
    }
    assert!(pairs > 0);
    assert!(paired(&[1.0]).is_none() && welch(&[1.0, 2.0], &[1.0]).is_none());
}

#[test]
fn drawn_repeats_spread_as_scipys_paired_bootstrap() {
    let Blocks { a, b, error } = fixture().blocks;
    let arm = |values: &[f64]| values.iter().map(|value| Series::Whole(*value)).collect::<Vec<_>>();
    let design = Design { repeats_paired: true, requests_paired: true, concurrency: 1, resamples: 20_000 };
    let drawn = differences(&arm(&a), &arm(&b), design, Drawn::Repeats, &|a, b| (b / a).ln());
    let mean = drawn.iter().sum::<f64>() / real(drawn.len());
    let spread = Sample::new(drawn).unwrap().std();
    assert!((spread / error - 1.0).abs() < 0.03, "{spread} {error}");
    let ratio = b.iter().sum::<f64>() / a.iter().sum::<f64>();
    assert!((mean - ratio.ln()).abs() < 0.05 * error.max(1e-9), "{mean}");
}

#[test]
fn holms_adjustment_is_its_definition() {
    let Adjusted { p, adjusted } = fixture().holm;
    let found = holm(&p.into_iter().map(Some).collect::<Vec<_>>());
    assert_eq!(found.len(), adjusted.len());
    assert!(found.into_iter().zip(adjusted).all(|(found, wanted)| near(found.unwrap(), wanted)));
}

#[test]
fn a_detectable_effect_has_the_power_that_it_promises() {
    let designs = fixture().detectable;
    assert!(designs.len() >= 3);
    for Planned { within, between, requests, repeats, effect, power } in designs {
        let found = detectable(NoiseLevel { within, between: Some(between) }, requests, repeats).unwrap();
        assert!(near(found.effect, effect), "{found:?} {effect}");
        // the noncentral t distribution's own answer, by scipy
        assert!((power - 0.8).abs() < 0.02, "{power}");
    }
}
