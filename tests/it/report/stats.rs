//! Own statistics against numpy and scipy; `tests/fixtures/stats.py` makes the expected values.

use std::collections::BTreeMap;

use omni_bench::summarize::{Sample, is_supported, mean_interval, quantile_interval, stratified_mean_interval};
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    samples: BTreeMap<String, Expected>,
    strata: Mix,
}

#[derive(Deserialize)]
struct Mix {
    classes: Vec<Vec<f64>>,
    interval: [f64; 2],
}

#[derive(Deserialize)]
struct Expected {
    values: Vec<f64>,
    mean: f64,
    std: f64,
    quantiles: BTreeMap<String, f64>,
    intervals: BTreeMap<String, Option<[f64; 2]>>,
    mean_interval: Option<[f64; 2]>,
}

fn all_of_it() -> Fixture {
    serde_json::from_str(include_str!("../../fixtures/stats.json")).unwrap()
}

fn fixture() -> BTreeMap<String, Expected> {
    all_of_it().samples
}

fn share(name: &str) -> f64 {
    name.trim_start_matches('p').parse::<f64>().unwrap() / 100.0
}

fn assert_close(actual: f64, expected: f64, relative: f64, what: &str) {
    assert!((actual - expected).abs() <= relative * expected.abs().max(1e-12), "{what}: {actual} is not {expected}");
}

#[test]
fn mean_deviation_and_quantiles_are_those_of_numpy() {
    for (name, expected) in fixture() {
        let sample = Sample::new(expected.values).unwrap();
        assert_close(sample.mean(), expected.mean, 1e-12, &name);
        assert_close(sample.std(), expected.std, 1e-9, &name);
        for (quantile, value) in expected.quantiles {
            assert_close(sample.quantile(share(&quantile)), value, 1e-12, &format!("{name} {quantile}"));
        }
    }
}

#[test]
fn order_statistic_intervals_are_those_of_an_exhaustive_search() {
    let mut seen = 0;
    for (name, expected) in fixture() {
        let sample = Sample::new(expected.values).unwrap();
        for (quantile, interval) in expected.intervals {
            let q = share(&quantile);
            assert_eq!(quantile_interval(&sample, q), interval, "{name} {quantile}");
            assert_eq!(is_supported(sample.n() as u64, q), interval.is_some(), "{name} {quantile}");
            seen += usize::from(interval.is_some());
        }
    }
    assert!(seen >= 10, "{seen}");
}

#[test]
fn the_interval_of_a_mean_is_that_of_scipy() {
    for (name, expected) in fixture() {
        let sample = Sample::new(expected.values).unwrap();
        let (actual, Some(wanted)) = (mean_interval(&sample), expected.mean_interval) else {
            assert_eq!(mean_interval(&sample), None, "{name}");
            continue;
        };
        let actual = actual.unwrap();
        // resampling differs by its seed, the closed forms do not
        let resampled = (20..=5_000).contains(&sample.n());
        let slack = if resampled { 0.05 * (wanted[1] - wanted[0]) } else { 1e-9 * wanted[1] };
        for (end, value) in actual.iter().zip(wanted) {
            assert!((end - value).abs() <= slack, "{name}: {actual:?} is not {wanted:?}");
        }
    }
}

#[test]
fn the_interval_of_a_mixs_mean_has_the_spread_of_its_classes() {
    let sample = |values: &[f64]| Sample::new(values.to_vec()).unwrap();
    let Mix { classes, interval } = all_of_it().strata;
    let strata: Vec<Sample> = classes.iter().map(|values| sample(values)).collect();
    let found = stratified_mean_interval(&strata).unwrap();
    for (end, wanted) in found.iter().zip(interval) {
        assert!((end - wanted).abs() <= 1e-6, "{found:?} is not {interval:?}");
    }
    // the classes taken as one sample would be far less certain
    let pooled = mean_interval(&sample(&classes.concat())).unwrap();
    assert!(pooled[1] - pooled[0] > 5.0 * (found[1] - found[0]), "{pooled:?} {found:?}");
    assert_eq!(stratified_mean_interval(&strata[..1]), mean_interval(&strata[0]));
    assert_eq!(stratified_mean_interval(&[sample(&[1.0, 2.0]), sample(&[9.0])]), None);
    assert_eq!(stratified_mean_interval(&[sample(&[1.0, 1.0]), sample(&[4.0, 4.0])]), Some([2.5, 2.5]));
    assert_eq!(stratified_mean_interval(&[]), None);
}
