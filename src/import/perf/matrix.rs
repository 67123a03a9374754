//! Runs → `[traffic]` and `[matrix]`: the product of its axes where the runs are one, else a zip of
//! lists that names every run.

use indexmap::IndexSet;

use super::PerfPoint;
use crate::scenario::model::{Matrix, Requests, Traffic};
use crate::units::Rate;

type Step = (Rate, u32, u64);

/// Traffic and matrix that make exactly these runs.
pub(super) fn matrix(seed: u64, points: &[PerfPoint]) -> (Traffic, Matrix) {
    let mut traffic = Traffic { seed: Some(seed), ..Traffic::default() };
    let mut matrix = Matrix::default();
    let variants: IndexSet<&str> = points.iter().map(|point| point.variant.as_str()).collect();
    let datasets: IndexSet<&str> = points.iter().map(|point| point.dataset.as_str()).collect();
    let steps = shared_steps(points, &variants, &datasets);
    let is_product = steps.is_some();
    let steps = steps.unwrap_or_else(|| points.iter().map(step).collect());
    let mut zip = Vec::new();
    if !is_product {
        if variants.len() > 1 {
            matrix.variant = Some(points.iter().map(|point| point.variant.clone()).collect());
            zip.push("variant".to_owned());
        }
        if datasets.len() > 1 {
            matrix.dataset = Some(points.iter().map(|point| point.dataset.clone()).collect());
            zip.push("dataset".to_owned());
        }
    }
    let first = steps.first().copied().unwrap_or((Rate::Infinite, 1, 1));
    if steps.iter().all(|step| step.0 == first.0) {
        traffic.request_rate = (first.0 != Rate::Infinite).then_some(first.0);
    } else {
        matrix.request_rate = Some(steps.iter().map(|step| step.0).collect());
        zip.push("request_rate".to_owned());
    }
    if steps.iter().all(|step| step.1 == first.1) {
        traffic.max_concurrency = Some(first.1);
    } else {
        matrix.max_concurrency = Some(steps.iter().map(|step| step.1).collect());
        zip.push("max_concurrency".to_owned());
    }
    if steps.iter().all(|step| step.2 == first.2) {
        traffic.requests = Some(Requests::Count(first.2));
    } else {
        matrix.requests = Some(steps.iter().map(|step| step.2).collect());
        zip.push("requests".to_owned());
    }
    if zip.len() > 1 {
        matrix.zip = vec![zip];
    }
    (traffic, matrix)
}

const fn step(point: &PerfPoint) -> Step {
    (point.request_rate, point.max_concurrency, point.requests)
}

/// The steps that every variant makes of every dataset; `None` when they differ.
fn shared_steps(points: &[PerfPoint], variants: &IndexSet<&str>, datasets: &IndexSet<&str>) -> Option<Vec<Step>> {
    let of = |variant: &str, dataset: &str| -> Vec<Step> {
        points.iter().filter(|point| point.variant == variant && point.dataset == dataset).map(step).collect()
    };
    let shared = of(variants.first()?, datasets.first()?);
    let equal = variants.iter().all(|variant| datasets.iter().all(|dataset| of(variant, dataset) == shared));
    equal.then_some(shared)
}
