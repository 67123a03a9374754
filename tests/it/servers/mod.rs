//! Servers that omni-bench starts: supervision, verification, environment, telemetry.

#![cfg(test)]
