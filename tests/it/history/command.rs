//! `history` through the binary: what it adds, refuses and tells.

use omni_bench::history::{Filter, History};

use super::archive::{Archive, Copy, out, read, talk};

#[test]
fn results_are_added_once_and_listed() {
    let archive = Archive::new();
    archive.copy(&Copy { name: "first", ..Copy::default() });
    archive.copy(&Copy { name: "second", hour: 24, ..Copy::default() });
    let added = archive.history(&["add", "first", "second/results.json"]);
    assert_eq!(added.status.code(), Some(0), "{}", talk(&added));
    assert!(talk(&added).starts_with("added 4 summaries to "), "{}", talk(&added));
    assert_eq!(out(&added), "");

    let again = archive.history(&["add", "first"]);
    assert_eq!(again.status.code(), Some(0));
    assert!(talk(&again).starts_with("added nothing to "), "{}", talk(&again));
    assert!(talk(&again).contains("2 summaries are in it already"), "{}", talk(&again));

    let listed = out(&archive.history(&["list"]));
    assert!(listed.ends_with("\n4 entries\n"), "{listed}");
    let row = listed.lines().find(|line| line.contains("second") && line.contains("base/A/c1.r2")).unwrap();
    for part in ["2026-09-02 00:00:00", "small", "2 × NVIDIA H800", " 4 ", "valid", "aaaabbbb"] {
        assert!(row.contains(part), "{part} in {row}");
    }
    assert!(!row.contains("simulated"), "{row}");
}

#[test]
fn a_folder_that_moved_is_still_the_same_results() {
    let archive = Archive::new();
    archive.copy(&Copy { name: "first", ..Copy::default() });
    archive.history(&["add", "first"]);
    fs_err::rename(archive.path().join("first"), archive.path().join("moved")).unwrap();
    assert!(talk(&archive.history(&["add", "moved"])).starts_with("added nothing"));
}

#[test]
fn the_whole_summary_is_kept() {
    let archive = Archive::new();
    archive.copy(&Copy { name: "first", ..Copy::default() });
    archive.history(&["add", "first"]);
    let history = History::open_existing(&archive.path().join("history.sqlite")).unwrap();
    let entries = history.select(&Filter::default()).unwrap();
    let results = read(&archive.path().join("first/results.json"));
    let stored: Vec<_> = entries.iter().map(|entry| entry.summary.clone()).collect();
    assert_eq!(serde_json::Value::from(stored), results["runs"]);
    assert!(entries.iter().all(|entry| entry.typed().is_ok()));
}

#[test]
fn simulated_results_need_a_word_and_are_labelled() {
    let archive = Archive::new();
    archive.copy(&Copy { name: "measured", ..Copy::default() });
    let template = archive.template().to_str().unwrap().to_owned();
    let refused = archive.history(&["add", "measured", &template]);
    assert_eq!(refused.status.code(), Some(2), "{}", talk(&refused));
    assert!(talk(&refused).contains("--allow simulated"), "{}", talk(&refused));
    // neither were the measured ones added
    assert!(!archive.path().join("history.sqlite").exists());

    let allowed = archive.history(&["add", "measured", &template, "--allow", "simulated"]);
    assert_eq!(allowed.status.code(), Some(0), "{}", talk(&allowed));
    let listed = out(&archive.history(&["list", "--where", "simulated=true"]));
    assert!(listed.ends_with("\n2 entries\n"), "{listed}");
    assert_eq!(
        listed.matches("valid, simulated").count() + listed.matches("suspect, simulated").count(),
        2,
        "{listed}"
    );
    // the declared GPU did not answer
    assert!(!listed.contains("H800") && listed.contains("a simulator at 1000× speed"), "{listed}");
    let trend = out(&archive.history(&["trend"]));
    assert_eq!(trend.matches("simulated, not a measurement").count(), 1, "{trend}");
}

#[test]
fn what_is_no_history_is_told() {
    let archive = Archive::new();
    archive.copy(&Copy { name: "first", ..Copy::default() });
    let absent = archive.history(&["list"]);
    assert_eq!(absent.status.code(), Some(5));
    assert!(talk(&absent).contains("there is no history at") && talk(&absent).contains("history.sqlite`;"));
    assert!(!archive.path().join("history.sqlite").exists());

    let foreign = archive.history(&["add", "first", "--db", "small.toml"]);
    assert_eq!(foreign.status.code(), Some(5));
    assert!(talk(&foreign).contains("`small.toml` is not a history"), "{}", talk(&foreign));

    archive.history(&["add", "first"]);
    let file = archive.path().join("history.sqlite");
    rusqlite::Connection::open(&file).unwrap().pragma_update(None, "user_version", 99).unwrap();
    for arguments in [&["list"][..], &["add", "first"], &["trend"]] {
        let newer = archive.history(arguments);
        assert_eq!(newer.status.code(), Some(5));
        assert!(talk(&newer).contains("version 99") && talk(&newer).contains("up to 1"), "{}", talk(&newer));
    }
}

#[test]
fn a_damaged_entry_is_named() {
    let archive = Archive::new();
    archive.copy(&Copy { name: "first", ..Copy::default() });
    archive.history(&["add", "first"]);
    let file = archive.path().join("history.sqlite");
    rusqlite::Connection::open(&file).unwrap().execute("UPDATE entry SET summary = '{' WHERE id = 2", []).unwrap();
    let damaged = archive.history(&["list"]);
    assert_eq!(damaged.status.code(), Some(5));
    assert!(talk(&damaged).contains("entry 2 of the history"), "{}", talk(&damaged));
}

#[test]
fn results_that_cannot_be_read_add_nothing() {
    let archive = Archive::new();
    archive.copy(&Copy { name: "first", ..Copy::default() });
    archive.copy(&Copy { name: "broken", ..Copy::default() });
    fs_err::write(archive.path().join("broken/plan.json"), "{").unwrap();
    let output = archive.history(&["add", "first", "broken"]);
    assert_eq!(output.status.code(), Some(5));
    assert!(talk(&output).contains("broken/plan.json"), "{}", talk(&output));
    assert!(!archive.path().join("history.sqlite").exists());
}

#[test]
fn a_run_without_a_start_is_left_out_and_named() {
    let archive = Archive::new();
    archive.copy(&Copy { name: "first", ..Copy::default() });
    let path = archive.path().join("first/runs/base/A/c1.r2/run.json");
    let mut manifest = read(&path);
    manifest["started_at"] = serde_json::Value::Null;
    fs_err::write(&path, manifest.to_string()).unwrap();
    let output = archive.history(&["add", "first"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(talk(&output).contains("run `base/A/c1.r2` is left out"), "{}", talk(&output));
    assert!(talk(&output).contains("added 1 summary to"), "{}", talk(&output));
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_name_the_history_stands_in_the_users_data_folder() {
    let archive = Archive::new();
    archive.copy(&Copy { name: "first", ..Copy::default() });
    let data = archive.path().join("data");
    let mut command = archive.sandbox().command(&["history", "add", "first"]);
    let output = command.env_remove("OMNI_BENCH_HISTORY").env("XDG_DATA_HOME", &data).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
    assert!(data.join("omni-bench/history.sqlite").is_file());
    archive.history(&["add", "first", "--db", "named/deep/h.sqlite"]);
    assert!(archive.path().join("named/deep/h.sqlite").is_file());
}
