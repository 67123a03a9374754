//! Accepts connections and serves the routes until the shutdown future is done.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::DefaultBodyLimit;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router, middleware};
use http::StatusCode;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{HttpService, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::faults::{self, Door, Line};
use super::null::Null;
use super::reply::json_reply;
use super::settings::Settings;
use super::state::App;
use super::{chat, images, status, videos};

/// Reference pictures and videos come as multipart or base64.
const BODY_LIMIT: usize = 512 * 1024 * 1024;
/// How long requests in flight may take after the shutdown.
const GRACE: Duration = Duration::from_millis(500);

/// Serves the simulator on a bound listener until `shutdown` is done, then returns within a second. Requests in
/// flight get half a second to finish; what is left is dropped.
///
/// # Errors
/// Settings that [`Settings::check`] refuses, or a thread that cannot be started.
pub async fn serve(
    listener: TcpListener,
    settings: Settings,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    settings.check().map_err(|message| io::Error::new(io::ErrorKind::InvalidInput, message))?;
    let null = settings.null;
    let app = Arc::new(App::start(settings)?);
    let router = routes(Arc::clone(&app));
    // faults are committed on the way to the handlers, so that a server with faults takes that way
    let null = (null && !app.faults.are_on()).then(|| Null::new(Arc::clone(&app), router.clone()));
    let mut door = Door::new(listener, &app.faults)?;
    let mut connections = JoinSet::new();
    let (closing, closed) = watch::channel(false);
    tokio::pin!(shutdown);
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            accepted = door.accept() => match accepted {
                Ok(stream) => {
                    let (closed, line) = (closed.clone(), app.faults.line());
                    drop(if let Some(null) = null.clone() {
                        let service = service_fn(move |request| Box::pin(null.clone().answer(request)));
                        connections.spawn(connection(stream, service, closed, line))
                    } else {
                        let router = match &line {
                            Some(line) => router.clone().layer(Extension(line.clone())),
                            None => router.clone(),
                        };
                        connections.spawn(connection(stream, TowerToHyperService::new(router), closed, line))
                    });
                }
                // out of descriptors, or a client that was gone already: neither ends the server
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
    drop(door);
    closing.send_replace(true);
    let drained = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(GRACE, drained).await.is_err() {
        connections.shutdown().await;
    }
    app.stop().await;
    Ok(())
}

/// `line` is there when faults may be committed.
async fn connection<S>(stream: TcpStream, service: S, mut closed: watch::Receiver<bool>, mut line: Option<Line>)
where
    S: HttpService<Incoming, ResBody = Body, Error = Infallible> + Unpin,
    S::Future: Unpin,
{
    // without it small replies would wait for an acknowledgement; a socket that refuses is served all the same
    drop(stream.set_nodelay(true));
    let mut serving = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    let asked_to_close = async { closed.wait_for(|closed| *closed).await.is_ok() };
    tokio::select! {
        // a connection that broke concerns its client alone
        ended = &mut serving => drop(ended),
        () = faults::cut(line.as_mut()) => faults::reset(serving.into_parts().io.into_inner()),
        _ = asked_to_close => {
            std::pin::Pin::new(&mut serving).graceful_shutdown();
            drop(serving.await);
        }
    }
}

fn routes(app: Arc<App>) -> Router {
    let routes = Router::new()
        .route("/health", get(status::health))
        .route("/version", get(status::version))
        .route("/v1/models", get(status::models))
        .route("/metrics", get(status::metrics))
        .route("/v1/chat/completions", post(chat::complete))
        .route("/v1/images/generations", post(images::generate))
        .route("/v1/images/edits", post(images::edit))
        .route("/v1/videos", post(videos::create).get(videos::list))
        .route("/v1/videos/sync", post(videos::create_sync))
        .route("/v1/videos/{id}", get(videos::get).delete(videos::delete))
        .route("/v1/videos/{id}/content", get(videos::content))
        .fallback(async || detail(StatusCode::NOT_FOUND, "Not Found"))
        .method_not_allowed_fallback(async || detail(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed"))
        .layer(DefaultBodyLimit::max(BODY_LIMIT));
    let routes = if app.faults.are_on() {
        routes.layer(middleware::from_fn_with_state(Arc::clone(&app), faults::commit))
    } else {
        routes
    };
    routes.with_state(app)
}

/// Routing errors come from the framework under the real app and look different.
fn detail(status: StatusCode, text: &str) -> Response {
    json_reply(status, &json!({"detail": text}))
}
