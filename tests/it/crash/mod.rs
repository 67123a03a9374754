//! Killed, interrupted, out of disk: what was recorded stays, and a resume completes the rest.

#![cfg(test)]
