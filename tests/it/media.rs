//! Tests of media: what the writers write is read back by this crate's probes, by the `image` crate,
//! and by ffmpeg where it is installed.

#![cfg(test)] // the lints that spare tests then spare their helpers too

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use omni_bench::media::{
    ImageFormat, ImageInfo, ImageProbe, MediaError, VideoInfo, VideoProbe, decode_image, write_image,
    write_moving_video, write_video,
};

use crate::support::{have, skipped};

const FORMATS: [ImageFormat; 3] = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Webp];

fn probed(bytes: &[u8]) -> Result<ImageInfo, MediaError> {
    let mut probe = ImageProbe::new();
    probe.feed(bytes);
    probe.finish()
}

fn video(bytes: &[u8]) -> Result<VideoInfo, MediaError> {
    let mut probe = VideoProbe::new();
    probe.feed(bytes);
    probe.finish()
}

fn fixture(name: &str) -> Vec<u8> {
    fs_err::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)).unwrap()
}

fn assert_close(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 1e-6, "{value} is not {expected}");
}

#[test]
fn written_pictures_have_the_asked_size_in_every_format() {
    for format in FORMATS {
        for (width, height) in [(1, 1), (7, 5), (64, 48), (1000, 3), (512, 768)] {
            let file = write_image(format, width, height, 7).unwrap();
            let expected = Ok(ImageInfo { format, width, height });
            assert_eq!(probed(&file), expected);
            assert_eq!(decode_image(&file), expected);
        }
    }
}

#[test]
fn a_seed_decides_the_bytes_of_a_picture() {
    for format in FORMATS {
        let files: Vec<Vec<u8>> = (0..20).map(|seed| write_image(format, 64, 64, seed).unwrap()).collect();
        for (index, file) in files.iter().enumerate() {
            assert!(!files[..index].contains(file), "{format} of seed {index} repeats another");
        }
        assert_eq!(files[3], write_image(format, 64, 64, 3).unwrap());
    }
}

#[test]
fn pictures_that_no_format_holds_are_refused() {
    for (width, height) in [(0, 5), (5, 0), (16_385, 1), (1, u32::MAX)] {
        let error = write_image(ImageFormat::Png, width, height, 0).unwrap_err();
        assert!(error.0.starts_with("cannot write a picture of"), "{error}");
    }
}

#[test]
fn a_large_picture_is_a_small_file() {
    for format in FORMATS {
        let file = write_image(format, 1536, 1536, 1).unwrap();
        assert!(file.len() < 60_000, "{format} takes {} bytes", file.len());
    }
}

#[test]
fn a_picture_cut_off_after_its_header_passes_the_probe_and_fails_the_decoder() {
    for format in FORMATS {
        let file = write_image(format, 64, 64, 1).unwrap();
        let cut = &file[..file.len() * 3 / 4];
        assert!(probed(cut).is_ok());
        let error = decode_image(cut).unwrap_err();
        assert!(error.0.starts_with(&format!("{format} does not decode: ")), "{error}");
    }
}

#[test]
fn the_decoder_refuses_what_is_not_a_picture() {
    assert_eq!(decode_image(b"").unwrap_err().0, "no image data");
    assert_eq!(decode_image(b"hello").unwrap_err().0, "not an image: starts with `hello`");
}

#[test]
fn the_shared_clip_is_read_exactly() {
    let info = video(&fixture("clip_64x64_33f_24fps.mp4")).unwrap();
    assert_eq!((info.width, info.height, info.frames), (64, 64, 33));
    assert_close(info.fps, 24.0);
    assert_close(info.duration_s, 1.375);
}

#[test]
fn the_place_of_moov_and_fragmentation_do_not_matter() {
    for name in ["moov_last.mp4", "moov_first.mp4", "fragmented.mp4"] {
        let info = video(&fixture(name)).unwrap();
        assert_eq!((info.width, info.height, info.frames), (48, 32, 12), "{name}");
        assert_close(info.fps, 8.0);
        assert_close(info.duration_s, 1.5);
    }
}

#[test]
fn sound_alone_is_not_a_video() {
    assert_eq!(video(&fixture("audio_only.mp4")).unwrap_err().0, "no video track");
}

const RATES: [(f64, &str); 6] = [
    (24.0, "24/1"),
    (16.0, "16/1"),
    (23.976, "2997/125"),
    (24_000.0 / 1_001.0, "24000/1001"),
    (7.5, "15/2"),
    (0.5, "1/2"),
];

