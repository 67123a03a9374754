//! Traces: what is read, what is refused, how they are replayed.

use std::path::Path;

use super::*;

struct Trace {
    folder: tempfile::TempDir,
}

impl Trace {
    fn new(name: &str, text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join(name), text).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> String {
        Path::new(self.folder.path()).join(name).to_string_lossy().into_owned()
    }

    /// A scenario with this file as dataset T; `dataset` continues its table.
    fn scenario(&self, name: &str, dataset: &str) -> String {
        format!("{HEAD}[datasets.T]\nsource = 'trace'\npath = '{}'\n{dataset}\n", self.path(name))
    }
}

const THREE: &str = "Request(prompt='a', width=64, height=64)\nRequest(prompt='b', width=64, height=64)\nRequest(prompt='c', width=32, height=32, num_inference_steps=8, seed=0)\n";

fn rows(text: &str) -> Vec<usize> {
    first_phases(text).1.measured.iter().map(|request| request.row).collect()
}

#[test]
fn fewer_rows_than_requests_are_cycled_refused_or_cut() {
    let trace = Trace::new("t.txt", THREE);
    let text = |on_short: &str| trace.scenario("t.txt", &format!("{on_short}\n[traffic]\nrequests = 7"));
    assert_eq!(rows(&text("on_short = 'cycle'")), [0, 1, 2, 0, 1, 2, 0]);
    assert_eq!(rows(&text("on_short = 'truncate'")), [0, 1, 2]);
    assert_eq!(
        problems_of(&text("on_short = 'error'"), SIMULATED),
        ["datasets.T.on_short: dataset `T` has 3 rows, and 7 requests are asked for"]
    );
    let (plan, phases) = first_phases(&text(""));
    assert_eq!((plan.runs[0].traffic.requests, phases.measured.len()), (3, 3), "a trace truncates by default");
    assert_eq!(plan.datasets["T"].facts.rows, Some(3));
}

#[test]
fn rows_keep_their_own_values_and_defaults_fill_the_rest() {
    let trace = Trace::new(
        "t.jsonl",
        "{\"prompt\":\"a\",\"width\":1024,\"height\":1024}\n{\"prompt\":\"b\"}\n{\"prompt\":\"c\",\"width\":512,\"height\":768,\"num_inference_steps\":8,\"seed\":0}\n",
    );
    let (_, phases) = first_phases(
        &trace.scenario("t.jsonl", "defaults = { width = 1024, height = 1024, num_inference_steps = 20 }"),
    );
    let told: Vec<(String, Option<u64>)> =
        phases.measured.iter().map(|request| (request.class().to_string(), request.seed)).collect();
    assert_eq!(told, [("1024x1024-s20".into(), None), ("1024x1024-s20".into(), None), ("512x768-s8".into(), Some(0))]);
}

#[test]
fn bad_rows_are_counted_and_told_with_their_lines() {
    let text = "# a comment\nRequest(request_id='one', prompt='a city, at dawn (wide)', slo_ms=1.5e4, num_frames=None)\nRequest(prompt=__import__('os').system('x'))\nRequest(width=64)\nRequest(prompt='x', width=64)\nRequest(request_id='one', prompt='y')\n";
    let trace = Trace::new("t.txt", text);
    let (plan, data) = planned_data(&trace.scenario("t.txt", ""), SIMULATED);
    let facts = &plan.datasets["T"].facts;
    assert_eq!((facts.rows, facts.bad_rows), (Some(2), 3));
    let notes: Vec<&str> = data.notes().collect();
    assert_eq!(
        notes,
        [
            "dataset `T`: 3 of 5 rows were left out",
            "  t.txt:3: `__import__` is not a literal; nothing is evaluated",
            "  t.txt:4: `width` needs `height`",
            "  t.txt:5: `width` needs `height`",
        ]
    );
    let phases = plan::phases(&plan, &plan.runs[0], &data);
    let told: Vec<(&str, usize, Option<f64>)> =
        phases.measured.iter().map(|request| (request.request_id.as_str(), request.row, request.slo_ms)).collect();
    assert_eq!(told, [("one", 0, Some(15_000.0)), ("one.2", 4, None)], "names are unique in a run");
    assert_eq!(plan.slo.map(|slo| slo.attainment), Some(0.99), "targets of rows count without `[slo]`");
}

