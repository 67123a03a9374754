//! omni-bench says how fast an image or video model server is.
//!
//! A *scenario* file says what to measure; the planner turns it into a list of *runs*; the executor
//! drives each run against a server and appends one *record* per request; *summaries* are pure
//! functions of records; *reports* are pure functions of summaries. Nothing flows back.
//!
//! ```text
//! scenario.toml ─▶ Scenario ─▶ Plan ─▶ execute ─▶ records.jsonl ─▶ Summary ─▶ tables · page
//!                  (written)  (meant)  (done)      (happened)       (numbers)  (text)
//! ```

pub mod campaign;
pub mod catalog;
pub mod cli;
pub mod cluster;
pub mod commands;
pub mod compare;
pub mod diagnostic;
pub mod endpoint;
pub mod execute;
pub mod exit;
pub mod export;
pub mod gate;
pub mod history;
pub mod import;
pub mod media;
pub mod parity;
pub mod plan;
pub mod record;
pub mod report;
pub mod scenario;
pub mod server;
pub mod simulator;
pub mod summarize;
pub mod units;
pub mod workload;
