//! The history: summaries in a database that several processes write, and metrics over time.

#![cfg(test)] // the lints that spare tests then spare their helpers too

pub(crate) mod archive;
mod command;
mod many;
mod trend;
