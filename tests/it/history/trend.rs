//! One metric over time: what is one line, what is told, what is drawn.

use omni_bench::history::{Filter, History, Trend, trend_points, trend_svg};
use serde_json::Value;

use super::archive::{Archive, Copy, out, talk};

/// A history with three nights of one line, one of another key and one of another GPU.
fn nights() -> Archive {
    let archive = Archive::new();
    let nights = [
        Copy { name: "n1", hour: 0, mean: Some(2.0), ..Copy::default() },
        Copy { name: "n2", hour: 24, mean: Some(2.5), ..Copy::default() },
        Copy { name: "n3", hour: 48, mean: None, ..Copy::default() },
        Copy { name: "other-key", hour: 30, mean: Some(7.0), key: "ffff", ..Copy::default() },
        Copy { name: "other-gpu", hour: 36, mean: Some(9.0), gpu: Some("NVIDIA\tA100"), ..Copy::default() },
        Copy { name: "no-gpu", hour: 40, mean: Some(11.0), gpu: None, ..Copy::default() },
    ];
    let names: Vec<&str> = nights.iter().map(|night| night.name).collect();
    for night in &nights {
        archive.copy(night);
    }
    let added = archive.history(&[&["add"][..], &names].concat());
    assert_eq!(added.status.code(), Some(0), "{}", talk(&added));
    archive
}

