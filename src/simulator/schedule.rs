//! The scheduler as a pure state machine over modelled seconds: jobs with their arrival go in, finished jobs
//! with the times of their stages come out. It never sleeps and reads no clock, so a caller that is late gets
//! the same times as one that is punctual.
//!
//! One lane per replica (data parallelism), one first-in-first-out queue for all. A lane alternates segments:
//! decode a member that has taken its steps, else admit the head of the queue, else take a step. Only under
//! step execution does a lane hold more than one member; they are of one class, join between steps, and each
//! adds a share of a step. A head of another class waits until the lane is empty, and nobody overtakes it.
//! Without step execution a lane serves one request at a time whatever `max_num_seqs` says, as the real server
//! does.

use std::collections::VecDeque;

use super::cost::{Cost, Shape};

/// What a lane may do at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Policy {
    /// Replicas.
    pub(crate) lanes: u32,
    /// Most members of a batch.
    pub(crate) slots: u32,
    /// What each further member adds to a step, as a share of the step.
    pub(crate) member_share: f64,
}

/// A request to be served. `T` is whatever the caller needs to answer it.
#[derive(Debug)]
pub(crate) struct Job<T> {
    /// When it came, in modelled seconds.
    pub(crate) arrival_s: f64,
    /// Its class.
    pub(crate) shape: Shape,
    /// What it costs alone.
    pub(crate) cost: Cost,
    /// The caller's handle.
    pub(crate) ticket: T,
}

/// When the stages of a served request began and ended, in modelled seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::struct_field_names, reason = "every field is a time in seconds and says so")]
pub(crate) struct Times {
    /// When it came.
    pub(crate) arrival_s: f64,
    /// When it left the queue.
    pub(crate) started_s: f64,
    /// When its prompt was encoded.
    pub(crate) encoded_s: f64,
    /// When its last step ended.
    pub(crate) denoised_s: f64,
    /// When it was decoded.
    pub(crate) finished_s: f64,
}

impl Times {
    /// Of a job that leaves the queue at `started_s` and has not been worked on.
    pub(crate) const fn at(arrival_s: f64, started_s: f64) -> Self {
        Self { arrival_s, started_s, encoded_s: started_s, denoised_s: started_s, finished_s: started_s }
    }
}

struct Member<T> {
    job: Job<T>,
    left: u32,
    times: Times,
}

enum Doing<T> {
    Nothing,
    Encode(Member<T>),
    Steps(u32),
    Decode(Member<T>),
}

struct Lane<T> {
    /// End of the current segment; while idle, the end of the last one.
    until_s: f64,
    doing: Doing<T>,
    members: Vec<Member<T>>,
}

impl<T> Lane<T> {
    fn idle(&self) -> bool {
        matches!(self.doing, Doing::Nothing)
    }

    fn held(&self) -> usize {
        self.members.len() + usize::from(matches!(self.doing, Doing::Encode(_) | Doing::Decode(_)))
    }

    /// Ends the segment that is due at `until_s`; a decoded member is finished.
    fn end_segment(&mut self) -> Option<(T, Times)> {
        let at = self.until_s;
        match std::mem::replace(&mut self.doing, Doing::Nothing) {
            Doing::Nothing => None,
            Doing::Encode(mut member) => {
                member.times.encoded_s = at;
                member.times.denoised_s = at;
                self.members.push(member);
                None
            }
            Doing::Steps(taken) => {
                for member in &mut self.members {
                    member.left = member.left.saturating_sub(taken);
                    member.times.denoised_s = at;
                }
                None
            }
            Doing::Decode(mut member) => {
                member.times.finished_s = at;
                Some((member.job.ticket, member.times))
            }
        }
    }

    fn begin(&mut self, at: f64, seconds: f64, doing: Doing<T>) {
        self.until_s = at + seconds;
        self.doing = doing;
    }
}

/// The queue and the lanes.
pub(crate) struct Scheduler<T> {
    policy: Policy,
    lanes: Vec<Lane<T>>,
    waiting: VecDeque<Job<T>>,
}

impl<T> Scheduler<T> {
    /// All lanes idle since 0.
    pub(crate) fn new(policy: Policy) -> Self {
        let lane = || Lane { until_s: 0.0, doing: Doing::Nothing, members: Vec::new() };
        Self { policy, lanes: (0..policy.lanes.max(1)).map(|_| lane()).collect(), waiting: VecDeque::new() }
    }

