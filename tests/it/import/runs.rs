//! The runs of a plan are those of the perf JSON, and its baseline belongs to them.

use omni_bench::plan::Plan;
use serde_json::{Value, json};

use super::{Import, one, shown};

/// The plan of a written scenario as `run` would store it, for a look at shapes, seeds and warm-up.
fn plan(import: &Import, scenario: &str) -> Plan {
    use omni_bench::plan::{Hosting, PlanInput, plan};
    use omni_bench::scenario::{LoadOptions, load};
    let file = import.path().join(format!("out/{scenario}.toml"));
    let options = LoadOptions { file, ..LoadOptions::default() };
    let scenario = load(&options).unwrap_or_else(|broken| panic!("{}", broken.render(false))).scenario;
    let data = omni_bench::workload::load(&scenario, &omni_bench::workload::Sources::default()).unwrap();
    let hosting = Hosting::Launched;
    let input = PlanInput { scenario: &scenario, data: &data, hosting, only: &[], repeats: None, estimate: None };
    plan(&input).unwrap()
}

/// `id metric=value …` of every entry.
fn figures(import: &Import, scenario: &str) -> Vec<String> {
    let entry = |entry: &omni_bench::gate::BaselineEntry| {
        let figures = entry.metrics.iter().map(|(name, figure)| format!("{name}={}", json!(figure.value)));
        format!("{} {} {}", entry.id, entry.hardware.as_deref().unwrap(), figures.collect::<Vec<_>>().join(" "))
    };
    import.baseline(scenario).entries.iter().map(entry).collect()
}

