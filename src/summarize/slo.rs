//! Which requests met their service-level objective.
//!
//! A request's target is its row's own, else the scenario's fixed one, else a factor times the median
//! calibration time of its class; a class without calibration gets it from a fit over the others.
//! A proportional base is never used: fixed costs would be scaled with the steps.

use indexmap::IndexMap;

use super::row::Row;
use super::sample::{Sample, real, real_u64, seconds};
use super::types::{Calibrated, Slo, SloFit};
use crate::plan::{Plan, SloTarget};
use crate::record::{Asked, Status};

/// Share wanted when the scenario has no `[slo]` and rows bring their own targets.
const WANTED: f64 = 0.99;

/// How targets come about in one run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Targets {
    fixed_s: Option<f64>,
    /// Target by class with the basis' name.
    classes: IndexMap<String, (f64, &'static str)>,
    scale: Option<f64>,
    calibration: IndexMap<String, Calibrated>,
    /// The line that some class has its target from.
    fit: Option<SloFit>,
    wanted: f64,
}

impl Targets {
    /// Targets for the classes of `records`.
    pub(crate) fn new(plan: &Plan, calibration: &[Row], records: &[Row]) -> Self {
        let mut targets = Self {
            fixed_s: None,
            classes: IndexMap::new(),
            scale: None,
            calibration: IndexMap::new(),
            fit: None,
            wanted: plan.slo.map_or(WANTED, |slo| slo.attainment),
        };
        match plan.slo.map(|slo| slo.target) {
            Some(SloTarget::Latency(span)) => targets.fixed_s = Some(span.duration().as_secs_f64()),
            Some(SloTarget::Scale { factor, .. }) => targets.scale(factor, calibration, records),
            Some(SloTarget::RowOnly) | None => {}
        }
        targets
    }

    fn scale(&mut self, factor: f64, calibration: &[Row], records: &[Row]) {
        let medians = medians(calibration);
        let points: Vec<(f64, f64)> =
            medians.values().filter_map(|(asked, time)| Some((work(asked)?, time.median_s))).collect();
        let fit = fit(&points);
        for record in records {
            if self.classes.contains_key(record.class()) {
                continue;
            }
            let base = match medians.get(record.class()) {
                Some((_, time)) => Some((time.median_s, "scale × calibration")),
                None => fit.zip(work(record.asked())).map(|(fit, work)| (at(fit, work), "scale × fit")),
            };
            if let Some((base, basis)) = base.filter(|(base, _)| *base > 0.0) {
                self.classes.insert(record.class().to_owned(), (factor * base, basis));
            }
        }
        let is_used = self.classes.values().any(|(_, basis)| *basis == "scale × fit");
        self.fit = fit.filter(|_| is_used);
        self.scale = Some(factor);
        self.calibration = medians.into_iter().map(|(class, (_, time))| (class.to_owned(), time)).collect();
    }

    /// The target of a request in seconds and its basis; `None` when it has none.
    pub(crate) fn of(&self, record: &Row) -> Option<(f64, &'static str)> {
        let own = record.slo_ms().map(|ms| ms / 1e3);
        match (own, self.fixed_s) {
            // the executor writes the scenario's fixed target into the record
            (Some(own), Some(fixed)) if (micros(own) - micros(fixed)).abs() < 0.5 => Some((fixed, "latency")),
            (Some(own), _) => Some((own, "row")),
            (None, Some(fixed)) => Some((fixed, "latency")),
            (None, None) => self.classes.get(record.class()).copied(),
        }
    }

    /// The target that every request of the class shares, in seconds, and its basis; rows with their
    /// own are left out.
    pub(crate) fn of_class<'a>(&self, records: impl IntoIterator<Item = &'a Row>) -> Option<(f64, &'static str)> {
        records.into_iter().filter_map(|record| self.of(record)).find(|(_, basis)| *basis != "row")
    }
}

/// Met and counted requests of some records; failed and censored ones are missed, cancelled ones and
/// those without a target do not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Attained {
    pub(crate) met: u64,
    pub(crate) of: u64,
}

impl Attained {
    pub(crate) fn count<'a>(
        targets: &Targets,
        records: impl IntoIterator<Item = &'a Row>,
        headline_us: fn(&Row) -> Option<u64>,
    ) -> Self {
        let mut attained = Self::default();
        for record in records {
            let Some((limit_s, _)) = targets.of(record).filter(|_| record.status != Status::Cancelled) else {
                continue;
            };
            let met =
                record.status == Status::Ok && headline_us(record).is_some_and(|us| real_u64(us) <= micros(limit_s));
            attained.of += 1;
            attained.met += u64::from(met);
        }
        attained
    }

    /// met / of; `None` when no request had a target.
    pub(crate) fn share(self) -> Option<f64> {
        (self.of > 0).then(|| real_u64(self.met) / real_u64(self.of))
    }
}

