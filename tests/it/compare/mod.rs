//! Comparisons from the outside: the statistics on made-up runs, comparability, and the command on results of
//! simulated runs.

#![cfg(test)] // the lints that spare tests then spare their helpers too

mod build;
mod command;
mod comparable;
mod false_alarms;
mod figures;
mod outputs;
mod plan;
