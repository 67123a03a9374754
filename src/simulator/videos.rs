//! `/v1/videos`: jobs that are created, polled, fetched and deleted, and the synchronous sibling.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Path, Query, Request, State};
use axum::response::Response;
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::{Map, Value, json};

use super::fields::Fields;
use super::jobs::{Completed, Job, Stage};
use super::reply::{Refusal, bytes_reply, json_reply};
use super::state::{App, Made};
use super::video_form::VideoAsk;

/// `VLLM_OMNI_VIDEO_SYNC_TIMEOUT`, in modelled seconds.
const SYNC_TIMEOUT_S: f64 = 600.0;
/// Jobs of a page that names no limit.
const PAGE: u32 = 20;

/// `POST /v1/videos`.
pub(crate) async fn create(State(app): State<Arc<App>>, request: Request) -> Result<Response, Refusal> {
    let ask = VideoAsk::read(&app, request).await?;
    let job = Job {
        id: app.jobs.new_id(),
        model: app.settings.model.clone(),
        prompt: ask.prompt.clone(),
        size: ask.size.clone(),
        seconds: ask.seconds.clone(),
        quality: ask.quality.clone(),
        created_at: jiff::Timestamp::now().as_second(),
        stage: Stage::Queued,
    };
    let (id, body) = (job.id.clone(), job.body());
    app.jobs.insert(job);
    if app.settings.null {
        run(&app, &id, ask).await;
    } else {
        let (shared, name) = (Arc::clone(&app), id.clone());
        let task = app.spawn(async move { run(&shared, &name, ask).await });
        app.jobs.run_by(&id, task);
    }
    Ok(json_reply(StatusCode::OK, &body))
}

/// Carries a job to its end.
async fn run(app: &App, id: &str, ask: VideoAsk) {
    app.jobs.set(id, Stage::InProgress);
    let stage = match make(app, ask).await {
        Ok(made) => Stage::Completed(completed(made)),
        Err(refusal) => Stage::Failed { status: refusal.status(), message: refusal.message().to_owned() },
    };
    app.jobs.set(id, stage);
}

async fn make(app: &App, ask: VideoAsk) -> Result<Made, Refusal> {
    if ask.shape.width == 0 || ask.shape.height == 0 {
        return Err(Refusal::bad(format!("{}x{} is no size for a video", ask.shape.width, ask.shape.height)));
    }
    app.make(ask.arrival_s, ask.shape, ask.medium, ask.seed).await
}

fn completed(made: Made) -> Completed {
    Completed {
        inference_s: made.inference_s(),
        stage_durations: made.stage_durations().unwrap_or_else(|| json!({})),
        peak_memory_mb: made.peak_memory_mb,
        at: jiff::Timestamp::now().as_second(),
        content: made.media.into_iter().next().unwrap_or_default(),
    }
}

/// `GET /v1/videos/{id}`: a failed job answers with the status of its failure.
pub(crate) async fn get(State(app): State<Arc<App>>, Path(id): Path<String>) -> Result<Response, Refusal> {
    let job = app.jobs.get(&id)?;
    let status = match &job.stage {
        Stage::Failed { status, .. } => *status,
        Stage::Queued | Stage::InProgress | Stage::Completed(_) => StatusCode::OK,
    };
    Ok(json_reply(status, &job.body()))
}

/// `GET /v1/videos`.
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Query(query): Query<HashMap<String, String>>,
) -> Result<Response, Refusal> {
    let fields: Map<String, Value> = query.into_iter().map(|(name, text)| (name, Value::String(text))).collect();
    let fields = Fields::new(fields);
    let limit = fields.count("limit", 0..=100)?.unwrap_or(PAGE);
    let newest_first = match fields.text("order")? {
        None | Some("desc") => true,
        Some("asc") => false,
        Some(other) => {
            return Err(Refusal::field("order", format!("order: Input should be 'asc' or 'desc', not '{other}'")));
        }
    };
    let (page, has_more) = app.jobs.page(fields.text("after")?, limit as usize, newest_first);
    let id = |job: Option<&Job>| job.map(|job| job.id.clone());
    let body = json!({
        "object": "list", "first_id": id(page.first()), "last_id": id(page.last()), "has_more": has_more,
        "data": page.iter().map(Job::body).collect::<Vec<_>>(),
    });
    Ok(json_reply(StatusCode::OK, &body))
}

/// `GET /v1/videos/{id}/content`.
pub(crate) async fn content(State(app): State<Arc<App>>, Path(id): Path<String>) -> Result<Response, Refusal> {
    match app.jobs.get(&id)?.stage {
        Stage::Completed(completed) => Ok(bytes_reply("video/mp4", completed.content)),
        Stage::Queued | Stage::InProgress => {
            Err(Refusal::new(StatusCode::NOT_FOUND, "Generation is still in-progress"))
        }
        Stage::Failed { message, .. } => {
            Err(Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, format!("Video generation failed: {message}")))
        }
    }
}

/// `DELETE /v1/videos/{id}`: also cancels. A job that waits leaves the queue; one that is being served goes on
/// to occupy the engine until its time is over.
pub(crate) async fn delete(State(app): State<Arc<App>>, Path(id): Path<String>) -> Result<Response, Refusal> {
    app.jobs.delete(&id)?;
    Ok(json_reply(StatusCode::OK, &json!({"id": id, "deleted": true, "object": "video.deleted"})))
}

/// `POST /v1/videos/sync`.
pub(crate) async fn create_sync(State(app): State<Arc<App>>, request: Request) -> Result<Response, Refusal> {
    let ask = VideoAsk::read(&app, request).await?;
    let limit = app.clock().wall(SYNC_TIMEOUT_S);
    let made = tokio::time::timeout(limit, make(&app, ask))
        .await
        .map_err(|_| Refusal::new(StatusCode::GATEWAY_TIMEOUT, "Video generation timed out"))??;
    let stages = made.stage_durations().unwrap_or_else(|| json!({})).to_string();
    let headers = [
        ("x-request-id", app.jobs.new_id()),
        ("x-model", app.settings.model.clone()),
        ("x-inference-time-s", format!("{:.3}", made.inference_s())),
        ("x-stage-durations", stages),
        ("x-peak-memory-mb", format!("{:.3}", made.peak_memory_mb)),
    ];
    let mut response = bytes_reply("video/mp4", made.media.into_iter().next().unwrap_or_default());
    for (name, text) in headers {
        // a model id that is no header text is left out
        if let Ok(value) = HeaderValue::from_str(&text) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    Ok(response)
}