/// The run's SLO section; `None` when no request had a target.
pub(crate) fn slo(targets: &Targets, records: &[Row], headline_us: fn(&Row) -> Option<u64>) -> Option<Slo> {
    let attained = Attained::count(targets, records, headline_us);
    let attainment = attained.share()?;
    let mut targets_s = IndexMap::new();
    let mut sources: Vec<&str> = Vec::new();
    for record in records {
        let Some((limit_s, source)) = targets.of(record) else { continue };
        if source != "row" && !targets_s.contains_key(record.class()) {
            targets_s.insert(record.class().to_owned(), limit_s);
        }
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    Some(Slo {
        attainment,
        met: attained.met,
        of: attained.of,
        without_target: records.iter().filter(|record| targets.of(record).is_none()).count() as u64,
        targets_s,
        basis: sources.join(" + "),
        wanted: targets.wanted,
        scale: targets.scale,
        calibration: targets.calibration.clone(),
        fit: targets.fit,
    })
}

/// A time in whole microseconds, as records hold it, so that equality is exact.
fn micros(time_s: f64) -> f64 {
    (time_s * 1e6).round()
}

/// Median calibration latency per class, over the calibration requests that succeeded.
fn medians(calibration: &[Row]) -> IndexMap<&str, (&Asked, Calibrated)> {
    let mut times: IndexMap<&str, (&Asked, Vec<f64>)> = IndexMap::new();
    for record in calibration.iter().filter(|record| record.status == Status::Ok) {
        if let Some(latency_us) = record.latency_us() {
            let class = times.entry(record.class()).or_insert_with(|| (record.asked(), Vec::new()));
            class.1.push(seconds(latency_us));
        }
    }
    times
        .into_iter()
        .filter_map(|(class, (asked, times))| {
            let times = Sample::of_finite(times)?;
            Some((class, (asked, Calibrated { n: times.n() as u64, median_s: times.quantile(0.5) })))
        })
        .collect()
}

/// steps × megapixels × frames; `None` when the request leaves size or steps open.
pub(crate) fn work(asked: &Asked) -> Option<f64> {
    let megapixels = f64::from(asked.width?) * f64::from(asked.height?) / 1e6;
    Some(f64::from(asked.num_inference_steps?) * megapixels * f64::from(asked.num_frames.unwrap_or(1)))
}

/// The line through (x, seconds) by ordinary least squares; `None` with fewer than two different x.
fn fit(points: &[(f64, f64)]) -> Option<SloFit> {
    let n = real(points.len());
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / n;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / n;
    let spread = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum::<f64>();
    if points.len() < 2 || spread <= f64::EPSILON * mean_x * mean_x {
        return None;
    }
    let b_s = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>() / spread;
    let line = SloFit { n: points.len() as u64, a_s: mean_y - b_s * mean_x, b_s, residual_s: 0.0 };
    let squares = points.iter().map(|(x, y)| (y - at(line, *x)).powi(2)).sum::<f64>();
    Some(SloFit { residual_s: (squares / n).sqrt(), ..line })
}

/// Seconds on the line at `x`.
fn at(line: SloFit, x: f64) -> f64 {
    line.a_s + line.b_s * x
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_fixed_cost_is_not_scaled_with_the_steps() {
        // 0.5 s + 0.1 s per step at one megapixel: 2 and 10 steps known, 20 asked
        let line = fit(&[(2.0, 0.7), (10.0, 1.5)]).unwrap();
        assert!((at(line, 20.0) - 2.5).abs() < 1e-12 && line.residual_s < 1e-12);
    }

    #[test]
    fn one_calibrated_class_fits_no_line() {
        assert_eq!(fit(&[(2.0, 0.7)]), None);
        assert_eq!(fit(&[(2.0, 0.7), (2.0, 0.8)]), None);
        assert_eq!(fit(&[]), None);
    }

    #[test]
    fn the_line_is_that_of_scipy() {
        #[derive(serde::Deserialize)]
        struct Fixture {
            line: Fitted,
        }
        #[derive(serde::Deserialize)]
        struct Fitted {
            x: Vec<f64>,
            y: Vec<f64>,
            intercept: f64,
            slope: f64,
            residual: f64,
        }
        let fixture: Fixture = serde_json::from_str(include_str!("../../tests/fixtures/stats.json")).unwrap();
        let expected = fixture.line;
        let points: Vec<(f64, f64)> = expected.x.into_iter().zip(expected.y).collect();
        let line = fit(&points).unwrap();
        for (actual, wanted) in
            [(line.a_s, expected.intercept), (line.b_s, expected.slope), (line.residual_s, expected.residual)]
        {
            assert!((actual - wanted).abs() <= 1e-9 * wanted.abs(), "{actual} is not {wanted}");
        }
        assert_eq!(line.n, points.len() as u64);
    }

    proptest! {
        #[test]
        fn what_the_line_leaves_is_neither_biased_nor_sloped(
            points in prop::collection::vec((0.0..1e3f64, 0.0..1e3f64), 2..40)
        ) {
            let Some(line) = fit(&points) else { return Ok(()) };
            prop_assume!(line.b_s.abs() < 1e3);
            let left: Vec<f64> = points.iter().map(|(x, y)| y - at(line, *x)).collect();
            let scale = 1e-7 * real(points.len());
            prop_assert!(left.iter().sum::<f64>().abs() < 1e3 * scale, "{left:?}");
            let sloped: f64 = points.iter().zip(&left).map(|((x, _), left)| x * left).sum();
            prop_assert!(sloped.abs() < 1e6 * scale, "{sloped}");
        }
    }
}
