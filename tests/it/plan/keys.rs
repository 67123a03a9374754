//! What the keys depend on, and what they do not.

use omni_bench::plan::RunPlan;

use super::*;

const BASE: &str = "name = 'test'\ntitle = 'T'
model = { id = 'm', task = 't2i' }
[endpoint]
url = 'http://localhost:8091'
timeout = { job = '1m' }
extra_body = { guidance_scale = 4, strength_ = 1 }
allow_unknown = true
poll = { first = '50ms' }
[[variants]]
name = 'x'
label = 'X'
parallel = { cfg = 2 }
serve_args = { enforce-eager = true, max-num-seqs = 8 }
[datasets.A]
label = 'A'
description = 'd'
profiles = [{ width = 512, height = 512, num_inference_steps = 20, weight = 1 }]
[traffic]
requests = 10
seed = 42
";

fn run_of(text: &str) -> RunPlan {
    planned_data(text, SIMULATED).0.runs.remove(0)
}

/// Which of workload key, configuration key and key a replacement changes.
fn changed(from: &str, to: &str) -> (bool, bool, bool) {
    assert!(BASE.contains(from), "{from}");
    let (before, after) = (run_of(BASE), run_of(&BASE.replace(from, to)));
    assert_eq!(
        (before.key == after.key),
        before.workload_key == after.workload_key && before.config_key == after.config_key
    );
    (before.workload_key != after.workload_key, before.config_key != after.config_key, before.key != after.key)
}

#[test]
fn keys_are_sixteen_hex_digits_and_the_plan_hash_sixty_four() {
    let (plan, _) = planned_data(BASE, SIMULATED);
    let run = &plan.runs[0];
    for key in [&run.key, &run.workload_key, &run.config_key] {
        assert!(key.len() == 16 && key.chars().all(|c| c.is_ascii_hexdigit()), "{key}");
    }
    assert_eq!(plan.plan_hash.len(), 64);
    assert_eq!(plan.variants[0].config_key, run.config_key);
}

#[test]
fn urls_labels_polling_limits_and_repeats_change_no_key() {
    for (from, to) in [
        ("http://localhost:8091", "http://other:1"),
        ("label = 'X'", "label = 'Y'"),
        ("label = 'A'", "label = 'B'"),
        ("description = 'd'", "description = 'e'"),
        ("title = 'T'", "title = 'U'"),
        ("'50ms'", "'10ms'"),
        ("job = '1m'", "job = 'none'"),
        ("name = 'x'", "name = 'z'"),
        ("num_inference_steps = 20, weight = 1", "num_inference_steps = 20"),
        ("width = 512, height = 512, num", "height = 512, width = 512.0, num"),
        ("guidance_scale = 4, strength_ = 1", "strength_ = 1, guidance_scale = 4.0"),
        ("enforce-eager = true, max-num-seqs = 8", "max-num-seqs = 8, enforce-eager = true, trust-remote-code = false"),
    ] {
        assert_eq!(changed(from, to), (false, false, false), "{from} → {to}");
    }
    let repeated = planned_data(&format!("{BASE}repeats = 2\n"), SIMULATED).0;
    assert_eq!(repeated.runs[0].key, repeated.runs[1].key);
    assert_eq!(repeated.runs[0].key, run_of(BASE).key);
}

#[test]
fn what_is_asked_changes_the_workload_key_alone() {
    for (from, to) in [
        ("id = 'm'", "id = 'n'"),
        ("guidance_scale = 4", "guidance_scale = 5"),
        ("width = 512", "width = 768"),
        ("num_inference_steps = 20", "num_inference_steps = 21"),
        ("requests = 10", "requests = 11"),
        ("seed = 42", "seed = 43"),
        ("[traffic]", "[warmup]\nrequests = 3\n[traffic]"),
        ("requests = 10", "requests = 10\nmax_concurrency = 2"),
        ("[endpoint]", "[endpoint]\npath = '/v1/chat/completions'"),
        ("description = 'd'", "negative_prompt = true"),
        ("description = 'd'", "request_seed = 'per_request'"),
    ] {
        assert_eq!(changed(from, to), (true, false, true), "{from} → {to}");
    }
}

