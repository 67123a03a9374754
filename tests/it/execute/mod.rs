//! Tests of execute: one run against a scripted server.
#![cfg(test)]

mod faults;
mod jobs;
mod loops;
mod phases;
mod replies;
pub(crate) mod setup;
mod stops;
