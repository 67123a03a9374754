//! What several test areas share.
#![cfg(test)]

pub(crate) mod fake;
