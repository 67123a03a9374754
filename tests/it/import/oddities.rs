//! What is odd about a perf JSON is told with its place, and nothing odd becomes a baseline.

use super::{Import, one, shown};

/// What the import of one case and entry says, and the metrics that its baseline has with a value.
fn told(case: &str, serve_args: &str, entry: &str) -> (String, Vec<String>) {
    let import = Import::with(&one(case, serve_args, entry));
    let told = import.import(&["perf.json"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    import.runs("perf");
    let figures = if import.files().contains(&"perf.baseline.json".to_owned()) {
        let baseline = import.baseline("perf");
        let known = baseline.entries.iter().flat_map(|entry| {
            let with = entry.metrics.iter().filter(|(_, figure)| figure.value.is_some());
            with.map(|(name, _)| format!("{}:{name}", entry.hardware.as_deref().unwrap())).collect::<Vec<_>>()
        });
        known.collect()
    } else {
        Vec::new()
    };
    (told.err, figures)
}

#[track_caller]
fn says(err: &str, part: &str) {
    assert!(err.contains(part), "{part}\nis not in\n{err}");
}

#[test]
fn keys_with_underscores_and_keys_that_clash_are_told() {
    let (err, _) = told("", "\"deploy_config\": \"a.yaml\"", "");
    says(&err, "perf.json:3:79: `deploy_config` is written with underscores; the server knows `deploy-config`");
    let (err, _) = told("", "\"deploy-config\": \"a.yaml\", \"deploy_config\": \"b.yaml\"", "");
    says(&err, "`deploy_config` and `deploy-config` are the same key, with another value; the later one counts");
    let (err, _) = told("", "\"usp\": 2, \"ulysses-degree\": 2, \"num-gpus\": 2", "");
    says(&err, "`ulysses-degree` and `usp` set the same degree, with the same value");
    says(&err, "the marks say 1 cards, `num-gpus` says 2");
    let (err, _) = told("", "", ", \"num_prompts\": 3, \"colour\": 1");
    says(&err, "`num_prompts` is written with underscores; the script knows `num-prompts`");
    says(&err, "`colour` is not known and is left out");
    let (err, _) =
        told(", \"benchmark_endpoint\": \"/v1/images/generations\", \"benchmark_backend\": \"vllm-omni\"", "", "");
    says(&err, "`benchmark_backend` is the older spelling of `benchmark_endpoint`");
}

#[test]
fn a_baseline_for_other_hardware_or_none_is_told_and_an_unknown_label_is_left_out() {
    let (err, figures) = told("", "", ", \"baseline\": {\"H200\": {\"latency_mean\": 2.345}}");
    says(&err, "the case is marked for `H100` and has no baseline for it; there is one for `H200`");
    assert_eq!(figures, ["H200:latency_s.mean"]);
    let (err, figures) = told("", "", "");
    says(&err, "the entry has no baseline");
    assert!(figures.is_empty());
    let (err, figures) = told("", "", ", \"baseline\": {\"A100\": {\"latency_mean\": 2.345}}");
    says(&err, "`A100` is no hardware that these files know (H100, H200, L4");
    assert!(figures.is_empty());
    let described = ", \"description\": \"numbers of an A40\"";
    let (err, _) = told(described, "", ", \"baseline\": {\"H100\": {\"latency_mean\": 2.345}}");
    says(&err, "the description speaks of `A40`, the baseline is filed under `H100`");
}

#[test]
fn a_flat_baseline_and_one_per_concurrency_are_left_out() {
    let (err, figures) = told("", "", ", \"baseline\": {\"throughput_qps\": 0.3123, \"latency_mean\": 3.512}");
    says(&err, "the baseline names no hardware, so nothing can be compared with it; it is left out");
    assert!(figures.is_empty());
    let (err, figures) = told("", "", ", \"baseline\": {\"H100\": {\"latency_mean\": {\"1\": 2.345}}}");
    says(&err, "no baseline at concurrency 1 with 10 requests: the value is a table, where a number or a list is read");
    assert!(figures.is_empty());
}

#[test]
fn a_short_list_names_the_point_that_has_no_baseline() {
    let entry = ", \"num-prompts\": [20, 40, 80, 160], \"max-concurrency\": [1, 2, 4, 8], \
                  \"baseline\": {\"H100\": {\"latency_mean\": [2.4215, 2.992, 5.9293]}}";
    let (err, figures) = told("", "", entry);
    says(&err, "no baseline at concurrency 8 with 160 requests: the list has 3 values for 4 points of the sweep");
    assert_eq!(figures.len(), 3);
}

#[test]
fn zero_null_and_unknown_figures_are_no_baseline() {
    let figures = ", \"baseline\": {\"H100\": {\"latency_mean\": 0.0, \"latency_p99\": null, \"throughput_qps\": \"0.3\", \
                    \"peak_memory_mb_max\": -1, \"latency_p999\": 3.123}}";
    let (err, known) = told("", "", figures);
    says(&err, "`latency_mean` is 0, which no run measures");
    says(&err, "`latency_p99` is null");
    says(&err, "`throughput_qps` is text, not a number");
    says(&err, "`peak_memory_mb_max` is -1, below 0");
    says(&err, "there is no metric `latency_p999`; it is left out; did you mean `latency_p99`?");
    assert!(known.is_empty(), "{known:?}");
}

#[test]
fn figures_that_look_like_placeholders_are_told_and_kept() {
    let (err, known) =
        told("", "", ", \"baseline\": {\"H100\": {\"peak_memory_mb_max\": 82000, \"peak_memory_mb_mean\": 67000}}");
    says(&err, "82000 is 100.5 % of the 81559 MiB that a `H100` has");
    says(&err, "67000 is a round number");
    assert_eq!(known.len(), 2);
    // 0.9 times what was measured, for the latency too
    let scaled = ", \"baseline\": {\"H100\": {\"throughput_qps\": 0.45, \"latency_mean\": 1.8001}}";
    let (err, _) = told("", "", scaled);
    says(&err, "throughput × mean latency is 0.81 of the concurrency");
    says(&err, "`throughput_qps` 0.45 is rounded to ±1.1 %");
}

#[test]
fn a_name_that_two_servers_have_is_told_and_the_first_server_gets_the_entries() {
    let case = |args: &str, steps: u32| {
        format!(
            "{{\"test_name\": \"same\", \"server_type\": \"vllm-omni\", \"server_params\": {{\"model\": \"m\", \"serve_args\": {{{args}}}}}, \
             \"benchmark_params\": [{{\"name\": \"s{steps}\", \"dataset\": \"random\", \"task\": \"t2i\", \"num-inference-steps\": {steps}}}]}}"
        )
    };
    let import = Import::with(&format!("[{}, {}]", case("", 20), case("\"max-num-seqs\": 8", 30)));
    let told = import.import(&["perf.json"]);
    says(&told.err, "`same` is already the name of a case with another server");
    assert_eq!(
        import.runs("perf").iter().map(shown).collect::<Vec<_>>(),
        [r#"same/s20 "inf" c1 n10 w1"#, r#"same/s30 "inf" c1 n10 w1"#]
    );
}

#[test]
fn the_two_defaults_of_the_endpoint_are_told_where_they_disagree() {
    for (task, path) in [("i2i", "/v1/chat/completions"), ("it2i", "/v1/images/edits")] {
        let import = Import::with(&one("", "", &format!(", \"task\": \"{task}\", \"num-input-images\": 2")));
        let told = import.import(&["perf.json"]);
        assert_eq!(told.code, Some(0), "{}", told.err);
        says(&told.err, &format!("the scenario says `{path}`"));
        let text = import.read("perf.toml");
        assert!(text.contains(&format!("path = \"{path}\"")), "{text}");
        assert!(text.contains("images = { count = 2, width = 512, height = 512 }"), "{text}");
        assert_eq!(text.contains("bot_task = \"think\""), task == "it2i", "{text}");
        import.runs("perf");
    }
}

#[test]
fn old_marks_other_cases_and_the_same_run_twice_are_told() {
    let text = r#"[
      {"test_name": "tts", "server_params": {"model": "m"}, "benchmark_params": [{"dataset": "random"}]},
      {"test_name": "a", "mark": {"hardware_marks": {"res": {"cuda": "H100"}, "num_cards": 2}, "marks": ["diffusion"]},
       "server_params": {"model": "m"}, "benchmark_params": [
        {"name": "x", "dataset": "random", "task": "t2i", "baseline": {"H100": {"latency_mean": 1.234}}},
        {"name": "x", "dataset": "random", "task": "t2i", "baseline": {"H100": {"latency_mean": 9.876}}}]}]"#;
    let import = Import::with(text);
    let told = import.import(&["perf.json"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    says(&told.err, "`tts` is not a diffusion case and is left out");
    says(&told.err, "`mark` is a table, the old form that the runner rejects");
    says(&told.err, "is already that of another entry; it is planned once, with the first baseline");
    let runs = import.runs("perf");
    assert_eq!((runs.len(), &runs[0]["gpus"]), (1, &serde_json::json!(2)));
    assert_eq!(import.baseline("perf").entries[0].metrics["latency_s.mean"].value, Some(1.234));
}

#[test]
fn an_old_tolerance_becomes_the_gate_of_the_scenario() {
    let entry = ", \"baseline-tolerance\": 0.05, \"baseline\": {\"H100\": {\"latency_mean\": 2.345, \"throughput_qps\": 0.4264}}";
    let import = Import::with(&one("", "", entry));
    assert_eq!(import.import(&["perf.json"]).code, Some(0));
    import.runs("perf");
    let text = import.read("perf.toml");
    assert!(text.contains("[gate]\nbaseline = \"perf.baseline.json\"\n"), "{text}");
    assert!(text.contains("\"latency_s.mean\" = { tolerance = 0.05 }"), "{text}");
    let own = ", \"baseline-tolerance\": {\"latency_mean\": 0.2, \"speed\": 0.1}, \"baseline\": {\"H100\": {\"latency_mean\": 2.345}}";
    let (err, _) = told("", "", own);
    says(&err, "the tolerance of `speed` is left out");
    let import = Import::with(&one("", "", ""));
    import.import(&["perf.json"]);
    assert!(!import.read("perf.toml").contains("[gate]"), "nothing to gate by");
}
