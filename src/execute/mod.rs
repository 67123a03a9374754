//! Driving one run. In: a run of the plan, its requests, a server that answers. Out: one record per
//! request, appended as requests end, for warm-up, calibration and the measured phase apart.
//!
//! One dispatcher owns the state of a phase; workers and the writer send it messages.
//! Nothing here knows the wire, starts a server, or computes a statistic.

mod attempt;
mod cleanup;
mod client;
mod clock;
mod context;
mod dispatcher;
mod draft;
mod drive;
mod fault;
mod feed;
mod gauge;
mod inspect;
mod job;
mod pacer;
mod phase;
mod polling;
mod progress;
mod runtime;
mod secrets;
mod stop;
mod transport;
mod trust;
mod worker;
mod writer;

pub use drive::{Counts, Drive, DriveError, Driven, Target, drive, wire};
pub use gauge::{Gauge, GaugeError, measure_client};
pub use progress::Progress;
pub use runtime::runtime;
pub use secrets::{SecretError, Secrets};
pub use stop::Stop;
pub use trust::authorities;
