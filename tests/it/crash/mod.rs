//! Killed, interrupted, out of disk: what was recorded stays, and a resume completes the rest.

#![cfg(test)]
#![cfg(target_os = "linux")] // processes are found by /proc, limits set by ulimit

mod claims;
mod disk;
mod interrupts;
mod journals;
mod kills;
mod lane;
mod setup;
mod terminal;
