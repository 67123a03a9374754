//! What Slurm's programs say of jobs. In: the JSON of `squeue` and `sacct`. Out: jobs by their names, in one form.
//! Pure; runs no program.

mod read;

pub use read::{JobKey, JobState, Jobs, Told, parse_sacct, parse_squeue};
