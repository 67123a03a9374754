//! `[traffic]`, `[warmup]` and `[slo]` with their defaults, and what they mean for one run.

use super::types::{Arrivals, SloPlan, SloTarget, TrafficPlan, WarmupPlan};
use crate::diagnostic::{KeyPath, Problem};
use crate::scenario::Scenario;
use crate::scenario::model::{Arrival, Match, Order, Requests, Slo, Warmup};
use crate::units::Rate;

/// More requests than this in one run would not fit into memory.
const MOST_REQUESTS: u64 = 10_000_000;
/// In flight during the warm-up of an open loop without a cap, whose own level is not known
/// beforehand; never more than the run has requests.
const UNCAPPED_WARMUP: u32 = 8;

/// The traffic settings that hold for every run unless an axis replaces them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rules {
    pub(super) requests: Requests,
    pub(super) max_concurrency: Option<u32>,
    pub(super) request_rate: Rate,
    pub(super) arrival: Arrival,
    pub(super) burstiness: f64,
    pub(super) trace_speed: f64,
    pub(super) seed: u64,
    pub(super) repeats: u32,
    pub(super) order: Order,
    pub(super) allow_failures: u64,
}

impl Rules {
    /// Reads and checks `[traffic]`; `repeats` is what the command line says.
    pub(super) fn new(scenario: &Scenario, repeats: Option<u32>, problems: &mut Vec<Problem>) -> Self {
        let traffic = &scenario.traffic;
        let rules = Self {
            requests: traffic.requests.unwrap_or(Requests::Count(10)),
            max_concurrency: traffic.max_concurrency,
            request_rate: traffic.request_rate.unwrap_or(Rate::Infinite),
            arrival: traffic.arrival.unwrap_or_default(),
            burstiness: traffic.burstiness.unwrap_or(1.0),
            trace_speed: traffic.trace_speed.unwrap_or(1.0),
            seed: traffic.seed.unwrap_or(42),
            repeats: repeats.or(traffic.repeats).unwrap_or(1),
            order: traffic.order.unwrap_or_default(),
            allow_failures: traffic.allow_failures.unwrap_or(0),
        };
        let mut told = |key: &str, message: String| {
            problems.push(Problem::value(KeyPath::from("traffic").key(key), message));
        };
        match rules.requests {
            Requests::Count(0) | Requests::PerConcurrency { per_concurrency: 0, .. } => {
                told("requests", "a run has at least 1 request".into());
            }
            Requests::Count(count) if count > MOST_REQUESTS => {
                told("requests", format!("a run has at most {MOST_REQUESTS} requests"));
            }
            _ => {}
        }
        if rules.max_concurrency == Some(0) {
            told("max_concurrency", "a cap of 0 would send nothing; leave it out for the default".into());
        }
        if rules.repeats == 0 {
            told("repeats", "every run is carried out at least once".into());
        }
        rules.check_arrival(scenario, &mut told);
        rules
    }

    fn check_arrival(&self, scenario: &Scenario, told: &mut impl FnMut(&str, String)) {
        let traffic = &scenario.traffic;
        for (key, value) in [("burstiness", self.burstiness), ("trace_speed", self.trace_speed)] {
            if !(value.is_finite() && value > 0.0) {
                told(key, format!("`{value}` is not a number above 0"));
            }
        }
        let axis_has_rate = scenario.matrix.request_rate.iter().flatten().any(|rate| rate.per_second().is_some());
        let included_rate = scenario.matrix.include.iter().any(|point| point.request_rate.is_some());
        let has_rate = self.request_rate.per_second().is_some() || axis_has_rate || included_rate;
        if self.arrival == Arrival::Trace {
            if traffic.request_rate.is_some() || scenario.matrix.request_rate.is_some() || included_rate {
                told("arrival", "a trace's own arrival times and a `request_rate` contradict each other".into());
            }
        } else {
            if traffic.arrival.is_some() && !has_rate {
                let name = format!("{:?}", self.arrival).to_lowercase();
                told("arrival", format!("`{name}` arrivals need a `request_rate`; without one the loop is closed"));
            }
            if traffic.trace_speed.is_some() {
                told("trace_speed", "`trace_speed` needs `arrival = \"trace\"`".into());
            }
        }
        if traffic.burstiness.is_some() && self.arrival != Arrival::Gamma {
            told("burstiness", "`burstiness` needs `arrival = \"gamma\"`".into());
        }
    }

