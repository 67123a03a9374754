//! Pages and settings that do not fit are told with their lines, and nothing is written.

use super::setup::{Desk, OWN, talk};

#[test]
fn markers_that_do_not_fit_are_errors_with_line_numbers() {
    let desk = Desk::with(OWN);
    desk.simulate(&[]);
    let page = "title\n\
                <!-- omni-bench:begin result -->\n<!-- omni-bench:end result -->\n\
                <!-- omni-bench:begin results -->\n<!-- omni-bench:begin figures -->\n<!-- omni-bench:end results -->\n\
                <!-- omni-bench:end figures -->\n\
                <!-- omni-bench:begin results -->\n<!-- omni-bench:end results -->\n\
                <!-- omni-bench:start results -->\n\
                <!-- omni-bench:begin checklist -->\n";
    desk.write("scenarios/pages/own.md", page);
    for arguments in [&[][..], &["--check"], &["--adopt"]] {
        let told = desk.page(2, arguments);
        for (line, text) in [
            (2, "no part is called `result`; did you mean `results`?"),
            (5, "`figures` begins inside `results`, which began on line 4"),
            (7, "`figures` ends here and never began"),
            (8, "`results` is here a second time, it began on line 4 already"),
            (10, "this is not a marker"),
            (11, "`checklist` begins here and never ends"),
        ] {
            assert!(told.contains(&format!("own.md:{line}: {text}")), "{line}: {told}");
        }
        assert_eq!(desk.read("scenarios/pages/own.md"), page);
    }
}

#[test]
fn a_page_that_is_no_text_is_left_alone() {
    let desk = Desk::with(OWN);
    desk.simulate(&[]);
    fs_err::create_dir_all(desk.path("scenarios/pages")).unwrap();
    fs_err::write(desk.path("scenarios/pages/own.md"), b"ab\xff").unwrap();
    assert!(desk.page(5, &[]).contains("is not UTF-8 at byte 2"));
}

#[test]
fn a_scenario_without_a_page_says_where_to_name_one() {
    let desk = Desk::with(&OWN.replace("page = \"pages/own.md\"", ""));
    let told = desk.page(2, &[]);
    assert!(told.contains("the scenario names no page") && told.contains("page = \"dashboards/name.md\""), "{told}");
}

#[test]
fn every_mistake_in_a_table_is_shown_in_the_scenario_before_anything_runs() {
    let desk = Desk::with(OWN);
    desk.append(
        "[[dashboard.tables]]\nname = \"overview\"\nkind = \"memory\"\n\n\
         [[dashboard.tables]]\nname = \"mine\"\n\n\
         [[dashboard.tables]]\nname = \"stages\"\nkind = \"memory\"\n\n\
         [[dashboard.tables]]\nname = \"rates\"\nkind = \"throughput\"\ncolumns = [\"id\", \"latency.p95\"]\n\
         where = [\"max_concurency>=2\", \"variant\"]\nsort = [\"-completd\"]\ngroup_by = [\"datasets\"]\n",
    );
    let output = desk.run(&["validate", "scenarios/own.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let told = talk(&output);
    for text in [
        "`overview` is a part that every page has",
        "this table needs a `kind`",
        "a table called `stages` is of kind `stages`, not `memory`",
        "no key of runs is called `latency.p95`",
        "did you mean `latency_s.p95`",
        "no key of runs is called `max_concurency`",
        "`variant` is not a condition",
        "no key of runs is called `completd`",
        "no key of runs is called `datasets`",
    ] {
        assert!(told.contains(text), "{text}: {told}");
    }
    assert!(told.contains("columns = [\"id\", \"latency.p95\"]") && told.contains('^'), "{told}");
    let unknown =
        Desk::with(&OWN.replace("[dashboard]", "[[dashboard.tables]]\nname = \"x\"\nkind = \"result\"\n\n[dashboard]"));
    let told = talk(&unknown.run(&["validate", "scenarios/own.toml"]));
    assert!(told.contains("`result`") && told.contains("`results`"), "{told}");
}
