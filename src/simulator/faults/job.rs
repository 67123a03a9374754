//! Faults in the life of a video job.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::{Value, json};

use super::commit::whole;
use crate::catalog::FaultKind as Kind;
use crate::simulator::jobs::{Job, Stage};
use crate::simulator::reply::{Refusal, json_reply};
use crate::simulator::state::App;

/// The reply about a job that has this fault.
pub(super) async fn spoil(kind: Kind, request: Request, next: Next) -> Response {
    match kind {
        Kind::JobLost => Refusal::no_video().into_response(),
        Kind::ContentMissing => {
            Refusal::new(StatusCode::NOT_FOUND, "injected: Generation is still in-progress").into_response()
        }
        _ => {
            let (parts, bytes) = whole(next.run(request).await).await;
            let Ok(Value::Object(mut job)) = serde_json::from_slice(&bytes) else {
                return Response::from_parts(parts, bytes.into());
            };
            let failed = kind == Kind::JobFailed && parts.status.is_success();
            let word = if failed { "failed" } else { "injected_state" };
            if parts.status.is_success() {
                job.insert("status".into(), json!(word));
            }
            if failed {
                job.insert("error".into(), json!({"code": 500, "message": "injected: the engine failed"}));
            }
            let status = if failed { StatusCode::INTERNAL_SERVER_ERROR } else { parts.status };
            json_reply(status, &Value::Object(job))
        }
    }
}

/// A reply that names a new job, which nobody knows.
pub(super) fn never_made(app: &App) -> Value {
    let job = Job {
        id: app.jobs.new_id(),
        model: app.settings.model.clone(),
        prompt: String::new(),
        size: None,
        seconds: "4".into(),
        quality: "default".into(),
        created_at: jiff::Timestamp::now().as_second(),
        stage: Stage::Queued,
    };
    job.body()
}
