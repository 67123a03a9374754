//! One HTTP exchange: send, read the reply into a sink as it arrives, keep the times of both.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use http::HeaderMap;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};

use crate::endpoint::{JobReader, Judge, Reply};

use super::client::{Call, Client};
use super::clock::Clock;
use super::fault::Fault;
use super::transport::Response;

/// What takes a reply's body as it arrives.
pub(crate) trait Sink {
    /// Takes the next bytes; whether more are of use.
    fn feed(&mut self, chunk: &[u8]) -> bool;

    /// Whether a streamed reply has brought its first event.
    fn has_event(&self) -> bool {
        false
    }
}

impl Sink for Judge {
    fn feed(&mut self, chunk: &[u8]) -> bool {
        Self::feed(self, chunk);
        !self.is_too_long()
    }

    fn has_event(&self) -> bool {
        Self::has_event(self)
    }
}

impl Sink for JobReader {
    fn feed(&mut self, chunk: &[u8]) -> bool {
        Self::feed(self, chunk);
        !self.is_too_long()
    }
}

/// When the parts of an exchange happened, kept even when it breaks off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) sent_us: Option<u64>,
    pub(crate) headers_us: Option<u64>,
    pub(crate) first_byte_us: Option<u64>,
    /// When the first event of a streamed reply was whole.
    pub(crate) first_event_us: Option<u64>,
    pub(crate) body_done_us: Option<u64>,
    pub(crate) bytes: u64,
    pub(crate) attempts: u32,
    pub(crate) redirected: bool,
    pub(crate) request_id: Option<String>,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            sent_us: None,
            headers_us: None,
            first_byte_us: None,
            first_event_us: None,
            body_done_us: None,
            bytes: 0,
            attempts: 1,
            redirected: false,
            request_id: None,
        }
    }
}

/// How long an exchange may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Modelled time from sending to the last byte; `None` is for ever.
    pub(crate) limit: Option<Duration>,
    /// A wall instant at which it ends in any case.
    pub(crate) until: Option<Instant>,
}

/// Carries out a call; the sink that `open` makes for the reply's head has then seen the body, whole
/// or as much of it as it wanted.
pub(crate) async fn exchange<S: Sink>(
    client: &Client,
    clock: &Clock,
    call: &Call<'_>,
    bounds: Bounds,
    times: &mut Times,
    open: impl FnOnce(Reply) -> S,
) -> Result<(u16, S), Fault> {
    let limit = bounds.limit.and_then(|limit| clock.after(limit));
    let deadline = [limit, bounds.until].into_iter().flatten().min();
    let whole = async {
        let response = client.send(call, clock, times).await?;
        receive(response, clock, times, open).await
    };
    let ended = match deadline {
        None => whole.await,
        Some(deadline) => {
            let ended = tokio::time::timeout_at(deadline.into(), whole).await;
            ended.unwrap_or_else(|_| Err(Fault::timeout(bounds.limit, times.headers_us.is_some())))
        }
    };
    match &ended {
        Ok((status, _)) => {
            tracing::debug!("{} {}: {status}, {} bytes", call.method, client.shown(&call.url), times.bytes);
        }
        // the message may hold a key that the server echoed; it is told where keys are hidden
        Err(fault) => tracing::debug!("{} {}: {}", call.method, client.shown(&call.url), fault.error.class),
    }
    ended
}

async fn receive<S: Sink>(
    mut response: Response,
    clock: &Clock,
    times: &mut Times,
    open: impl FnOnce(Reply) -> S,
) -> Result<(u16, S), Fault> {
    times.headers_us = Some(clock.now_us());
    let reply = head(&response);
    times.request_id = reply.headers.get("x-request-id").cloned();
    let (status, announced) = (reply.status, reply.content_length);
    let mut sink = open(reply);
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                if times.first_byte_us.is_none() && !chunk.is_empty() {
                    times.first_byte_us = Some(clock.now_us());
                }
                times.bytes += chunk.len() as u64;
                let goes_on = sink.feed(&chunk);
                if times.first_event_us.is_none() && sink.has_event() {
                    times.first_event_us = Some(clock.now_us());
                }
                if !goes_on {
                    return Ok((status, sink));
                }
            }
            Ok(None) => break,
            Err(error) => return Err(Fault::body(error, status, times.bytes, announced)),
        }
    }
    times.body_done_us = Some(clock.now_us());
    Ok((status, sink))
}

fn head(response: &Response) -> Reply {
    let headers = response.headers();
    let extra = headers.iter().filter(|(name, _)| name.as_str().starts_with("x-") || *name == RETRY_AFTER);
    let extra = extra.filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())));
    Reply {
        status: response.status().as_u16(),
        content_type: text(headers, &CONTENT_TYPE),
        content_length: text(headers, &CONTENT_LENGTH).and_then(|length| length.parse().ok()),
        headers: extra.collect::<BTreeMap<_, _>>(),
    }
}

fn text(headers: &HeaderMap, name: &http::HeaderName) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}