#[test]
fn how_replies_come_is_part_of_what_is_asked_and_how_deep_they_are_judged_is_not() {
    let edits = BASE.replace("task = 't2i'", "task = 'i2i'").replace("description = 'd'", "images = {}");
    let videos = BASE.replace("task = 't2i'", "task = 't2v'");
    let changed = |base: &str, key: &str| {
        let other = base.replace("[endpoint]", &format!("[endpoint]\n{key}"));
        run_of(base).workload_key != run_of(&other).workload_key
    };
    assert!(changed(&edits, "stream = true") && changed(&videos, "sync_video = true"));
    assert!(!changed(&edits, "stream = false") && !changed(&edits, "validate = 'full'"));
}

#[test]
fn who_answers_changes_the_configuration_key_alone() {
    for (from, to) in [
        ("cfg = 2", "cfg = 4"),
        ("max-num-seqs = 8", "max-num-seqs = 1"),
        ("enforce-eager = true, ", ""),
        ("label = 'X'", "gpus = 4"),
    ] {
        assert_eq!(changed(from, to), (false, true, true), "{from} → {to}");
    }
}

#[test]
fn compared_variants_share_their_workload_keys() {
    let text = format!("{BASE}[matrix]\nmax_concurrency = [1, 4]\n")
        .replace("[datasets.A]", "[[variants]]\nname = 'y'\n[datasets.A]");
    let (plan, _) = planned_data(&text, SIMULATED);
    assert_eq!(plan.runs[0].workload_key, plan.runs[2].workload_key);
    assert_eq!(plan.runs[1].workload_key, plan.runs[3].workload_key);
    assert_ne!(plan.runs[0].workload_key, plan.runs[1].workload_key);
    assert_ne!(plan.runs[0].key, plan.runs[2].key);
}

#[test]
fn the_plan_hash_covers_everything_and_is_reproducible() {
    let hash = |text: &str| planned_data(text, SIMULATED).0.plan_hash;
    assert_eq!(hash(BASE), hash(BASE));
    for (from, to) in [("title = 'T'", "title = 'U'"), ("'50ms'", "'10ms'"), ("seed = 42", "seed = 43")] {
        assert_ne!(hash(BASE), hash(&BASE.replace(from, to)), "{from}");
    }
    let other = planned_data(BASE, Hosting::Simulated { speed: 10.0 }).0.plan_hash;
    assert_ne!(hash(BASE), other);
}

#[test]
fn an_estimate_is_no_part_of_the_hash_and_adds_the_phases_up() {
    let scenario = read(&format!("{BASE}[slo]\nscale = 3\n"));
    let data = workload::load(&scenario, &workload::Sources::default()).unwrap();
    let plan = |estimate: Option<plan::Estimate<'_>>| {
        let input =
            PlanInput { scenario: &scenario, data: &data, hosting: SIMULATED, only: &[], repeats: None, estimate };
        plan::plan(&input).unwrap()
    };
    let two_seconds = plan(Some(&|_, _, _| Some(2.0)));
    assert_eq!(two_seconds.runs[0].estimate_s, Some(2.0 * (10.0 + 1.0 + 3.0)));
    assert_eq!(two_seconds.plan_hash, plan(None).plan_hash);
    assert_eq!(plan(Some(&|_, _, _| None)).runs[0].estimate_s, None);
}

#[test]
fn a_plan_survives_its_file() {
    let (plan, _) =
        planned_data(&format!("{BASE}[slo]\nscale = 3\n[matrix]\nrequest_rate = [0.5, 'inf']\n"), SIMULATED);
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
}
