//! Datasets → facts (rows, hash, classes) and concrete requests. In: a scenario's dataset, the data
//! it names. Out: [`Request`]s, a pure function of dataset, seed and count. Sends nothing.

mod dataset;
mod request;

pub use dataset::{Dataset, Facts, InputMedia, Origin, WeightedProfile};
pub use request::{Class, Reference, Request, Shape};
