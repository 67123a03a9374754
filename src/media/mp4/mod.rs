//! The MP4 container (ISO/IEC 14496-12), as far as a benchmark needs it: what a `moov` and the
//! `moof`s of a fragmented file say about the tracks, and a writer for one H.264 track.
//!
//! In: whole box payloads. Out: counts and durations in the media's own time units. Samples are
//! never read. Every read is bounded by the payload, so a lying size is an error, not a panic.

mod boxes;
mod fragments;
mod track;
mod write;

pub(super) use fragments::Fragments;
pub(super) use track::Movie;
pub(super) use write::{H264Track, write};
