//! Random datasets draw for draw against CPython, and what a request of theirs carries.

use omni_bench::catalog::Task;
use omni_bench::workload::{Request, Selection};
use serde_json::{Value, json};

use super::{head, loaded, problems};

/// Draws that CPython made: those of the interpreter at hand under the one test command, else the stored ones.
fn table() -> Value {
    let stored = || include_str!("../../fixtures/cpython_draws.json").to_owned();
    let path = std::env::var_os("OMNI_BENCH_TEST_DRAWS");
    let text = path.map_or_else(stored, |path| fs_err::read_to_string(path).unwrap());
    serde_json::from_str(&text).unwrap()
}

fn drawn(profiles: &str, more: &str, seed: u64, count: u64) -> Vec<Request> {
    let text = format!("{}[datasets.d]\n{more}profiles = [{profiles}]\n", head("t2i"));
    let selection =
        Selection { task: Task::T2i, requests: count, seed, size: None, num_inference_steps: None, num_frames: None };
    loaded(&text).requests("d", &selection).each().collect()
}

fn positions(requests: &[Request]) -> String {
    requests.iter().map(|request| request.row.to_string()).collect()
}

#[test]
fn draws_equal_those_of_cpython_for_every_seed_and_weight_set() {
    let table = table();
    let cases = table["cases"].as_array().unwrap();
    assert!(cases.len() >= 30, "{}", cases.len());
    for case in cases {
        let weights = case["weights"].as_array().unwrap();
        let profiles: Vec<String> = weights.iter().map(|weight| format!("{{ weight = {weight} }}")).collect();
        let expected = case["drawn"].as_str().unwrap();
        assert_eq!(expected.len(), 1000);
        let seed = case["seed"].as_u64().unwrap();
        let got = positions(&drawn(&profiles.join(", "), "", seed, 1000));
        assert_eq!(got, expected, "seed {seed}, weights {weights:?}");
    }
}

const DATASET_C: &str = "{ width = 512, height = 512, num_inference_steps = 20, weight = 0.15 }, \
     { width = 768, height = 768, num_inference_steps = 20, weight = 0.25 }, \
     { width = 1024, height = 1024, num_inference_steps = 25, weight = 0.45 }, \
     { width = 1536, height = 1536, num_inference_steps = 35, weight = 0.15 }";

#[test]
fn dataset_c_with_seed_42_is_cpythons_sequence_of_a_thousand() {
    let table = table();
    let case = table["cases"]
        .as_array()
        .unwrap()
        .iter()
        .find(|case| case["seed"] == 42 && case["weights"] == json!([0.15, 0.25, 0.45, 0.15]))
        .unwrap();
    let expected = case["drawn"].as_str().unwrap();
    let requests = drawn(DATASET_C, "", 42, 1000);
    assert_eq!(positions(&requests), expected);
    let widths = [512, 768, 1024, 1536];
    let of = |position: char| widths[usize::try_from(position.to_digit(10).unwrap()).unwrap()];
    assert!(requests.iter().zip(expected.chars()).all(|(request, drawn)| request.shape.width == Some(of(drawn))));
    assert_ne!(positions(&drawn(DATASET_C, "", 43, 1000)), expected);
    let doubled = DATASET_C.replace("0.15", "0.3").replace("0.25", "0.5").replace("0.45", "0.9");
    assert_eq!(positions(&drawn(&doubled, "", 42, 1000)), expected, "weights are relative");
}

#[test]
fn a_missing_weight_is_one_and_a_weight_of_zero_is_never_drawn() {
    let written = positions(&drawn("{ weight = 1 }, { weight = 3 }", "", 7, 200));
    assert_eq!(positions(&drawn("{}, { weight = 3 }", "", 7, 200)), written);
    assert!(!positions(&drawn("{ weight = 0 }, {}", "", 7, 200)).contains('0'));
}

#[test]
fn stratified_shares_are_exact_and_their_order_follows_the_seed() {
    let stratified = |seed| positions(&drawn(DATASET_C, "sampling = 'stratified'\n", seed, 20));
    let count = |text: &str, digit| text.matches(digit).count();
    for seed in [1, 2] {
        let counts = ['0', '1', '2', '3'].map(|digit| count(&stratified(seed), digit));
        assert_eq!(counts, [3, 5, 9, 3], "seed {seed}");
    }
    assert_ne!(stratified(1), stratified(2));
    assert_eq!(stratified(1), stratified(1));
    // quotas 3.33 each: the largest remainders are equal, and earlier profiles come first
    let thirds = positions(&drawn("{}, {}, {}", "sampling = 'stratified'\n", 5, 10));
    assert_eq!(['0', '1', '2'].map(|digit| count(&thirds, digit)), [4, 3, 3]);
}

#[test]
fn prompts_are_numbered_as_the_python_client_numbers_them() {
    let requests = drawn("{}", "negative_prompt = true\n", 42, 12);
    for (number, request) in requests.iter().enumerate() {
        assert_eq!(request.prompt, format!("Random prompt {number} for benchmarking diffusion models"));
        let negative = format!("Negative prompt {number} for benchmarking diffusion models");
        assert_eq!(request.negative_prompt, Some(negative));
    }
    let own = drawn("{ prompt = 'a lighthouse', negative_prompt = 'fog' }", "negative_prompt = true\n", 42, 2);
    assert_eq!((own[1].prompt.as_str(), own[1].negative_prompt.as_deref()), ("a lighthouse", Some("fog")));
    assert_eq!(drawn("{}", "", 42, 1)[0].negative_prompt, None);
}

#[test]
fn other_keys_of_a_profile_become_request_fields_with_their_values() {
    let profile = "{ width = 64, height = 64, n = 2, seed = 0, guidance_scale = 0.0, generator_device = '', \
         vae_use_slicing = false, lora = { name = 'a', scale = 0.5 } }";
    let request = drawn(profile, "", 42, 1).remove(0);
    assert_eq!((request.shape.width, request.n, request.seed), (Some(64), Some(2), Some(0)));
    let fields: Vec<(&str, &Value)> = request.fields.iter().map(|(key, value)| (key.as_str(), value)).collect();
    assert_eq!(
        fields,
        [
            ("guidance_scale", &json!(0.0)),
            ("generator_device", &json!("")),
            ("vae_use_slicing", &json!(false)),
            ("lora", &json!({ "name": "a", "scale": 0.5 })),
        ]
    );
}

#[test]
fn weights_that_draw_nothing_are_refused_at_their_place() {
    let told = |profiles: &str| problems(&format!("{}[datasets.d]\nprofiles = [{profiles}]\n", head("t2i")));
    assert_eq!(
        told("{ weight = -1 }, {}"),
        ["datasets.d.profiles[0].weight: weight `-1` is not a number of at least 0"]
    );
    assert_eq!(
        told("{}, { weight = nan }"),
        ["datasets.d.profiles[1].weight: weight `NaN` is not a number of at least 0"]
    );
    assert_eq!(
        told("{ weight = 0 }, { weight = 0 }"),
        ["datasets.d.profiles[0].weight: every weight is 0, so no profile could be drawn"]
    );
}