#[test]
fn five_cases_with_lists_become_a_scenario_with_the_same_runs_and_a_baseline_for_each() {
    let import = Import::new();
    let told = import.import(&["perf_five_cases.json"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let runs = import.runs("perf_five_cases");
    assert_eq!(
        runs.iter().map(shown).collect::<Vec<_>>(),
        [
            r#"one_gpu/512 "inf" c1 n10 w1"#,
            r#"one_gpu/512 "inf" c2 n20 w1"#,
            r#"one_gpu/1536 "inf" c1 n10 w1"#,
            r#"ulysses2_cfg2/512 "inf" c1 n10 w1"#,
            r#"ulysses2_cfg2/512 "inf" c2 n20 w1"#,
            r#"cache_dit/512 "inf" c1 n10 w1"#,
            r#"cache_dit/512 "inf" c2 n20 w1"#,
            r#"step_execution/512 "inf" c1 n20 w1"#,
            r#"step_execution/512 "inf" c2 n40 w1"#,
            r#"step_execution/512 "inf" c4 n80 w1"#,
            r#"step_execution/512 "inf" c8 n160 w1"#,
            r#"eager/workload "inf" c1 n5 w1"#,
        ]
    );
    let baseline = import.baseline("perf_five_cases");
    assert_eq!(baseline.entries.len(), runs.len());
    for run in &runs {
        let entry = baseline.entries.iter().find(|entry| Some(entry.key.as_str()) == run["key"].as_str());
        assert_eq!(entry.unwrap().id, run["id"].as_str().unwrap());
        assert_eq!(entry.unwrap().hardware.as_deref(), Some("H100"));
    }
    let latency = |id: &str| {
        baseline.entries.iter().find(|entry| entry.id.starts_with(id)).unwrap().metrics["latency_s.mean"].value
    };
    assert_eq!(latency("step_execution/512/c8"), Some(9.656));
    assert_eq!(latency("ulysses2_cfg2/512/c1"), Some(2.2087));
    let gpus: Vec<&Value> = runs.iter().map(|run| &run["gpus"]).collect();
    assert_eq!((gpus[0], gpus[3]), (&json!(1), &json!(4)));
}

#[test]
fn a_server_keeps_its_arguments_in_order_and_its_layout_becomes_degrees() {
    let import = Import::new();
    import.import(&["perf_five_cases.json", "perf_bagel.json"]);
    let flags = |plan: &Plan, name: &str| omni_bench::plan::serve_flags(plan.variant(name).unwrap()).join(" ");
    let five = plan(&import, "perf_five_cases");
    assert_eq!(
        flags(&five, "ulysses2_cfg2"),
        "--cfg-parallel-size 2 --ulysses-degree 2 --vae-patch-parallel-size 4 --vae-use-tiling"
    );
    assert_eq!(
        flags(&five, "cache_dit"),
        r#"--cache-backend cache_dit --cache-config {"Fn_compute_blocks":1,"scm_steps_mask_policy":null,"enable_taylorseer":false}"#
    );
    assert_eq!(five.variant("ulysses2_cfg2").unwrap().parallel.vae_patch, Some(4));
    let bagel = plan(&import, "perf_bagel");
    assert_eq!(
        flags(&bagel, "bagel_one_stage_t2i"),
        "--cfg-parallel-size 1 --tensor-parallel-size 1 --enable-diffusion-pipeline-profiler \
         --deploy-config deploy/bagel_one_stage.yaml --no-async-chunk --gpu-memory-utilization 0.9 \
         --max-model-len 8192 --max-num-batched-tokens 9216"
    );
    assert_eq!(bagel.server.unwrap().command[..4], ["python", "-m", "vllm_omni.entrypoints.cli.main", "serve"]);
}

#[test]
fn bagel_sends_negative_prompts_to_chat_and_asks_for_stage_metrics() {
    let import = Import::new();
    assert_eq!(import.import(&["perf_bagel.json"]).code, Some(0));
    let plan = plan(&import, "perf_bagel");
    let endpoint = &plan.variants[0].endpoint;
    assert_eq!((endpoint.path(), endpoint.return_stage_metrics), ("/v1/chat/completions", true));
    assert!(plan.datasets[0].negative_prompt);
    let warmup = &plan.runs[0].warmup;
    assert_eq!((warmup.requests, warmup.concurrency, warmup.num_inference_steps), (1, 1, Some(2)));
    assert_eq!(
        figures(&import, "perf_bagel"),
        ["bagel_one_stage_t2i/512x512_steps20/c1 H100 throughput_per_s=0.495 latency_s.mean=2.0238 \
          peak_memory_mb.max=29393.4286 peak_memory_mb.mean=29392.7143"]
    );
    assert_eq!(plan.environment["gpu"], "H100");
}

#[test]
fn a_sweep_of_concurrencies_has_a_figure_for_each_point() {
    let import = Import::new();
    let told = import.import(&["perf_qwen_image_step_execution.json"]);
    assert_eq!((told.code, told.err.contains("throughput")), (Some(0), false), "{}", told.err);
    let id = "qwen_image_step_execution/512x512_steps20_sweep";
    assert_eq!(
        figures(&import, "perf_qwen_image_step_execution"),
        [
            format!("{id}/c1-n20 H100 throughput_per_s=0.4125 latency_s.mean=2.4215 peak_memory_mb.max=55147.4286"),
            format!("{id}/c2-n40 H100 throughput_per_s=0.6714 latency_s.mean=2.992 peak_memory_mb.max=55148.0"),
            format!("{id}/c4-n80 H100 throughput_per_s=0.6674 latency_s.mean=5.9293 peak_memory_mb.max=55150.4643"),
            format!("{id}/c8-n160 H100 throughput_per_s=0.8159 latency_s.mean=9.656 peak_memory_mb.max=55152.3821"),
        ]
    );
    let plan = plan(&import, "perf_qwen_image_step_execution");
    let warmup = &plan.runs[0].warmup;
    assert_eq!((warmup.requests, warmup.concurrency, warmup.num_inference_steps), (8, 8, Some(20)));
}

#[test]
fn cosmos_becomes_a_scenario_per_task_that_sends_what_the_file_says() {
    let import = Import::new();
    let told = import.import(&["perf_cosmos3.json"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert_eq!(
        import.files(),
        [
            "perf_cosmos3-t2i.baseline.json",
            "perf_cosmos3-t2i.toml",
            "perf_cosmos3-t2v.baseline.json",
            "perf_cosmos3-t2v.toml"
        ]
    );
    let ignored = "`max_sequence_length`, `guardrails`, `use_resolution_template`, `use_duration_template`";
    assert!(told.err.contains(ignored) && told.err.contains("belong under `extra_params`"), "{}", told.err);
    assert!(told.err.contains("80000 is 98.1 % of the 81559 MiB that a `H100` has"), "{}", told.err);
    assert!(told.err.contains("`throughput_qps` 0.027 is rounded to ±1.9 %"), "{}", told.err);
    let plan = plan(&import, "perf_cosmos3-t2v");
    assert_eq!(plan.variants[0].endpoint.path(), "/v1/videos");
    assert_eq!((plan.variants[0].gpus, plan.variants[0].parallel.hsdp), (2, Some(true)));
    let text = import.read("perf_cosmos3-t2v.toml");
    for part in [
        "prompt = \"A crane",
        "num_frames = 189",
        "fps = 24",
        "seed = 42",
        "request_seed = \"fixed\"",
        "flow_shift = 10.0",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let scenario: omni_bench::scenario::Scenario = toml::from_str(&text).unwrap();
    let data = omni_bench::workload::load(&scenario, &omni_bench::workload::Sources::default()).unwrap();
    let phases = omni_bench::plan::phases(&plan, &plan.runs[0], &data);
    assert_eq!((phases.measured.len(), phases.warmup.len()), (3, 1));
    let request = &phases.measured[0];
    assert_eq!(
        (request.shape.num_inference_steps, request.shape.num_frames, request.seed),
        (Some(4), Some(189), Some(42))
    );
    assert_eq!(phases.warmup[0].shape.num_inference_steps, Some(2));
}

#[test]
fn rates_are_zipped_with_counts_and_entries_come_from_another_file() {
    let import = Import::new();
    let told = import.import(&["perf_rates.json"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let runs = import.runs("perf_rates");
    assert_eq!(
        runs.iter().map(shown).collect::<Vec<_>>(),
        [
            "qwen_image_open_loop/mixed_rates 0.25 c1 n10 w1",
            "qwen_image_open_loop/mixed_rates 0.5 c1 n20 w1",
            "qwen_image_open_loop/mixed_rates 1.0 c1 n40 w1"
        ]
    );
    assert!(told.err.contains("perf_rates.entries.json:12:24: the runner drops `max-concurrency`"), "{}", told.err);
    assert!(told.err.contains("perf_rates.entries.json:15:3: this entry is switched off"), "{}", told.err);
    let figures = figures(&import, "perf_rates");
    assert!(figures[2].ends_with("H100 latency_s.mean=5.25 latency_s.p99=12.5"), "{figures:?}");
    let plan = plan(&import, "perf_rates");
    assert_eq!(plan.runs[0].traffic.seed, 42, "the script draws its profiles with 42");
}

#[test]
fn hunyuan_writes_its_rows_and_its_deployment_beside_the_scenario() {
    let import = Import::new();
    let told = import.import(&["perf_hunyuan_it2i.json"]);
    let note = "the case is marked for `H100`, `A3` and has no baseline for it; there is one for `H200`";
    assert!(told.err.contains(note), "{}", told.err);
    let text = import.read("perf_hunyuan_it2i.toml");
    for part in [
        "path = \"/v1/images/edits\"",
        "bot_task = \"think_recaption\"",
        "source = \"custom\"",
        "path = \"perf_hunyuan_it2i-inline_rows.jsonl\"",
        "on_short = \"cycle\"",
        "requests = 96",
        "max_concurrency = 16",
        "cwd = \".\"",
        "deploy-config = \"perf_hunyuan_it2i-hunyuan_image3_it2i-deploy-config.yaml\"",
        "gpus = 4",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let rows = import.read("perf_hunyuan_it2i-inline_rows.jsonl");
    let row: Value = serde_json::from_str(rows.trim()).unwrap();
    assert_eq!((&row["num_inference_steps"], rows.lines().count()), (&json!(8), 1));
    assert!(rows.contains("新年快乐"), "{rows}");
    let deploy = import.read("perf_hunyuan_it2i-hunyuan_image3_it2i-deploy-config.yaml");
    let deploy: Value = serde_yaml::from_str(&deploy).unwrap();
    assert_eq!(deploy["stages"][1]["devices"], "2,3");
}

#[test]
fn hunyuan_is_planned_with_its_h200_baseline() {
    let import = Import::new();
    let told = import.import(&["perf_hunyuan_it2i.json"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert!(told.err.contains("`/v1/images/edits` does not read `image_urls`"), "{}", told.err);
    let runs = import.runs("perf_hunyuan_it2i");
    assert_eq!(runs.iter().map(shown).collect::<Vec<_>>(), [r#"hunyuan_image3_it2i/inline_rows "inf" c16 n96 w1"#]);
    assert_eq!(
        figures(&import, "perf_hunyuan_it2i"),
        [
            "hunyuan_image3_it2i/inline_rows/c16 H200 throughput_per_s=0.1874 latency_s.mean=79.0385 latency_s.p99=101.852"
        ]
    );
}

#[test]
fn a_case_that_makes_videos_of_videos_is_planned_with_its_rows() {
    let rows =
        r#"{"type": "jsonl", "content": [{"prompt": "at night", "video_paths": ["https://example.org/v.mp4"]}]}"#;
    let entry = format!(
        r#", "dataset": "custom", "task": "v2v", "num-frames": 33, "fps": 16, "num-prompts": 4, "max-concurrency": 2,
"dataset-path-inline": {rows}, "baseline": {{"H100": {{"latency_mean": 41.5}}}}"#
    );
    let import = Import::with(&one("", "", &entry).replace(r#""dataset": "random", "#, ""));
    let told = import.import(&["perf.json"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert_eq!(import.runs("perf").iter().map(shown).collect::<Vec<_>>(), [r#"one/A "inf" c2 n4 w1"#]);
    assert_eq!(figures(&import, "perf"), ["one/A/c2 H100 latency_s.mean=41.5"]);
    let plan = plan(&import, "perf");
    assert_eq!((plan.variants[0].endpoint.path(), plan.task.to_string().as_str()), ("/v1/videos", "v2v"));
    let text = import.read("perf-A.jsonl");
    assert!(text.contains("https://example.org/v.mp4"), "{text}");
}
