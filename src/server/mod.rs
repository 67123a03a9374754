//! Servers, before and after the load: starting one in its own process group, waiting until it is
//! ready, asking what it serves, stopping it with everything it started. In: a variant's plan. Out:
//! a base URL, the facts of `environment.json`, a log. Sends no measured request.

mod command;
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
pub use facts::{ENVIRONMENT_FORMAT, Environment, host_name};
pub use models::{Served, choose_model};
pub use probe::{Answer, Probe};
pub use process::{Launch, ServerProcess};
pub use ready::{NotReady, Readiness};
pub use surroundings::{Unset, referred, surroundings};
pub use verify::verify;
pub use watchdog::{WATCHDOG_WORD, watch};
