//! Numbers that hold: the built binary against scripted servers whose right answers are known
//! beforehand, read back from `results.json` and `records.jsonl`.

#![cfg(test)] // the lints that spare tests then spare their helpers too

mod golden;
mod jobs;
mod replies;
mod schedule;
mod setup;
mod warmup;
