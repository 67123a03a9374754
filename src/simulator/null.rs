//! The null server: what `--null` answers requests with, so that the client is what is measured.
//!
//! The first request of its kind goes the way of every other through the routes, and its reply is kept whole;
//! requests that differ in nothing but prompts and seeds get the same bytes again. Forms, jobs and whatever else
//! is not a small JSON object always take the way through the routes.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock};

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Method, Request, StatusCode, header};
use hyper::body::{Body as _, Incoming};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;

use super::state::App;

/// Longest request that is looked at here.
const LONGEST: usize = 64 * 1024;
/// Replies kept; when there are more kinds, keeping starts again.
const KINDS: usize = 64;
/// Longest reply that is kept.
const LONGEST_REPLY: usize = 64 << 20;
/// Keys whose values say nothing about the reply.
const VARYING: [&[u8]; 6] = [b"prompt", b"negative_prompt", b"seed", b"content", b"text", b"user"];

/// The replies that are known already, and the way to those that are not.
#[derive(Clone)]
pub(super) struct Null {
    app: Arc<App>,
    routes: TowerToHyperService<Router>,
    replies: Arc<RwLock<HashMap<Vec<u8>, Reply>>>,
}

/// A reply of status 200.
#[derive(Clone)]
struct Reply {
    headers: HeaderMap,
    body: Bytes,
}

impl From<Reply> for Response {
    fn from(reply: Reply) -> Self {
        let mut response = Response::new(Body::from(reply.body));
        *response.headers_mut() = reply.headers;
        response
    }
}

impl Null {
    pub(super) fn new(app: Arc<App>, routes: Router) -> Self {
        Self { app, routes: TowerToHyperService::new(routes), replies: Arc::default() }
    }

    pub(super) async fn answer(self, request: Request<Incoming>) -> Result<Response, Infallible> {
        if !is_small_json(&request) {
            return self.routes.call(request.map(Body::new)).await;
        }
        let (parts, body) = request.into_parts();
        let Some(body) = whole(body).await else {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::BAD_REQUEST;
            return Ok(response);
        };
        let kind = kind(parts.uri.path(), &body);
        let known = self.replies.read().unwrap_or_else(PoisonError::into_inner).get(&kind).cloned();
        if let Some(reply) = known {
            self.app.tally().succeeded.fetch_add(1, Ordering::Relaxed);
            return Ok(reply.into());
        }
        let response = self.routes.call(Request::from_parts(parts, Body::from(body))).await?;
        Ok(self.keep(kind, response).await)
    }

    /// Keeps a reply when it is one that can be given again.
    async fn keep(&self, kind: Vec<u8>, response: Response) -> Response {
        let length = response.body().size_hint().exact().and_then(|length| usize::try_from(length).ok());
        if response.status() != StatusCode::OK || length.is_none_or(|length| length > LONGEST_REPLY) {
            return response;
        }
        let (parts, body) = response.into_parts();
        let Ok(body) = axum::body::to_bytes(body, LONGEST_REPLY).await else {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            return response;
        };
        let reply = Reply { headers: parts.headers, body };
        let mut replies = self.replies.write().unwrap_or_else(PoisonError::into_inner);
        if replies.len() >= KINDS {
            replies.clear();
        }
        replies.insert(kind, reply.clone());
        reply.into()
    }
}

fn is_small_json(request: &Request<Incoming>) -> bool {
    let text = |name| request.headers().get(name).map(http::HeaderValue::as_bytes);
    request.method() == Method::POST
        && text(header::CONTENT_TYPE) == Some(b"application/json")
        && request.body().size_hint().upper().is_some_and(|length| length <= LONGEST as u64)
}

/// The body; `None` when it breaks off.
async fn whole(body: Incoming) -> Option<Bytes> {
    let mut body = pin!(body);
    let mut parts = BytesMut::new();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let Ok(data) = frame.ok()?.into_data() else { continue };
        if body.is_end_stream() && parts.is_empty() {
            return Some(data);
        }
        parts.extend_from_slice(&data);
    }
    Some(parts.freeze())
}

/// What decides the reply: path and body without the values that do not matter. An empty prompt is left, as it is
/// refused.
fn kind(path: &str, body: &[u8]) -> Vec<u8> {
    let mut kind = Vec::with_capacity(path.len() + body.len());
    kind.extend_from_slice(path.as_bytes());
    let mut rest = body;
    while let Some(start) = rest.iter().position(|byte| *byte == b'"') {
        let (before, text) = rest.split_at(start);
        let (text, after) = text.split_at(text_length(text));
        kind.extend_from_slice(before);
        kind.extend_from_slice(text);
        let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
        rest = match after {
            [b':', value @ ..] if VARYING.contains(&inner) => {
                kind.push(b':');
                value.split_at(varying_length(value)).1
            }
            _ => after,
        };
    }
    kind.extend_from_slice(rest);
    kind
}

/// Bytes of a text with its quotes.
fn text_length(text: &[u8]) -> usize {
    let mut escaped = false;
    let inner = text.iter().skip(1).position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    inner.map_or(text.len(), |inner| inner + 2)
}

/// Bytes of a value that does not matter; 0 when it does.
fn varying_length(value: &[u8]) -> usize {
    match value {
        [b'"', b'"', ..] => 0,
        [b'"', ..] => text_length(value),
        _ => value.iter().take_while(|byte| byte.is_ascii_digit()).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_and_seeds_make_no_kinds_but_sizes_and_missing_prompts_do() {
        let kind = |body: &str| kind("/v1/images/generations", body.as_bytes());
        let plain = kind(r#"{"prompt":"a \"b\\","size":"8x8","seed":7}"#);
        assert_eq!(plain, kind(r#"{"prompt":"c","size":"8x8","seed":12345}"#));
        for other in [
            r#"{"prompt":"c","size":"8x9","seed":7}"#,
            r#"{"prompt":"","size":"8x8","seed":7}"#,
            r#"{"size":"8x8","seed":7}"#,
            r#"{"prompt":"c","size":"8x8","seed":-7}"#,
            r#"{"prompt":"c","size":"8x8"}"#,
            r#"{"prompt":"c"#,
            "",
        ] {
            assert_ne!(plain, kind(other), "{other}");
        }
    }
}
