//! Datasets → facts (rows, hash, classes) and concrete requests. In: a scenario's dataset, the data
//! it names. Out: [`Request`]s, a pure function of dataset, seed and count. Sends nothing.

mod canonical;
mod clips;
mod data;
mod dataset;
mod fields;
mod images;
mod load;
mod pyrandom;
mod references;
mod request;
mod sample;
mod seed;
mod trace;

pub(crate) use canonical::short_hash;
pub use data::{Data, Selection};
pub(crate) use data::{Extra, Tally};
pub use dataset::{Dataset, Facts, InputMedia, InputVideo, Origin, WeightedProfile};
pub(crate) use fields::{Fields, Scope, brief};
pub(crate) use load::LARGEST_IMAGE_SIDE;
pub use load::load;
pub use pyrandom::PyRandom;
pub(crate) use references::{Destination, LARGEST_TEXT_PART, Part, Routing, check_link, is_link_field};
pub use request::{Class, Reference, Request, Shape};
pub use seed::derive_seed;
