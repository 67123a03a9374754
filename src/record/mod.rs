//! What happened: request records, run manifests, and the files that hold them. In: events of the
//! executor. Out: lines that outlive a crash, and readers that skip what a crash tore. Computes no
//! statistics.

mod atomic;
mod claim;
mod client;
mod declared;
mod environment;
mod error;
mod folder;
mod heartbeat;
mod hold;
mod journal;
mod layout;
mod left;
mod links;
mod manifest;
mod redact;
mod slurm;
mod telemetry;
mod types;
mod verified;

pub use atomic::{read_json, write_atomic, write_json};
pub use claim::{Claimed, ClaimedRun, Lost};
pub use client::{CLIENT_FORMAT, ClientProbe, Spread};
pub use declared::{Contradiction, fact_of};
pub use environment::{Container, DeviceSource, ENVIRONMENT_FORMAT, Environment, Gpu, GpuLoad, Machine, Role};
pub use error::ReadError;
pub use heartbeat::{BEAT_EVERY, Look, STALE_AFTER, Vigil};
pub use journal::{Journal, JournalRead, read_journal};
pub use layout::{ResultsDir, RunDir};
pub use left::LeftJobs;
pub use manifest::{Claim, MANIFEST_FORMAT, RunManifest, RunState, ServerFacts};
pub use redact::Redactor;
pub use slurm::SlurmFacts;
pub use telemetry::{GpuProcess, GpuSample, ServerSample, TelemetrySample, Total, read_telemetry};
pub use types::{Asked, CreatedJob, Output, OutputKind, Poll, Record, RequestError, Status, Streamed};
pub use verified::{VERIFY_FORMAT, Verified, VerifyReport};
