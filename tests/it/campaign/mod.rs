//! Campaigns through the built binary: folders, resume, servers, interrupts, exit codes.

#![cfg(test)]
#![cfg(unix)]

mod client;
mod outputs;
mod resume;
mod servers;
mod setup;
