//! Servers, before and after the load: starting one in its own process group, waiting until it is
//! ready, asking what it serves, stopping it with everything it started. In: a variant's plan. Out:
//! a base URL, the facts of `environment.json`, a log. Sends no measured request.

mod command;
mod container;
mod environment;
mod facts;
mod family;
mod group;
mod log;
mod models;
mod probe;
mod process;
mod ready;
mod surroundings;
mod telemetry;
mod verify;
mod watchdog;

pub use command::{CommandError, Words, free_port, server_words, shell_line};
pub use environment::{Place, background, image_digest, machine, tool_commit};
pub use facts::host_name;
pub use models::{Served, choose_model};
pub use probe::{Answer, Probe};
pub use process::{Launch, ServerProcess};
pub use ready::{NotReady, Readiness};
pub use surroundings::{Unset, referred, surroundings};
pub use telemetry::{DeviceFacts, Devices, Exposition, INTERVAL, Sample, Telemetry, Watch, devices, server_sample};
pub use verify::verify;
pub use watchdog::{WATCHDOG_WORD, watch};
