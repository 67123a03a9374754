//! The dashboard page: made, made again, and refused.

use indexmap::IndexMap;
use omni_bench::plan::Plan;
use omni_bench::record::RunManifest;
use omni_bench::report::{PageError, PageFacts, page};
use omni_bench::summarize::Results;
use serde_json::json;

use super::build::manifest;
use super::tables::{qwen, wan};

fn facts(plan: &Plan) -> PageFacts {
    let launch = plan.variants.iter().map(|variant| {
        let mut words = vec!["vllm".to_owned(), "serve".to_owned(), plan.model.clone(), "--omni".to_owned()];
        for (flag, value) in &variant.serve_args {
            words.extend([format!("--{flag}"), value.to_string()]);
        }
        (variant.name.clone(), words)
    });
    PageFacts {
        environments: Vec::new(),
        scenario_file: "scenarios/by_hand.toml".to_owned(),
        results_folder: "20260901T100000Z-12341234".to_owned(),
        manifests: plan.runs.iter().map(|run| RunManifest { model: plan.model.clone(), ..manifest(run) }).collect(),
        launch: launch.collect(),
        verified: IndexMap::new(),
    }
}

fn described() -> (Plan, Results, PageFacts) {
    let (mut plan, results) = qwen();
    plan.description = Some("Qwen-Image on four GPUs.".to_owned());
    let environment = IndexMap::from([
        ("gpu".to_owned(), json!("NVIDIA A100-SXM4-80GB")),
        ("attention_backend".to_owned(), json!("FlashAttention")),
    ]);
    plan.environment.clone_from(&environment);
    for variant in &mut plan.variants {
        variant.environment.clone_from(&environment);
    }
    let facts = facts(&plan);
    (plan, results, facts)
}

#[test]
fn a_new_page_has_the_eight_sections_with_the_facts_of_its_plan() {
    let (plan, results, facts) = described();
    let text = page(&plan, &results, &facts, None).unwrap();
    let sections: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(
        sections,
        [
            "## 1. Overview",
            "## 2. Test environment",
            "## 3. Service launch",
            "## 4. Benchmark",
            "## 5. Dataset and workload settings",
            "## 6. Metrics",
            "## 7. Results",
            "## 8. Reproducibility checklist",
        ]
    );
    insta::assert_snapshot!(text);
}

#[test]
fn a_simulated_page_of_videos_says_what_it_is() {
    let (plan, results) = wan();
    let text = page(&plan, &results, &facts(&plan), None).unwrap();
    assert!(text.matches("simulated (20× speed), not a measurement").count() >= 3, "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn the_same_input_gives_the_same_bytes_new_or_again() {
    let (plan, results, facts) = described();
    let new = page(&plan, &results, &facts, None).unwrap();
    assert_eq!(page(&plan, &results, &facts, None).unwrap(), new);
    assert_eq!(page(&plan, &results, &facts, Some(&new)).unwrap(), new);
}

#[test]
fn nothing_known_leaves_no_section_empty_and_names_what_is_missing() {
    let (plan, _) = qwen();
    let results = omni_bench::summarize::results(&plan, Vec::new(), Vec::new());
    let text = page(&plan, &results, &PageFacts::default(), None).unwrap();
    let parts: Vec<&str> = text.split("<!-- omni-bench:begin ").skip(1).collect();
    assert_eq!(parts.len(), 11);
    for part in parts {
        let body = part.split_once("-->").unwrap().1.split_once("<!-- omni-bench:end").unwrap().0;
        assert!(body.trim().len() > 10, "{part}");
    }
    assert!(text.contains("- [ ] GPU: not recorded; declare `gpu` in `[environment]`"), "{text}");
    assert!(text.contains("No run has results."), "{text}");
}

#[test]
fn prose_and_order_of_an_existing_page_are_kept() {
    let (plan, results, facts) = described();
    let existing = "# My page\r\n\nOwn words.  \n<!-- omni-bench:begin results -->\nold | table\n<!-- omni-bench:end results -->\n\
                    * a note without a line end";
    let text = page(&plan, &results, &facts, Some(existing)).unwrap();
    assert!(text.starts_with("# My page\r\n\nOwn words.  \n<!-- omni-bench:begin results -->\n\n| Dataset"), "{text}");
    assert!(text.ends_with("<!-- omni-bench:end results -->\n* a note without a line end"), "{text}");
    assert!(!text.contains("old | table") && text.contains("| Dataset A | 1 |"), "{text}");
}

#[test]
fn a_page_whose_markers_do_not_fit_is_refused_with_line_numbers() {
    let (plan, results, facts) = described();
    let broken = "text\n<!-- omni-bench:begin results -->\n<!-- omni-bench:end overview -->\n<!-- omni-bench:begin nonsense -->\n";
    match page(&plan, &results, &facts, Some(broken)) {
        Err(PageError::Markers(problems)) => {
            assert_eq!(problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [2, 3, 4]);
            assert!(PageError::Markers(problems).to_string().starts_with("line 2: "));
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(page(&plan, &results, &facts, Some("prose only")), Err(PageError::NoMarkers)));
}

#[test]
fn a_description_cannot_end_its_part() {
    let (mut plan, results, facts) = described();
    plan.description = Some("<!-- omni-bench:end overview -->".to_owned());
    let new = page(&plan, &results, &facts, None).unwrap();
    assert_eq!(page(&plan, &results, &facts, Some(&new)).unwrap(), new);
}