    /// How requests arrive at this rate.
    pub(super) const fn arrivals(&self, rate: Rate) -> Arrivals {
        match (self.arrival, rate) {
            (Arrival::Trace, _) => Arrivals::Trace { speed: self.trace_speed },
            (_, Rate::Infinite) => Arrivals::Closed,
            (Arrival::Poisson, Rate::PerSecond(_)) => Arrivals::Poisson,
            (Arrival::Constant, Rate::PerSecond(_)) => Arrivals::Constant,
            (Arrival::Gamma, Rate::PerSecond(_)) => Arrivals::Gamma { burstiness: self.burstiness },
        }
    }

    /// The cap in force: a closed loop without one has a single slot, an open loop has none.
    pub(super) fn cap(&self, rate: Rate, written: Option<u32>) -> Option<u32> {
        written.or_else(|| (!self.arrivals(rate).is_open_loop()).then_some(1))
    }

    /// Requests asked of a run with this cap; `None` when they depend on a cap that is not there.
    pub(super) fn requests(&self, cap: Option<u32>) -> Option<u64> {
        match self.requests {
            Requests::Count(count) => Some(count),
            Requests::PerConcurrency { per_concurrency, at_least } => {
                let all = per_concurrency.saturating_mul(u64::from(cap?)).max(at_least);
                Some(all.min(MOST_REQUESTS))
            }
        }
    }
}

/// Warm-up of a run: by default as many requests as fill its concurrency and touch each of its
/// classes. An open loop without a cap warms up 8 at once, or as many as it has requests.
pub(super) fn warmup(written: &Warmup, traffic: &TrafficPlan, classes: usize) -> WarmupPlan {
    let most = u32::try_from(traffic.requests).unwrap_or(u32::MAX);
    let own = traffic.max_concurrency.unwrap_or(UNCAPPED_WARMUP.min(most)).max(1);
    let concurrency = match written.concurrency.unwrap_or_default() {
        Match::Run => own,
        Match::Count(count) => count.max(1),
    };
    let enough = concurrency.max(own).max(u32::try_from(classes).unwrap_or(u32::MAX));
    let requests = match written.requests.unwrap_or_default() {
        Match::Run => concurrency.max(u32::try_from(classes).unwrap_or(u32::MAX)),
        Match::Count(count) => count,
    };
    let same_shape = written.num_inference_steps.is_none() && written.num_frames.is_none();
    WarmupPlan {
        requests,
        concurrency,
        num_inference_steps: written.num_inference_steps,
        num_frames: written.num_frames,
        matched: same_shape && concurrency == own && requests >= enough,
    }
}

/// Checks `[warmup]`.
pub(super) fn check_warmup(written: &Warmup, problems: &mut Vec<Problem>) {
    let at = KeyPath::from("warmup");
    if written.concurrency == Some(Match::Count(0)) {
        problems.push(
            Problem::value(at.key("concurrency"), "a concurrency of 0 would send nothing")
                .hint("write `warmup.requests = 0` for no warm-up"),
        );
    }
    for (key, value) in [("num_inference_steps", written.num_inference_steps), ("num_frames", written.num_frames)] {
        if value == Some(0) {
            problems.push(Problem::value(at.key(key), format!("`{key}` is at least 1")));
        }
    }
}

