//! What a server and its GPUs do while a run goes on: samples on a thread of their own, kept as
//! `telemetry.jsonl`. In: a reader of devices and the server's `/metrics`. Out: samples on the run's
//! clock. It judges nothing, and the client that drives the load shares no thread with it.
//!
//! What it costs: a look at the GPUs is about a millisecond of one processor each, a scrape is one
//! small request over a connection of its own; with a look every [`INTERVAL`] both are below one
//! percent of a processor.

mod devices;
mod exposition;
mod families;
mod nvml;
mod recording;
mod sampler;

pub use devices::{DeviceFacts, Devices, devices};
pub use exposition::{Exposition, Sample};
pub use families::server_sample;
pub use sampler::{INTERVAL, Telemetry, Watch};
