//! Media of runs of the binary.

use std::path::{Path, PathBuf};

use omni_bench::parity::{Ffmpeg, Folder, Likeness, band, compare};
use omni_bench::record::{Record, ResultsDir, read_journal};

use crate::support::Sandbox;

const SCENARIO: &str = r#"
name = "drawn"

[model]
id = "Qwen/Qwen-Image"
task = "t2i"

[endpoint]
url = "http://127.0.0.1:8091"

[[variants]]
name = "base"

[[variants]]
name = "fast"
parallel = { cfg = 2 }
endpoint = { url = "http://127.0.0.1:8092" }

[datasets.A]
source = "random"
request_seed = "per_request"
profiles = [{ width = 64, height = 48, num_inference_steps = 2 }]

[traffic]
requests = 3

[warmup]
requests = 0
"#;

/// Runs the scenario with these settings; its results folder.
fn run(sandbox: &Sandbox, out: &str, set: &[&str]) -> PathBuf {
    fs_err::write(sandbox.path().join("drawn.toml"), SCENARIO).unwrap();
    let mut arguments = vec!["run", "drawn.toml", "--simulate", "--speed", "1000", "--save-media", "--out", out];
    for value in set {
        arguments.extend(["--set", value]);
    }
    let output = sandbox.omni_bench(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    sandbox.path().join(out).join("drawn/latest")
}

fn of(results: &Path, run: &str) -> Folder {
    Folder::of_run(&ResultsDir::at(results).run(run)).unwrap()
}

#[test]
fn two_variants_that_draw_the_same_are_identical_and_another_seed_lies_below_the_band() {
    let sandbox = Sandbox::new();
    let (first, again) = (run(&sandbox, "first", &[]), run(&sandbox, "again", &[]));
    let base = of(&first, "base/A/c1");
    let noise = band(&[base.clone(), of(&again, "base/A/c1")], &Ffmpeg::default());
    let fast = compare(&base, &of(&first, "fast/A/c1"), noise);
    assert_eq!((fast.likeness, fast.counts.identical), (Likeness::Identical, 3), "{fast:?}");

    let other = run(&sandbox, "other", &["traffic.seed=7"]);
    // what the records tell: other seeds were asked for, so nothing can be said
    let asked = compare(&base, &of(&other, "base/A/c1"), noise);
    assert_eq!((asked.likeness, asked.counts.not_compared), (Likeness::NotCompared, 3));
    assert!(asked.pairs[0].reason.starts_with("not the same seed: "), "{}", asked.pairs[0].reason);
    // the pictures alone: a configuration that draws others
    let drawn = Folder::read(&ResultsDir::at(&other).run("base/A/c1").media()).unwrap();
    let drawn = compare(&base, &drawn, noise);
    assert_eq!((drawn.likeness, drawn.counts.different), (Likeness::Different, 3), "{drawn:?}");
    assert!(drawn.min_psnr_db.unwrap() < 30.0 && drawn.pairs[0].reason.contains("restarts draw the same pixels"));
}

/// The media of a run, with this as the seed of every request.
fn seeded(results: &Path, seed: Option<u64>) -> Folder {
    let run = ResultsDir::at(results).run("base/A/c1");
    let mut records = read_journal::<Record>(&run.records()).unwrap().items;
    assert!(records.iter().all(|record| record.seed.is_some()));
    for record in &mut records {
        record.seed = seed;
    }
    Folder::read(&run.media()).unwrap().with_seeds(&records)
}

#[test]
fn other_pictures_say_something_only_when_both_were_asked_for_with_the_same_seed() {
    let sandbox = Sandbox::new();
    let (first, other) = (run(&sandbox, "first", &[]), run(&sandbox, "other", &["traffic.seed=7"]));
    let reasons = [
        (None, None, "no seed was sent"),
        (Some(1), None, "only one was asked for with a seed (1)"),
        (None, Some(2), "only one was asked for with a seed (2)"),
        (Some(1), Some(2), "not the same seed: 1 against 2"),
        (Some(1), Some(1), "PSNR "),
    ];
    for (a, b, reason) in reasons {
        let parity = compare(&seeded(&first, a), &seeded(&other, b), None);
        assert_eq!(parity.pairs.len(), 3);
        assert!(parity.pairs.iter().all(|pair| pair.reason.starts_with(reason)), "{parity:?}");
        // the same bytes are the same bytes
        let same = compare(&seeded(&first, a), &seeded(&first, b), None);
        assert_eq!(same.counts.identical, 3);
    }
    let absent = Folder::of_run(&ResultsDir::at(&first).run("absent")).unwrap_err();
    assert!(absent.to_string().contains("absent"), "{absent}");
}
