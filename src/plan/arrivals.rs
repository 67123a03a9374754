//! When requests are due in an open loop: seconds from the start of the run, all known before the
//! first request, so that a late one moves no other.

use std::f64::consts::TAU;

use super::types::{Arrivals, TrafficPlan};
use crate::workload::{PyRandom, Requests, derive_seed};

/// Due times of the requests, sorted, the first one 0; `None` in closed loop.
pub(super) fn due_times(traffic: &TrafficPlan, requests: &Requests) -> Option<Vec<f64>> {
    match traffic.arrivals {
        Arrivals::Closed => None,
        Arrivals::Trace { speed } => Some(replayed(requests, speed)),
        process => {
            let mean = 1.0 / traffic.request_rate.per_second()?;
            let mut random = PyRandom::new(derive_seed(traffic.seed, "arrivals"));
            Some(spaced(requests.len(), |i| match process {
                // a multiple and not a sum, which would drift
                Arrivals::Constant => Gap::At(f64::from(u32::try_from(i).unwrap_or(u32::MAX)) * mean),
                Arrivals::Gamma { burstiness } => Gap::After(gamma(&mut random, burstiness) * mean / burstiness),
                _ => Gap::After(exponential(&mut random) * mean),
            }))
        }
    }
}

enum Gap {
    At(f64),
    After(f64),
}

fn spaced(count: usize, mut gap: impl FnMut(usize) -> Gap) -> Vec<f64> {
    let mut now = 0.0;
    (0..count)
        .map(|i| {
            if i > 0 {
                now = match gap(i) {
                    Gap::At(time) => time,
                    Gap::After(wait) => now + wait,
                };
            }
            now
        })
        .collect()
}

/// The trace's own stamps from its first request on, this much faster. The rows are in their order.
fn replayed(requests: &Requests, speed: f64) -> Vec<f64> {
    let mut stamps = requests.each().map(|request| request.timestamp_s.unwrap_or_default()).peekable();
    let first = stamps.peek().copied().unwrap_or_default();
    stamps.map(|stamp| (stamp - first) / speed).collect()
}

/// An exponential variate of mean 1 (inversion; the draw is below 1, so the logarithm is finite).
fn exponential(random: &mut PyRandom) -> f64 {
    -(1.0 - random.random()).ln()
}

/// A gamma variate of this shape and scale 1, mean = shape (Marsaglia and Tsang, 2000; below shape 1
/// with their boost).
fn gamma(random: &mut PyRandom, shape: f64) -> f64 {
    if shape < 1.0 {
        let boost = (1.0 - random.random()).powf(1.0 / shape);
        return gamma(random, shape + 1.0) * boost;
    }
    let mean = shape - 1.0 / 3.0;
    let spread = 1.0 / (9.0 * mean).sqrt();
    loop {
        let x = normal(random);
        let cubed = (1.0 + spread * x).powi(3);
        let draw = 1.0 - random.random();
        if cubed > 0.0 && draw.ln() < 0.5 * x * x + mean - mean * cubed + mean * cubed.ln() {
            return mean * cubed;
        }
    }
}

/// A standard normal variate (Box and Muller, 1958).
fn normal(random: &mut PyRandom) -> f64 {
    let radius = (-2.0 * (1.0 - random.random()).ln()).sqrt();
    radius * (TAU * random.random()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;
    use crate::workload::Request;

    fn gaps(arrivals: Arrivals, rate: f64, count: usize, seed: u64) -> Vec<f64> {
        let request_rate = Rate::PerSecond(rate);
        let traffic = TrafficPlan { requests: count as u64, max_concurrency: None, request_rate, arrivals, seed };
        let requests = (0..count).map(request).collect::<Vec<_>>().into();
        let due = due_times(&traffic, &requests).unwrap();
        assert_eq!(due[0].to_bits(), 0, "the first request is due at once");
        due.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    fn request(index: usize) -> Request {
        let stamps = [1000.0, 1000.2, 1000.5, 1002.0];
        Request {
            index,
            row: index,
            request_id: String::new(),
            task: crate::catalog::Task::T2i,
            shape: crate::workload::Shape::default(),
            prompt: String::new(),
            negative_prompt: None,
            n: None,
            seed: None,
            fields: indexmap::IndexMap::new(),
            images: Vec::new(),
            videos: Vec::new(),
            slo_ms: None,
            timestamp_s: stamps.get(index).copied(),
        }
    }

    fn mean_and_cv(gaps: &[f64]) -> (f64, f64) {
        let n = f64::from(u32::try_from(gaps.len()).unwrap());
        let mean = gaps.iter().sum::<f64>() / n;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, variance.sqrt() / mean)
    }

    #[test]
    fn poisson_gaps_have_the_right_mean_and_spread_and_are_reproducible() {
        let once = gaps(Arrivals::Poisson, 10.0, 1001, 7);
        assert_eq!(once, gaps(Arrivals::Poisson, 10.0, 1001, 7));
        assert_ne!(once, gaps(Arrivals::Poisson, 10.0, 1001, 8));
        let (mean, cv) = mean_and_cv(&once);
        assert!((mean - 0.1).abs() < 0.0095, "{mean}");
        assert!((cv - 1.0).abs() < 0.1, "{cv}");
    }

    #[test]
    fn constant_gaps_are_equal() {
        let (mean, cv) = mean_and_cv(&gaps(Arrivals::Constant, 200.0, 400, 7));
        assert!((mean - 0.005).abs() < 1e-12 && cv < 1e-9, "{mean} {cv}");
    }

    #[test]
    fn gamma_gaps_keep_the_rate_and_have_the_asked_spread() {
        for burstiness in [0.25, 1.0, 4.0] {
            let (mean, cv) = mean_and_cv(&gaps(Arrivals::Gamma { burstiness }, 10.0, 20_001, 7));
            let expected = 1.0 / f64::sqrt(burstiness);
            assert!((mean - 0.1).abs() < 0.1 * expected * 4.0 / f64::sqrt(20_000.0), "γ {burstiness}: mean {mean}");
            assert!((cv / expected - 1.0).abs() < 0.06, "γ {burstiness}: {cv} for {expected}");
        }
    }

    #[test]
    fn a_trace_starts_at_zero_and_is_replayed_at_its_speed() {
        let requests = (0..4).map(request).collect::<Vec<_>>().into();
        let due = |speed| {
            let (request_rate, arrivals) = (Rate::Infinite, Arrivals::Trace { speed });
            let traffic = TrafficPlan { requests: 4, max_concurrency: None, request_rate, arrivals, seed: 1 };
            due_times(&traffic, &requests).unwrap()
        };
        for (speed, expected) in [(1.0, [0.0, 0.2, 0.5, 2.0]), (2.0, [0.0, 0.1, 0.25, 1.0])] {
            for (due, expected) in due(speed).into_iter().zip(expected) {
                assert!((due - expected).abs() < 1e-9, "{due} for {expected}");
            }
        }
    }

    #[test]
    fn a_closed_loop_has_no_due_times() {
        let (request_rate, arrivals) = (Rate::Infinite, Arrivals::Closed);
        let traffic = TrafficPlan { requests: 1, max_concurrency: Some(1), request_rate, arrivals, seed: 1 };
        assert_eq!(due_times(&traffic, &vec![request(0)].into()), None);
    }
}
