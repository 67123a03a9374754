//! The wire. In: a [`crate::workload::Request`]. Out: a request body as segments (`encode`, one file
//! per API), and a judge that is fed the reply as it arrives and says what really came back (`reply`,
//! over the push readers in `json` and `sse`). Opens no connection and keeps no body; pictures are
//! kept only for full validation, which comes after the request.

mod encode;
mod json;
mod reply;
mod sse;
mod types;

pub use encode::{EncodeError, Encoder, asked};
pub use reply::{JobReader, Judge, content_path, inspect, job_path, server_message};
pub use types::{Body, JobState, JobStatus, Reply, SaveMedia, Verdict, Wire};
