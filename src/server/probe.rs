//! Small requests that are not part of the load: readiness, models, version, cleaning up.

use std::error::Error;
use std::time::Duration;

use http::{HeaderMap, Method};

use crate::plan::EndpointPlan;

/// Longest reply that is read, in bytes; what comes after is not needed.
const LONGEST_REPLY: usize = 1 << 20;
/// A server that encodes a video can take seconds to answer anything.
const PATIENCE: Duration = Duration::from_secs(10);

/// A client for one base URL.
#[derive(Debug, Clone)]
pub struct Probe {
    client: reqwest::Client,
    url: String,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// The body, at most 1 MiB of it.
    pub body: Vec<u8>,
}

impl Answer {
    /// Whether the status is 2xx.
    pub const fn is_success(&self) -> bool {
        self.status >= 200 && self.status < 300
    }

    /// Whether the body may have been longer than what is kept of it.
    pub(super) const fn is_cut(&self) -> bool {
        self.body.len() >= LONGEST_REPLY
    }

    /// The body as JSON, when it is.
    pub fn json(&self) -> Option<serde_json::Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

impl Probe {
    /// A client that sends these headers with every request; secret values must be marked sensitive.
    /// Servers are trusted by these authorities alone, or by the system's when there are none.
    pub fn new(
        url: &str,
        endpoint: &EndpointPlan,
        headers: HeaderMap,
        authorities: Vec<reqwest::Certificate>,
    ) -> Result<Self, String> {
        let mut builder = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .default_headers(headers)
            .connect_timeout(PATIENCE)
            .timeout(PATIENCE)
            .pool_max_idle_per_host(0)
            .user_agent(concat!("omni-bench/", env!("CARGO_PKG_VERSION")));
        if let Some(proxy) = &endpoint.proxy {
            builder = builder.proxy(reqwest::Proxy::all(proxy).map_err(|error| reason(&error))?);
        }
        if !authorities.is_empty() {
            builder = builder.tls_certs_only(authorities);
        }
        if endpoint.http2 {
            builder = builder.http2_prior_knowledge();
        }
        let client = builder.build().map_err(|error| reason(&error))?;
        Ok(Self { client, url: url.trim_end_matches('/').to_owned() })
    }

    /// The base URL, without a trailing slash.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Asks for a path; the error is what went wrong on the way, in few words.
    pub async fn get(&self, path: &str) -> Result<Answer, String> {
        self.send(Method::GET, path).await
    }

    /// Deletes what stands at a path.
    pub async fn delete(&self, path: &str) -> Result<Answer, String> {
        self.send(Method::DELETE, path).await
    }

    async fn send(&self, method: Method, path: &str) -> Result<Answer, String> {
        let request = self.client.request(method, format!("{}{path}", self.url));
        let mut reply = request.send().await.map_err(|error| reason(&error))?;
        let status = reply.status().as_u16();
        let mut body = Vec::new();
        while let Some(chunk) = reply.chunk().await.map_err(|error| reason(&error))? {
            let room = LONGEST_REPLY.saturating_sub(body.len());
            body.extend(chunk.iter().take(room));
            if chunk.len() >= room {
                break;
            }
        }
        Ok(Answer { status, body })
    }
}

/// The innermost cause, which names what happened; the outer ones repeat the URL.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no answer in time".into();
    }
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let text = cause.to_string();
    if text.contains("Connection refused") { "connection refused".into() } else { text }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Endpoint settings of a plan, with nothing set.
    pub(in crate::server) fn endpoint() -> EndpointPlan {
        // a second installation is refused, which is fine
        drop(rustls::crypto::ring::default_provider().install_default());
        serde_json::from_value(serde_json::json!({
            "url": null, "api": "chat", "api_key_env": null, "headers": {}, "extra_body": {},
            "ready": { "path": "/health", "timeout": "1s" },
            "timeout": { "connect": "10s", "request": "15m", "job": "15m" },
            "poll": { "first": "50ms", "growth": 0.05, "max": "2s" },
            "stream": false, "sync_video": false, "return_stage_metrics": false, "bot_task": null,
            "validate": "header", "allow_unknown": false, "max_reply": "512MB", "proxy": null, "http2": false,
        }))
        .unwrap()
    }

    #[test]
    fn a_proxy_that_is_no_url_is_an_error() {
        let broken = EndpointPlan { proxy: Some("::".into()), ..endpoint() };
        assert!(Probe::new("http://h", &broken, HeaderMap::new(), Vec::new()).is_err());
    }

    #[tokio::test]
    async fn long_replies_are_cut() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let body = || async { "x".repeat(3 << 20) };
        let router = axum::Router::new().route("/version", axum::routing::get(body));
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, router).await });
        let probe = Probe::new(&url, &endpoint(), HeaderMap::new(), Vec::new()).unwrap();
        assert_eq!(probe.get("/version").await.unwrap().body.len(), LONGEST_REPLY);
        assert_eq!(probe.version().await, None);
        tasks.abort_all();
    }
}
