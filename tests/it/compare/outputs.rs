//! Outputs compared beside the numbers: through the binary on simulated variants, and what is said of them.

use std::path::{Path, PathBuf};

use omni_bench::compare::{CompareSettings, compare as compare_arms};
use omni_bench::media::{ImageFormat, write_drifted_image, write_image};
use omni_bench::parity::{Ffmpeg, Folder, Likeness, band, compare};
use omni_bench::report::{OutputParity, RunParity, comparison_markdown};
use serde_json::Value;

use super::build::{alternating, plan};
use crate::support::{Sandbox, have, skipped};

/// Three variants: one and the same layout twice, and a cache that draws other pixels.
const PICTURES: &str = r#"
name = "drawn"
[model]
id = "Qwen/Qwen-Image"
task = "t2i"
[[variants]]
name = "base"
[[variants]]
name = "again"
[[variants]]
name = "cached"
serve_args = { cache-backend = "cache_dit" }
[datasets.A]
request_seed = "per_request"
profiles = [{ width = 64, height = 48, num_inference_steps = 2 }]
[traffic]
requests = 3
repeats = 2
[warmup]
requests = 0
"#;

const VIDEOS: &str = r#"
name = "drawn"
[model]
id = "Wan-AI/Wan2.2-T2V-A14B-Diffusers"
task = "t2v"
[[variants]]
name = "base"
[[variants]]
name = "cached"
serve_args = { cache-backend = "cache_dit" }
[datasets.A]
request_seed = "per_request"
profiles = [{ width = 64, height = 48, num_inference_steps = 2, num_frames = 5, fps = 8 }]
[traffic]
requests = 2
[warmup]
requests = 0
"#;

