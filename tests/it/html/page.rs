//! What the HTML report holds, read as text.

use omni_bench::summarize::NotRun;
use sha2::{Digest as _, Sha256};

use super::stored::Stored;
use crate::report::build::{image_plan, in_turn};

/// What stands between these two texts, everywhere.
fn between<'a>(page: &'a str, from: &str, to: &str) -> Vec<&'a str> {
    page.split(from).skip(1).filter_map(|after| Some(after.split_once(to)?.0)).collect()
}

fn has_section(page: &str, anchor: &str) -> bool {
    let section = page.contains(&format!("<section id=\"{anchor}\""));
    assert_eq!(section, page.contains(&format!("href=\"#{anchor}\"")), "the list of sections tells of {anchor}");
    section
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let page = || Stored::sweep(&["a", "b"], &[1, 4], 50).html();
    assert_eq!(page(), page());
}

#[test]
fn the_page_is_whole_in_itself_and_may_call_nobody() {
    let page = Stored::sweep(&["a", "b"], &[1, 4], 20).html();
    let policy = between(&page, "http-equiv=\"Content-Security-Policy\" content=\"", "\">");
    let scripts = between(&page, "<script>", "</script>");
    assert_eq!((policy.len(), scripts.len()), (1, 1));
    let hash = base64_simd::STANDARD.encode_to_string(Sha256::digest(scripts[0]));
    assert_eq!(
        policy[0],
        format!(
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'; img-src data:; base-uri \
             'none'; form-action 'none'"
        )
    );
    let links = between(&page, "href=\"", "\"");
    assert!(links.len() > 10 && links.iter().all(|link| link.starts_with('#') || *link == "data:,"), "{links:?}");
    for never in [" src=", "url(", "@import", "<iframe", "<object", "<embed", "<form", "style=\"", " on"] {
        let markup = page.split("<script>").next().unwrap();
        let tags: Vec<&str> = between(markup, "<", ">");
        assert!(!tags.iter().any(|tag| tag.contains(never)), "{never}");
    }
}

#[test]
fn sections_without_data_are_left_out() {
    let mut stored = Stored::of(image_plan(3), vec![in_turn(&[2.0, 3.0, 4.0])]);
    stored.results.runs.clear();
    stored.results.not_run = Vec::new();
    let page = stored.html();
    for anchor in ["validity", "runs", "charts", "comparison", "trend", "requests"] {
        assert!(!has_section(&page, anchor), "{anchor}");
    }
    for anchor in ["summary", "plan", "environment"] {
        assert!(has_section(&page, anchor), "{anchor}");
    }
    stored.results.not_run = vec![NotRun { id: "base/A/c1".to_owned(), reason: "the server did not start".to_owned() }];
    let page = stored.html_with(Some("<p>up</p>"), &["<p>better</p>".to_owned()]);
    for anchor in ["validity", "comparison", "trend"] {
        assert!(has_section(&page, anchor), "{anchor}");
    }
    assert!(page.contains("the server did not start") && page.contains("<p>up</p>") && page.contains("<p>better</p>"));
}

#[test]
fn everything_is_there_without_a_script() {
    let stored = Stored::sweep(&["seqs-1", "seqs-8"], &[1, 4], 50);
    let page = stored.html();
    for anchor in ["summary", "validity", "runs", "charts", "requests", "plan", "environment"] {
        assert!(has_section(&page, anchor), "{anchor}");
    }
    let rows = between(&page, "<table id=\"runs-table\">", "</table>")[0].matches("<tr>").count();
    assert_eq!(rows, 1 + stored.results.runs.len());
    // what only a script can do is not offered
    assert!(page.contains("<p class=\"filter\" hidden>") && !page.contains("<button"));
    assert!(page.contains("<a class=\"skip\" href=\"#main\">"));
    for run in &stored.results.runs {
        let slowest =
            stored.records[&run.id].iter().filter(|r| r.error.is_none()).max_by_key(|r| r.latency_us).unwrap();
        let list = between(&page, &format!("Slowest requests of {}</h3>", run.id.replace('/', "&#x2f;")), "</ol>")[0];
        let first = between(list, "<code>", "</code>")[0];
        assert_eq!(first, slowest.request_id);
        assert!(
            page.contains(&format!("Requests of {} without success", run.id.replace('/', "&#x2f;")))
                == (run.failed > 0)
        );
    }
    // a link from each row into its run, and one to its slowest request
    let targets = between(&page, "href=\"#run-", "\"");
    assert!(targets.contains(&"1") && targets.contains(&"4-slowest"), "{targets:?}");
    for target in targets {
        assert!(page.contains(&format!("id=\"run-{target}\"")), "{target}");
    }
}

#[test]
fn failures_are_listed_with_their_words_and_the_rest_is_counted() {
    let page = Stored::sweep(&["a"], &[4], 5000).html();
    assert!(page.contains("no memory left on the device"));
    // 50 failed, 20 are shown
    assert!(page.contains("30 requests more without success"), "{:?}", between(&page, "class=\"note\">", "</p>"));
}

#[test]
fn a_simulation_is_told_in_the_title_a_banner_and_every_chart() {
    let mut stored = Stored::sweep(&["a", "b"], &[1, 4], 30);
    assert!(!stored.html().contains("class=\"banner\""));
    stored.results.simulated = true;
    stored.results.speed = 20.0;
    let page = stored.html();
    assert!(page.contains("(simulated)</title>"));
    assert!(page.contains("role=\"note\"><strong>simulated (20× speed), not a measurement</strong>"));
    let charts = page.matches("class=\"ob-chart\"").count();
    assert!(charts >= 12 && page.matches("<g class=\"warn strong\">").count() == charts, "{charts}");
}

#[test]
fn hostile_names_stay_text() {
    const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\"'&<!--";
    let mut stored = Stored::sweep(&["a", "b"], &[1, 2], 50);
    stored.plan.title = HOSTILE.to_owned();
    stored.plan.description = Some(HOSTILE.to_owned());
    stored.plan.model = HOSTILE.to_owned();
    stored.plan.tags = vec![HOSTILE.to_owned()];
    stored.plan.environment.insert(HOSTILE.to_owned(), HOSTILE.into());
    for variant in &mut stored.plan.variants {
        variant.label = HOSTILE.to_owned();
        variant.serve_args.insert(HOSTILE.to_owned(), HOSTILE.into());
        variant.environment.insert(HOSTILE.to_owned(), HOSTILE.into());
    }
    for run in &mut stored.results.runs {
        run.warnings.push(omni_bench::summarize::Warning {
            kind: omni_bench::catalog::WarningKind::Late,
            text: HOSTILE.to_owned(),
        });
        for error in &mut run.errors {
            error.message = HOSTILE.to_owned();
        }
    }
    for record in stored.records.values_mut().flatten() {
        record.class = HOSTILE.to_owned();
        record.request_id = HOSTILE.to_owned();
        record.server_request_id = Some(HOSTILE.to_owned());
        if let Some(error) = &mut record.error {
            error.message = HOSTILE.to_owned();
        }
    }
    let page = stored.html();
    assert!(!page.contains("<img") && !page.contains("<!--") && page.contains("&lt;img"));
    assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (1, 1));
}

#[test]
fn a_report_of_two_hundred_runs_stays_of_a_size_that_opens() {
    let names: Vec<String> = (0..40).map(|number| format!("variant-{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let page = Stored::sweep(&names, &[1, 2, 4, 8, 16], 60).html();
    assert!(page.len() < 12_000_000, "{} bytes", page.len());
    assert_eq!(page.matches("<style>").count(), 2, "the charts' style sheet is there once");
}
