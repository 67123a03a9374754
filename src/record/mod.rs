//! What happened: request records, run manifests, and the files that hold them. In: events of the
//! executor. Out: lines that outlive a crash, and readers that skip what a crash tore. Computes no
//! statistics.

mod atomic;
mod claim;
mod client;
mod error;
mod folder;
mod journal;
mod layout;
mod manifest;
mod slurm;
mod types;

pub use atomic::{read_json, write_atomic, write_json};
pub use claim::{Claimed, ClaimedRun};
pub use client::{CLIENT_FORMAT, ClientProbe, Spread};
pub use error::ReadError;
pub use journal::{Journal, JournalRead, read_journal};
pub use layout::{ResultsDir, RunDir};
pub use manifest::{Claim, MANIFEST_FORMAT, RunManifest, RunState, ServerFacts};
pub use slurm::SlurmFacts;
pub use types::{Asked, CreatedJob, Output, OutputKind, Poll, Record, RequestError, Status, Streamed};
