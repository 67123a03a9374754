//! Every fault the simulator can commit, against every endpoint: how it is judged, and that its neighbours are unharmed.

#![cfg(test)]

mod command;
mod matrix;
mod outages;
mod soak;

use std::io;

use omni_bench::catalog::{Api, FaultKind, FaultRule};
use omni_bench::record::{Record, Status};
use omni_bench::simulator::{Settings, serve};
use omni_bench::units::{ByteSize, Limit, Span};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::execute::setup::{Outcome, Setup};

/// What is asked for media.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Endpoint {
    Chat,
    Generations,
    Edits,
    Videos,
    SyncVideos,
}

impl Endpoint {
    const ALL: [Self; 5] = [Self::Chat, Self::Generations, Self::Edits, Self::Videos, Self::SyncVideos];

    const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Generations => "generations",
            Self::Edits => "edits",
            Self::Videos => "videos",
            Self::SyncVideos => "videos/sync",
        }
    }

    /// A run of this many requests, in short limits.
    fn setup(self, requests: usize, cap: u32) -> Setup {
        let api = match self {
            Self::Chat => Api::Chat,
            Self::Generations => Api::Generations,
            Self::Edits => Api::Edits,
            Self::Videos | Self::SyncVideos => Api::Videos,
        };
        Setup {
            api,
            sync_video: self == Self::SyncVideos,
            request_limit: Limit::After(Span::seconds(5)),
            job_limit: Limit::After(Span::seconds(8)),
            max_reply: ByteSize::megabytes(1),
            ..Setup::images(requests, cap)
        }
    }
}

/// A fault that the requests of these numbers draw.
fn at(kind: FaultKind, at: &[u64]) -> FaultRule {
    FaultRule { kind, rate: 0.0, at: at.to_vec() }
}

/// A simulator in this process that answers at once, but for its faults.
struct Simulated {
    url: String,
    stop: oneshot::Sender<()>,
    serving: JoinSet<io::Result<()>>,
}

impl Simulated {
    async fn start(faults: Vec<FaultRule>) -> Self {
        Self::start_at(1.0, faults).await
    }

    /// One whose faults last longer than they say when `speed` is below 1.
    async fn start_at(speed: f64, faults: Vec<FaultRule>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel::<()>();
        let mut serving = JoinSet::new();
        let settings = Settings { model: "m".into(), null: true, speed, faults, ..Settings::default() };
        serving.spawn(serve(listener, settings, async move { drop(stopped.await) }));
        Self { url, stop, serving }
    }

    async fn stop(mut self) {
        drop(self.stop);
        self.serving.join_next().await.unwrap().unwrap().unwrap();
    }
}

/// A run against a simulator with these faults.
async fn run(faults: Vec<FaultRule>, setup: Setup) -> Outcome {
    let server = Simulated::start(faults).await;
    let outcome = setup.run_at(&server.url).await;
    server.stop().await;
    outcome
}

/// How a request ended: status, class and message, flags.
fn told(record: &Record) -> String {
    let status = serde_json::to_value(record.status).unwrap();
    let mut words = vec![status.as_str().unwrap().to_owned()];
    if let Some(error) = &record.error {
        words.push(format!("{}: {}", error.class, error.message));
    }
    if !record.flags.is_empty() {
        let flags: Vec<_> = record.flags.iter().map(|flag| flag.name()).collect();
        words.push(format!("[{}]", flags.join(", ")));
    }
    words.join(" ")
}

/// A request that no fault has met.
#[track_caller]
fn assert_unharmed(record: &Record, what: &str) {
    assert_eq!(record.status, Status::Ok, "{what}: {}", told(record));
    // a video's generation time is a matter of what the server tells
    let harmless = ["rtf_from_inference_time", "rtf_from_latency"];
    assert!(record.flags.iter().all(|flag| harmless.contains(&flag.name())), "{what}: {}", told(record));
    assert_eq!(record.outputs.len(), 1, "{what}");
}
