//! Picture and video containers: readers that are fed chunks and keep only what they need, and
//! writers for the simulator and for synthetic inputs.
//!
//! In: bytes in any chunking, or a size and a seed. Out: what the header says, a [`MediaError`]
//! with a short reason, or a whole file. No I/O, no wire format, no opinion on what was asked for.

mod bits;
mod crc32;
mod h264;
mod image_decode;
mod image_extent;
mod image_probe;
mod image_write;
mod mp4;
mod pixels;
mod seeded;
mod types;
mod video_probe;
mod video_write;

pub use image_decode::{Soundness, decode_image, decode_pixels, inspect_image};
pub use image_extent::check_image;
pub use image_probe::ImageProbe;
pub use image_write::{write_detailed_png, write_drifted_image, write_image};
pub use pixels::Pixels;
pub use types::{ImageFormat, ImageInfo, MediaError, VideoInfo};
pub use video_probe::VideoProbe;
pub use video_write::{check_video, write_drifted_video, write_moving_video, write_video};
