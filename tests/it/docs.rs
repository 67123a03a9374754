//! Tests of docs.
