//! A plan on a Slurm cluster. In: a plan and a results folder. Out: scripts for job arrays, what the cluster
//! and the folder say of every run, jobs submitted and taken back. Deciding is pure; one small runner carries
//! out `sbatch`, `squeue`, `sacct`, `scancel` and `sinfo`. It drives no run and computes no number: elements
//! do the first by `omni-bench run`, the last job the second by the code that ends every `run`.

mod answer;
mod elements;
mod files;
mod now;
mod program;
mod script;
mod share;
mod slurm;

pub use answer::{JobKey, JobState, Jobs, Told, parse_sacct, parse_squeue};
pub use elements::{Array, Element, arrays};
pub use files::{ClusterDir, ClusterFile, ElementMark, Submission, SubmittedArray};
pub use now::{ElementNow, Now, RunNow, STATUS_FORMAT, now};
pub use program::ProgramError;
pub use script::{Script, hours};
pub use share::unshared;
pub use slurm::{Known, ask, cancel, hosts, submit};

/// Exit code of an element whose node does not see the results folder.
pub const UNSEEN: u8 = 73;
