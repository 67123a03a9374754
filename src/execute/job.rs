//! A video job: create it, wait for its end, fetch its content. Deleting it is `cleanup`'s.

use std::time::Duration;

use reqwest::Method;

use crate::catalog::ErrorClass;
use crate::endpoint::{JobReader, JobState, JobStatus, Judge, Reply, Verdict, content_path};
use crate::record::{CreatedJob, RequestError};

use super::attempt::{Times, exchange};
use super::client::Call;
use super::context::Context;
use super::draft::Draft;
use super::fault::Fault;
use super::phase::Prepared;
use super::polling;

/// How long, on the wall, a stop waits for a create call that has no answer yet: a job whose id is
/// never learned cannot be deleted.
const CREATE_AFTER_STOP: Duration = Duration::from_secs(5);
/// Fetches of a content that the server says is not there yet.
const CONTENT_TRIES: u32 = 5;

/// Runs a job to its judged video. Once the job exists, `draft` has its id.
pub(crate) async fn run(ctx: &Context, prepared: &Prepared, draft: &mut Draft) -> Result<Verdict, Fault> {
    let created = create(ctx, prepared, draft).await?;
    let state = match created.status {
        JobStatus::Completed | JobStatus::Failed => {
            let at_us = ctx.clock.now_us();
            draft.ended(draft.call.sent_us.unwrap_or(at_us), at_us);
            created
        }
        JobStatus::Queued | JobStatus::InProgress | JobStatus::Unknown(_) => {
            polling::until_ended(ctx, draft, &created.id).await?
        }
    };
    if state.status == JobStatus::Failed {
        let silent = || RequestError::new(ErrorClass::JobFailed, "the job failed and the server gave no reason");
        return Err(Fault::failed(state.error.unwrap_or_else(silent)));
    }
    content(ctx, prepared, draft, &state).await
}

async fn create(ctx: &Context, prepared: &Prepared, draft: &mut Draft) -> Result<JobState, Fault> {
    let shared = &ctx.shared;
    let url = shared.client.url(shared.wire.api.path())?;
    let call = Call { method: Method::POST, url, body: Some(&prepared.body) };
    let open = |reply: Reply| JobReader::for_create(&reply);
    let whole = exchange(&shared.client, &ctx.clock, &call, ctx.bounds(), &mut draft.call, open);
    let unanswered = "the run was stopped and the create call was not answered; a job may be left on the server";
    let answer = ctx.bounded_after_stop(CREATE_AFTER_STOP, whole).await;
    let (_, reader) = answer.unwrap_or_else(|| Err(Fault::cancelled(unanswered)))?;
    let state = reader.finish().map_err(Fault::failed)?;
    draft.created(&state.id, ctx.clock.now_us());
    let line =
        CreatedJob { index: ctx.job_index(&prepared.request), job_id: shared.secrets.redact(&state.id), live: true };
    let written = shared.lines.job(line).await;
    written.map_err(|_| Fault::cancelled("the run was stopped because its results could not be written"))?;
    Ok(state)
}

async fn content(ctx: &Context, prepared: &Prepared, draft: &mut Draft, state: &JobState) -> Result<Verdict, Fault> {
    let shared = &ctx.shared;
    let unusable = || Fault::failed(RequestError::new(ErrorClass::Content, "the job's id makes no content address"));
    let url = shared.client.url(&content_path(&state.id).ok_or_else(unusable)?)?;
    let call = Call { method: Method::GET, url, body: None };
    let mut tries = 1;
    loop {
        let times = draft.content.insert(Times::default());
        let save = ctx.save(&prepared.request);
        let open = |reply| Judge::content_of(&shared.wire, prepared.asked, Some(state), reply, save);
        let whole = exchange(&shared.client, &ctx.clock, &call, ctx.bounds(), times, open);
        let (status, judge) = ctx.unless_stopped(whole).await.map_err(|mut fault| {
            as_content(&mut fault.error);
            fault
        })?;
        // "completed" may be told a moment before the file is there
        if status == 404 && tries < CONTENT_TRIES {
            tries += 1;
            ctx.pause(shared.poll.first.duration()).await?;
            continue;
        }
        let mut verdict = judge.finish();
        if let Some(error) = &mut verdict.error {
            as_content(error);
        }
        return Ok(verdict);
    }
}

/// A refused fetch is a fault of the content, not of the request.
fn as_content(error: &mut RequestError) {
    if error.class == ErrorClass::HttpStatus {
        error.class = ErrorClass::Content;
    }
}
