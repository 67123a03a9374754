//! Which requests meet which fault, and what the server remembers about it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot, watch};

use super::call::{Asks, Stage, stages};
use super::connection::{Line, Outage};
use crate::catalog::{FaultKind, FaultRule};
use crate::simulator::engine::Clock;
use crate::simulator::random;

/// How long, in modelled seconds, nobody can connect.
const AWAY_S: f64 = 1.0;
/// How long, in modelled seconds, a restarted server answers 503 after that.
const STARTING_S: f64 = 1.0;
/// Jobs with a fault that are remembered; their clients delete them, or have gone.
const KEPT_JOBS: usize = 10_000;

/// A fault that a request meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) kind: FaultKind,
    pub(super) stage: Stage,
    /// Which of the forms of a fault that has several.
    pub(super) turn: u64,
}

/// The faults of a server.
pub(crate) struct Faults {
    rules: Vec<FaultRule>,
    seed: u64,
    clock: Clock,
    drawn: AtomicU64,
    jobs: Mutex<IndexMap<String, Hit>>,
    /// Until when, in modelled seconds, a restarted server is not ready.
    starting_until_s: Mutex<f64>,
    restarts: watch::Sender<u64>,
    away: mpsc::UnboundedSender<Outage>,
    door: Mutex<Option<mpsc::UnboundedReceiver<Outage>>>,
}

impl Faults {
    /// Faults by these rules.
    pub(crate) fn new(rules: &[FaultRule], seed: u64, clock: Clock) -> Self {
        let (away, door) = mpsc::unbounded_channel();
        Self {
            rules: rules.to_vec(),
            // its own sequence: faults do not depend on what noise or pictures draw
            seed: random::nth(random::of_text("faults"), seed),
            clock,
            drawn: AtomicU64::new(0),
            jobs: Mutex::new(IndexMap::new()),
            starting_until_s: Mutex::new(0.0),
            restarts: watch::Sender::new(0),
            away,
            door: Mutex::new(Some(door)),
        }
    }

    /// Whether there are any.
    pub(crate) fn are_on(&self) -> bool {
        !self.rules.is_empty()
    }

    /// What `/version` tells: rates by fault; `None` without faults.
    pub(crate) fn told(&self) -> Option<Value> {
        let told = |rule: &FaultRule| {
            let rate = if rule.at.is_empty() { json!(rule.rate) } else { json!({"rate": rule.rate, "at": rule.at}) };
            (rule.kind.name().to_owned(), rate)
        };
        self.are_on().then(|| Value::Object(self.rules.iter().map(told).collect::<Map<_, _>>()))
    }

    /// A new connection's handle for those who break it; `None` without faults.
    pub(crate) fn line(&self) -> Option<Line> {
        self.are_on().then(|| Line::new(self.restarts.subscribe()))
    }

    /// The fault that the `index`-th request draws.
    pub(super) fn for_request(&self, index: u64) -> Option<FaultKind> {
        if let Some(rule) = self.rules.iter().find(|rule| rule.at.contains(&index)) {
            return Some(rule.kind);
        }
        let mut drawn = random::unit(random::nth(self.seed, index));
        for rule in &self.rules {
            if drawn < rule.rate {
                return Some(rule.kind);
            }
            drawn -= rule.rate;
        }
        None
    }

    /// The fault that the next request that asks for media meets.
    pub(super) fn next(&self, asks: Asks) -> Option<Hit> {
        let index = self.drawn.fetch_add(1, Ordering::Relaxed);
        let kind = self.for_request(index)?;
        let places = stages(kind, asks);
        let many = u64::try_from(places.len()).ok().filter(|many| *many > 0)?;
        let stage = places.get(usize::try_from(index % many).ok()?)?;
        Some(Hit { kind, stage: *stage, turn: index / many })
    }

    fn jobs(&self) -> MutexGuard<'_, IndexMap<String, Hit>> {
        // a panic under the lock leaves whole entries
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a fault for a later call about a job.
    pub(super) fn remember(&self, id: &str, hit: Hit) {
        let mut jobs = self.jobs();
        if jobs.len() >= KEPT_JOBS {
            jobs.shift_remove_index(0);
        }
        jobs.insert(id.to_owned(), hit);
    }

