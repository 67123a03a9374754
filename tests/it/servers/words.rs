//! Serve arguments as the words of a server's command.

use serde_json::{Map, Value, json};

use super::bench::{Bench, code, talk};
use crate::support::repository;

/// Starts a server per table of arguments, which only notes its words; gives the words of each.
fn words_of(variants: &[(String, Value, Value)]) -> Vec<Vec<String>> {
    let variants: Vec<Value> = variants
        .iter()
        .map(|(name, args, lists)| json!({ "name": name, "serve_args": args, "serve_lists": lists }))
        .collect();
    let scenario = json!({
        "name": "small",
        "model": { "id": "Qwen/Qwen-Image", "task": "t2i" },
        "server": {
            "command": ["sh", "-c", "for word do printf '%s\\0' \"$word\"; done > words-{{ variant }}; exit 9", "{{ port }}"],
        },
        "variants": variants,
        "datasets": { "A": { "source": "random", "profiles": [{ "width": 64, "height": 64 }] } },
        "traffic": { "requests": 1 },
    });
    let bench = Bench::new("");
    // JSON is YAML
    fs_err::write(bench.path("words.yaml"), scenario.to_string()).unwrap();
    let output = bench.0.omni_bench(&["run", "words.yaml"]);
    assert_eq!(code(&output), 3, "{}", talk(&output));
    let read = |variant: &Value| {
        let file = bench.path(&format!("words-{}", variant["name"].as_str().unwrap()));
        let text = fs_err::read_to_string(file).unwrap();
        text.split_terminator('\0').map(str::to_owned).collect()
    };
    variants.iter().map(read).collect()
}

/// The server arguments of every case in the perf JSON files.
fn cases() -> Vec<(String, Map<String, Value>)> {
    let mut cases = Vec::new();
    for file in ["bagel", "cosmos3", "five_cases", "hunyuan_it2i", "qwen_image_step_execution", "rates"] {
        let path = repository().join(format!("tests/fixtures/vllm_omni/perf_{file}.json"));
        let found: Vec<Value> = serde_json::from_slice(&fs_err::read(path).unwrap()).unwrap();
        for case in found {
            let args = case["server_params"]["serve_args"].as_object().cloned().unwrap_or_default();
            cases.push((case["test_name"].as_str().unwrap().to_owned(), args));
        }
    }
    cases
}

#[test]
fn the_arguments_of_the_perf_files_become_the_words_of_their_runner() {
    let cases = cases();
    let variants: Vec<_> =
        cases.iter().map(|(name, args)| (name.clone(), Value::from(args.clone()), json!({}))).collect();
    let words = words_of(&variants);
    let of = |name: &str| {
        let position = cases.iter().position(|(case, _)| case == name).unwrap();
        words[position].iter().map(String::as_str).collect::<Vec<_>>()
    };
    assert_eq!(
        of("bagel_one_stage_t2i"),
        [
            "--enable-diffusion-pipeline-profiler",
            "--deploy-config",
            "deploy/bagel_one_stage.yaml",
            "--no-async-chunk",
            "--tensor-parallel-size",
            "1",
            "--cfg-parallel-size",
            "1",
            "--gpu-memory-utilization",
            "0.9",
            "--max-model-len",
            "8192",
            "--max-num-batched-tokens",
            "9216"
        ]
    );
    let cosmos = "--cfg-parallel-size 2 --use-hsdp --hsdp-shard-size 2 --vae-patch-parallel-size 2 --vae-use-tiling \
                  --no-guardrails --init-timeout 1200";
    assert_eq!(of("cosmos3_t2i_2gpu").join(" "), cosmos);
    assert_eq!(of("one_gpu"), Vec::<&str>::new());
    assert_eq!(
        of("ulysses2_cfg2").join(" "),
        "--usp 2 --cfg-parallel-size 2 --vae-patch-parallel-size 4 --vae-use-tiling"
    );
    assert_eq!(
        of("cache_dit"),
        [
            "--cache-backend",
            "cache_dit",
            "--cache-config",
            r#"{"Fn_compute_blocks":1,"scm_steps_mask_policy":null,"enable_taylorseer":false}"#
        ]
    );
    assert_eq!(of("step_execution").join(" "), "--step-execution --max-num-seqs 8");
    assert_eq!(of("eager"), ["--enforce-eager"]);
    assert_eq!(of("hunyuan_image3_it2i")[..2], ["--trust-remote-code", "--deploy-config-inline"]);
    assert!(of("hunyuan_image3_it2i")[2].starts_with(r#"{"type":"yaml","content":{"async_chunk":false,"#));
    // and by the runner's rule, whatever the files hold
    for ((name, args), words) in cases.iter().zip(&words) {
        assert_eq!(words, &by_the_rule(args), "{name}");
    }
    println!("{} cases: {} words", cases.len(), words.iter().map(Vec::len).sum::<usize>());
}

/// True is a bare flag, false and null are left out, an object is compact JSON, the order is the file's.
fn by_the_rule(args: &Map<String, Value>) -> Vec<String> {
    let mut words = Vec::new();
    for (key, value) in args.iter().filter(|(_, value)| !value.is_null() && **value != false) {
        words.push(format!("--{key}"));
        match value {
            Value::Bool(_) => {}
            Value::String(text) => words.push(text.clone()),
            other => words.push(serde_json::to_string(other).unwrap()),
        }
    }
    words
}

#[test]
fn values_that_no_perf_file_has_reach_the_server_unchanged() {
    let args = json!({
        "note": "it's \"quoted\", $HOME and `more`", "empty": "", "none": null, "off": false, "ratio": 1.0, "small": 0.00001,
        "negative": -3, "deploy_config": "a b.yaml", "nested": { "a": ["x y", null, 1.5], "b": {} },
        "again": ["a b", 2], "joined": ["a", 2, "c"], "several": ["a", "b=c"], "as-json": ["a", { "b": 1 }]
    });
    let lists = json!({ "joined": "comma", "several": "words", "as-json": "json" });
    let words = words_of(&[("v".to_owned(), args, lists)]).remove(0);
    assert_eq!(
        words,
        [
            "--note",
            "it's \"quoted\", $HOME and `more`",
            "--empty",
            "",
            "--ratio",
            "1.0",
            "--small",
            "0.00001",
            "--negative",
            "-3",
            "--deploy_config",
            "a b.yaml",
            "--nested",
            r#"{"a":["x y",null,1.5],"b":{}}"#,
            "--again",
            "a b",
            "--again",
            "2",
            "--joined",
            "a,2,c",
            "--several",
            "a",
            "b=c",
            "--as-json",
            r#"["a",{"b":1}]"#
        ]
    );
}
