//! Whether the client could have been the bottleneck of a run: what the client costs by itself, held
//! against what the run asked of it. All of it on the wall clock, where the client lives; a simulated
//! run's times are divided by its speed first.

use super::row::Row;
use super::sample::real;
use super::types::{ClientFigures, Summary};
use crate::record::ClientProbe;

/// Exchanges per second of a run, as a share of the client's highest rate, above which the client
/// may limit it: at half of its capacity a queue's mean wait is already as long as its service.
const RATE_SHARE: f64 = 0.5;
/// Median added latency, as a share of the run's median, above which it is part of the result. The
/// same share as for lateness.
const LATENCY_SHARE: f64 = 0.05;
/// P99 of the added latency, as a share of the run's own P99. A tail comes from few requests, the
/// probe's own among them, and moves with whatever else the machine does; a fifth is beyond that.
const TAIL_SHARE: f64 = 0.2;

/// The client's figures beside a run whose latencies and duration are filled in.
pub(crate) fn figures(probe: &ClientProbe, summary: &Summary, records: &[Row]) -> ClientFigures {
    let wall = |modelled_s: Option<f64>| modelled_s.map(|s| s / summary.speed).filter(|s| *s > 0.0);
    let share = |added_ms: f64, modelled_s| Some(added_ms / (wall(modelled_s)? * 1e3));
    let rate = wall(summary.duration_s).map(|duration| exchanges(records) / duration);
    ClientFigures {
        added_latency_ms: probe.added_latency_ms,
        max_rate_per_s: probe.max_rate_per_s,
        timer_error_ms: probe.timer_error_ms,
        rate_share: rate.filter(|_| probe.max_rate_per_s > 0.0).map(|rate| rate / probe.max_rate_per_s),
        latency_share: share(probe.added_latency_ms.p50, summary.latency_s.p50),
        tail_share: share(probe.added_latency_ms.p99, summary.latency_s.p99),
        could_be_bottleneck: false,
    }
}

/// HTTP exchanges that the records tell of: one per request, and for a job its polls, the fetch of
/// its content and its deletion.
fn exchanges(records: &[Row]) -> f64 {
    let of = |record: &Row| {
        let job = usize::from(record.content_done_us().is_some()) + usize::from(record.is_job());
        1 + record.polls().len() + job
    };
    real(records.iter().filter(|record| record.sent_us().is_some()).map(of).sum())
}

/// Why the client could have been the bottleneck, with figures; nothing when it could not.
/// `late_ms` is the lateness in milliseconds of the wall clock that a schedule does not forgive;
/// `None` in closed loop, which has no schedule.
pub(crate) fn reasons(client: &ClientFigures, late_ms: Option<f64>) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Some(share) = client.rate_share.filter(|share| *share > RATE_SHARE) {
        reasons.push(format!(
            "the run's rate is {:.0} % of the {:.0} exchanges/s that the client reaches",
            share * 100.0,
            client.max_rate_per_s
        ));
    }
    let mut added = |name: &str, ms: f64, share: Option<f64>, most: f64| {
        if let Some(share) = share.filter(|share| *share > most) {
            reasons.push(format!("the client's own {ms:.3} ms ({name}) are {:.0} % of the run's", share * 100.0));
        }
    };
    added("P50", client.added_latency_ms.p50, client.latency_share, LATENCY_SHARE);
    added("P99", client.added_latency_ms.p99, client.tail_share, TAIL_SHARE);
    let timer_ms = client.timer_error_ms.p99;
    if let Some(late_ms) = late_ms.filter(|late_ms| timer_ms > *late_ms) {
        reasons.push(format!("the client's timer is {timer_ms:.3} ms late (P99), more than {late_ms:.3} ms"));
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Spread;

    /// A client that is in nobody's way, held against a run at a tenth of its rate.
    fn quick() -> ClientFigures {
        ClientFigures {
            added_latency_ms: Spread { p50: 0.2, p99: 1.0 },
            max_rate_per_s: 5000.0,
            timer_error_ms: Spread { p50: 0.1, p99: 0.4 },
            rate_share: Some(0.1),
            latency_share: Some(0.001),
            tail_share: Some(0.004),
            could_be_bottleneck: false,
        }
    }

    #[test]
    fn a_client_far_from_its_limits_is_no_reason() {
        assert!(reasons(&quick(), Some(5.0)).is_empty());
        let unknown = ClientFigures { rate_share: None, latency_share: None, tail_share: None, ..quick() };
        assert!(reasons(&unknown, None).is_empty());
    }

    #[test]
    fn each_limit_is_a_reason_above_its_threshold_and_none_at_it() {
        let at = ClientFigures {
            rate_share: Some(RATE_SHARE),
            latency_share: Some(LATENCY_SHARE),
            tail_share: Some(TAIL_SHARE),
            timer_error_ms: Spread { p50: 0.1, p99: 5.0 },
            ..quick()
        };
        assert!(reasons(&at, Some(5.0)).is_empty());
        let rate = reasons(&ClientFigures { rate_share: Some(0.81), ..at }, Some(5.0));
        assert_eq!(rate, ["the run's rate is 81 % of the 5000 exchanges/s that the client reaches"]);
        let median = reasons(&ClientFigures { latency_share: Some(0.25), ..at }, Some(5.0));
        assert_eq!(median, ["the client's own 0.200 ms (P50) are 25 % of the run's"]);
        let tail = reasons(&ClientFigures { tail_share: Some(0.3), ..at }, Some(5.0));
        assert_eq!(tail, ["the client's own 1.000 ms (P99) are 30 % of the run's"]);
        let timer = reasons(&at, Some(4.0));
        assert_eq!(timer, ["the client's timer is 5.000 ms late (P99), more than 4.000 ms"]);
    }

    #[test]
    fn a_timer_is_of_no_matter_without_a_schedule() {
        let late = ClientFigures { timer_error_ms: Spread { p50: 50.0, p99: 90.0 }, ..quick() };
        assert!(reasons(&late, None).is_empty());
    }
}
