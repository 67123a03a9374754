//! Tables that a scenario adds to its page, templates and links.

use super::setup::{Desk, OWN, part, talk};

/// Two levels of concurrency of small clips, with an envelope.
const CLIPS: &str = r#"
name = "clips"

[model]
id = "Wan-AI/Wan2.2-T2V-A14B-Diffusers"
task = "t2v"

[[variants]]
name = "v"

[datasets.A]
source = "random"
profiles = [{ width = 64, height = 64, num_inference_steps = 2, num_frames = 9, fps = 8 }]

[traffic]
requests = { per_concurrency = 2, at_least = 2 }

[matrix]
max_concurrency = [1, 2, 4]

[dashboard]
page = "clips.md"

[[dashboard.tables]]
name = "envelope"

[[dashboard.tables]]
name = "stages"
"#;

#[test]
fn an_envelope_has_the_columns_of_the_dashboards_and_a_row_per_concurrency() {
    let desk = Desk::with(CLIPS);
    desk.simulate(&[]);
    desk.page(0, &[]);
    let page = desk.read("scenarios/clips.md");
    assert!(page.contains("\n### 7.3 Concurrency envelope\n\n<!-- omni-bench:begin envelope -->\n"), "{page}");
    let lines: Vec<&str> = part(&page, "envelope").trim_start().lines().collect();
    assert_eq!(
        lines[0],
        "| Concurrency | Throughput (clips/hr) | Mean (s) | p50 (s) | p99 (s) | Video seconds per wall second | Peak memory (MB) |"
    );
    let results = desk.results("clips");
    for (line, run) in lines[2..5].iter().zip(results["runs"].as_array().unwrap()) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells[0], run["max_concurrency"].to_string());
        let number = |cell: &str| cell.split(' ').next().unwrap().parse::<f64>().unwrap();
        let per_hour = run["throughput_per_s"].as_f64().unwrap() * 3600.0;
        assert!((number(cells[1]) / per_hour - 1.0).abs() < 1e-3, "{line}");
        for (cell, path) in
            [(2, "/latency_s/mean"), (3, "/latency_s/p50"), (5, "/video_s_per_s"), (6, "/peak_memory_mb/max")]
        {
            let wanted = run.pointer(path).unwrap().as_f64().unwrap();
            assert!((number(cells[cell]) / wanted - 1.0).abs() < 1e-3, "{path}: {line}");
        }
    }
}

#[test]
fn there_is_no_stage_table_without_stage_times() {
    let desk = Desk::with(CLIPS);
    desk.simulate(&["--only", "**/c1"]);
    let told = desk.page(0, &[]);
    let page = desk.read("scenarios/clips.md");
    assert!(!page.contains("Stage breakdown") && !page.contains("begin stages"), "{page}");
    assert!(told.contains("has no markers for the table `stages`"), "{told}");
    // markers that someone wrote must not stand around nothing
    desk.write("scenarios/clips.md", "<!-- omni-bench:begin stages -->\n<!-- omni-bench:end stages -->\n");
    desk.page(0, &[]);
    let page = desk.read("scenarios/clips.md");
    assert!(part(&page, "stages").contains("No table: no run that matches has stage times"), "{page}");
    assert!(!page.contains('|'), "{page}");
}

#[test]
fn rows_are_chosen_grouped_and_ordered_and_link_to_their_summaries() {
    let desk = Desk::with(OWN);
    desk.append(
        "links = \"relative\"\n\n[[dashboard.tables]]\nname = \"rates\"\nkind = \"throughput\"\ntitle = \"Rates <fast first>\"\n\
         columns = [\"max_concurrency\", \"throughput_per_s\"]\nsort = [\"-max_concurrency\"]\n\n\
         [[dashboard.tables]]\nname = \"pooled\"\nkind = \"throughput\"\ngroup_by = [\"variant\"]\n\
         columns = [\"variant\", \"runs\", \"max:throughput_per_s\"]\n\n\
         [[dashboard.tables]]\nname = \"results\"\nwhere = [\"max_concurrency=2\"]\n",
    );
    desk.simulate(&[]);
    desk.page(0, &[]);
    let page = desk.read("scenarios/pages/own.md");
    assert!(page.contains("### 7.3 Rates &lt;fast first>"), "{page}");
    let rates: Vec<&str> = part(&page, "rates").lines().filter(|line| line.starts_with("| [")).collect();
    assert!(rates[0].starts_with("| [2](") && rates[1].starts_with("| [1]("), "{page}");
    let target = rates[0].split(['(', ')']).nth(1).unwrap();
    assert!(target.starts_with("../../results/own/") && target.ends_with("/runs/v/A/c2/summary.json"), "{target}");
    assert!(desk.path("scenarios/pages").join(target).is_file(), "{target}");
    let pooled = part(&page, "pooled");
    assert!(
        pooled.contains("| Variant | Runs | Largest Throughput (1/s) |") && pooled.contains("| v | 2 |"),
        "{pooled}"
    );
    assert!(pooled.contains("the runs of the row differ in `max_concurrency`"), "{pooled}");
    let own = part(&page, "results");
    assert!(own.contains("runs/v/A/c2/summary.json") && !own.contains("runs/v/A/c1/summary.json"), "{own}");
    // the copy of a run stands elsewhere, and so do its links
    let copy = desk.read("results/own/latest/own.md");
    assert!(copy.contains("](runs/v/A/c2/summary.json)"), "{copy}");
}

#[test]
fn a_template_of_ones_own_makes_the_page() {
    let desk = Desk::with(OWN);
    desk.append("template = \"own.md.j2\"\n[[dashboard.tables]]\nname = \"my-rates\"\nkind = \"throughput\"\n");
    let template = "# {{ title }}\n\n{{ results }}\n{% if stages %}## Stages\n\n{{ stages }}\n{% endif %}\n{{ parts[\"my-rates\"] }}\n";
    desk.write("scenarios/own.md.j2", template);
    desk.simulate(&[]);
    desk.page(0, &[]);
    let page = desk.read("scenarios/pages/own.md");
    assert!(page.starts_with("# Own\n\n<!-- omni-bench:begin results -->\n") && !page.contains("## Stages"), "{page}");
    assert!(part(&page, "my-rates").contains("Throughput (requests/s)"), "{page}");
    desk.page(0, &["--check"]);
}

#[test]
fn a_template_that_makes_no_page_is_told_with_its_place() {
    let desk = Desk::with(OWN);
    desk.append("template = \"own.md.j2\"\n");
    desk.write("scenarios/own.md.j2", "# {{ title }}\n");
    desk.simulate(&[]);
    assert!(desk.page(2, &[]).contains("the template makes no page"));
    desk.write("scenarios/own.md.j2", "# Title\n\n{{ resuls }}\n");
    let told = desk.page(2, &[]);
    assert!(told.contains("own.md.j2:3"), "{told}");
    fs_err::remove_file(desk.path("scenarios/own.md.j2")).unwrap();
    let told = desk.run(&["validate", "scenarios/own.toml"]);
    assert_eq!(told.status.code(), Some(2), "{}", talk(&told));
    assert!(talk(&told).contains("own.md.j2") && talk(&told).contains("template = "), "{}", talk(&told));
}
