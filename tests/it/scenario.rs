//! Tests of scenario.
