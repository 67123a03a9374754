//! Replies: errors in the deployed form, and bodies put together from parts without copying the media.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use hyper::body::{Frame, SizeHint};
use serde_json::{Value, json};

/// A refusal, as the deployed app words it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    status: StatusCode,
    message: String,
    param: Option<String>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), param: None }
    }

    /// 400 for a field of the request.
    pub(crate) fn field(name: &str, message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, message: message.into(), param: Some(format!("body.{name}")) }
    }

    /// 400.
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// 404 for a video.
    pub(crate) fn no_video() -> Self {
        Self::new(StatusCode::NOT_FOUND, "Video not found")
    }

    /// 500.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    /// 503 after the engine stopped.
    pub(crate) fn stopped() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the engine has stopped")
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    fn kind(&self) -> &'static str {
        match self.status.as_u16() {
            404 => "NotFoundError",
            409 => "ConflictError",
            422 => "UnprocessableEntityError",
            503 => "ServiceUnavailableError",
            504 => "TimeoutError",
            500.. => "InternalServerError",
            _ => "BadRequestError",
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = json!({"error": {
            "message": self.message, "type": self.kind(), "param": self.param, "code": self.status.as_u16(),
        }});
        json_reply(self.status, &body)
    }
}

/// A small JSON reply.
pub(crate) fn json_reply(status: StatusCode, body: &Value) -> Response {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A reply of raw bytes.
pub(crate) fn bytes_reply(content_type: &'static str, body: Bytes) -> Response {
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// Stands for the `n`-th medium in a JSON value until [`filled_reply`] puts it there.
pub(crate) fn blank(n: usize) -> String {
    format!("<<medium {n}>>")
}

/// A JSON reply whose blanks, in order, are filled with texts that need no escaping. Only values that no client
/// wrote may stand before a blank.
pub(crate) fn filled_reply(body: &Value, media: Vec<Bytes>) -> Response {
    let text = body.to_string();
    let mut segments = VecDeque::with_capacity(2 * media.len() + 1);
    let mut rest = text.as_str();
    for (n, medium) in media.into_iter().enumerate() {
        let Some((before, after)) = rest.split_once(&blank(n)) else { break };
        segments.push_back(Bytes::copy_from_slice(before.as_bytes()));
        segments.push_back(medium);
        rest = after;
    }
    segments.push_back(Bytes::copy_from_slice(rest.as_bytes()));
    let mut response = Response::new(Body::new(Segments(segments)));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A body of parts with a known length.
struct Segments(VecDeque<Bytes>);

impl hyper::body::Body for Segments {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|part| Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.iter().map(|part| part.len() as u64).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn blanks_are_filled_in_order_and_the_length_is_known() {
        let body = json!({"data": [{"b64_json": blank(0)}, {"b64_json": blank(1)}], "size": "8x8"});
        let response = filled_reply(&body, vec![Bytes::from_static(b"AAAA"), Bytes::from_static(b"BB==")]);
        let expected = r#"{"data":[{"b64_json":"AAAA"},{"b64_json":"BB=="}],"size":"8x8"}"#;
        let body = response.into_body();
        assert_eq!(hyper::body::Body::size_hint(&body).exact(), Some(expected.len() as u64));
        assert_eq!(axum::body::to_bytes(body, 1000).await.unwrap(), expected);
    }
}
