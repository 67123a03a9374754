//! The simulator over its wire, with a client that shares nothing with `endpoint`.
#![cfg(test)]

mod command;
mod images;
mod time;
mod videos;

use std::sync::Once;

use http::{Method, StatusCode};
use omni_bench::simulator::{self, Settings};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// A simulator on a free port, stopped at the end of the test.
struct Server {
    url: String,
    client: reqwest::Client,
    stop: oneshot::Sender<()>,
    serving: JoinSet<std::io::Result<()>>,
}

/// A reply read whole.
struct Reply {
    status: StatusCode,
    headers: http::HeaderMap,
    body: Vec<u8>,
}

impl Reply {
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {:?}", self.text()))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The error message, checked to be in the deployed form with the given status.
    #[track_caller]
    fn refusal(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.text());
        let body = self.json();
        let error = body["error"].as_object().unwrap();
        assert_eq!(error.keys().collect::<Vec<_>>(), ["message", "type", "param", "code"]);
        assert_eq!(error["code"], status);
        error["message"].as_str().unwrap().to_owned()
    }
}

/// Plain HTTP still needs a TLS provider in the client's hands.
fn client() -> reqwest::Client {
    static PROVIDER: Once = Once::new();
    // another test area may have been first
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// A fast server whose costs do not matter.
fn fast() -> Settings {
    Settings { speed: 10_000.0, ..Settings::default() }
}

impl Server {
    async fn start(settings: Settings) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel::<()>();
        let mut serving = JoinSet::new();
        serving.spawn(simulator::serve(listener, settings, async move { drop(stopped.await) }));
        Self { url, client: client(), stop, serving }
    }

    async fn stop(mut self) {
        drop(self.stop);
        self.serving.join_next().await.unwrap().unwrap().unwrap();
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Reply {
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        Reply { status, headers, body: response.bytes().await.unwrap().to_vec() }
    }

    async fn call(&self, method: Method, path: &str) -> Reply {
        self.send(self.client.request(method, format!("{}{path}", self.url))).await
    }

    async fn get(&self, path: &str) -> Reply {
        self.call(Method::GET, path).await
    }

    async fn json(&self, path: &str, body: &Value) -> Reply {
        let request = self.client.post(format!("{}{path}", self.url)).header("content-type", "application/json");
        self.send(request.body(body.to_string())).await
    }

    /// A multipart form of texts and files.
    async fn form(&self, path: &str, texts: &[(&str, &str)], files: &[(&str, &[u8])]) -> Reply {
        let mut body = Vec::new();
        for (name, text) in texts {
            body.extend(
                format!("--edge\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n").into_bytes(),
            );
        }
        for (name, data) in files {
            let head = format!("--edge\r\ncontent-disposition: form-data; name=\"{name}\"; filename=\"f.png\"\r\n\r\n");
            body.extend(head.into_bytes());
            body.extend_from_slice(data);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(b"--edge--\r\n");
        let request = self.client.post(format!("{}{path}", self.url));
        self.send(request.header("content-type", "multipart/form-data; boundary=edge").body(body)).await
    }
}

/// A picture for requests that need one.
fn picture(width: u32, height: u32) -> Vec<u8> {
    let mut file = std::io::Cursor::new(Vec::new());
    image::RgbImage::new(width, height).write_to(&mut file, image::ImageFormat::Png).unwrap();
    file.into_inner()
}

fn base64(bytes: &[u8]) -> String {
    base64_simd::STANDARD.encode_to_string(bytes)
}

#[tokio::test]
async fn it_says_what_it_is() {
    let server = Server::start(Settings { model: "my/model".into(), speed: 12.5, ..Settings::default() }).await;
    assert_eq!(server.get("/health").await.json()["status"], "healthy");
    let version = server.get("/version").await.json();
    assert_eq!((&version["simulated"], &version["speed"]), (&Value::Bool(true), &serde_json::json!(12.5)));
    assert!(version["version"].is_string());
    let models = server.get("/v1/models").await.json();
    assert_eq!((&models["object"], &models["data"][0]["id"]), (&"list".into(), &"my/model".into()));
    assert_eq!(models["data"].as_array().unwrap().len(), 1);
    let unknown = server.get("/v1/nothing").await;
    assert_eq!((unknown.status.as_u16(), unknown.json()["detail"].as_str()), (404, Some("Not Found")));
    let wrong = server.call(Method::PUT, "/v1/videos").await;
    assert_eq!((wrong.status.as_u16(), wrong.json()["detail"].as_str()), (405, Some("Method Not Allowed")));
    server.stop().await;
}

#[tokio::test]
async fn metrics_count_what_was_served() {
    let server = Server::start(fast()).await;
    let body = serde_json::json!({"prompt": "x", "size": "64x64", "num_inference_steps": 2});
    for _ in 0..3 {
        assert_eq!(server.json("/v1/images/generations", &body).await.status, 200);
    }
    let text = server.get("/metrics").await.text();
    for line in [
        "# TYPE vllm_omni:num_requests_running gauge",
        "vllm_omni:num_requests_running{model_name=\"Qwen/Qwen-Image\"} 0",
        "vllm_omni:num_requests_waiting{model_name=\"Qwen/Qwen-Image\"} 0",
        "vllm_omni:requests_success_total{model_name=\"Qwen/Qwen-Image\"} 3",
        "vllm_omni:e2e_request_latency_s_count{model_name=\"Qwen/Qwen-Image\"} 3",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    server.stop().await;
}

#[tokio::test]
async fn settings_that_cannot_be_served_are_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let settings = Settings { speed: 0.0, ..Settings::default() };
    let error = simulator::serve(listener, settings, std::future::pending()).await.unwrap_err();
    assert_eq!(error.to_string(), "speed must be a number above 0, not `0`");
}
