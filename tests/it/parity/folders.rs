//! Folders of pictures, pair by pair.

use std::io::Cursor;

use omni_bench::media::{ImageFormat, write_image};
use omni_bench::parity::{Ffmpeg, Likeness, Parity, Side, band, compare, judge};

use super::folder;

fn png(seed: u64) -> Vec<u8> {
    write_image(ImageFormat::Png, 64, 48, seed).unwrap()
}

/// The picture with this much added to every channel of every third pixel.
fn nudged(picture: &[u8], by: u8) -> Vec<u8> {
    let mut picture = image::load_from_memory(picture).unwrap().into_rgb8();
    for pixel in picture.pixels_mut().step_by(3) {
        for channel in &mut pixel.0 {
            *channel = if *channel < 128 { *channel + by } else { *channel - by };
        }
    }
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

fn only(parity: &Parity) -> (Likeness, &str) {
    assert_eq!(parity.pairs.len(), 1);
    assert_eq!(parity.likeness, parity.pairs[0].likeness);
    (parity.likeness, &parity.pairs[0].reason)
}

#[test]
fn equal_folders_are_identical() {
    let scratch = tempfile::tempdir().unwrap();
    let (one, two) = (png(1), png(2));
    let files: [(&str, &[u8]); 3] = [("req_0001_00.png", &one), ("req_0001_01.png", &two), ("x_req_0002_00.png", &one)];
    let parity = compare(&folder(scratch.path(), "a", &files), &folder(scratch.path(), "b", &files), None);
    assert_eq!((parity.likeness, parity.counts.identical), (Likeness::Identical, 3));
    assert_eq!((parity.min_psnr_db, parity.min_ssim), (None, None));
    let places: Vec<(u32, u32)> = parity.pairs.iter().map(|pair| (pair.request, pair.output)).collect();
    assert_eq!(places, [(1, 0), (1, 1), (2, 0)]);
}

#[test]
fn pictures_of_another_seed_lie_below_the_band_of_restarts_and_their_noise_inside_it() {
    let scratch = tempfile::tempdir().unwrap();
    let (drawn, other) = (png(1), png(2));
    let one = |name: &str, bytes: &[u8]| folder(scratch.path(), name, &[("req_0001_00.png", bytes)]);
    let repeats = [one("r1", &drawn), one("r2", &nudged(&drawn, 6)), one("r3", &nudged(&drawn, 3))];
    let noise = band(&repeats, &Ffmpeg::default()).unwrap();
    assert_eq!((noise.repeats, noise.pairs, noise.not_compared), (3, 3, 0));
    let (base, alike) = (one("a", &drawn), one("alike", &nudged(&drawn, 2)));
    let parity = compare(&base, &alike, Some(noise));
    assert_eq!(only(&parity).0, Likeness::Unresolved, "{parity:?}");
    let parity = compare(&base, &one("b", &other), Some(noise));
    let (likeness, reason) = only(&parity);
    assert_eq!(likeness, Likeness::Different);
    assert!(parity.min_psnr_db.unwrap() < noise.min_psnr_db.unwrap(), "{parity:?}");
    assert!(parity.min_ssim.unwrap() < noise.min_ssim.unwrap(), "{parity:?}");
    assert!(reason.contains("further apart than restarts"), "{reason}");
    // nobody knows the noise: nothing is claimed
    assert_eq!(only(&compare(&base, &one("b", &other), None)).0, Likeness::Unresolved);
    assert_eq!(band(&repeats[..1], &Ffmpeg::default()), None);
}

#[test]
fn the_same_pixels_in_another_file_are_the_same_pixels() {
    let scratch = tempfile::tempdir().unwrap();
    let drawn = png(1);
    let a = folder(scratch.path(), "a", &[("req_0001_00.png", &drawn)]);
    let b = folder(scratch.path(), "b", &[("req_0001_00.png", &nudged(&drawn, 0))]);
    let parity = compare(&a, &b, None);
    assert_eq!(only(&parity), (Likeness::SamePixels, "other bytes, the same pixels"));
    let difference = parity.pairs[0].difference.unwrap();
    assert_eq!((difference.frames, difference.differing_frames, difference.psnr_db), (1, 0, None));
}

#[test]
fn another_size_is_a_difference_whatever_the_band() {
    let scratch = tempfile::tempdir().unwrap();
    let a = folder(scratch.path(), "a", &[("req_0001_00.png", &png(1))]);
    let wide = write_image(ImageFormat::Webp, 66, 48, 1).unwrap();
    let b = folder(scratch.path(), "b", &[("req_0001_00.webp", &wide)]);
    assert_eq!(only(&compare(&a, &b, None)), (Likeness::Different, "64x48 against 66x48"));
}

#[test]
fn a_missing_counterpart_is_named_by_its_side() {
    let scratch = tempfile::tempdir().unwrap();
    let (one, two) = (png(1), png(2));
    let a = folder(scratch.path(), "a", &[("req_0001_00.png", &one), ("req_0002_00.png", &two)]);
    let b = folder(scratch.path(), "b", &[("req_0002_00.png", &two), ("req_0003_00.png", &one)]);
    let parity = compare(&a, &b, None);
    assert_eq!((parity.likeness, parity.counts.not_compared, parity.counts.identical), (Likeness::NotCompared, 2, 1));
    assert!(parity.pairs[0].reason.contains("second") && parity.pairs[0].b.is_none());
    assert!(parity.pairs[2].reason.contains("first") && parity.pairs[2].a.is_none());
    assert_eq!(judge(&omni_bench::parity::Finding::Missing(Side::A), None).0, Likeness::NotCompared);
    let nothing = folder(scratch.path(), "nothing", &[]);
    assert!(nothing.is_empty());
    assert_eq!(compare(&nothing, &nothing, None).likeness, Likeness::NotCompared);
}

#[test]
fn a_broken_file_is_named_and_the_others_are_compared() {
    let scratch = tempfile::tempdir().unwrap();
    let (one, two) = (png(1), png(2));
    let a = folder(scratch.path(), "a", &[("req_0001_00.png", &one), ("req_0002_00.png", &two)]);
    for broken in [&one[..one.len() / 2], b"", b"GIF89a"] {
        let b = folder(scratch.path(), "b", &[("req_0001_00.png", broken), ("req_0002_00.png", &two)]);
        let parity = compare(&a, &b, None);
        assert_eq!((parity.counts.not_compared, parity.counts.identical), (1, 1));
        assert!(parity.pairs[0].reason.contains("b/req_0001_00.png`: "), "{}", parity.pairs[0].reason);
    }
    fs_err::remove_file(scratch.path().join("a/req_0002_00.png")).unwrap();
    let b = folder(scratch.path(), "b", &[("req_0001_00.png", &one), ("req_0002_00.png", &two)]);
    let gone = compare(&a, &b, None);
    assert!(gone.pairs[1].reason.contains("req_0002_00.png"), "{}", gone.pairs[1].reason);
}

#[test]
fn a_picture_against_a_video_is_not_compared() {
    let scratch = tempfile::tempdir().unwrap();
    let a = folder(scratch.path(), "a", &[("req_0001_00.png", &png(1))]);
    let b = folder(scratch.path(), "b", &[("req_0001.mp4", b"video")]);
    assert_eq!(only(&compare(&a, &b, None)), (Likeness::NotCompared, "a picture against a video"));
}

#[test]
fn a_folder_that_is_not_there_is_an_error_that_names_it() {
    let error = omni_bench::parity::Folder::read(std::path::Path::new("absent/media")).unwrap_err();
    assert!(error.to_string().contains("absent/media"), "{error}");
}

#[test]
fn parity_is_json_without_infinities() {
    let scratch = tempfile::tempdir().unwrap();
    let drawn = png(1);
    let a = folder(scratch.path(), "a", &[("req_0001_00.png", &drawn)]);
    let b = folder(scratch.path(), "b", &[("req_0001_00.png", &nudged(&drawn, 0))]);
    let parity = compare(&a, &b, None);
    let text = serde_json::to_string(&parity).unwrap();
    assert_eq!(serde_json::from_str::<Parity>(&text).unwrap(), parity);
    assert!(text.contains(r#""psnr_db":null"#), "{text}");
}