/// Resolves `[slo]`. `rows_have_targets` says whether some row of the data carries its own target,
/// which counts even where the scenario has no `[slo]`; `None` when the data could not be read.
pub(super) fn slo(
    written: Option<&Slo>,
    rows_have_targets: Option<bool>,
    problems: &mut Vec<Problem>,
) -> Option<SloPlan> {
    const ATTAINMENT: f64 = 0.99;
    let Some(written) = written else {
        let row_only = SloPlan { target: SloTarget::RowOnly, attainment: ATTAINMENT };
        return (rows_have_targets == Some(true)).then_some(row_only);
    };
    let at = KeyPath::from("slo");
    let attainment = written.attainment.unwrap_or(ATTAINMENT);
    if !(attainment > 0.0 && attainment <= 1.0) {
        let message = format!("`{attainment}` is not a share above 0 and up to 1");
        problems.push(Problem::value(at.key("attainment"), message));
    }
    if written.calibration.is_some() && written.scale.is_none() {
        problems.push(Problem::key(at.key("calibration"), "`calibration` needs `scale`"));
    }
    let target = match (written.latency, written.scale) {
        (Some(_), Some(_)) => {
            problems.push(Problem::key(at.key("scale"), "give either `latency` or `scale`, not both"));
            return None;
        }
        (Some(latency), None) => {
            if latency.duration().is_zero() {
                problems.push(Problem::value(at.key("latency"), "a target of 0 is never met"));
            }
            SloTarget::Latency(latency)
        }
        (None, Some(factor)) => {
            if !(factor.is_finite() && factor > 0.0) {
                problems.push(Problem::value(at.key("scale"), format!("`{factor}` is not a number above 0")));
            }
            let calibration = written.calibration.unwrap_or(3);
            if calibration == 0 {
                problems.push(Problem::value(at.key("calibration"), "a scale needs at least 1 calibration request"));
            }
            SloTarget::Scale { factor, calibration }
        }
        (None, None) => {
            if rows_have_targets == Some(false) {
                problems.push(
                    Problem::key(at, "`slo` names no target").hint("give `latency`, `scale`, or rows with `slo_ms`"),
                );
            }
            SloTarget::RowOnly
        }
    };
    Some(SloPlan { target, attainment })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> (Rules, Vec<String>) {
        let scenario: Scenario = toml::from_str(text).unwrap();
        let mut problems = Vec::new();
        let rules = Rules::new(&scenario, None, &mut problems);
        (rules, problems.into_iter().map(|problem| problem.path.to_string()).collect())
    }

    fn traffic(requests: u64, max_concurrency: Option<u32>) -> TrafficPlan {
        let (request_rate, arrivals) = (Rate::Infinite, Arrivals::Closed);
        TrafficPlan { requests, max_concurrency, request_rate, arrivals, seed: 1 }
    }

    #[test]
    fn a_closed_loop_has_one_slot_and_an_open_loop_no_hidden_cap() {
        let (rules, _) = rules("");
        assert_eq!(rules.cap(Rate::Infinite, None), Some(1));
        assert_eq!(rules.cap(Rate::PerSecond(2.0), None), None);
        assert_eq!(rules.cap(Rate::PerSecond(2.0), Some(4)), Some(4));
    }

    #[test]
    fn requests_may_follow_the_concurrency() {
        let (rules, problems) = rules("traffic.requests = { per_concurrency = 4, at_least = 10 }");
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(
            [rules.requests(Some(1)), rules.requests(Some(8)), rules.requests(None)],
            [Some(10), Some(32), None]
        );
    }

    #[test]
    fn traffic_that_cannot_be_is_refused() {
        for (text, path) in [
            ("traffic.requests = 0", "traffic.requests"),
            ("traffic.requests = 99999999999", "traffic.requests"),
            ("traffic.requests = { per_concurrency = 0 }", "traffic.requests"),
            ("traffic.max_concurrency = 0", "traffic.max_concurrency"),
            ("traffic.repeats = 0", "traffic.repeats"),
            ("traffic = { arrival = 'gamma', request_rate = 1, burstiness = 0 }", "traffic.burstiness"),
            ("traffic = { arrival = 'gamma', request_rate = 1, burstiness = inf }", "traffic.burstiness"),
            ("traffic = { arrival = 'gamma', request_rate = 1, burstiness = nan }", "traffic.burstiness"),
            ("traffic = { request_rate = 1, burstiness = 0.5 }", "traffic.burstiness"),
            ("traffic = { arrival = 'trace', trace_speed = -1 }", "traffic.trace_speed"),
            ("traffic = { trace_speed = 2 }", "traffic.trace_speed"),
            ("traffic = { arrival = 'trace', request_rate = 2 }", "traffic.arrival"),
            ("traffic = { arrival = 'trace', burstiness = 2 }", "traffic.burstiness"),
            ("traffic = { arrival = 'constant' }", "traffic.arrival"),
        ] {
            assert_eq!(rules(text).1, [path], "{text}");
        }
        assert_eq!(rules("traffic.arrival = 'constant'\nmatrix.request_rate = [1, 'inf']").1, Vec::<String>::new());
    }

    #[test]
    fn a_matching_warmup_fills_the_concurrency_and_touches_every_class() {
        let none = Warmup::default();
        let plan = warmup(&none, &traffic(10, Some(4)), 2);
        assert_eq!((plan.requests, plan.concurrency, plan.matched), (4, 4, true));
        let plan = warmup(&none, &traffic(10, Some(1)), 3);
        assert_eq!((plan.requests, plan.concurrency, plan.matched), (3, 1, true));
        let plan = warmup(&none, &traffic(3, None), 1);
        assert_eq!((plan.requests, plan.concurrency, plan.matched), (3, 3, true));
        let plan = warmup(&none, &traffic(100, None), 1);
        assert_eq!((plan.requests, plan.concurrency), (8, 8));
    }

    #[test]
    fn a_warmup_that_differs_from_the_load_says_so() {
        for (text, requests, concurrency) in [
            ("requests = 1", 1, 4),
            ("requests = 0", 0, 4),
            ("concurrency = 1", 2, 1),
            ("concurrency = 8", 8, 8),
            ("num_inference_steps = 2", 4, 4),
            ("num_frames = 1", 4, 4),
        ] {
            let plan = warmup(&toml::from_str(text).unwrap(), &traffic(10, Some(4)), 2);
            assert_eq!((plan.requests, plan.concurrency, plan.matched), (requests, concurrency, false), "{text}");
        }
        let plan = warmup(&toml::from_str("requests = 6\nconcurrency = 4").unwrap(), &traffic(10, Some(4)), 2);
        assert!(plan.matched);
    }

    #[test]
    fn slo_settings_are_checked() {
        let read = |text: &str, rows| {
            let mut problems = Vec::new();
            let plan = slo(Some(&toml::from_str(text).unwrap()), Some(rows), &mut problems);
            (plan, problems.into_iter().map(|problem| problem.path.to_string()).collect::<Vec<_>>())
        };
        for (text, path) in [
            ("latency = '1s'\nscale = 2", "slo.scale"),
            ("scale = 0", "slo.scale"),
            ("scale = nan", "slo.scale"),
            ("latency = '0s'", "slo.latency"),
            ("latency = '1s'\nattainment = 0", "slo.attainment"),
            ("latency = '1s'\nattainment = 1.1", "slo.attainment"),
            ("scale = 2\ncalibration = 0", "slo.calibration"),
            ("latency = '1s'\ncalibration = 1", "slo.calibration"),
            ("", "slo"),
        ] {
            assert_eq!(read(text, false).1, [path], "{text}");
        }
        let (plan, problems) = read("scale = 3", false);
        assert_eq!(problems, Vec::<String>::new());
        let target = SloTarget::Scale { factor: 3.0, calibration: 3 };
        assert_eq!(plan, Some(SloPlan { target, attainment: 0.99 }));
        assert_eq!(read("", true).0.map(|plan| plan.target), Some(SloTarget::RowOnly));
        assert_eq!(slo(None, Some(false), &mut Vec::new()), None);
        assert!(slo(None, Some(true), &mut Vec::new()).is_some(), "a row's own target always counts");
    }
}
