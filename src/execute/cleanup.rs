//! Deleting a job after its request has ended, outside every latency and within a bound.

use std::time::Duration;

use reqwest::Method;

use crate::endpoint::{JobReader, Reply, job_path};

use super::attempt::{Times, exchange};
use super::client::Call;
use super::context::Context;
use super::draft::Draft;

/// Modelled time that deleting a job may take, with all its tries.
const WHOLE: Duration = Duration::from_secs(10);
/// On the wall it gets at least this long.
const AT_LEAST: Duration = Duration::from_secs(1);
/// Wall time it may take once the run is stopped.
const AFTER_STOP: Duration = Duration::from_secs(5);
/// First pause after "cancellation in progress"; it doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// Tries while the server says that the cancellation is in progress.
const MOST_TRIES: u32 = 6;

/// Deletes a job; whether it is known to be gone.
pub(crate) async fn delete(ctx: &Context, id: &str, draft: &mut Draft) -> bool {
    let bound = ctx.clock.wall(WHOLE).max(AT_LEAST);
    let tries = tokio::time::timeout(bound, tries(ctx, id, draft));
    let gone = tokio::select! {
        biased;
        () = ctx.halt.abandoned() => None,
        gone = ctx.bounded_after_stop(AFTER_STOP, tries) => gone,
    };
    gone.is_some_and(|in_time| in_time.unwrap_or(false))
}

async fn tries(ctx: &Context, id: &str, draft: &mut Draft) -> bool {
    let Some(Ok(url)) = job_path(id).map(|path| ctx.shared.client.url(&path)) else { return false };
    let call = Call { method: Method::DELETE, url, body: None };
    let mut pause = FIRST_PAUSE;
    for _ in 0..MOST_TRIES {
        let mut times = Times::default();
        let answer = exchange(&ctx.shared.client, &ctx.clock, &call, ctx.bounds(), &mut times, |reply: Reply| {
            JobReader::new(&reply)
        })
        .await;
        draft.note(&times);
        match answer {
            Ok((200..=299 | 404 | 410, _)) => return true,
            Ok((409, _)) => tokio::time::sleep(ctx.clock.wall(pause)).await,
            Ok(_) | Err(_) => return false,
        }
        pause *= 2;
    }
    false
}
