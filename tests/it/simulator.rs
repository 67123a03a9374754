//! Tests of simulator.
