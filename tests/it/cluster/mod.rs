//! Scenarios on a Slurm cluster: what would be submitted, and everything that a real Slurm on loopback does.

#![cfg(test)]

mod ends;
mod layouts;
mod many;
mod refused;
mod rehearsal;
mod setup;
