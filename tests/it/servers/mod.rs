//! Servers that omni-bench starts: supervision, verification, environment, telemetry.

#![cfg(test)]

mod bench;
mod crashes;
mod environment;
mod metrics;
mod remote;
mod starts;
mod telemetry;
mod verify;
mod words;

use std::path::Path;

use serde_json::Value;
use tokio::runtime::Runtime;

use crate::support::fake::{Answer, Fake, Seen};

/// A server of pictures that is no simulator.
struct Painter {
    fake: Fake,
    _runtime: Runtime,
}

/// What the painter's metrics tell at their `n`-th asking.
fn metrics(n: usize) -> String {
    let waiting = n % 3;
    format!(
        "# TYPE vllm_omni:num_requests_running gauge\nvllm_omni:num_requests_running{{stage=\"0\"}} 1\n\
         # TYPE vllm_omni:num_requests_waiting gauge\nvllm_omni:num_requests_waiting{{stage=\"0\"}} {waiting}\n\
         # TYPE vllm_omni:diffusion_exec_s histogram\nvllm_omni:diffusion_exec_s_bucket{{le=\"+Inf\"}} {n}\n\
         vllm_omni:diffusion_exec_s_sum {}\nvllm_omni:diffusion_exec_s_count {n}\n",
        0.5 * f64::from(u32::try_from(n).unwrap())
    )
}

impl Painter {
    /// Draws for so many milliseconds each; without metrics when `metrics` gives none.
    fn start(drawing_ms: u64, metrics: Option<fn(usize) -> String>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let script = move |seen: &Seen| match (seen.method.as_str(), seen.path.as_str()) {
            ("POST", _) => {
                let picture = crate::endpoint::PNG_64X48;
                Answer::json(200, format!(r#"{{"created":1,"data":[{{"b64_json":"{picture}"}}]}}"#)).after(drawing_ms)
            }
            ("GET", "/health") => Answer::json(200, "{}"),
            ("GET", "/v1/models") => Answer::json(200, r#"{"data":[{"id":"Qwen/Qwen-Image"}]}"#),
            ("GET", "/version") => Answer::json(200, r#"{"version":"0.20.0"}"#),
            ("GET", "/metrics") if metrics.is_some() => {
                Answer::bytes(200, "text/plain; version=0.0.4", metrics.map(|text| text(seen.nth)).unwrap())
            }
            _ => Answer::json(404, r#"{"detail":"Not Found"}"#),
        };
        let fake = runtime.block_on(Fake::start(script));
        Self { fake, _runtime: runtime }
    }
}

/// A scenario with a page, for so many requests at these concurrencies; `more` stands before the variant.
fn scenario(requests: u32, concurrency: &str, more: &str) -> String {
    format!(
        "name = \"small\"\n\n[model]\nid = \"Qwen/Qwen-Image\"\ntask = \"t2i\"\n\n\
         [dashboard]\npage = \"dashboards/small.md\"\n\n[warmup]\nrequests = 0\n\n{more}\n\
         [[variants]]\nname = \"v\"\n\n[datasets.A]\nsource = \"random\"\n\
         profiles = [{{ width = 64, height = 48, num_inference_steps = 20 }}]\n\n\
         [traffic]\nrequests = {requests}\n\n[matrix]\nmax_concurrency = {concurrency}\n"
    )
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs_err::read(path).unwrap()).unwrap()
}

/// The lines of a file of JSON lines.
fn lines(path: &Path) -> Vec<Value> {
    fs_err::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
