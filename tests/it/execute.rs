//! Tests of execute.
