//! Charts beside the page: written, shown, checked.

use super::setup::{Desk, OWN, part, talk};

#[test]
fn charts_stand_beside_the_page_and_are_checked_with_it() {
    let desk = Desk::with(OWN);
    desk.simulate(&[]);
    desk.page(0, &[]);
    let page = desk.read("scenarios/pages/own.md");
    let shown = part(&page, "charts");
    assert!(page.contains("\n### 7.3 Charts\n"), "{page}");
    for chart in ["latency-A", "throughput-A", "distribution-v_A_c1", "timeline-v_A_c2"] {
        assert!(shown.contains(&format!("](<own-charts/{chart}.svg>)")), "{shown}");
        let svg = desk.read(&format!("scenarios/pages/own-charts/{chart}.svg"));
        assert!(svg.contains("<svg") && svg.contains("simulated (500× speed), not a measurement"), "{svg}");
    }
    assert!(shown.contains("simulated"), "what is shown says so: {shown}");

    // the copy in the results folder has its own
    let latest = "results/own/latest";
    assert_eq!(
        desk.read(&format!("{latest}/own-charts/latency-A.svg")),
        desk.read("scenarios/pages/own-charts/latency-A.svg")
    );
    assert!(part(&desk.read(&format!("{latest}/own.md")), "charts").contains("own-charts/latency-A.svg"));

    desk.page(0, &["--check"]);
    let drawn = desk.read("scenarios/pages/own-charts/latency-A.svg");
    desk.write("scenarios/pages/own-charts/latency-A.svg", &drawn.replacen("<svg", "<svg data-edited=\"\"", 1));
    let told = desk.page(1, &["--check"]);
    assert!(told.contains("`scenarios/pages/own-charts/latency-A.svg` is stale"), "{told}");
    let told = desk.page(0, &[]);
    assert!(told.contains("written: 1 charts"), "{told}");
    assert_eq!(desk.read("scenarios/pages/own-charts/latency-A.svg"), drawn);
}

#[test]
fn a_page_without_results_gets_neither_tables_nor_charts() {
    let desk = Desk::with(OWN);
    let output = desk.dashboard(&["--allow", "simulated"]);
    assert_eq!(output.status.code(), Some(5), "{}", talk(&output));
    assert!(!desk.path("scenarios/pages").exists());
}
