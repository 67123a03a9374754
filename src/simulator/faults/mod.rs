//! Faults on purpose: which requests meet which (`rules`, pure and seeded), where in an exchange they sit (`call`),
//! and one file per family that commits them. [`commit()`] stands before all handlers, which know nothing of it.
//!
//! A fault is drawn by a call that asks for media. One that can sit at several calls of a video job (its creation,
//! its state, its content) sits there in turn; one that a call cannot meet is not committed. A fault at a job's
//! state or content meets every such call of that job. The replies say `injected` wherever they have words.

mod body;
mod call;
mod commit;
mod connection;
mod job;
mod json;
mod media;
mod rules;
mod status;

pub(super) use commit::commit;
pub(super) use connection::{Door, Line, cut, reset};
pub(super) use rules::Faults;
