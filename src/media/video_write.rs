//! Writes a synthetic video: an MP4 file of exactly the asked size, frame count and rate.

use super::h264::Stream;
use super::mp4;
use super::seeded::Seeded;
use super::types::MediaError;

/// A rate is a whole number of time units per frame over time units per second. The first of these
/// frame durations that expresses it exactly is taken: whole and decimal rates, then the NTSC ones.
const FRAME_DURATIONS: [u32; 2] = [1_000, 1_001];
/// The frame duration of any other rate.
const FINEST: u32 = 100_000;

/// An MP4 file with H.264 that shows one still picture for `frames` frames: a few kilobytes,
/// readable by ffprobe and decodable by ffmpeg. The same seed gives the same bytes; another seed
/// gives others. Odd sizes are an error, because H.264 stores colour for pairs of pixels.
pub fn write_video(width: u32, height: u32, frames: u32, fps: f64, seed: u64) -> Result<Vec<u8>, MediaError> {
    let track = Track::new(width, height, frames, fps)?;
    let first = track.stream.key_frame(Seeded::new(seed));
    track.write(first, |index| track.stream.repeat_frame(index))
}

/// The same video with its colours a little off, as far as `drift` decides.
pub fn write_drifted_video(
    width: u32,
    height: u32,
    frames: u32,
    fps: f64,
    seed: u64,
    drift: u64,
) -> Result<Vec<u8>, MediaError> {
    let track = Track::new(width, height, frames, fps)?;
    let first = track.stream.key_frame(Seeded::drifting(seed, drift));
    track.write(first, |index| track.stream.repeat_frame(index))
}

/// The same with a picture that moves from frame to frame, for clips that a server takes as input:
/// some tens to hundreds of kilobytes.
pub fn write_moving_video(width: u32, height: u32, frames: u32, fps: f64, seed: u64) -> Result<Vec<u8>, MediaError> {
    let track = Track::new(width, height, frames, fps)?;
    let first = track.stream.textured_key_frame(Seeded::new(seed));
    track.write(first, |index| track.stream.panned_frame(index))
}

/// Why a video of this size, length and rate cannot be written, without writing it.
pub fn check_video(width: u32, height: u32, frames: u32, fps: f64) -> Result<(), MediaError> {
    Track::new(width, height, frames, fps).map(|_| ())
}

/// A checked video to write.
struct Track {
    width: u16,
    height: u16,
    frames: u32,
    timescale: u32,
    frame_duration: u32,
    stream: Stream,
}

impl Track {
    fn new(width: u32, height: u32, frames: u32, fps: f64) -> Result<Self, MediaError> {
        if !width.is_multiple_of(2) || !height.is_multiple_of(2) {
            return Err(MediaError(format!("odd sizes cannot be encoded: {width}x{height}")));
        }
        let (Ok(short_width), Ok(short_height)) = (u16::try_from(width), u16::try_from(height)) else {
            return Err(MediaError(format!("{width}x{height} is too large for H.264")));
        };
        if width == 0 || height == 0 {
            return Err(MediaError(format!("cannot write a video of {width}x{height}")));
        }
        if frames == 0 {
            return Err(MediaError::new("cannot write a video without frames"));
        }
        let (timescale, frame_duration) = rate(fps)?;
        let stream = Stream::new(width, height, fps)?;
        Ok(Self { width: short_width, height: short_height, frames, timescale, frame_duration, stream })
    }

    fn write(&self, first: Vec<u8>, later: impl Fn(u32) -> Vec<u8>) -> Result<Vec<u8>, MediaError> {
        let units: Vec<Vec<u8>> = std::iter::once(first).chain((1..self.frames).map(later)).collect();
        mp4::write(&mp4::H264Track {
            width: self.width,
            height: self.height,
            timescale: self.timescale,
            frame_duration: self.frame_duration,
            profile: self.stream.profile(),
            sequence: &self.stream.sequence(),
            picture: &Stream::picture(),
            frames: &units,
        })
    }
}

/// Time units per second and per frame.
fn rate(fps: f64) -> Result<(u32, u32), MediaError> {
    if !(0.001..=1000.0).contains(&fps) {
        return Err(MediaError(format!("cannot write a video at {fps} frames per second: use 0.001 to 1000")));
    }
    let timescale = |duration: u32| (fps * f64::from(duration)).round();
    let exact = |duration: &u32| (timescale(*duration) / f64::from(*duration) / fps - 1.0).abs() < 1e-9;
    let duration = FRAME_DURATIONS.into_iter().find(exact).unwrap_or(FINEST);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number from 1 to 10^8, as the rate is bounded"
    )]
    Ok((timescale(duration) as u32, duration))
}
