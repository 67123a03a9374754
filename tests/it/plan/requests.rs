//! The requests of a run, phase by phase.

use omni_bench::workload::{Reference, Request};

use super::*;

fn count(requests: &[Request], class: &str) -> usize {
    requests.iter().filter(|request| request.class().to_string() == class).count()
}

#[test]
fn dataset_c_sends_the_dashboards_sequence() {
    let (plan, phases) = first_phases(&format!("{HEAD}{DATASET_C}"));
    assert_eq!(plan.runs[0].traffic.requests, 10);
    let classes = ["512x512-s20", "768x768-s20", "1024x1024-s25", "1536x1536-s35"];
    assert_eq!(classes.map(|class| count(&phases.measured, class)), [3, 2, 4, 1]);
    let first = &phases.measured[0];
    assert_eq!((first.request_id.as_str(), first.index), ("req-0001", 0));
    assert_eq!(first.prompt, "Random prompt 0 for benchmarking diffusion models");
    assert_eq!(first.negative_prompt.as_deref(), Some("Negative prompt 0 for benchmarking diffusion models"));
    assert_eq!(first.seed, None, "no seed is sent unless asked for");
    assert_eq!(phases.due_s, None);
    let rows: Vec<usize> = phases.measured.iter().map(|request| request.row).collect();
    assert_eq!(rows, [2, 0, 1, 1, 2, 2, 3, 0, 2, 0], "random.Random(42).choices(…)");
}

#[test]
fn warmups_touch_every_class_and_share_nothing_with_the_measured_requests() {
    let (plan, phases) = first_phases(&format!("{HEAD}{DATASET_C}[slo]\nscale = 3\n"));
    assert_eq!((plan.runs[0].warmup.requests, plan.runs[0].warmup.concurrency), (4, 1));
    let classes = ["512x512-s20", "768x768-s20", "1024x1024-s25", "1536x1536-s35"];
    assert_eq!(classes.map(|class| count(&phases.warmup, class)), [1; 4]);
    assert_eq!(classes.map(|class| count(&phases.calibration, class)), [3; 4]);
    assert_eq!(phases.warmup[0].request_id, "warmup-0001");
    assert_eq!(phases.calibration[11].request_id, "calibration-0012");
    let all: [&[Request]; 3] = [&phases.measured, &phases.warmup, &phases.calibration];
    let prompts: std::collections::HashSet<&str> =
        all.iter().flat_map(|requests| requests.iter().map(|request| request.prompt.as_str())).collect();
    assert_eq!(prompts.len(), 10 + 4 + 12, "a prompt cache is never filled with measured prompts");
}

#[test]
fn a_warmup_may_have_its_own_steps() {
    let (plan, phases) = first_phases(&format!("{HEAD}{DATASET_A}[warmup]\nrequests = 2\nnum_inference_steps = 2\n"));
    assert_eq!(phases.warmup.len(), 2);
    assert_eq!(phases.warmup[0].shape.num_inference_steps, Some(2));
    assert_eq!(phases.measured[0].shape.num_inference_steps, Some(20));
    assert!(!plan.runs[0].warmup.matched);
    let (_, phases) = first_phases(&format!("{HEAD}{DATASET_A}[warmup]\nrequests = 0\n"));
    assert!(phases.warmup.is_empty());
}

#[test]
fn axes_go_over_overrides_over_rows_over_defaults_over_extra_fields() {
    let text = |more: &str| {
        format!(
            "{HEAD}extra_body = {{ num_inference_steps = 1, guidance_scale = 2.0, n = 3 }}\n[datasets.A]\ndefaults = {{ width = 64, height = 64 }}\nprofiles = [{{ strength_ = 1, prompt = 'p' }}]\n{more}"
        )
        .replace("strength_", "true_cfg_scale")
    };
    let shape = |more: &str| {
        let (_, phases) = first_phases(&text(more));
        let request = &phases.measured[0];
        (request.shape.width, request.shape.num_inference_steps, request.n, request.prompt.clone())
    };
    assert_eq!(shape(""), (Some(64), Some(1), Some(3), "p".into()));
    assert_eq!(shape("override = { width = 32, height = 32, n = 2 }\n"), (Some(32), Some(1), Some(2), "p".into()));
    assert_eq!(
        shape("[matrix]\nsize = ['128x64']\nnum_inference_steps = [5]\n"),
        (Some(128), Some(5), Some(3), "p".into())
    );
    let (_, phases) = first_phases(&text(""));
    assert_eq!(
        serde_json::to_string(&phases.measured[0].fields).unwrap(),
        r#"{"true_cfg_scale":1}"#,
        "extra fields are laid under the row when the request is encoded"
    );
}

