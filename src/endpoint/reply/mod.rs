//! Replies read as they arrive, and judged. In: the head of a reply, then its body in chunks of any
//! size. Out: a verdict on the media that came back, or the state of a job. Keeps of a body only what
//! it is reading at the moment, a bounded skeleton of the rest, and what identifies each medium.

mod base64;
mod capture;
mod gallery;
mod inspect;
mod job;
mod judge;
mod message;
mod metrics;
mod missing;
mod picture;
mod pictures;
mod save;
mod streamed;
mod tally;
mod video;

pub use inspect::inspect;
pub use job::{JobReader, content_path, job_path};
pub use judge::Judge;
pub(crate) use message::excerpt;
pub use message::server_message;
