//! The embedded server: the endpoints, status codes and job lifecycle of a vLLM-Omni server over a
//! cost model, so that everything can be tried without a GPU. Shares no wire type with `endpoint`.
//!
//! A bound listener, [`Settings`] and a shutdown future go in; HTTP replies with valid media come out. All times
//! it reports are modelled seconds; on the wall they pass `speed` times faster. A request that names no shape gets
//! the defaults of its cost model (`profiles`), and a video without a rate 24 frames a second.

mod chat;
mod cost;
mod engine;
mod faults;
mod fields;
mod flags;
mod form;
mod images;
mod jobs;
mod medium;
mod null;
mod profiles;
mod random;
mod reference;
mod reply;
mod schedule;
mod server;
mod settings;
mod state;
mod status;
mod video_form;
mod videos;
mod zip;

pub use cost::request_seconds;
pub use server::serve;
pub use settings::{Layout, Settings};