    /// Queues a job by its arrival.
    pub(crate) fn submit(&mut self, job: Job<T>) {
        let place = self.waiting.partition_point(|other| other.arrival_s <= job.arrival_s);
        self.waiting.insert(place, job);
    }

    /// Drops waiting jobs that nobody waits for. Work already begun goes on, as on a real server.
    pub(crate) fn forget(&mut self, gone: impl Fn(&T) -> bool) {
        self.waiting.retain(|job| !gone(&job.ticket));
    }

    /// Jobs being served, and jobs waiting.
    pub(crate) fn load(&self) -> (usize, usize) {
        (self.lanes.iter().map(Lane::held).sum(), self.waiting.len())
    }

    /// When something happens next, in modelled seconds; `None` when all is idle and nobody waits.
    pub(crate) fn next_s(&self) -> Option<f64> {
        self.next_lane().map(|(_, at)| at)
    }

    /// Lets everything happen that is due by `now_s`, in order.
    pub(crate) fn advance(&mut self, now_s: f64) -> Vec<(T, Times)> {
        let mut finished = Vec::new();
        while let Some((index, at)) = self.next_lane().filter(|(_, at)| *at <= now_s) {
            let Some(lane) = self.lanes.get_mut(index) else { break };
            finished.extend(lane.end_segment());
            begin_segment(lane, &mut self.waiting, at, self.policy);
        }
        finished
    }

