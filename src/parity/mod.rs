//! How alike two folders of media are, so that a faster configuration that draws other pictures is
//! seen. In: the media that `--save-media` kept of the same requests by two configurations, and the
//! band of noise that restarts of one configuration leave. Out: each pair's judgement and what it rests
//! on. Reading and decoding find facts; judging them is pure. Writes nothing, and times nothing.

mod band;
mod compare;
mod folder;
mod frames;
mod judge;
mod picture;
mod types;

pub use band::band;
pub use compare::{compare, compare_with};
pub use folder::Folder;
pub use frames::Ffmpeg;
pub use judge::judge;
pub use picture::{mean_squared_error, psnr, ssim};
pub use types::{Band, Counts, Difference, Finding, Likeness, PARITY_FORMAT, Pair, Parity, Side};
