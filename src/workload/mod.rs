//! Datasets → facts (rows, hash, classes) and concrete requests. In: a scenario's dataset, the data
//! it names, and where its downloads lie. Out: [`Request`]s, a pure function of dataset, seed and
//! count. Sends nothing and fetches nothing: [`downloads`] only says what is needed.

mod canonical;
mod clips;
mod custom;
mod data;
mod dataset;
mod fields;
mod files;
mod gather;
mod images;
mod intake;
mod load;
mod pyrandom;
mod references;
mod remote;
mod request;
mod requests;
mod rows;
mod sample;
mod seed;
mod synthetic;
mod trace;
mod vbench;

pub(crate) use canonical::short_hash;
pub use data::{Data, Selection};
pub(crate) use data::{Extra, Tally};
pub use dataset::{Dataset, Facts, InputMedia, InputVideo, Origin, WeightedProfile};
pub(crate) use fields::{Fields, Scope, brief};
pub(crate) use files::sha256;
pub(crate) use load::LARGEST_IMAGE_SIDE;
pub use load::load;
pub use pyrandom::PyRandom;
pub(crate) use references::{Destination, LARGEST_TEXT_PART, Part, Routing, check_link, is_media_column};
pub use remote::{DEFAULT_HUB, Download, Remote, Sources, downloads};
pub use request::{Class, Reference, Request, Shape};
pub use requests::Requests;
pub use seed::derive_seed;