    /// The lane that has something to do first: a busy one at the end of its segment, an idle one when the head
    /// of the queue has come.
    fn next_lane(&self) -> Option<(usize, f64)> {
        let head = self.waiting.front().map(|job| job.arrival_s);
        let due = |lane: &Lane<T>| {
            if lane.idle() { head.map(|arrival| arrival.max(lane.until_s)) } else { Some(lane.until_s) }
        };
        self.lanes
            .iter()
            .enumerate()
            .filter_map(|(index, lane)| due(lane).map(|at| (index, at)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// Decides what a lane does from `at` on.
fn begin_segment<T>(lane: &mut Lane<T>, waiting: &mut VecDeque<Job<T>>, at: f64, policy: Policy) {
    if let Some(ready) = lane.members.iter().position(|member| member.left == 0) {
        let member = lane.members.remove(ready);
        return lane.begin(at, member.job.cost.decode_s, Doing::Decode(member));
    }
    let room = u32::try_from(lane.members.len()).is_ok_and(|held| held < policy.slots.max(1));
    let joins =
        |job: &Job<T>| job.arrival_s <= at && lane.members.first().is_none_or(|member| member.job.shape == job.shape);
    if room
        && waiting.front().is_some_and(joins)
        && let Some(job) = waiting.pop_front()
    {
        let (seconds, left, times) = (job.cost.encode_s, job.cost.steps, Times::at(job.arrival_s, at));
        return lane.begin(at, seconds, Doing::Encode(Member { job, left, times }));
    }
    // the slowest member sets the pace of a shared step; noise is the only reason for a difference
    let step = lane.members.iter().map(|member| member.job.cost.step_s).fold(0.0, f64::max);
    let further = u32::try_from(lane.members.len()).unwrap_or(u32::MAX).saturating_sub(1);
    let all_steps = lane.members.first().map_or(0, |member| member.left);
    if all_steps == 0 {
        lane.until_s = at;
        return;
    }
    // nobody can join a lane of one slot, so its steps need no boundary
    let taken = if policy.slots <= 1 { all_steps } else { 1 };
    let seconds = f64::from(taken) * step * (1.0 + policy.member_share * f64::from(further));
    lane.begin(at, seconds, Doing::Steps(taken));
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { width: 512, height: 512, steps: 20, frames: 1, outputs: 1, references: 0 };
    const COST: Cost = Cost { encode_s: 0.1, step_s: 0.1, steps: 20, decode_s: 0.05 };

    fn job(name: &'static str, arrival_s: f64, shape: Shape) -> Job<&'static str> {
        Job { arrival_s, shape, cost: Cost { steps: shape.steps, ..COST }, ticket: name }
    }

    fn scheduler(lanes: u32, slots: u32) -> Scheduler<&'static str> {
        Scheduler::new(Policy { lanes, slots, member_share: 0.4 })
    }

    fn run(mut scheduler: Scheduler<&'static str>, jobs: &[(&'static str, f64, Shape)]) -> Vec<(String, Times)> {
        for (name, arrival_s, shape) in jobs {
            scheduler.submit(job(name, *arrival_s, *shape));
        }
        scheduler.advance(1e6).into_iter().map(|(name, times)| (name.to_owned(), times)).collect()
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} instead of {expected}");
    }

    #[test]
    fn one_slot_serves_in_order_of_arrival_without_drift() {
        let done = run(scheduler(1, 1), &[("b", 0.5, SHAPE), ("a", 0.0, SHAPE), ("late", 100.0, SHAPE)]);
        assert_eq!(done.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["a", "b", "late"]);
        near(done[0].1.finished_s, 2.15);
        near(done[1].1.started_s, 2.15);
        near(done[1].1.finished_s, 4.30);
        near(done[2].1.started_s, 100.0);
        near(done[2].1.encoded_s, 100.1);
        near(done[2].1.denoised_s, 102.1);
        near(done[2].1.finished_s, 102.15);
    }

    #[test]
    fn a_late_caller_gets_the_same_times_as_a_punctual_one() {
        let jobs = [("a", 0.0, SHAPE), ("b", 0.0, SHAPE), ("c", 3.0, SHAPE), ("d", 3.1, SHAPE)];
        let late = run(scheduler(1, 4), &jobs);
        let mut punctual = scheduler(1, 4);
        for (name, arrival_s, shape) in jobs {
            punctual.submit(job(name, arrival_s, shape));
        }
        let mut times = Vec::new();
        while let Some(next) = punctual.next_s() {
            times.extend(punctual.advance(next).into_iter().map(|(name, times)| (name.to_owned(), times)));
        }
        assert_eq!(late, times);
    }

    #[test]
    fn members_of_a_class_share_steps_at_a_share_each() {
        let jobs: Vec<_> = (0..8).map(|_| ("x", 0.0, SHAPE)).collect();
        let alone = run(scheduler(1, 1), &jobs)[7].1.finished_s;
        let batched = run(scheduler(1, 8), &jobs)[7].1.finished_s;
        near(alone, 8.0 * 2.15);
        near(batched, 8.0 * 0.15 + 20.0 * 0.1 * (1.0 + 7.0 * 0.4));
        assert!((1.5..2.5).contains(&(alone / batched)), "{}", alone / batched);
    }

    #[test]
    fn a_member_joins_between_steps_and_leaves_when_its_own_steps_are_done() {
        let done = run(scheduler(1, 2), &[("first", 0.0, SHAPE), ("second", 0.95, SHAPE)]);
        assert_eq!(done[0].0, "first");
        // 9 steps alone, one encoding of the second, 11 steps at 1.4, decoding
        near(done[0].1.finished_s, 0.1 + 9.0 * 0.1 + 0.1 + 11.0 * 0.14 + 0.05);
        assert!(done[1].1.started_s < done[0].1.finished_s);
    }

    #[test]
    fn another_class_waits_for_an_empty_lane_and_is_not_overtaken() {
        let other = Shape { width: 768, ..SHAPE };
        let done = run(scheduler(1, 8), &[("a", 0.0, SHAPE), ("other", 0.1, other), ("same", 0.2, SHAPE)]);
        assert_eq!(done.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["a", "other", "same"]);
        near(done[1].1.started_s, done[0].1.finished_s);
    }

    #[test]
    fn replicas_serve_side_by_side() {
        let done = run(scheduler(2, 1), &[("a", 0.0, SHAPE), ("b", 0.0, SHAPE), ("c", 0.0, SHAPE)]);
        near(done[1].1.finished_s, 2.15);
        near(done[2].1.finished_s, 4.30);
    }

    #[test]
    fn a_waiting_job_can_be_forgotten_but_not_one_that_has_begun() {
        let mut scheduler = scheduler(1, 1);
        scheduler.submit(job("begun", 0.0, SHAPE));
        scheduler.submit(job("waiting", 0.0, SHAPE));
        assert!(scheduler.advance(0.5).is_empty());
        assert_eq!(scheduler.load(), (1, 1));
        scheduler.forget(|_| true);
        assert_eq!(scheduler.load(), (1, 0));
        assert_eq!(scheduler.advance(10.0).len(), 1);
        assert_eq!(scheduler.next_s(), None);
    }

    #[test]
    fn work_that_costs_nothing_is_done_at_once() {
        let mut scheduler = scheduler(1, 1);
        scheduler.submit(Job {
            arrival_s: 5.0,
            shape: SHAPE,
            cost: Cost { encode_s: 0.0, step_s: 0.0, steps: 0, decode_s: 0.0 },
            ticket: "free",
        });
        let done = scheduler.advance(5.0);
        near(done[0].1.finished_s, 5.0);
    }
}