    /// The fault at this call about a job. One that shows once is forgotten.
    pub(super) fn of_job(&self, id: &str, stage: Stage) -> Option<Hit> {
        let mut jobs = self.jobs();
        let hit = jobs.get(id).copied().filter(|hit| hit.stage == stage)?;
        if hit.kind == FaultKind::ContentMissing {
            jobs.shift_remove(id);
        }
        Some(hit)
    }

    /// Wall time of a modelled span, and at least what timers can tell.
    pub(super) fn wall(&self, modelled_s: f64) -> Duration {
        self.clock.wall(modelled_s).max(Duration::from_millis(1))
    }

    /// Sends the listener away; returns when nobody can connect any more.
    pub(super) async fn away(&self) {
        let (closed, is_closed) = oneshot::channel();
        if self.away.send(Outage { span: self.wall(AWAY_S), closed }).is_ok() {
            // the acceptor is gone when the server stops, and then nobody can connect either
            drop(is_closed.await);
        }
    }

    /// Whoever closes the door on [`Faults::away`]; there is one.
    pub(super) fn door(&self) -> Option<mpsc::UnboundedReceiver<Outage>> {
        self.door.lock().ok().and_then(|mut door| door.take())
    }

    /// Cuts every connection after the listener has gone away, and is not ready for a while after that.
    pub(super) async fn restart(&self) {
        if let Ok(mut until_s) = self.starting_until_s.lock() {
            *until_s = self.clock.now_s() + AWAY_S + STARTING_S;
        }
        self.away().await;
        self.jobs().clear();
        self.restarts.send_modify(|count| *count += 1);
    }

    /// Whether the server is still starting after a restart.
    pub(super) fn is_starting(&self) -> bool {
        self.starting_until_s.lock().is_ok_and(|until_s| self.clock.now_s() < *until_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(rules: &[FaultRule], seed: u64) -> Faults {
        Faults::new(rules, seed, Clock::new(1.0))
    }

    fn drawn(faults: &Faults) -> Vec<Option<FaultKind>> {
        (0..20_000).map(|index| faults.for_request(index)).collect()
    }

    #[test]
    fn the_same_seed_draws_the_same_faults_at_the_asked_rates() {
        let rules = [FaultRule::rate(FaultKind::Stall, 0.1), FaultRule::rate(FaultKind::Reset, 0.3)];
        let draws = drawn(&faults(&rules, 7));
        let count = |kind| draws.iter().filter(|drawn| **drawn == kind).count();
        // five standard deviations: 5 √(20,000 · 0.1 · 0.9) and the like
        assert!(count(Some(FaultKind::Stall)).abs_diff(2000) < 212, "{}", count(Some(FaultKind::Stall)));
        assert!(count(Some(FaultKind::Reset)).abs_diff(6000) < 325, "{}", count(Some(FaultKind::Reset)));
        assert_eq!(draws, drawn(&faults(&rules, 7)));
        assert_ne!(draws, drawn(&faults(&rules, 8)));
    }

    #[test]
    fn named_requests_draw_their_fault_and_no_other_does() {
        let faults = faults(&[FaultRule { kind: FaultKind::Drip, rate: 0.0, at: vec![2, 5] }], 7);
        let hits: Vec<u64> = (0..100).filter(|index| faults.for_request(*index).is_some()).collect();
        assert_eq!(hits, [2, 5]);
    }

    #[test]
    fn a_fault_with_several_places_takes_them_in_turn_and_none_where_it_fits_nowhere() {
        let rules = [FaultRule::rate(FaultKind::ServerError, 1.0)];
        let stages: Vec<Stage> = {
            let faults = faults(&rules, 7);
            (0..4).filter_map(|_| faults.next(Asks::Job)).map(|hit| hit.stage).collect()
        };
        assert_eq!(stages, [Stage::Created, Stage::State, Stage::Content, Stage::Created]);
        assert_eq!(faults(&[FaultRule::rate(FaultKind::JobLost, 1.0)], 7).next(Asks::Pictures), None);
    }

    #[test]
    fn content_that_is_missing_is_missing_once() {
        let faults = faults(&[], 7);
        faults.remember("a", Hit { kind: FaultKind::ContentMissing, stage: Stage::Content, turn: 0 });
        let of = |stage| faults.of_job("a", stage).is_some();
        assert_eq!([of(Stage::State), of(Stage::Content), of(Stage::Content)], [false, true, false]);
    }
}
