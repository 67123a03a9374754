//! What is known of every run and element of a submission. In: what the folder says, and what Slurm says. Out:
//! the states that `status` shows and that the last job tells of. Pure; asks nobody.

mod state;

pub use state::{ElementNow, Now, RunNow, STATUS_FORMAT, now};
