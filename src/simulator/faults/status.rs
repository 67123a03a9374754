//! Refusals, in the three forms that servers give them.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde_json::json;

use crate::catalog::FaultKind as Kind;
use crate::simulator::reply::{Refusal, json_reply};

/// Where the redirect leads; the name is reserved, so nobody is there.
const ELSEWHERE: &str = "http://elsewhere.invalid/v1";

/// The refusal; one with several forms takes them in turn.
pub(super) fn reply(kind: Kind, turn: u64) -> Response {
    match (kind, turn % 3) {
        (Kind::RateLimited, _) => {
            let mut response =
                Refusal::new(StatusCode::TOO_MANY_REQUESTS, "injected: too many requests").into_response();
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("7"));
            response
        }
        (Kind::Redirect, _) => {
            let mut response = Response::default();
            *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
            response.headers_mut().insert(header::LOCATION, HeaderValue::from_static(ELSEWHERE));
            response
        }
        (Kind::ClientError, 0) => Refusal::field("prompt", "injected: the prompt is refused").into_response(),
        (Kind::ClientError, 1) => json_reply(
            StatusCode::UNPROCESSABLE_ENTITY,
            &json!({"detail": [{"loc": ["body", "prompt"], "msg": "injected: field required", "type": "missing"}]}),
        ),
        (Kind::ClientError, _) => json_reply(StatusCode::UNAUTHORIZED, &json!({"error": "injected: Unauthorized"})),
        (_, 0) => Refusal::internal("injected: the engine failed").into_response(),
        (_, 1) => json_reply(StatusCode::BAD_GATEWAY, &json!({"detail": "injected: Bad Gateway"})),
        _ => json_reply(StatusCode::SERVICE_UNAVAILABLE, &json!({"error": "injected: no capacity"})),
    }
}
