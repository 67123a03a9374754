//! Waiting until a server is ready: its readiness path answers 2xx, or `/v1/models` does where the
//! server has no such path.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

use super::Probe;
use crate::plan::ReadyPlan;

const GAP: Duration = Duration::from_millis(200);
const SILENCE: Duration = Duration::from_secs(2);

/// Why a server is not ready.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    /// It did not become ready in time.
    #[error("the server at `{url}` was not ready after {waited}: {last}; check the URL, or raise `{key}`")]
    TimedOut {
        /// Base URL.
        url: String,
        /// The limit, as written.
        waited: String,
        /// The last answer.
        last: String,
        /// The key of the limit.
        key: &'static str,
    },
    /// Its process ended.
    #[error("{0}")]
    Died(String),
}

/// What to wait for.
pub struct Readiness<'a> {
    /// Asks the server.
    pub probe: &'a Probe,
    /// Path and limit.
    pub ready: &'a ReadyPlan,
    /// The scenario key of the limit, for messages.
    pub key: &'static str,
    /// Tells the user what is waited for, once it takes long.
    pub note: &'a dyn Fn(&str),
}

impl Readiness<'_> {
    /// Waits; `died` tells that the server's process has ended, and why.
    pub async fn wait(&self, mut died: impl FnMut() -> Option<String>) -> Result<(), NotReady> {
        let start = Instant::now();
        let deadline = start + self.ready.timeout.duration();
        let mut told = false;
        let mut last = String::from("it was not asked");
        loop {
            if let Some(why) = died() {
                return Err(NotReady::Died(why));
            }
            match timeout_at(deadline, self.ask()).await {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(answer)) => last = answer,
                Err(_) => {}
            }
            if Instant::now() + GAP >= deadline {
                return Err(self.timed_out(last));
            }
            if !told && start.elapsed() >= SILENCE {
                told = true;
                let (url, limit) = (self.probe.url(), self.ready.timeout);
                (self.note)(&format!("waiting up to {limit} for the server at {url} ({last})"));
            }
            sleep(GAP).await;
        }
    }

    /// Whether the server is ready; the error is its answer in words.
    async fn ask(&self) -> Result<(), String> {
        let path = &self.ready.path;
        let answer = self.probe.get(path).await.map_err(|why| format!("GET {path}: {why}"))?;
        match answer.status {
            200..=299 => return Ok(()),
            404 => {}
            status => return Err(format!("GET {path} answered {status}")),
        }
        let models = self.probe.get("/v1/models").await.map_err(|why| format!("GET /v1/models: {why}"))?;
        match models.status {
            // one that wants a key is up
            200..=299 | 401 | 403 => Ok(()),
            status => Err(format!("GET {path} answered 404 and GET /v1/models {status}")),
        }
    }

    fn timed_out(&self, last: String) -> NotReady {
        let (url, waited) = (self.probe.url().to_owned(), self.ready.timeout.to_string());
        NotReady::TimedOut { url, waited, last, key: self.key }
    }
}

impl Probe {
    /// Returns once nothing answers any more.
    pub async fn gone(&self, path: &str) {
        while self.get(path).await.is_ok() {
            sleep(GAP).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};

    use axum::Router;
    use axum::http::StatusCode;
    use axum::routing::get;
    use http::HeaderMap;
    use tokio::net::TcpListener;
    use tokio::task::JoinSet;

    use super::*;
    use crate::server::probe::tests::endpoint;
    use crate::units::Span;

    async fn serve(router: Router) -> (String, JoinSet<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
        (url, tasks)
    }

    async fn wait(url: &str, timeout: Span, died: Option<&str>) -> (Result<(), NotReady>, Vec<String>) {
        let probe = Probe::new(url, &endpoint(), HeaderMap::new(), Vec::new()).unwrap();
        let ready = ReadyPlan { path: "/health".into(), timeout };
        let told = Mutex::new(Vec::new());
        let note = |text: &str| told.lock().unwrap().push(text.to_owned());
        let readiness = Readiness { probe: &probe, ready: &ready, key: "endpoint.ready.timeout", note: &note };
        let outcome = readiness.wait(|| died.map(str::to_owned)).await;
        (outcome, told.into_inner().unwrap())
    }

    #[tokio::test]
    async fn a_server_that_is_unhealthy_at_first_is_waited_for() {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let health = move || async move {
            if count.fetch_add(1, Ordering::SeqCst) < 3 { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK }
        };
        let (url, _server) = serve(Router::new().route("/health", get(health))).await;
        assert_eq!(wait(&url, Span::seconds(30), None).await.0, Ok(()));
        assert_eq!(asked.load(Ordering::SeqCst), 4);
    }

    #[tokio::test]
    async fn a_server_without_the_path_is_ready_when_it_lists_models() {
        let (url, _server) = serve(Router::new().route("/v1/models", get(|| async { "{}" }))).await;
        assert_eq!(wait(&url, Span::seconds(30), None).await.0, Ok(()));
    }

    #[tokio::test]
    async fn one_message_names_the_url_the_last_answer_and_the_key() {
        let (url, _server) = serve(Router::new()).await;
        let error = wait(&url, Span::millis(300), None).await.0.unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "the server at `{url}` was not ready after 300ms: GET /health answered 404 and GET /v1/models 404; \
                 check the URL, or raise `endpoint.ready.timeout`"
            )
        );
    }

    #[tokio::test]
    async fn refused_connections_are_waited_for_and_told() {
        let port = crate::server::free_port("127.0.0.1").unwrap();
        let (outcome, told) = wait(&format!("http://127.0.0.1:{port}"), Span::millis(2_600), None).await;
        assert!(outcome.unwrap_err().to_string().contains("GET /health: connection refused"));
        assert_eq!(told.len(), 1, "{told:?}");
    }

    #[tokio::test]
    async fn a_process_that_ended_is_not_waited_for() {
        let (outcome, _) = wait("http://127.0.0.1:9", Span::seconds(600), Some("it ended")).await;
        assert_eq!(outcome, Err(NotReady::Died("it ended".into())));
    }
}
