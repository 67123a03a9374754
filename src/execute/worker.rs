//! One request from its due moment to its record.

use std::sync::Arc;

use reqwest::Method;

use crate::catalog::Flag;
use crate::endpoint::{Judge, Verdict};
use crate::record::{CreatedJob, Status};

use super::attempt::exchange;
use super::client::Call;
use super::context::{Context, SlotFree};
use super::draft::Draft;
use super::fault::Fault;
use super::phase::Prepared;
use super::writer::WriterGone;
use super::{cleanup, job};

/// Carries out a request, frees its slot, cleans up behind it, looks at its pictures if that is asked
/// for, and hands its record to the writer, which tells the outcome once the record is in its file.
pub(crate) async fn work(ctx: Arc<Context>, prepared: Arc<Prepared>, due_us: u64) -> Result<(), WriterGone> {
    let mut draft = Draft::new(&prepared, &ctx.shared, due_us);
    let end = tokio::select! {
        biased;
        () = ctx.halt.abandoned() => Err(Fault::cancelled("the run was abandoned before the request ended")),
        end = carry_out(&ctx, &prepared, &mut draft) => end,
    };
    let done_us = ctx.clock.now_us();
    draft.close(end, done_us);

    let queued = match ctx.inspector().filter(|_| draft.status() == Status::Ok) {
        Some(inspector) => {
            unless_abandoned(&ctx, inspector.queue(draft.take_pictures(), prepared.request.index, draft.outputs()))
                .await
        }
        None => None,
    };
    // a job that did not finish may still occupy the server, so its slot is free only once it is deleted
    let occupied = draft.job_id().is_some() && draft.status() != Status::Ok;
    if !occupied {
        free_slot(&ctx, &draft, done_us);
    }
    if let Some(job_id) = draft.job_id() {
        if cleanup::delete(&ctx, &job_id, &mut draft).await {
            draft.deleted(ctx.clock.now_us());
            let index = ctx.job_index(&prepared.request);
            let job_id = ctx.shared.secrets.redact(&job_id);
            ctx.shared.lines.job(CreatedJob { index, job_id, live: false }).await?;
        } else {
            draft.flag(Flag::CleanupFailed);
        }
    }
    if occupied {
        free_slot(&ctx, &draft, ctx.clock.now_us());
    }
    if let (Some(inspector), Some(queued)) = (ctx.inspector(), queued)
        && let Some(flags) = unless_abandoned(&ctx, inspector.inspect(queued)).await.flatten()
    {
        draft.inspected(flags, ctx.clock.now_us());
    }
    let record = draft.into_record(&ctx.shared.secrets);
    ctx.shared.lines.record(ctx.kind, record, ctx.written.clone()).await
}

async fn unless_abandoned<T>(ctx: &Context, work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        () = ctx.halt.abandoned() => None,
        done = work => Some(done),
    }
}

fn free_slot(ctx: &Context, draft: &Draft, at_us: u64) {
    // a dispatcher that is gone starts nothing anyway
    ctx.slots.send(SlotFree { at_us, end: draft.end(&ctx.shared.secrets) }).ok();
}

async fn carry_out(ctx: &Context, prepared: &Prepared, draft: &mut Draft) -> Result<Verdict, Fault> {
    if ctx.makes_jobs() { job::run(ctx, prepared, draft).await } else { single(ctx, prepared, draft).await }
}

/// A request that is one exchange.
async fn single(ctx: &Context, prepared: &Prepared, draft: &mut Draft) -> Result<Verdict, Fault> {
    let shared = &ctx.shared;
    let url = shared.client.url(shared.wire.path())?;
    let call = Call { method: Method::POST, url, body: Some(&prepared.body) };
    let save = ctx.save(&prepared.request);
    let open = |reply| Judge::of(&shared.wire, prepared.asked, reply, save);
    let whole = exchange(&shared.client, &ctx.clock, &call, ctx.bounds(), &mut draft.call, open);
    let (_, judge) = ctx.unless_stopped(whole).await?;
    Ok(judge.finish())
}
