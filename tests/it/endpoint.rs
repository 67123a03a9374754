//! Tests of endpoint.
