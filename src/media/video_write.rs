//! Writes a synthetic video: an MP4 file of exactly the asked size, frame count and rate.

use super::h264::Stream;
use super::mp4;
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
    let mut units = vec![stream.key_frame(seed)];
    units.extend((1..frames).map(|index| stream.repeat_frame(index)));
    mp4::write(&mp4::H264Track {
        width: short_width,
        height: short_height,
        timescale,
        frame_duration,
        profile: stream.profile(),
        sequence: &stream.sequence(),
        picture: &Stream::picture(),
        frames: &units,
    })
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
