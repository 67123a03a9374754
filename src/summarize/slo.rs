//! Which requests met their service-level objective.
//!
//! A request's target is its row's own, else the scenario's fixed one, else a factor times the median
//! calibration time of its class; a class without calibration gets it from a fit over the others.
//! A proportional base is never used: fixed costs would be scaled with the steps.

use indexmap::IndexMap;

use super::sample::{Sample, real, real_u64, seconds};
use super::types::Slo;
use crate::plan::{Plan, SloTarget};
use crate::record::{Asked, Record, Status};

/// Share wanted when the scenario has no `[slo]` and rows bring their own targets.
const WANTED: f64 = 0.99;

/// How targets come about in one run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Targets {
    fixed_s: Option<f64>,
    /// Target by class with the basis' name.
    classes: IndexMap<String, (f64, &'static str)>,
    fit_residual_s: Option<f64>,
    wanted: f64,
}

impl Targets {
    /// Targets for the classes of `records`.
    pub(crate) fn new(plan: &Plan, calibration: &[Record], records: &[Record]) -> Self {
        let mut targets = Self {
            fixed_s: None,
            classes: IndexMap::new(),
            fit_residual_s: None,
            wanted: plan.slo.map_or(WANTED, |slo| slo.attainment),
        };
        match plan.slo.map(|slo| slo.target) {
            Some(SloTarget::Latency(span)) => targets.fixed_s = Some(span.duration().as_secs_f64()),
            Some(SloTarget::Scale { factor, .. }) => targets.scale(factor, calibration, records),
            Some(SloTarget::RowOnly) | None => {}
        }
        targets
    }

    fn scale(&mut self, factor: f64, calibration: &[Record], records: &[Record]) {
        let medians = medians(calibration);
        let points: Vec<(f64, f64)> =
            medians.values().filter_map(|(asked, median)| Some((work(asked)?, *median))).collect();
        let fit = Line::fit(&points);
        for record in records {
            if self.classes.contains_key(&record.class) {
                continue;
            }
            let base = match medians.get(record.class.as_str()) {
                Some((_, median)) => Some((*median, "scale × calibration")),
                None => fit.zip(work(&record.asked)).map(|(fit, work)| (fit.at(work), "scale × fit")),
            };
            if let Some((base, basis)) = base.filter(|(base, _)| *base > 0.0) {
                self.classes.insert(record.class.clone(), (factor * base, basis));
            }
        }
        if self.classes.values().any(|(_, basis)| *basis == "scale × fit") {
            self.fit_residual_s = fit.map(|fit| fit.residual);
        }
    }

    /// The target of a request in seconds and its basis; `None` when it has none.
    pub(crate) fn of(&self, record: &Record) -> Option<(f64, &'static str)> {
        let own = record.slo_ms.map(|ms| ms / 1e3);
        match (own, self.fixed_s) {
            // the executor writes the scenario's fixed target into the record
            (Some(own), Some(fixed)) if (micros(own) - micros(fixed)).abs() < 0.5 => Some((fixed, "latency")),
            (Some(own), _) => Some((own, "row")),
            (None, Some(fixed)) => Some((fixed, "latency")),
            (None, None) => self.classes.get(&record.class).copied(),
        }
    }

    /// The target that every request of the class shares, in seconds; rows with their own are left out.
    pub(crate) fn of_class<'a>(&self, records: impl IntoIterator<Item = &'a Record>) -> Option<f64> {
        records.into_iter().filter_map(|record| self.of(record)).find(|(_, basis)| *basis != "row").map(|(s, _)| s)
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
        records: impl IntoIterator<Item = &'a Record>,
        headline_us: fn(&Record) -> Option<u64>,
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
pub(crate) fn slo(targets: &Targets, records: &[Record], headline_us: fn(&Record) -> Option<u64>) -> Option<Slo> {
    let attained = Attained::count(targets, records, headline_us);
    let attainment = attained.share()?;
    let mut targets_s = IndexMap::new();
    let mut sources: Vec<&str> = Vec::new();
    for record in records {
        let Some((limit_s, source)) = targets.of(record) else { continue };
        if source != "row" {
            targets_s.entry(record.class.clone()).or_insert(limit_s);
        }
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    Some(Slo {
        attainment,
        met: attained.met,
        of: attained.of,
        targets_s,
        basis: sources.join(" + "),
        wanted: targets.wanted,
        fit_residual_s: targets.fit_residual_s,
    })
}

/// A time in whole microseconds, as records hold it, so that equality is exact.
fn micros(time_s: f64) -> f64 {
    (time_s * 1e6).round()
}

/// Median calibration latency in seconds per class, over the calibration requests that succeeded.
fn medians(calibration: &[Record]) -> IndexMap<&str, (&Asked, f64)> {
    let mut times: IndexMap<&str, (&Asked, Vec<f64>)> = IndexMap::new();
    for record in calibration.iter().filter(|record| record.status == Status::Ok) {
        if let Some(latency_us) = record.latency_us {
            let class = times.entry(&record.class).or_insert_with(|| (&record.asked, Vec::new()));
            class.1.push(seconds(latency_us));
        }
    }
    times
        .into_iter()
        .filter_map(|(class, (asked, times))| Some((class, (asked, Sample::of_finite(times)?.quantile(0.5)))))
        .collect()
}

/// steps × megapixels × frames; `None` when the request leaves size or steps open.
pub(crate) fn work(asked: &Asked) -> Option<f64> {
    let megapixels = f64::from(asked.width?) * f64::from(asked.height?) / 1e6;
    Some(f64::from(asked.num_inference_steps?) * megapixels * f64::from(asked.num_frames.unwrap_or(1)))
}

/// a + b·x by ordinary least squares.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Line {
    a: f64,
    b: f64,
    /// Root mean square error over the points.
    residual: f64,
}

impl Line {
    /// `None` with fewer than two different x.
    fn fit(points: &[(f64, f64)]) -> Option<Self> {
        let n = real(points.len());
        let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / n;
        let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / n;
        let spread = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum::<f64>();
        if points.len() < 2 || spread <= f64::EPSILON * mean_x * mean_x {
            return None;
        }
        let b = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>() / spread;
        let line = Self { a: mean_y - b * mean_x, b, residual: 0.0 };
        let squares = points.iter().map(|(x, y)| (y - line.at(*x)).powi(2)).sum::<f64>();
        Some(Self { residual: (squares / n).sqrt(), ..line })
    }

    fn at(&self, x: f64) -> f64 {
        self.a + self.b * x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_cost_is_not_scaled_with_the_steps() {
        // 0.5 s + 0.1 s per step at one megapixel: 2 and 10 steps known, 20 asked
        let line = Line::fit(&[(2.0, 0.7), (10.0, 1.5)]).unwrap();
        assert!((line.at(20.0) - 2.5).abs() < 1e-12 && line.residual < 1e-12);
    }

    #[test]
    fn one_calibrated_class_fits_no_line() {
        assert_eq!(Line::fit(&[(2.0, 0.7)]), None);
        assert_eq!(Line::fit(&[(2.0, 0.7), (2.0, 0.8)]), None);
    }
}