#[test]
fn written_videos_are_read_back() {
    for (fps, _) in RATES {
        let info = video(&write_video(66, 34, 9, fps, 5).unwrap()).unwrap();
        assert_eq!((info.width, info.height, info.frames), (66, 34, 9));
        assert_close(info.fps, fps);
        assert_close(info.duration_s, 9.0 / fps);
    }
}

#[test]
fn a_seed_decides_the_bytes_of_a_video() {
    let file = write_video(16, 16, 2, 24.0, 1).unwrap();
    assert_eq!(file, write_video(16, 16, 2, 24.0, 1).unwrap());
    assert_ne!(file, write_video(16, 16, 2, 24.0, 2).unwrap());
}

#[test]
fn long_videos_are_small() {
    let file = write_video(1280, 720, 80, 16.0, 1).unwrap();
    assert!(file.len() < 10_000, "{} bytes", file.len());
}

#[test]
fn videos_that_cannot_be_encoded_are_refused() {
    let reason = |width, height, frames, fps| write_video(width, height, frames, fps, 0).unwrap_err().0;
    assert_eq!(reason(65, 64, 1, 24.0), "odd sizes cannot be encoded: 65x64");
    assert_eq!(reason(64, 1, 1, 24.0), "odd sizes cannot be encoded: 64x1");
    assert_eq!(reason(0, 64, 1, 24.0), "cannot write a video of 0x64");
    assert_eq!(reason(40_000, 40_000, 1, 24.0), "40000x40000 is too large for H.264");
    assert_eq!(reason(1 << 20, 2, 1, 24.0), "1048576x2 is too large for H.264");
    assert_eq!(reason(64, 64, 0, 24.0), "cannot write a video without frames");
    for fps in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(reason(64, 64, 1, fps).starts_with("cannot write a video at"), "{fps}");
    }
}

/// Runs a program on a file and returns what it printed on stdout and stderr.
fn printed(program: &str, words: &[&str], file: &Path) -> String {
    let output = Command::new(program).args(words).arg(file).stdin(Stdio::null()).output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().to_owned() + String::from_utf8_lossy(&output.stderr).trim()
}

fn saved(folder: &tempfile::TempDir, name: &str, file: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    fs_err::write(&path, file).unwrap();
    path
}

