//! Faults of a reply's body, whatever it holds.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use hyper::body::Frame;
use serde_json::Value;
use tokio::time::Sleep;

use super::commit::whole;
use super::connection::Line;
use super::rules::Faults;
use crate::catalog::FaultKind as Kind;
use crate::simulator::reply::{bytes_reply, json_reply};

/// Length that an over-long body announces: 1 TiB.
const OVERLONG: u64 = 1 << 40;
/// What goes on behind a body; JSON allows it between any two tokens.
const BLANKS: &[u8] = &[b' '; 64 * 1024];
/// How often, in modelled seconds, the next blanks of a body without end come.
const BLANKS_S: f64 = 0.001;
/// How often, in modelled seconds, the next byte of a slow body comes.
const DRIP_S: f64 = 1.0;
/// How long, on the wall, half of a body is given to reach its client before the connection ends.
const FLUSH: Duration = Duration::from_millis(20);

/// The reply with a fault in its body.
pub(super) async fn spoil(kind: Kind, faults: &Faults, line: &Line, response: Response) -> Response {
    if !response.status().is_success() {
        return response;
    }
    let (parts, bytes) = whole(response).await;
    let json = parts.headers.get(header::CONTENT_TYPE).is_some_and(|value| value == "application/json");
    let length = bytes.len() as u64;
    let half = bytes.slice(..bytes.len() / 2);
    // without its last byte no document is complete
    let open = bytes.slice(..bytes.len().saturating_sub(1));
    let (body, announced) = match kind {
        Kind::ResetInBody => (Paced::once(half, FLUSH, End::Cut(line.clone())), Some(length)),
        Kind::Drip => {
            let bytes = bytes.chunks(1).map(Bytes::copy_from_slice).collect();
            (Paced::new(bytes, faults.wall(DRIP_S), End::Done), Some(length))
        }
        Kind::TruncatedBody => (Paced::once(half, FLUSH, End::Done), Some(length)),
        Kind::OverlongBody => (Paced::once(open, Duration::ZERO, End::Endless), Some(OVERLONG)),
        Kind::NeverEnding => (Paced::once(open, faults.wall(BLANKS_S), End::Endless), None),
        Kind::EmptyData => return if json { emptied(&bytes) } else { bytes_reply("video/mp4", Bytes::new()) },
        _ => {
            let page = "<!doctype html><title>injected</title><h1>It works!</h1>\n";
            return bytes_reply("text/html; charset=utf-8", Bytes::from_static(page.as_bytes()));
        }
    };
    let mut response = Response::from_parts(parts, Body::new(body));
    if let Some(length) = announced {
        response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    response
}

/// The same object with nothing in it.
fn emptied(bytes: &Bytes) -> Response {
    let mut root: Value = serde_json::from_slice(bytes).unwrap_or_default();
    if let Some(data) = root.get_mut("data") {
        *data = Value::Array(Vec::new());
    } else if let Some(content) = root.pointer_mut("/choices/0/message/content") {
        *content = Value::Array(Vec::new());
    } else {
        root = Value::Object(serde_json::Map::new());
    }
    json_reply(StatusCode::OK, &root)
}

/// What follows the last part.
enum End {
    /// Nothing.
    Done,
    /// A reset of the connection.
    Cut(Line),
    /// Blanks, for ever.
    Endless,
}

/// A body of parts with a pause behind each.
struct Paced {
    parts: VecDeque<Bytes>,
    pause: Duration,
    paused: Option<Pin<Box<Sleep>>>,
    end: End,
}

impl Paced {
    fn new(parts: VecDeque<Bytes>, pause: Duration, end: End) -> Self {
        Self { parts, pause, paused: None, end }
    }

    fn once(part: Bytes, pause: Duration, end: End) -> Self {
        Self::new(VecDeque::from([part]), pause, end)
    }
}

impl hyper::body::Body for Paced {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(paused) = &mut self.paused {
            ready!(paused.as_mut().poll(cx));
            self.paused = None;
        }
        let next = match (self.parts.pop_front(), &self.end) {
            (Some(part), _) => part,
            (None, End::Done) => return Poll::Ready(None),
            (None, End::Cut(line)) => {
                line.cut();
                return Poll::Pending;
            }
            (None, End::Endless) => Bytes::from_static(BLANKS),
        };
        if !self.pause.is_zero() {
            self.paused = Some(Box::pin(tokio::time::sleep(self.pause)));
        }
        Poll::Ready(Some(Ok(Frame::data(next))))
    }
}
