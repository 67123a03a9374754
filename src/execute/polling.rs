//! Waiting for a job's end by looking at its state: soon at first, then less often, and never past
//! the job's limit for longer than one look.

use std::time::Duration;

use reqwest::Method;

use crate::catalog::{ErrorClass, limits};
use crate::endpoint::{JobReader, JobState, JobStatus, Reply, job_path};
use crate::plan::PollPlan;
use crate::record::{Poll, RequestError};

use super::attempt::{Times, exchange};
use super::client::Call;
use super::clock::micros;
use super::context::Context;
use super::draft::Draft;
use super::fault::{Fault, limit_text};

/// Looks that may fail one after the other.
const MOST_ERRORS: u32 = limits::MOST_POLL_ERRORS;
/// How long a look that began about the job's limit may take, and at most this share of the limit.
const LAST_LOOK: Duration = Duration::from_secs(2);
const LAST_LOOK_SHARE: u32 = 2;
/// Shortest gap, whatever the plan says.
const LEAST_GAP_US: u64 = 1_000;

/// What one look found.
enum Look {
    Unfinished,
    Ended(JobState),
    Lost(RequestError),
    Unreadable(RequestError),
}

/// Polls until the job has ended in the server's words; the times of its end are then in `draft`.
pub(crate) async fn until_ended(ctx: &Context, draft: &mut Draft, id: &str) -> Result<JobState, Fault> {
    let unusable = || Fault::failed(RequestError::new(ErrorClass::PollError, "the job's id makes no address"));
    let url = ctx.shared.client.url(&job_path(id).ok_or_else(unusable)?)?;
    let call = Call { method: Method::GET, url, body: None };
    let limit = ctx.shared.timeout.job.duration();
    let created_us = draft.created_us().unwrap_or_else(|| ctx.clock.now_us());
    let deadline_us = limit.map(|limit| created_us.saturating_add(micros(limit)));
    let mut low_us = draft.call.sent_us.unwrap_or(created_us);
    let (mut last_us, mut errors) = (created_us, 0);
    let (mut state, mut trouble) = (String::from("queued"), String::new());
    loop {
        last_us = next_us(&ctx.shared.poll, created_us, last_us, ctx.clock.now_us(), deadline_us);
        ctx.pause(Duration::from_micros(last_us.saturating_sub(ctx.clock.now_us()))).await?;
        let (look, poll) = look(ctx, draft, &call, deadline_us, &mut state).await?;
        let Poll { sent_us, at_us, .. } = poll;
        draft.polled(poll);
        match look {
            Look::Ended(job) => {
                draft.ended(low_us, at_us);
                return Ok(job);
            }
            Look::Lost(error) => return Err(Fault::failed(error)),
            Look::Unfinished => {
                (low_us, errors) = (sent_us, 0);
                trouble.clear();
            }
            Look::Unreadable(error) => {
                errors += 1;
                if errors >= MOST_ERRORS && deadline_us.is_none_or(|deadline| sent_us < deadline) {
                    let message =
                        format!("{} (failed look number {MOST_ERRORS} in a row, limit `poll_errors`)", error.message);
                    return Err(Fault::failed(RequestError { message, ..error }));
                }
                trouble = format!(", and the last look failed: {}", error.message);
            }
        }
        // a look that began after the limit was the last one
        if deadline_us.is_some_and(|deadline| sent_us >= deadline || (at_us >= deadline && errors > 0)) {
            let message =
                format!("the job was not finished within {}; its last state was `{state}`{trouble}", limit_text(limit));
            return Err(Fault::censored(ErrorClass::JobTimeout, message));
        }
    }
}

/// When to look next: after max(first, growth × job time), at most max, counted from the last look.
/// One look may begin after the limit (a job that had ended by then is not thrown away), but no
/// later than one shortest gap after it.
fn next_us(plan: &PollPlan, created_us: u64, last_us: u64, now_us: u64, deadline_us: Option<u64>) -> u64 {
    let elapsed = Duration::from_micros(last_us.saturating_sub(created_us));
    let grown = Duration::try_from_secs_f64(elapsed.as_secs_f64() * plan.growth).unwrap_or_default();
    let gap = grown.max(plan.first.duration()).min(plan.max.duration());
    let next = last_us.saturating_add(micros(gap).max(LEAST_GAP_US)).max(now_us);
    match deadline_us {
        Some(deadline) if next > deadline.saturating_add(micros(plan.first.duration())) => deadline.max(now_us),
        _ => next,
    }
}

