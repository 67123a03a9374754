//! Results → foreign formats. In: a plan, its results and what is known of each run besides. Out: the
//! text of a file with the keys, units and names that its readers expect. Writes nothing.

mod columns;
mod diffusion;

pub use diffusion::{DiffusionFile, RunFacts, vllm_omni};
