//! Two folders → what is found about their pairs.

use std::collections::BTreeSet;
use std::path::Path;

use super::folder::{Folder, Place};
use super::frames::Ffmpeg;
use super::judge::{Found, judge_all, lowest};
use super::picture;
use super::types::{Band, Difference, Finding, Parity, Side};
use crate::media::{Pixels, decode_pixels};

/// How alike the media of two folders are, pair by pair, held against the noise of restarts. Videos are
/// decoded by the `ffmpeg` of the system; without one they are not compared beyond their bytes.
pub fn compare(a: &Folder, b: &Folder, band: Option<Band>) -> Parity {
    compare_with(a, b, band, &Ffmpeg::default())
}

/// [`compare`] with another decoder of videos.
pub fn compare_with(a: &Folder, b: &Folder, band: Option<Band>, ffmpeg: &Ffmpeg) -> Parity {
    judge_all(find(a, b, ffmpeg), band)
}

/// What is found about each pair, in the order of requests.
pub(super) fn find(a: &Folder, b: &Folder, ffmpeg: &Ffmpeg) -> Vec<Found> {
    let places: BTreeSet<Place> = a.files.keys().chain(b.files.keys()).copied().collect();
    let name =
        |folder: &Folder, place: &Place| Some(folder.files.get(place)?.file_name()?.to_string_lossy().into_owned());
    let found = places.into_iter().map(|place| Found {
        request: place.0,
        output: place.1,
        a: name(a, &place),
        b: name(b, &place),
        finding: pair(a, b, place, ffmpeg),
    });
    found.collect()
}

fn pair(a: &Folder, b: &Folder, place: Place, ffmpeg: &Ffmpeg) -> Finding {
    let (path_a, path_b) = match (a.files.get(&place), b.files.get(&place)) {
        (Some(a), Some(b)) => (a, b),
        (None, _) => return Finding::Missing(Side::A),
        (_, None) => return Finding::Missing(Side::B),
    };
    let (bytes_a, bytes_b) = match (fs_err::read(path_a), fs_err::read(path_b)) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(error), _) | (_, Err(error)) => return Finding::Uncompared(error.to_string()),
    };
    if bytes_a == bytes_b {
        return Finding::SameBytes;
    }
    if let Some(why) = seeds(a, b, place.0) {
        return Finding::Uncompared(why);
    }
    match (is_video(path_a), is_video(path_b)) {
        (false, false) => pictures((path_a, &bytes_a), (path_b, &bytes_b)),
        (true, true) => videos(path_a, path_b, ffmpeg),
        _ => Finding::Uncompared("a picture against a video".to_owned()),
    }
}

/// Why other media are to be expected: the requests asked for other ones.
fn seeds(a: &Folder, b: &Folder, request: u32) -> Option<String> {
    match (a.seeds.get(&request)?, b.seeds.get(&request)?) {
        (Some(a), Some(b)) => (a != b).then(|| format!("not the same seed: {a} against {b}")),
        (None, None) => Some("no seed was sent, so each answer may be another; set `request_seed`".to_owned()),
        (Some(seed), None) | (None, Some(seed)) => Some(format!("only one was asked for with a seed ({seed})")),
    }
}

fn is_video(path: &Path) -> bool {
    path.extension().is_some_and(|kind| kind == "mp4")
}

fn pictures(a: (&Path, &[u8]), b: (&Path, &[u8])) -> Finding {
    let decoded = |(path, bytes): (&Path, &[u8])| {
        decode_pixels(bytes).map_err(|error| Finding::Uncompared(format!("`{}`: {error}", path.display())))
    };
    match (decoded(a), decoded(b)) {
        (Ok(a), Ok(b)) => laid_over(&a, &b).map_or_else(|shape| shape, Finding::Pixels),
        (Err(broken), _) | (_, Err(broken)) => broken,
    }
}

/// The difference of two pictures, or that they have other sizes.
fn laid_over(a: &Pixels, b: &Pixels) -> Result<Difference, Finding> {
    let size = |pixels: &Pixels| format!("{}x{}", pixels.size().0, pixels.size().1);
    picture::difference(a, b).ok_or_else(|| Finding::Shape { a: size(a), b: size(b) })
}

fn videos(a: &Path, b: &Path, ffmpeg: &Ffmpeg) -> Finding {
    let started = |path: &Path| match ffmpeg.decode(path) {
        Ok(Some(frames)) => Ok(frames),
        Ok(None) => Err(Finding::Uncompared("not compared: no ffmpeg".to_owned())),
        Err(error) => Err(Finding::Uncompared(format!("ffmpeg cannot be started: {error}"))),
    };
    let told = |path: &Path| {
        let path = path.display().to_string();
        move |error: String| Finding::Uncompared(format!("`{path}`: {error}"))
    };
    let both = || {
        let (mut a_frames, mut b_frames) = (started(a)?, started(b)?);
        frame_by_frame(|| a_frames.next().map_err(told(a)), || b_frames.next().map_err(told(b)))
    };
    both().map_or_else(|finding| finding, Finding::Pixels)
}

/// Both videos to their ends, a frame of each at a time.
fn frame_by_frame(
    mut a: impl FnMut() -> Result<Option<Pixels>, Finding>,
    mut b: impl FnMut() -> Result<Option<Pixels>, Finding>,
) -> Result<Difference, Finding> {
    let mut total = Difference { frames: 0, differing_frames: 0, psnr_db: None, ssim: None };
    let frames = |count: u64| format!("{count} frames");
    loop {
        match (a()?, b()?) {
            (Some(a), Some(b)) => {
                let frame = laid_over(&a, &b)?;
                total = Difference {
                    frames: total.frames + 1,
                    differing_frames: total.differing_frames + frame.differing_frames,
                    psnr_db: lowest([total.psnr_db, frame.psnr_db].into_iter()),
                    ssim: lowest([total.ssim, frame.ssim].into_iter()),
                };
            }
            (None, None) if total.frames == 0 => {
                return Err(Finding::Uncompared("the videos have no frames".to_owned()));
            }
            (None, None) => return Ok(total),
            (Some(_), None) => {
                let more = 1 + rest(&mut a)?;
                return Err(Finding::Shape { a: frames(total.frames + more), b: frames(total.frames) });
            }
            (None, Some(_)) => {
                let more = 1 + rest(&mut b)?;
                return Err(Finding::Shape { a: frames(total.frames), b: frames(total.frames + more) });
            }
        }
    }
}

/// How many frames are left.
fn rest(frames: &mut impl FnMut() -> Result<Option<Pixels>, Finding>) -> Result<u64, Finding> {
    let mut count = 0;
    while frames()?.is_some() {
        count += 1;
    }
    Ok(count)
}
