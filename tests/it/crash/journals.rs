//! Lines that are not as they were written.

use omni_bench::exit::Exit;

use super::setup::{Bench, IMAGES, code, journal, json, talk};

/// A finished campaign in which one byte of a record of `v/A/c1` was changed and the last line of `v/A/c2`
/// torn.
fn damaged() -> Bench {
    let bench = Bench::new(IMAGES);
    let output = bench.run(&["--simulate", "--speed", "500"]).output().unwrap();
    assert_eq!(code(&output), 0, "{}", talk(&output));
    for (run, damage) in [("c1", "changed"), ("c2", "torn")] {
        let path = bench.latest().join("runs/v/A").join(run).join("records.jsonl");
        let text = fs_err::read_to_string(&path).unwrap();
        let text = match damage {
            // a latency that would look just as good
            "changed" => text.replacen("\"latency_us\":", "\"latency_us\":9", 1),
            _ => text.split_at(text.len() - 100).0.to_owned(),
        };
        fs_err::write(&path, text).unwrap();
    }
    bench
}

#[test]
fn records_carry_a_guard_and_stay_readable_as_json_lines() {
    let bench = damaged();
    for line in fs_err::read_to_string(bench.latest().join("runs/v/A/c3/records.jsonl")).unwrap().lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["check"].as_str().unwrap().len(), 8, "{line}");
    }
    for (run, sound) in [("c1", 29), ("c2", 29), ("c3", 30)] {
        let (records, skipped) = journal(&bench.latest().join("runs/v/A").join(run).join("records.jsonl"));
        assert_eq!((records.len(), skipped), (sound, 30 - sound), "{run}");
    }
}

#[test]
fn a_damaged_line_is_left_out_and_told_by_every_command_that_reads_records() {
    let bench = damaged();
    let told = |arguments: &[&str], wanted: Exit| {
        let output = bench.command(arguments).output().unwrap();
        let text = talk(&output);
        assert_eq!(code(&output), i32::from(wanted.code()), "{arguments:?}: {text}");
        for run in ["c1", "c2"] {
            let line = format!("{run}/records.jsonl`: 1 line is torn or corrupt and left out");
            assert_eq!(text.matches(&line).count(), 1, "{arguments:?}: {text}");
        }
        assert!(!text.contains("c3/records"), "{arguments:?}: {text}");
        String::from_utf8(output.stdout).unwrap()
    };
    let latest = "results/small/latest";
    told(&["report", latest, "--format", "html", "-o", "report.html"], Exit::Fine);
    let compared = told(&["compare", latest, latest], Exit::Fine);
    assert!(compared.contains("numbers in doubt"), "{compared}");

    // numbers that are made again from the records
    for run in ["c1", "c2", "c3"] {
        fs_err::remove_file(bench.latest().join("runs/v/A").join(run).join("summary.json")).unwrap();
    }
    let report = told(&["report", latest], Exit::Fine);
    assert_eq!(report.matches("unreadable_records: 1 line of the run's journals is torn or corrupt").count(), 2);
    let results: serde_json::Value =
        serde_json::from_str(&told(&["report", latest, "--format", "json"], Exit::Fine)).unwrap();
    let runs = results["runs"].as_array().unwrap();
    for (run, lost) in runs.iter().zip([1, 1, 0]) {
        assert_eq!((&run["requests"], &run["cancelled"]), (&30.into(), &lost.into()), "{run}");
        let kinds = run["warnings"].as_array().unwrap().iter().map(|warning| &warning["kind"]);
        assert_eq!(kinds.filter(|kind| *kind == "unreadable_records").count(), lost, "{run}");
    }

    // a campaign that finds the runs complete says so too, and touches nothing
    told(&["run", "small.toml", "--simulate", "--speed", "500", "--resume", latest], Exit::RunFailed);
    let resumed = json(&bench.latest().join("results.json"));
    assert_eq!(resumed["runs"][0]["warnings"][0]["kind"], "unreadable_records");
}