fn json(archive: &Archive, arguments: &[&str]) -> Trend {
    let output = archive.history(&[&["trend", "--format", "json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn runs_of_one_name_join_only_with_equal_key_and_hardware() {
    let archive = nights();
    let trend = json(&archive, &[]);
    let lines: Vec<(&str, &str, &str, usize)> = trend
        .series
        .iter()
        .map(|series| (series.name.as_str(), series.key.as_str(), series.hardware.as_str(), series.points.len()))
        .collect();
    let (h800, key) = ("2 × NVIDIA H800", "aaaabbbbccccdddd");
    assert_eq!(
        lines,
        [
            ("base/A/c1", key, h800, 6),
            ("base/A/c1", "ffffbbbbccccdddd", h800, 2),
            ("base/A/c1", key, "2 × NVIDIA A100", 2),
            ("base/A/c1", key, "unknown", 2),
        ]
    );
}

#[test]
fn simulated_and_measured_runs_of_one_key_are_two_lines() {
    let archive = Archive::new();
    let measured = archive.entry(&Copy::default());
    let simulated = archive.entry(&Copy { name: "s", simulated: true, ..Copy::default() });
    assert_eq!((&measured.key, &measured.origin.hardware), (&simulated.key, &simulated.origin.hardware));
    let trend = trend_points(&[measured, simulated], "latency_s.mean").unwrap();
    assert_eq!(trend.series.iter().map(|series| series.simulated).collect::<Vec<_>>(), [false, true]);
    assert!(trend_svg(&trend).unwrap().contains("not a measurement"));
}

#[test]
fn a_point_has_its_value_interval_count_and_folder() {
    let archive = nights();
    let trend = json(&archive, &["--where", "key=aaaa*", "--where", "hardware=2 × NVIDIA H800"]);
    let points = &trend.series[0].points;
    assert_eq!((points[0].value, points[0].interval, points[0].n), (Some(2.0), Some([1.5, 2.5]), Some(4)));
    assert_eq!((points[5].value, points[5].interval, points[5].n), (None, None, None));
    assert_eq!((points[3].results.as_str(), points[3].run.as_str()), ("n2", "base/A/c1.r2"));
    assert_eq!(points[0].time, "2026-09-01T00:00:00.123456Z");
}

#[test]
fn the_table_tells_what_was_not_measured_and_where_each_number_stands() {
    let archive = nights();
    let text = out(&archive.history(&["trend", "--where", "results!=other*", "--where", "repeat=1"]));
    insta::assert_snapshot!(text, @r"
    Mean Latency (s), lower is better

    small base/A/c1 on 2 × NVIDIA H800
     time (UTC)           Mean Latency (s)  95 % interval    n  validity  key       run        results
     2026-09-01 00:00:00                 2  1.5 to 2.5       4  valid     aaaabbbb  base/A/c1  n1
     2026-09-02 00:00:00               2.5  2 to 3           4  valid     aaaabbbb  base/A/c1  n2
     2026-09-03 00:00:00               n/a                 n/a  valid     aaaabbbb  base/A/c1  n3

    small base/A/c1 on unknown
     time (UTC)           Mean Latency (s)  95 % interval  n  validity  key       run        results
     2026-09-02 16:00:00                11  10.5 to 11.5   4  valid     aaaabbbb  base/A/c1  no-gpu
    ");
}

#[test]
fn the_newest_of_each_line_are_chosen() {
    let archive = nights();
    let trend = json(&archive, &["--last", "1"]);
    let found: Vec<(&str, usize)> =
        trend.series.iter().map(|series| (series.points[0].results.as_str(), series.points.len())).collect();
    assert_eq!(found, [("other-key", 1), ("other-gpu", 1), ("no-gpu", 1), ("n3", 1)]);
    assert_eq!(archive.history(&["trend", "--last", "0"]).status.code(), Some(2));
}

#[test]
fn conditions_choose_by_name_number_time_and_metric() {
    let archive = nights();
    let count = |conditions: &[&str]| -> usize {
        let arguments: Vec<&str> = conditions.iter().flat_map(|condition| ["--where", condition]).collect();
        json(&archive, &arguments).series.iter().map(|series| series.points.len()).sum()
    };
    assert_eq!(count(&[]), 12);
    assert_eq!(count(&["scenario=small", "variant=base", "dataset=A", "task=t2i", "validity!=invalid"]), 12);
    assert_eq!(count(&["variant=other"]), 0);
    assert_eq!(count(&["run=*.r2"]), 6);
    assert_eq!(count(&["id!=*.r2"]), 6);
    assert_eq!(count(&["latency_s.mean>2.2"]), 8);
    assert_eq!(count(&["time>=2026-09-02", "time<2026-09-03T00:00:00Z"]), 8);
    assert_eq!(count(&["max_concurrency=1", "request_rate=inf", "completed>=4", "simulated=false"]), 12);
    let wrong = archive.history(&["trend", "--where", "varient=base"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(talk(&wrong).contains("did you mean `variant`?"), "{}", talk(&wrong));
}

#[test]
fn exactly_one_line_can_be_chosen_for_a_gate() {
    let archive = nights();
    let history = History::open_existing(&archive.path().join("history.sqlite")).unwrap();
    let line = Filter::line("aaaabbbbccccdddd", "2 × NVIDIA H800", false);
    let of = |filter: &Filter| -> Vec<String> {
        history.select(filter).unwrap().into_iter().map(|entry| entry.origin.results).collect()
    };
    assert_eq!(of(&line), ["n1", "n1", "n2", "n2", "n3", "n3"]);
    assert_eq!(of(&line.clone().last(Some(3))), ["n2", "n3", "n3"]);
    assert!(of(&Filter::line("aaaa*", "2 × NVIDIA H800*", false)).is_empty(), "a star is no wildcard here");
    assert!(of(&Filter::line("aaaabbbbccccdddd", "2 × NVIDIA H800", true)).is_empty());
}

#[test]
fn a_name_that_is_no_metric_is_told_and_one_that_was_not_measured_is_not() {
    let archive = nights();
    let wrong = archive.history(&["trend", "--metric", "latency_s.men"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(talk(&wrong).contains("did you mean `latency_s.mean`?"), "{}", talk(&wrong));
    let silent = archive.history(&["trend", "--metric", "rtf.mean"]);
    assert_eq!(silent.status.code(), Some(0), "{}", talk(&silent));
    assert_eq!(out(&silent).matches("n/a").count(), 2 * 12, "{}", out(&silent));
    let drawn = archive.history(&["trend", "--metric", "rtf.mean", "-o", "x.svg"]);
    assert_eq!(drawn.status.code(), Some(5));
    assert!(talk(&drawn).contains("no entry has this number") && !archive.path().join("x.svg").exists());
    // numbers without a place in the list of metrics
    let queue = json(&archive, &["--metric", "queue_s.mean"]);
    assert!(queue.unit.is_none() && queue.series[0].points[0].value.is_some());
}

#[test]
fn csv_has_a_line_per_run_with_full_precision_and_no_formulas() {
    let archive = Archive::new();
    archive.copy(&Copy { name: "r", mean: Some(2.000_000_1), gpu: Some("=1+1, \"x\""), ..Copy::default() });
    archive.history(&["add", "r"]);
    let text = out(&archive.history(&["trend", "--format", "csv"]));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 2);
    let cell = |name: &str| &rows[0][heads.iter().position(|head| head == name).unwrap()];
    assert_eq!([cell("value"), cell("n"), cell("hardware")], ["2.0000001", "4", "2 × =1+1, \"x\""]);
}

#[test]
fn the_drawing_is_the_same_bytes_each_time_and_escapes_what_it_is_told() {
    let archive = Archive::new();
    let entries = [("a", 0, 2.0), ("b", 24, 3.0)].map(|(name, hour, mean)| {
        archive.entry(&Copy { name, hour, mean: Some(mean), gpu: Some("<A&B>\u{1}"), ..Copy::default() })
    });
    let trend = trend_points(&entries, "latency_s.mean").unwrap();
    let svg = trend_svg(&trend).unwrap();
    assert_eq!(svg, trend_svg(&trend).unwrap());
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && svg.matches("<svg").count() == 1);
    assert!(!svg.contains("<A&B>") && !svg.contains('\u{1}') && svg.contains("&lt;A&amp;B&gt;"), "{svg}");
    for part in ["Mean Latency (s)", "start of the run (UTC)", "prefers-color-scheme", "2 s [1.5 to 2.5], n = 4, valid"]
    {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    // an XML parser of its own accepts it
    let python = std::process::Command::new("python3")
        .args(["-c", "import sys, xml.dom.minidom; xml.dom.minidom.parseString(sys.argv[1])", &svg])
        .output();
    match python {
        Ok(checked) => assert!(checked.status.success(), "{}", talk(&checked)),
        Err(error) => crate::support::skipped("the_drawing_is_the_same_bytes_each_time", &error.to_string()),
    }
}

#[test]
fn doubtful_runs_look_otherwise_and_invalid_ones_are_left_out_of_the_line() {
    use omni_bench::catalog::Validity;
    let archive = Archive::new();
    let drawn = |doubted: Validity| {
        let mut entries =
            [("a", 0), ("b", 24), ("c", 48)].map(|(name, hour)| archive.entry(&Copy { name, hour, ..Copy::default() }));
        entries[1].validity = doubted;
        trend_svg(&trend_points(&entries, "latency_s.mean").unwrap()).unwrap()
    };
    let ends_of_the_line = |svg: &str| {
        let line = svg.lines().find(|line| line.contains("polyline") && line.contains("stroke-width=\"2\"")).unwrap();
        line.split("points=\"").nth(1).unwrap().matches(',').count()
    };
    let [valid, suspect, invalid] = [Validity::Valid, Validity::Suspect, Validity::Invalid].map(drawn);
    assert_eq!([&valid, &suspect, &invalid].map(|svg| ends_of_the_line(svg)), [3, 3, 2]);
    let hollow = |svg: &str| svg.matches("r=\"4\" opacity=\"1\" fill=\"none\"").count();
    assert_eq!([hollow(&valid), hollow(&suspect), hollow(&invalid)], [0, 1, 0]);
    assert!(!valid.contains("hollow: suspect") && suspect.contains("hollow: suspect"), "{suspect}");
}

#[test]
fn one_point_and_equal_points_can_be_drawn() {
    let archive = Archive::new();
    let one = archive.entry(&Copy::default());
    let zero = archive.entry(&Copy { name: "z", mean: Some(0.0), ..Copy::default() });
    for entries in [vec![one.clone()], vec![one.clone(), one], vec![zero]] {
        let svg = trend_svg(&trend_points(&entries, "latency_s.mean").unwrap()).unwrap();
        assert!(svg.contains("<circle") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}

#[test]
fn the_file_is_drawn_beside_the_printed_table() {
    let archive = nights();
    let output = archive.history(&["trend", "-o", "trend.svg"]);
    assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
    assert!(talk(&output).contains("drew `trend.svg`") && out(&output).contains("Mean Latency (s), lower is better"));
    let svg = fs_err::read_to_string(archive.path().join("trend.svg")).unwrap();
    assert!(svg.contains("[aaaabbbb]") && svg.contains("[ffffbbbb]"), "{svg}");
    let json: Value = serde_json::to_value(json(&archive, &[])).unwrap();
    assert_eq!(json["format"], 1);
}
