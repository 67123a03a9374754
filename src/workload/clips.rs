//! Synthetic reference videos, made once per shape and shared between requests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::{InputVideo, Reference, Shape};
use crate::catalog::Task;
use crate::diagnostic::{KeyPath, Problem};
use crate::media::{check_video, write_moving_video};
use crate::scenario::model;

/// Side of a video when neither the dataset nor the request says.
const DEFAULT_SIDE: u32 = 512;
/// Frames when neither says.
const DEFAULT_FRAMES: u32 = 33;
/// Frames per second when neither says; the servers' own default.
const DEFAULT_FPS: f64 = 24.0;
/// Most videos per request.
const MOST: u32 = 16;
/// Longest side and most frames; larger ones would be work for the client, not the server.
const LARGEST_SIDE: u32 = 8192;
const MOST_FRAMES: u32 = 3600;

/// Width, height, frames and rate of a clip.
type ClipShape = (u32, u32, u32, f64);

/// A clip's shape, the rate by its bits, and its position in the request.
type ClipKey = (u32, u32, u32, u64, u32);

/// The clips made so far.
#[derive(Debug, Default)]
pub(super) struct Clips(Mutex<BTreeMap<ClipKey, Bytes>>);

impl Clips {
    /// The reference videos of a request of this shape; equal ones share their bytes.
    pub(super) fn of(&self, media: Option<InputVideo>, shape: Shape) -> Vec<Reference> {
        let Some(media) = media else { return Vec::new() };
        let clip = clip_shape(media, shape);
        (0..media.count)
            .filter_map(|position| {
                Some(Reference::Bytes {
                    bytes: self.clip(clip, position)?,
                    mime: Arc::from("video/mp4"),
                    file_name: Arc::from(format!("input_{position}.mp4")),
                })
            })
            .collect()
    }

    /// `None` only for a shape that loading and planning refuse.
    fn clip(&self, (width, height, frames, fps): ClipShape, position: u32) -> Option<Bytes> {
        let key = (width, height, frames, fps.to_bits(), position);
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = made.get(&key) {
            return Some(bytes.clone());
        }
        let bytes = Bytes::from(write_moving_video(width, height, frames, fps, u64::from(position)).ok()?);
        made.insert(key, bytes.clone());
        Some(bytes)
    }
}

/// The shape of a request's reference videos.
fn clip_shape(media: InputVideo, shape: Shape) -> ClipShape {
    let side = |own: Option<u32>, asked: Option<u32>| own.or(asked).unwrap_or(DEFAULT_SIDE);
    (
        side(media.width, shape.width),
        side(media.height, shape.height),
        media.num_frames.or(shape.num_frames).unwrap_or(DEFAULT_FRAMES),
        media.fps.or(shape.fps).unwrap_or(DEFAULT_FPS),
    )
}

/// Why the reference videos of a request of this shape cannot be made.
pub(super) fn fault(media: InputVideo, shape: Shape) -> Option<String> {
    let (width, height, frames, fps) = clip_shape(media, shape);
    if width.max(height) > LARGEST_SIDE || frames > MOST_FRAMES {
        return Some(format!("reference videos of {width}x{height} with {frames} frames are too large to make"));
    }
    check_video(width, height, frames, fps).err().map(|error| format!("reference videos cannot be made: {error}"))
}

