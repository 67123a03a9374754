//! The one place where faults are committed, before all handlers.

use std::future::pending;
use std::sync::Arc;

use axum::Extension;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};

use super::call::{Asks, Call, Stage};
use super::connection::Line;
use super::rules::Hit;
use super::{body, job, json, media, status};
use crate::catalog::{FaultFamily as Family, FaultKind as Kind};
use crate::simulator::reply::{Refusal, json_reply};
use crate::simulator::state::App;

/// Answers a call, with the fault it meets.
pub(crate) async fn commit(
    State(app): State<Arc<App>>,
    Extension(line): Extension<Line>,
    request: Request,
    next: Next,
) -> Response {
    if app.faults.is_starting() {
        return starting(request.uri().path());
    }
    let (hit, creates) = match Call::of(request.method(), request.uri().path()) {
        None => (None, false),
        Some(Call::Ask(asks)) => (app.faults.next(asks), asks == Asks::Job),
        Some(Call::Job(stage, id)) => (app.faults.of_job(id, stage), false),
    };
    match hit {
        None => next.run(request).await,
        Some(hit) if creates && hit.stage != Stage::Created => created(&app, hit, request, next).await,
        Some(hit) => meet(&app, &line, hit, request, next).await,
    }
}

/// A restarted server that is not ready yet.
fn starting(path: &str) -> Response {
    if path == "/health" {
        return json_reply(StatusCode::SERVICE_UNAVAILABLE, &json!({"status": "unhealthy"}));
    }
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "injected: the server is starting").into_response()
}

/// Makes the job, and keeps the fault for a later call about it.
async fn created(app: &App, hit: Hit, request: Request, next: Next) -> Response {
    let (parts, bytes) = whole(next.run(request).await).await;
    let told = serde_json::from_slice::<Value>(&bytes).ok();
    if let Some(id) = told.as_ref().and_then(|job| job.get("id")?.as_str()) {
        app.faults.remember(id, hit);
    }
    Response::from_parts(parts, bytes.into())
}

async fn meet(app: &App, line: &Line, hit: Hit, request: Request, next: Next) -> Response {
    match (hit.kind, hit.kind.family()) {
        (Kind::Refused, _) => {
            let mut response = next.run(request).await;
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            app.faults.away().await;
            response
        }
        (Kind::Restart, _) => {
            drain(request).await;
            app.jobs.forget();
            app.faults.restart().await;
            // the restart resets this connection too
            pending().await
        }
        (Kind::Stall, _) => {
            drain(request).await;
            pending().await
        }
        (Kind::Reset, _) => {
            drop(answer(app, hit, request, next).await);
            line.cut();
            pending().await
        }
        (kind, Family::Connection | Family::Body) => {
            let response = answer(app, hit, request, next).await;
            body::spoil(kind, &app.faults, line, response).await
        }
        (kind, Family::Status) => {
            drain(request).await;
            status::reply(kind, hit.turn)
        }
        (kind, Family::Json) => json::spoil(kind, answer(app, hit, request, next).await).await,
        (kind, Family::Job) => job::spoil(kind, request, next).await,
        (kind, Family::Media) => media::spoil(kind, answer(app, hit, request, next).await).await,
    }
}

/// The reply without the fault. The reply to a create call names a job that is never made, because a client
/// that cannot read its name could not delete it.
async fn answer(app: &App, hit: Hit, request: Request, next: Next) -> Response {
    if hit.stage != Stage::Created {
        return next.run(request).await;
    }
    drain(request).await;
    json_reply(StatusCode::OK, &job::never_made(app))
}

/// Reads a request that no handler reads, so that its client is not disturbed while it sends.
async fn drain(request: Request) {
    // a client that breaks off has nothing to be told
    drop(to_bytes(request.into_body(), usize::MAX).await);
}

/// A reply's head, and its body in one piece.
pub(super) async fn whole(response: Response) -> (http::response::Parts, bytes::Bytes) {
    let (mut parts, body) = response.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    // bodies of the simulator cannot fail
    (parts, to_bytes(body, usize::MAX).await.unwrap_or_default())
}
