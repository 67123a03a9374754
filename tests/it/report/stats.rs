//! Own statistics against numpy and scipy; `tests/fixtures/stats.py` makes the expected values.

use std::collections::BTreeMap;

use omni_bench::summarize::{Sample, is_supported, mean_interval, quantile_interval};
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    samples: BTreeMap<String, Expected>,
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

fn fixture() -> BTreeMap<String, Expected> {
    serde_json::from_str::<Fixture>(include_str!("../../fixtures/stats.json")).unwrap().samples
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