async fn look(
    ctx: &Context,
    draft: &mut Draft,
    call: &Call<'_>,
    deadline_us: Option<u64>,
    state: &mut String,
) -> Result<(Look, Poll), Fault> {
    let sent_us = ctx.clock.now_us();
    let mut times = Times::default();
    let mut bounds = ctx.bounds();
    bounds.until = deadline_us.and_then(|deadline| {
        let share = ctx.shared.timeout.job.duration().map_or(LAST_LOOK, |limit| limit / LAST_LOOK_SHARE);
        ctx.clock.at_us(deadline.max(sent_us.saturating_add(micros(LAST_LOOK.min(share)))))
    });
    let whole =
        exchange(&ctx.shared.client, &ctx.clock, call, bounds, &mut times, |reply: Reply| JobReader::new(&reply));
    // only a stop of the run ends the wait for good; whatever else goes wrong, the job may still be fine
    let answer = match ctx.unless_stopped(async { Ok(whole.await) }).await? {
        Ok((status, reader)) => reader.finish().map_err(|error| (Some(status), error)),
        Err(fault) => Err((None, fault.error)),
    };
    draft.note(&times);
    let look = match answer {
        Ok(job) => {
            word(&job.status).clone_into(state);
            match job.status {
                JobStatus::Completed | JobStatus::Failed => Look::Ended(job),
                JobStatus::Queued | JobStatus::InProgress | JobStatus::Unknown(_) => Look::Unfinished,
            }
        }
        Err((Some(404), mut error)) => {
            error.class = ErrorClass::JobLost;
            Look::Lost(error)
        }
        Err((_, mut error)) => {
            error.class = ErrorClass::PollError;
            Look::Unreadable(error)
        }
    };
    let status = match &look {
        Look::Unfinished | Look::Ended(_) => state.clone(),
        Look::Lost(error) | Look::Unreadable(error) => match error.http_status {
            Some(http_status) => format!("HTTP {http_status}: {}", error.message),
            None => error.message.clone(),
        },
    };
    Ok((look, Poll { sent_us, at_us: ctx.clock.now_us(), status }))
}

fn word(status: &JobStatus) -> &str {
    match status {
        JobStatus::Queued => "queued",
        JobStatus::InProgress => "in_progress",
        JobStatus::Completed => "completed",
        JobStatus::Failed => "failed",
        JobStatus::Unknown(word) => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    const S: u64 = 1_000_000;

    fn plan() -> PollPlan {
        PollPlan { first: Span::millis(500), growth: 0.1, max: Span::seconds(2) }
    }

    #[test]
    fn gaps_grow_with_the_job_between_first_and_max() {
        assert_eq!(next_us(&plan(), 0, 0, 0, None), S / 2);
        assert_eq!(next_us(&plan(), 0, 10 * S, 10 * S, None), 11 * S);
        assert_eq!(next_us(&plan(), 0, 100 * S, 100 * S, None), 102 * S);
    }

    #[test]
    fn a_slow_answer_does_not_shift_later_looks_into_the_past() {
        assert_eq!(next_us(&plan(), 0, S, 9 * S, None), 9 * S);
    }

    #[test]
    fn one_look_may_begin_a_shortest_gap_after_the_limit() {
        let fixed = PollPlan { first: Span::millis(300), growth: 0.0, max: Span::millis(300) };
        assert_eq!(next_us(&fixed, 0, 300_000, 300_000, Some(500_000)), 600_000);
        assert_eq!(next_us(&plan(), 0, 100 * S, 100 * S, Some(100 * S + S)), 100 * S + S);
    }

    #[test]
    fn a_plan_without_gaps_does_not_spin() {
        let none = PollPlan { first: Span::millis(0), growth: 0.0, max: Span::millis(0) };
        assert_eq!(next_us(&none, 0, 0, 0, None), LEAST_GAP_US);
    }
}