/// Reads a dataset's `videos`, which a task that needs a video may leave out.
pub(super) fn read(
    written: Option<&model::InputVideos>,
    task: Option<Task>,
    at: &KeyPath,
    problems: &mut Vec<Problem>,
) -> Option<InputVideo> {
    let needed = task.is_some_and(Task::needs_video);
    let Some(written) = written else { return needed.then(InputVideo::one) };
    let model::InputVideos { count, width, height, num_frames, fps } = *written;
    let videos = InputVideo { count: count.unwrap_or(1), width, height, num_frames, fps };
    match task {
        Some(task) if !task.takes_video() => {
            problems.push(Problem::key(at.clone(), format!("task `{task}` takes no reference videos")));
        }
        Some(task) if needed && videos.count == 0 => {
            problems.push(Problem::value(at.key("count"), format!("task `{task}` needs at least one reference video")));
        }
        _ => {}
    }
    let mut wrong = |key: &str, message: String| problems.push(Problem::value(at.key(key), message));
    if videos.count > MOST {
        wrong("count", format!("{} reference videos per request are too many", videos.count));
    }
    for (key, side) in [("width", width), ("height", height)] {
        if side.is_some_and(|side| side == 0 || side > LARGEST_SIDE || side % 2 == 1) {
            wrong(key, format!("a reference video has an even number of pixels a side, between 2 and {LARGEST_SIDE}"));
        }
    }
    if num_frames.is_some_and(|frames| frames == 0 || frames > MOST_FRAMES) {
        wrong("num_frames", format!("a reference video has between 1 and {MOST_FRAMES} frames"));
    }
    if fps.is_some_and(|fps| !(0.001..=1000.0).contains(&fps)) {
        wrong("fps", "a reference video has between 0.001 and 1000 frames per second".to_owned());
    }
    if width.is_some() != height.is_some() {
        problems.push(Problem::value(at.clone(), "`width` and `height` of reference videos go together"));
    }
    Some(videos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::VideoProbe;

    fn probed(reference: &Reference) -> (u32, u32, u64, f64) {
        let Reference::Bytes { bytes, mime, file_name } = reference else { panic!("a link") };
        assert_eq!((&**mime, file_name.rsplit_once('.').unwrap().1), ("video/mp4", "mp4"));
        let mut probe = VideoProbe::new();
        probe.feed(bytes);
        let info = probe.finish().unwrap();
        (info.width, info.height, info.frames, info.fps)
    }

    #[test]
    fn clips_follow_the_request_unless_the_dataset_says() {
        let shape = Shape { width: Some(64), height: Some(48), num_frames: Some(9), ..Shape::default() };
        let clips = Clips::default();
        let of = |media| clips.of(Some(media), shape).iter().map(probed).collect::<Vec<_>>();
        assert_eq!(of(InputVideo::one()), [(64, 48, 9, 24.0)]);
        let own = InputVideo { count: 2, width: Some(32), height: Some(16), num_frames: Some(5), fps: Some(8.0) };
        assert_eq!(of(own), [(32, 16, 5, 8.0); 2]);
        assert_eq!(clips.of(None, shape), []);
    }

    #[test]
    fn clips_of_one_request_differ_and_those_of_two_requests_are_one_allocation() {
        let clips = Clips::default();
        let shape = Shape { width: Some(320), height: Some(256), ..Shape::default() };
        let two = InputVideo { count: 2, ..InputVideo::one() };
        let [first, second] = &clips.of(Some(two), shape)[..] else { panic!("two clips") };
        let bytes = |reference: &Reference| match reference {
            Reference::Bytes { bytes, .. } => bytes.clone(),
            Reference::Url(url) => panic!("{url}"),
        };
        assert_ne!(bytes(first), bytes(second));
        assert_eq!(bytes(first).as_ptr(), bytes(&clips.of(Some(two), shape)[0]).as_ptr());
    }

    #[test]
    fn shapes_that_cannot_be_made_are_told() {
        let of = |width, height, num_frames| {
            let shape = Shape { width: Some(width), height: Some(height), num_frames, ..Shape::default() };
            fault(InputVideo::one(), shape)
        };
        assert_eq!(of(854, 480, None), None);
        let odd = "reference videos cannot be made: odd sizes cannot be encoded: 853x480";
        assert_eq!(of(853, 480, None).as_deref(), Some(odd));
        let long = "reference videos of 64x64 with 5000 frames are too large to make";
        assert_eq!(of(64, 64, Some(5000)).as_deref(), Some(long));
    }
}