/// Results of a scenario, simulated, with media unless they are not wanted.
fn results(sandbox: &Sandbox, scenario: &str, out: &str, more: &[&str]) -> String {
    fs_err::write(sandbox.path().join("drawn.toml"), scenario).unwrap();
    let mut arguments = vec!["run", "drawn.toml", "--simulate", "--speed", "1000", "--out", out, "-q"];
    arguments.extend(more);
    let output = sandbox.omni_bench(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    format!("{out}/drawn/latest")
}

/// What `compare` prints.
fn compared(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let output = sandbox.omni_bench(&[&["compare"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The `parity` of a comparison of two variants as JSON.
fn parity(sandbox: &Sandbox, results: &str, variants: [&str; 2]) -> Value {
    let text = compared(sandbox, &[results, "--variants", variants[0], variants[1], "--format", "json"]);
    let mut comparison: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(comparison["format"], 1, "the comparison itself lies beside it");
    comparison["parity"].take()
}

fn counts(parity: &Value) -> [u64; 5] {
    ["identical", "same_pixels", "unresolved", "different", "not_compared"]
        .map(|name| parity["counts"][name].as_u64().unwrap())
}

#[test]
fn a_variant_that_draws_other_pixels_lies_below_the_band_and_an_equal_one_has_identical_bytes() {
    let sandbox = Sandbox::new();
    let results = results(&sandbox, PICTURES, "out", &["--save-media"]);

    let again = parity(&sandbox, &results, ["base", "again"]);
    assert_eq!((&again["likeness"], counts(&again)), (&"identical".into(), [6, 0, 0, 0, 0]), "{again:#}");
    assert_eq!(again["text"], "all 6 outputs: identical, byte for byte");

    let cached = parity(&sandbox, &results, ["base", "cached"]);
    assert_eq!((&cached["likeness"], counts(&cached)), (&"different".into(), [0, 0, 0, 6, 0]), "{cached:#}");
    let runs = cached["runs"].as_array().unwrap();
    let ids: Vec<_> =
        runs.iter().map(|run| (run["id"].as_str().unwrap(), run["candidate_id"].as_str().unwrap())).collect();
    assert_eq!(ids, [("base/A/c1", "cached/A/c1"), ("base/A/c1.r2", "cached/A/c1.r2")]);
    for run in runs {
        let (least, median) = (run["min_psnr_db"].as_f64().unwrap(), run["median_psnr_db"].as_f64().unwrap());
        // steps of at most 8 of 255 are at least 30 dB
        assert!((30.0..40.0).contains(&least) && least <= median, "{run:#}");
        let (least, median) = (run["min_ssim"].as_f64().unwrap(), run["median_ssim"].as_f64().unwrap());
        assert!((0.9..1.0).contains(&least) && least <= median, "{run:#}");
        assert_eq!((&run["band"]["repeats"], &run["band"]["pairs"]), (&2.into(), &3.into()));
        assert_eq!(run["band"]["min_psnr_db"], Value::Null, "repeats of the baseline draw the same");
    }
    let variants = ["--variants", "base", "cached"];
    let warning = "warning: cached draws other pictures than base: 6 of 6 outputs differ by PSNR down to 3";
    for format in ["terminal", "markdown", "html"] {
        let arguments = [&[results.as_str()], &variants[..], &["--format", format]].concat();
        let text = compared(&sandbox, &arguments);
        assert!(text.contains(warning) && text.contains("output parity"), "{text}");
        let without = compared(&sandbox, &[&arguments[..], &["--no-parity"]].concat());
        assert!(!without.contains("draws other") && !without.contains("output parity"), "{without}");
    }
    let without = [&[results.as_str()], &variants[..], &["--format", "json", "--no-parity"]].concat();
    assert_eq!(serde_json::from_str::<Value>(&compared(&sandbox, &without)).unwrap()["parity"], Value::Null);
}

/// Puts other media in the place of a run's.
fn replace(results: &Path, run: &str, with: &str) {
    let media = |run: &str| results.join("runs").join(run).join("media");
    for entry in fs_err::read_dir(media(with)).unwrap() {
        let entry = entry.unwrap();
        fs_err::copy(entry.path(), media(run).join(entry.file_name())).unwrap();
    }
}

#[test]
fn what_differs_no_further_than_repeats_is_unresolved_and_what_does_is_told_with_the_band() {
    let sandbox = Sandbox::new();
    let given = results(&sandbox, PICTURES, "out", &["--save-media"]);
    let folder: PathBuf = sandbox.path().join(&given);
    // a baseline whose second repeat drew as the cache does
    replace(&folder, "base/A/c1.r2", "cached/A/c1.r2");
    let inside = parity(&sandbox, &given, ["base", "cached"]);
    assert_eq!((&inside["likeness"], counts(&inside)), (&"unresolved".into(), [3, 0, 3, 0, 0]), "{inside:#}");
    let text = inside["text"].as_str().unwrap();
    assert!(text.contains("differ no further than repeats of the baseline do: unresolved"), "{text}");

    // a candidate that draws one picture for another
    let media = folder.join("runs/cached/A/c1/media");
    fs_err::copy(media.join("req_0002_00.png"), media.join("req_0001_00.png")).unwrap();
    let outside = parity(&sandbox, &given, ["base", "cached"]);
    assert_eq!((&outside["likeness"], counts(&outside)), (&"different".into(), [3, 0, 2, 1, 0]), "{outside:#}");
    let run = &outside["runs"][0];
    assert!(run["min_psnr_db"].as_f64().unwrap() < run["band"]["min_psnr_db"].as_f64().unwrap(), "{run:#}");
    let text = outside["text"].as_str().unwrap();
    assert!(text.contains("1 of 6 outputs differ") && text.contains("below the band of restart noise"), "{text}");
}

#[test]
fn runs_without_media_have_no_parity_and_one_arm_without_them_is_told() {
    let sandbox = Sandbox::new();
    let with = results(&sandbox, PICTURES, "with", &["--save-media", "--only", "base/**"]);
    let without = results(&sandbox, PICTURES, "without", &["--only", "base/**"]);
    let json =
        |a: &str, b: &str| -> Value { serde_json::from_str(&compared(&sandbox, &[a, b, "--format", "json"])).unwrap() };
    assert_eq!(json(&without, &without)["parity"], Value::Null);
    let one = &json(&with, &without)["parity"];
    assert_eq!((&one["likeness"], counts(one)), (&"not_compared".into(), [0; 5]), "{one:#}");
    assert_eq!(one["skipped"].as_array().unwrap().len(), 2);
    let text = one["text"].as_str().unwrap();
    assert_eq!(text, "no outputs were compared: no media of `base/A/c1` were saved; `run --save-media` keeps them");
}

#[test]
fn other_seeds_and_a_single_repeat_claim_nothing() {
    let sandbox = Sandbox::new();
    let one = results(&sandbox, PICTURES, "one", &["--save-media", "--repeats", "1"]);
    let cached = parity(&sandbox, &one, ["base", "cached"]);
    assert_eq!((&cached["likeness"], counts(&cached)), (&"unresolved".into(), [0, 0, 3, 0, 0]));
    let text = cached["text"].as_str().unwrap();
    assert!(text.contains("PSNR down to 3") && text.contains("without a second repeat of the baseline"), "{text}");
    // requests without seeds: nothing can be said of other bytes
    let unseeded = PICTURES.replace("request_seed = \"per_request\"\n", "request_seed = \"none\"\n");
    let unseeded = results(&sandbox, &unseeded, "unseeded", &["--save-media"]);
    let text = compared(&sandbox, &[&unseeded, "--variants", "base", "cached"]);
    assert!(text.contains("6 of 6 outputs could not be compared"), "{text}");
    assert!(text.contains("6 outputs not compared: no seed was sent"), "{text}");
}

#[test]
fn videos_are_not_compared_without_ffmpeg() {
    let sandbox = Sandbox::new();
    let results = results(&sandbox, VIDEOS, "out", &["--save-media"]);
    let arguments = ["compare", &results, "--variants", "base", "cached"];
    let output = sandbox.command(&arguments).env("PATH", sandbox.path()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("2 of 2 outputs could not be compared"), "{text}");
    assert!(text.contains("2 outputs not compared: no ffmpeg"), "{text}");
}

#[test]
fn videos_are_compared_in_every_frame_with_ffmpeg() {
    if !have("ffmpeg") {
        return skipped("videos_are_compared_in_every_frame_with_ffmpeg", "no ffmpeg");
    }
    let sandbox = Sandbox::new();
    let results = results(&sandbox, VIDEOS, "out", &["--save-media", "--repeats", "2"]);
    let cached = parity(&sandbox, &results, ["base", "cached"]);
    assert_eq!((&cached["likeness"], counts(&cached)), (&"different".into(), [0, 0, 0, 4, 0]), "{cached:#}");
    let difference = &cached["runs"][0]["pairs"][0]["difference"];
    assert_eq!((&difference["frames"], &difference["differing_frames"]), (&5.into(), &5.into()));
    assert!(difference["psnr_db"].as_f64().unwrap() > 20.0, "the cache moves colours a little: {difference}");
}

/// A folder with one picture.
fn picture(scratch: &Path, name: &str, bytes: &[u8]) -> Folder {
    let folder = scratch.join(name);
    fs_err::create_dir_all(&folder).unwrap();
    fs_err::write(folder.join("req_0001_00.png"), bytes).unwrap();
    Folder::read(&folder).unwrap()
}

#[test]
fn the_faster_arm_is_named_when_it_draws_other_pictures() {
    let scratch = tempfile::tempdir().unwrap();
    let drawn = picture(scratch.path(), "drawn", &write_image(ImageFormat::Png, 64, 48, 1).unwrap());
    let other = write_drifted_image(ImageFormat::Png, 64, 48, 1, 2).unwrap();
    let other = picture(scratch.path(), "other", &other);
    let noise = band(&[drawn.clone(), drawn.clone()], &Ffmpeg::default());
    let level = |latency: f64| vec![vec![latency; 12]; 5];
    let plan = plan(12, 1, "");
    let text = |a: f64, b: f64, candidate: &Folder| {
        let [a, b] = alternating(&plan, &level(a), &level(b));
        let settings = CompareSettings { resamples: 100, ..CompareSettings::default() };
        let comparison = compare_arms(&a, &b, &settings).unwrap();
        let id = a.points[0].id.clone();
        let run = RunParity::new(id.clone(), id, compare(&drawn, candidate, noise));
        let parity = OutputParity::new(&comparison, vec![run], Vec::new());
        assert_eq!(parity.likeness == Likeness::Different, candidate == &other);
        comparison_markdown(&comparison, Some(&parity))
    };
    for (a, b, wanted) in [
        (10.0, 8.0, "- warning: the faster arm, B, draws other pictures than A: 1 of 1 output differ"),
        (8.0, 10.0, "- warning: the faster arm, A, draws other pictures than B: 1 of 1 output differ"),
        (10.0, 10.0, "- warning: B draws other pictures than A: 1 of 1 output differ"),
    ] {
        let text = text(a, b, &other);
        assert!(text.contains(wanted), "{text}");
    }
    assert!(!text(10.0, 8.0, &drawn).contains("warning"));
}
