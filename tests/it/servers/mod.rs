//! Servers that omni-bench starts: supervision, verification, environment, telemetry.

#![cfg(test)]

mod bench;
mod crashes;
mod remote;
mod starts;
mod verify;
mod words;
