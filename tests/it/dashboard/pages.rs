//! The pages of the repository's scenarios from simulated runs, and what is kept of them.

use super::setup::{Desk, OWN, part, prose, talk};

const SECTIONS: [&str; 8] = [
    "## 1. Overview",
    "## 2. Test environment",
    "## 3. Service launch",
    "## 4. Benchmark",
    "## 5. Dataset and workload settings",
    "## 6. Metrics",
    "## 7. Results",
    "## 8. Reproducibility checklist",
];

/// The page of a scenario made, written around, and made again from newer results.
fn regenerated(scenario: &str, name: &str, page: &str, header: &str) {
    let desk = Desk::of(scenario);
    desk.simulate(&[]);
    let refused = desk.dashboard(&[]);
    assert_eq!(refused.status.code(), Some(2), "{}", talk(&refused));
    assert!(talk(&refused).contains("--allow simulated"), "{}", talk(&refused));
    assert!(!desk.path(page).exists(), "`run` and a refusal write no page");

    desk.page(0, &[]);
    let first = desk.read(page);
    assert_eq!(first.lines().filter(|line| line.starts_with("## ")).collect::<Vec<_>>(), SECTIONS);
    assert!(part(&first, "results").trim_start().starts_with(header), "{first}");
    assert!(part(&first, "results").contains("simulated (500× speed), not a measurement"), "{first}");

    let written = first
        .replace("## 2. Test environment\n", "Our own words, with `code` and | pipes |.  \n\n## 2. Test environment\n")
        .replace("### 7.1 Results table\n", "### 7.1 Results table\n\n> read the notes\n")
        + "\nThe last line has no end";
    desk.write(page, &written);
    desk.simulate(&[]);
    desk.page(0, &[]);
    let second = desk.read(page);
    assert_eq!(prose(&second), prose(&written), "prose is untouched");
    assert!(second.ends_with("\nThe last line has no end"));
    let results = desk.results(name);
    for run in results["runs"].as_array().unwrap() {
        let mean = format!("{:.4}", run["latency_s"]["mean"].as_f64().unwrap());
        assert!(part(&second, "results").contains(&mean), "{mean} of {} is fresh: {second}", run["id"]);
    }
    assert_ne!(part(&first, "results"), part(&second, "results"));

    let stamp = fs_err::metadata(desk.path(page)).unwrap().modified().unwrap();
    desk.page(0, &[]);
    assert_eq!(desk.read(page), second, "a second run changes no byte");
    assert_eq!(fs_err::metadata(desk.path(page)).unwrap().modified().unwrap(), stamp, "it is not even written");
    desk.page(0, &["--check"]);

    let mean = format!("{:.4}", results["runs"][0]["latency_s"]["mean"].as_f64().unwrap());
    let edited = second.replacen(&mean, "99.9999", 1);
    desk.write(page, &edited);
    let told = desk.page(1, &["--check"]);
    assert!(told.lines().any(|line| line.starts_with("-|") && line.contains("99.9999")), "{told}");
    assert!(told.lines().any(|line| line.starts_with("+|") && line.contains(&mean)), "{told}");
    assert!(told.contains("is stale"), "{told}");
    assert_eq!(desk.read(page), edited, "`--check` writes nothing");
}

#[test]
fn the_page_of_qwen_image_is_made_again_and_its_prose_stays() {
    let header = "| Dataset Configuration | Max Concur. | CFG | Usp | Tp | VAE Parallel | Mean Latency (s) | P99 Latency (s) |\n";
    regenerated("qwen_image", "qwen-image", "scenarios/dashboards/qwen_image.md", header);
}

#[test]
fn the_page_of_wan22_is_made_again_and_its_prose_stays() {
    let header = "| Dataset Configuration | Max Concur. | CFG | Usp | Tp | Hsdp | VAE Parallel | Mean Latency (s) | P99 Latency (s) |\n";
    regenerated("wan22", "wan22", "scenarios/dashboards/wan22.md", header);
}

#[test]
fn every_byte_outside_of_generated_parts_is_kept() {
    let desk = Desk::with(OWN);
    desk.simulate(&[]);
    let before = "\u{feff}# Title\r\n\r\nmixed\nends \t\r\n```\r\n<!-- omni-bench:begin results -->\r\n```\r\n";
    let part = |body: &str| format!("<!-- omni-bench:begin results -->\r\n{body}<!--  omni-bench:end results-->\r\n");
    let marked = part("").replace("<!--  omni-bench:end results-->", "<!-- omni-bench:end results -->");
    let after = "tail – without an end";
    desk.write("scenarios/pages/own.md", &format!("{before}{marked}{after}"));
    desk.page(0, &[]);
    let page = desk.read("scenarios/pages/own.md");
    assert!(page.starts_with(before) && page.ends_with(&format!("-->\r\n{after}")), "{page:?}");
    let generated = page.strip_prefix(before).unwrap().strip_suffix(after).unwrap();
    assert!(generated.contains("| Dataset Configuration |"), "{generated}");
    assert_eq!(generated.matches('\n').count(), generated.matches("\r\n").count(), "line ends are the page's");
}

#[test]
fn the_copy_of_a_run_has_the_prose_and_the_page_itself_is_left_alone() {
    let desk = Desk::with(OWN);
    let own = "Own words.\n<!-- omni-bench:begin results -->\n<!-- omni-bench:end results -->\n";
    desk.write("scenarios/pages/own.md", own);
    desk.simulate(&[]);
    assert_eq!(desk.read("scenarios/pages/own.md"), own);
    let copy = desk.read("results/own/latest/own.md");
    assert!(copy.starts_with("Own words.\n") && copy.contains("| Dataset Configuration |"), "{copy}");
}

#[test]
fn results_are_the_latest_unless_a_folder_is_named() {
    let desk = Desk::with(OWN);
    let missing = desk.dashboard(&[]);
    assert_eq!(missing.status.code(), Some(5), "{}", talk(&missing));
    assert!(talk(&missing).contains("`own` has no results yet"), "{}", talk(&missing));
    desk.simulate(&["--out", "elsewhere"]);
    desk.page(0, &["--results", "elsewhere/own/latest"]);
    let page = desk.read("scenarios/pages/own.md");
    let folder = fs_err::read_link(desk.path("elsewhere/own/latest")).unwrap();
    assert!(page.contains(&format!("- [x] Results folder: `{}`", folder.display())), "{page}");
    let other = Desk::with(&OWN.replace("name = \"own\"", "name = \"other\""));
    let refused = other.dashboard(&["--results", desk.path("elsewhere/own/latest").to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2), "{}", talk(&refused));
    assert!(talk(&refused).contains("holds results of `own`, not of `other`"), "{}", talk(&refused));
}

#[test]
fn a_page_that_is_not_there_is_stale_and_a_check_does_not_make_it() {
    let desk = Desk::with(OWN);
    desk.simulate(&[]);
    let told = desk.page(1, &["--check"]);
    assert!(told.contains("is not there yet") && told.contains("+## 1. Overview"), "{told}");
    assert!(!desk.path("scenarios/pages").exists());
}