#[test]
fn time_stamps_are_replayed_in_order_from_zero() {
    let stamped = |stamps: &[&str]| {
        let rows = stamps.iter().enumerate().map(|(i, stamp)| format!("Request(prompt='{i}'{stamp})\n"));
        rows.collect::<Vec<_>>().concat()
    };
    let text = stamped(&[", timestamp=1000.0", ", timestamp=1000.5", ", timestamp=1000.2", ", timestamp=1002.0"]);
    let trace = Trace::new("t.txt", &text);
    for (speed, expected) in [(1, [0.0, 0.2, 0.5, 2.0]), (2, [0.0, 0.1, 0.25, 1.0])] {
        let more = format!("[traffic]\narrival = 'trace'\ntrace_speed = {speed}");
        let (plan, phases) = first_phases(&trace.scenario("t.txt", &more));
        assert_eq!(plan.runs[0].id, "default/T/open");
        let rows: Vec<usize> = phases.measured.iter().map(|request| request.row).collect();
        assert_eq!(rows, [0, 2, 1, 3], "rows are those of the file");
        for (due, expected) in phases.due_s.unwrap().into_iter().zip(expected) {
            assert!((due - expected).abs() < 1e-9, "{due} for {expected}");
        }
    }
    let missing = Trace::new("t.txt", &stamped(&[", timestamp=1", ""]));
    assert_eq!(
        problems_of(&missing.scenario("t.txt", "[traffic]\narrival = 'trace'"), SIMULATED),
        ["traffic.arrival: 1 of 2 rows of dataset `T` have no `timestamp`"]
    );
    assert_eq!(
        problems_of(&trace.scenario("t.txt", "[traffic]\narrival = 'trace'\nrequest_rate = 2"), SIMULATED),
        ["traffic.arrival: a trace's own arrival times and a `request_rate` contradict each other"]
    );
    assert_eq!(
        problems_of(&trace.scenario("t.txt", "on_short = 'cycle'\n[traffic]\narrival = 'trace'"), SIMULATED),
        ["datasets.T.on_short: the time stamps of 4 rows cannot be replayed for 10 requests"]
    );
}

#[test]
fn data_is_identified_by_its_checksum_and_hashed_by_what_it_sends() {
    let trace = Trace::new("t.txt", THREE);
    let (plan, _) = planned_data(&trace.scenario("t.txt", ""), SIMULATED);
    let facts = plan.datasets["T"].facts.clone();
    let checksum = facts.sha256.unwrap();
    let text = trace.scenario("t.txt", &format!("sha256 = '{}'", checksum.to_uppercase()));
    assert_eq!(problems_of(&text, SIMULATED), Vec::<String>::new());
    let text = trace.scenario("t.txt", &format!("sha256 = '{}'", "0".repeat(64)));
    assert_eq!(problems_of(&text, SIMULATED), ["datasets.T.sha256: the data is not what this checksum stands for"]);
    let text = trace.scenario("t.txt", "sha256 = 'abc'");
    assert_eq!(problems_of(&text, SIMULATED), ["datasets.T.sha256: `abc` is not a SHA-256 checksum of 64 hex digits"]);

    let hash = |name: &str, content: &str| {
        let other = Trace::new(name, content);
        planned_data(&other.scenario(name, ""), SIMULATED).0.datasets["T"].facts.hash.clone()
    };
    assert_eq!(facts.hash, hash("u.txt", &format!("# moved\n{THREE}")), "place and comments do not count");
    assert_ne!(facts.hash, hash("u.txt", &THREE.replace("'c'", "'d'")));
}

#[test]
fn several_files_are_one_trace() {
    let trace = Trace::new("a.txt", THREE);
    fs_err::write(trace.path("b.csv"), "prompt,width,height\nd,16,16\n").unwrap();
    let text =
        format!("{HEAD}[datasets.T]\nsource = 'trace'\npath = ['{}', '{}']\n", trace.path("b.csv"), trace.path("a*"));
    let (_, phases) = first_phases(&text);
    let prompts: Vec<&str> = phases.measured.iter().map(|request| request.prompt.as_str()).collect();
    assert_eq!(prompts, ["d", "a", "b", "c"]);
}

#[test]
fn traces_that_cannot_be_used_are_refused() {
    let trace = Trace::new("bad.txt", "Request(width=1)\n");
    let told = problems_of(&trace.scenario("bad.txt", ""), SIMULATED);
    assert!(told[0].contains("has no row that can be read; bad.txt:1: `width` needs `height`"), "{told:?}");
    let told = problems_of(&trace.scenario("none.txt", ""), SIMULATED);
    assert!(told[0].starts_with("datasets.T.path: there is no file"), "{told:?}");
    let text = format!("{HEAD}[datasets.T]\nsource = 'trace'\n");
    assert_eq!(problems_of(&text, SIMULATED), ["datasets.T.path: dataset `T` needs the `path` of its data"]);
    let fields = Trace::new("f.txt", "Request(prompt='a')\nRequest(prompt='b', guardrails=False)\n");
    assert_eq!(
        problems_of(&fields.scenario("f.txt", ""), SIMULATED),
        ["datasets.T.path: f.txt:2: `/v1/images/generations` ignores the field `guardrails`"]
    );
    let text = fields.scenario("f.txt", "profiles = [{ width = 1 }]\nsampling = 'stratified'");
    assert_eq!(
        problems_of(&text, SIMULATED),
        ["datasets.T.profiles: a trace has no `profiles`", "datasets.T.sampling: a trace has no `sampling`"]
    );
}

#[test]
fn overrides_replace_rows_and_are_reported() {
    let trace = Trace::new("t.txt", THREE);
    let (plan, data) = planned_data(&trace.scenario("t.txt", "override = { width = 32, height = 32 }"), SIMULATED);
    let phases = plan::phases(&plan, &plan.runs[0], &data);
    assert!(phases.measured.iter().all(|request| request.shape.width == Some(32)));
    assert_eq!(data.notes().collect::<Vec<_>>(), ["dataset `T`: `override` changed 2 of 3 rows"]);
}