#[test]
fn ffprobe_reads_what_was_asked() {
    if !have("ffprobe") {
        skipped("ffprobe_reads_what_was_asked", "ffprobe is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (width, height, frames, rates) in [(1280, 720, 80, &RATES[..1]), (2, 2, 1, &RATES), (62, 34, 33, &RATES)] {
        for (fps, rate) in rates {
            let path = saved(&folder, "clip.mp4", &write_video(width, height, frames, *fps, 3).unwrap());
            let entries = "stream=codec_name,width,height,r_frame_rate,avg_frame_rate,duration,nb_read_frames";
            let words =
                ["-v", "error", "-count_frames", "-select_streams", "v:0", "-show_entries", entries, "-of", "csv=p=0"];
            let line = printed("ffprobe", &words, &path);
            let (facts, tail) =
                line.split_once(&format!(",{rate},{rate},")).unwrap_or_else(|| panic!("{line} has not {rate}"));
            assert_eq!(facts, format!("h264,{width},{height}"));
            let (duration, read) = tail.split_once(',').unwrap();
            assert!((duration.parse::<f64>().unwrap() - f64::from(frames) / fps).abs() < 1e-5, "{line} at {fps}");
            assert_eq!(read, frames.to_string());
        }
    }
}

/// What ffmpeg says while it decodes a whole file.
fn complaints(file: &Path) -> String {
    let output = Command::new("ffmpeg")
        .args(["-nostdin", "-v", "error", "-i"])
        .arg(file)
        .args(["-f", "null", "-"])
        .output()
        .unwrap();
    assert!(output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn ffmpeg_decodes_every_frame_without_a_complaint() {
    if !have("ffmpeg") {
        skipped("ffmpeg_decodes_every_frame_without_a_complaint", "ffmpeg is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (seed, (width, height)) in (0..).zip([(1280, 720), (832, 480), (2, 2), (18, 250), (1920, 1080), (64, 64)]) {
        let path = saved(&folder, "clip.mp4", &write_video(width, height, 40, 24.0, seed).unwrap());
        assert_eq!(complaints(&path), "", "{width}x{height}");
    }
}

/// The brightness samples of every frame, as ffmpeg decodes them.
fn frames(file: &Path, width: usize, height: usize) -> Vec<Vec<u8>> {
    let output = Command::new("ffmpeg")
        .args(["-nostdin", "-v", "error", "-i"])
        .arg(file)
        .args(["-pix_fmt", "yuv420p", "-f", "rawvideo", "-"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    output.stdout.chunks(width * height * 3 / 2).map(|frame| frame[..width * height].to_vec()).collect()
}

#[test]
fn a_moving_video_moves_two_pixels_a_frame_and_turns_back() {
    if !have("ffmpeg") {
        skipped("a_moving_video_moves_two_pixels_a_frame_and_turns_back", "ffmpeg is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (width, height) in [(1280, 720), (854, 480), (64, 48), (2, 2), (16, 64), (18, 250)] {
        let path = saved(&folder, "clip.mp4", &write_moving_video(width, height, 60, 24.0, 5).unwrap());
        let (width, height) = (width as usize, height as usize);
        let frames = frames(&path, width, height);
        assert_eq!(frames.len(), 60, "{width}x{height}");
        for (index, pair) in (1..).zip(frames.windows(2)) {
            let [before, after] = pair else { panic!("two frames") };
            // what was at x + 2 is at x, or the other way round
            let (from, to) = if index / 24 % 2 == 0 { (2, 0) } else { (0, 2) };
            for (old, new) in before.chunks(width).zip(after.chunks(width)) {
                assert_eq!(old[from..width - to], new[to..width - from], "{width}x{height}, frame {index}");
            }
        }
        if width > 100 {
            assert_ne!(frames[0], frames[1], "there is something to see");
        }
    }
}

#[test]
fn a_moving_video_is_small_and_says_what_it_is() {
    let file = write_moving_video(1280, 720, 80, 16.0, 1).unwrap();
    assert!(file.len() < 300_000, "{} bytes", file.len());
    let info = video(&file).unwrap();
    assert_eq!((info.width, info.height, info.frames), (1280, 720, 80));
    assert_ne!(file, write_moving_video(1280, 720, 80, 16.0, 2).unwrap());
    assert_eq!(write_moving_video(65, 64, 1, 24.0, 0).unwrap_err().0, "odd sizes cannot be encoded: 65x64");
}

#[test]
fn ffmpeg_decodes_written_pictures_without_a_complaint() {
    if !have("ffmpeg") {
        skipped("ffmpeg_decodes_written_pictures_without_a_complaint", "ffmpeg is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for format in FORMATS {
        for (seed, (width, height)) in (0..).zip([(1, 1), (17, 130), (1536, 1024)]) {
            let name = format!("picture.{}", format.extension());
            let path = saved(&folder, &name, &write_image(format, width, height, seed).unwrap());
            assert_eq!(complaints(&path), "", "{format} {width}x{height}");
        }
    }
}

#[test]
fn a_written_picture_shows_the_same_colours_in_every_lossless_format() {
    let pixels = |format| {
        let file = write_image(format, 75, 43, 11).unwrap();
        image::load_from_memory(&file).unwrap().to_rgb8()
    };
    let (png, webp) = (pixels(ImageFormat::Png), pixels(ImageFormat::Webp));
    assert_eq!(png, webp);
    let colours: std::collections::BTreeSet<[u8; 3]> = png.pixels().map(|pixel| pixel.0).collect();
    // cells are ten pixels wide and six high
    assert_eq!(colours.len(), 64);
    assert_eq!(png.get_pixel(0, 0), png.get_pixel(9, 5));
    assert_ne!(png.get_pixel(9, 5), png.get_pixel(10, 5));
    assert_ne!(png.get_pixel(9, 5), png.get_pixel(9, 6));
}

#[test]
fn a_written_jpeg_shows_flat_cells_of_different_colours() {
    let file = write_image(ImageFormat::Jpeg, 250, 256, 11).unwrap();
    let picture = image::load_from_memory(&file).unwrap().to_rgb8();
    let mut colours = std::collections::BTreeSet::new();
    for (left, top) in (0..8).flat_map(|column| (0..8).map(move |row| (32 * column, 32 * row))) {
        // colour is interpolated between cells, so look away from the edges
        let colour = picture.get_pixel(left + 8, top + 8);
        assert_eq!(colour, picture.get_pixel(left + 20, top + 20), "at {left} {top}");
        colours.insert(colour.0);
    }
    assert!(colours.len() > 56, "{} colours", colours.len());
}