#[test]
fn seeds_follow_their_policy_and_a_rows_own_wins() {
    let seeds = |dataset: &str, more: &str| -> Vec<Option<u64>> {
        let (_, phases) = first_phases(&format!("{HEAD}[datasets.A]\n{dataset}\n[traffic]\nrequests = 3\n{more}"));
        phases.measured.iter().map(|request| request.seed).collect()
    };
    assert_eq!(seeds("", ""), [None; 3]);
    assert_eq!(seeds("request_seed = 'fixed'\ndefaults = { seed = 0 }", ""), [Some(0); 3]);
    assert_eq!(seeds("defaults = { seed = 7 }", ""), [Some(7); 3], "a default fills gaps");
    assert_eq!(seeds("request_seed = 'per_request'\nprofiles = [{ seed = 5 }]", ""), [Some(5); 3]);
    let derived = seeds("request_seed = 'per_request'", "");
    assert_eq!(derived, seeds("request_seed = 'per_request'", ""));
    assert_ne!(derived, seeds("request_seed = 'per_request'", "seed = 43\n"));
    assert_ne!(derived[0], derived[1]);
}

#[test]
fn changing_the_arrivals_does_not_reshuffle_the_requests() {
    let rows = |more: &str| -> Vec<usize> {
        let (_, phases) = first_phases(&format!("{HEAD}{DATASET_C}[traffic]\n{more}"));
        phases.measured.iter().map(|request| request.row).collect()
    };
    assert_eq!(rows(""), rows("request_rate = 2\narrival = 'gamma'\nburstiness = 0.5\n"));
}

#[test]
fn an_open_loop_has_a_due_time_per_request_from_zero_on() {
    let (plan, phases) = first_phases(&format!("{HEAD}{DATASET_A}[traffic]\nrequests = 50\nrequest_rate = 5\n"));
    let due = phases.due_s.unwrap();
    assert_eq!((due.len(), due[0]), (50, 0.0));
    assert!(due.is_sorted());
    assert_eq!(plan.runs[0].warmup.concurrency, 8, "an uncapped open loop warms up 8 at once");
}

#[test]
fn stratified_sampling_has_exact_shares() {
    let text = format!("{HEAD}{DATASET_C}sampling = 'stratified'\n[traffic]\nrequests = 20\n");
    let (_, phases) = first_phases(&text);
    let classes = ["512x512-s20", "768x768-s20", "1024x1024-s25", "1536x1536-s35"];
    assert_eq!(classes.map(|class| count(&phases.measured, class)), [3, 5, 9, 3]);
}

fn bytes(reference: &Reference) -> (*const u8, &[u8]) {
    match reference {
        Reference::Bytes { bytes, mime, .. } => {
            assert_eq!(&**mime, "image/png");
            (bytes.as_ptr(), bytes)
        }
        Reference::Url(url) => panic!("{url}"),
    }
}

#[test]
fn tasks_that_need_an_image_get_one_of_the_requests_size_and_share_its_bytes() {
    let text =
        "name = 'test'\nmodel = { id = 'm', task = 'ti2i' }\n[datasets.A]\nprofiles = [{ width = 96, height = 64 }]\n";
    let (_, phases) = first_phases(text);
    let (first, second) = (&phases.measured[0].images, &phases.measured[1].images);
    assert_eq!(first.len(), 1);
    assert_eq!(bytes(&first[0]).0, bytes(&second[0]).0, "equal images are one allocation");
    assert_eq!(bytes(&first[0]).1[16..24], [0, 0, 0, 96, 0, 0, 0, 64]);
    let (_, phases) = first_phases(&format!("{text}images = {{ count = 2, width = 32, height = 48 }}\n"));
    let images = &phases.measured[0].images;
    assert_eq!(images.len(), 2);
    assert_eq!(bytes(&images[1]).1[16..24], [0, 0, 0, 32, 0, 0, 0, 48]);
    assert_ne!(bytes(&images[0]).1, bytes(&images[1]).1, "the images of a request differ");
}

#[test]
fn a_dataset_without_profiles_is_one_profile_of_its_defaults() {
    let (_, phases) = first_phases(&format!("{HEAD}[datasets.A]\ndefaults = {{ width = 256, height = 256 }}\n"));
    assert_eq!(phases.measured.len(), 10);
    assert!(phases.measured.iter().all(|request| request.class().to_string() == "256x256" && request.row == 0));
}
