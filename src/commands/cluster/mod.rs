//! `omni-bench submit`, `status` and `cancel`: a scenario on a Slurm cluster. In: a scenario, or the results
//! folder of a submission. Out: jobs in the queue, what is known of them, or their end.

mod cancel;
mod element;
mod look;
mod merge;
mod status;
mod submit;
mod table;

pub(super) use cancel::cancel;
pub(super) use element::Begun;
pub(super) use status::status;
pub(super) use submit::submit;
