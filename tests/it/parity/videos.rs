//! Videos, frame by frame through ffmpeg.

use std::time::Duration;

use omni_bench::media::write_video;
use omni_bench::parity::{Ffmpeg, Likeness, Pair, compare_with};

use super::folder;
use crate::support::{have, skipped};

fn video(frames: u32, seed: u64) -> Vec<u8> {
    write_video(64, 48, frames, 8.0, seed).unwrap()
}

fn pair(a: &[u8], b: &[u8], ffmpeg: &Ffmpeg) -> Pair {
    let scratch = tempfile::tempdir().unwrap();
    let of = |name, bytes| folder(scratch.path(), name, &[("req_0001.mp4", bytes)]);
    compare_with(&of("a", a), &of("b", b), None, ffmpeg).pairs.remove(0)
}

#[test]
fn videos_are_compared_frame_by_frame() {
    if !have("ffmpeg") {
        return skipped("videos_are_compared_frame_by_frame", "no ffmpeg");
    }
    let ffmpeg = Ffmpeg::default();
    assert_eq!(pair(&video(5, 1), &video(5, 1), &ffmpeg).likeness, Likeness::Identical);

    let other = pair(&video(5, 1), &video(5, 2), &ffmpeg);
    assert_eq!(other.likeness, Likeness::Unresolved, "{other:?}");
    let difference = other.difference.unwrap();
    assert_eq!((difference.frames, difference.differing_frames), (5, 5));
    assert!(difference.psnr_db.unwrap() < 30.0 && difference.ssim.unwrap() < 0.9, "{difference:?}");

    // the same frames at another rate
    let faster = pair(&video(5, 1), &write_video(64, 48, 5, 24.0, 1).unwrap(), &ffmpeg);
    assert_eq!(faster.likeness, Likeness::SamePixels, "{faster:?}");
    assert_eq!(faster.difference.unwrap().frames, 5);
}

#[test]
fn another_length_or_size_is_a_difference() {
    if !have("ffmpeg") {
        return skipped("another_length_or_size_is_a_difference", "no ffmpeg");
    }
    let ffmpeg = Ffmpeg::default();
    for (a, b, reason) in [(5, 3, "5 frames against 3 frames"), (3, 5, "3 frames against 5 frames")] {
        let pair = pair(&video(a, 1), &video(b, 1), &ffmpeg);
        assert_eq!((pair.likeness, pair.reason.as_str()), (Likeness::Different, reason));
    }
    let wide = pair(&video(3, 1), &write_video(66, 48, 3, 8.0, 1).unwrap(), &ffmpeg);
    assert_eq!((wide.likeness, wide.reason.as_str()), (Likeness::Different, "64x48 against 66x48"));
}

#[test]
fn a_broken_video_is_not_compared_and_named_with_the_words_of_ffmpeg() {
    if !have("ffmpeg") {
        return skipped("a_broken_video_is_not_compared", "no ffmpeg");
    }
    for broken in [b"no video".as_slice(), b""] {
        let pair = pair(&video(3, 1), broken, &Ffmpeg::default());
        assert_eq!(pair.likeness, Likeness::NotCompared, "{pair:?}");
        assert!(pair.reason.contains("b/req_0001.mp4`: ffmpeg: "), "{}", pair.reason);
    }
}

#[test]
fn without_ffmpeg_videos_are_compared_by_their_bytes_only() {
    let absent = Ffmpeg { program: "absent-ffmpeg".into(), ..Ffmpeg::default() };
    assert_eq!(pair(&video(3, 1), &video(3, 1), &absent).likeness, Likeness::Identical);
    let other = pair(&video(3, 1), &video(3, 2), &absent);
    assert_eq!((other.likeness, other.reason.as_str()), (Likeness::NotCompared, "not compared: no ffmpeg"));
}

/// A program in the place of ffmpeg.
#[cfg(unix)]
fn script(folder: &std::path::Path, text: &str, patience: Duration) -> Ffmpeg {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.join("decoder");
    fs_err::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    Ffmpeg { program: path.into(), patience }
}

#[cfg(unix)]
#[test]
fn a_decoder_that_does_not_end_is_stopped() {
    let scratch = tempfile::tempdir().unwrap();
    let began = std::time::Instant::now();
    for text in ["exec sleep 600", "printf 'P6 1 1 255\\nabc'; exec sleep 600", "exec >&-; exec sleep 600"] {
        let stuck = script(scratch.path(), text, Duration::from_millis(300));
        let pair = pair(&video(3, 1), &video(3, 2), &stuck);
        assert_eq!(pair.likeness, Likeness::NotCompared);
        assert!(pair.reason.ends_with("ffmpeg did not come to an end in time"), "{text}: {}", pair.reason);
    }
    assert!(began.elapsed() < Duration::from_mins(2), "{:?}", began.elapsed());
}

#[cfg(unix)]
#[test]
fn a_decoder_that_fails_or_complains_is_not_believed() {
    let scratch = tempfile::tempdir().unwrap();
    let cases = [
        ("printf 'P6 1 1 255\\nabc'; exit 3", "ffmpeg ended with exit status: 3"),
        ("printf 'P6 1 1 255\\nabc'; echo 'error while decoding MB 3' >&2", "ffmpeg: error while decoding MB 3"),
        ("printf 'P6 9 9 255\\nabc'", "ffmpeg's output cannot be read: a frame is cut off"),
        ("exit 0", "the videos have no frames"),
    ];
    for (text, reason) in cases {
        let broken = script(scratch.path(), text, Duration::from_mins(2));
        let pair = pair(&video(3, 1), &video(3, 2), &broken);
        assert_eq!(pair.likeness, Likeness::NotCompared, "{pair:?}");
        assert!(pair.reason.ends_with(reason), "{}", pair.reason);
    }
}
