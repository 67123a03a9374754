//! x

#![cfg(test)] // the lints that spare tests then spare their helpers too
