//! Scenarios on a Slurm cluster.

#![cfg(test)]
