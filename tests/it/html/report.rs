//! The HTML report in a browser: no complaints, sorting, filtering, the way to the slowest request, and
//! pictures of it for people to look at, in `target/test-output/html/`.

use std::path::{Path, PathBuf};

use omni_bench::record::{Record, ResultsDir, read_journal, read_json};
use omni_bench::report::{self, HtmlInput, PageFacts};
use omni_bench::summarize::Results;
use serde_json::json;

use super::browser::Browser;
use super::stored::Stored;
use crate::support::{Sandbox, repository, skipped};

/// A browser, or a word about why the test of that name does not run.
async fn browser(test: &str) -> Option<Browser> {
    match Browser::start().await {
        Ok(browser) => Some(browser),
        Err(why) => {
            skipped(test, &why);
            None
        }
    }
}

/// The report of a simulated run, in a file beside its results, and the results folder.
fn simulated(sandbox: &Sandbox) -> (PathBuf, ResultsDir) {
    let scenario = "scenarios/qwen_image_continuous_batching.toml";
    let output = sandbox.omni_bench(&["run", scenario, "--simulate", "--speed", "400", "--out", "out"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let latest = sandbox.path().join("out/qwen-image-continuous-batching/latest");
    let dir = ResultsDir::resolve(&latest).unwrap();
    let plan = dir.read_plan().unwrap();
    let results: Results = read_json(&dir.results_json()).unwrap().unwrap();
    let manifests = plan.runs.iter().filter_map(|run| dir.run(&run.id).read_manifest().unwrap()).collect();
    let facts = PageFacts { results_folder: "out/latest".to_owned(), manifests, ..PageFacts::default() };
    let input = HtmlInput {
        plan: &plan,
        results: &results,
        facts: &facts,
        records: &|id| records(&dir, id),
        telemetry: &|_| Vec::new(),
        trend: None,
        comparison: &[],
    };
    let file = sandbox.path().join("report.html");
    fs_err::write(&file, report::html(&input).unwrap()).unwrap();
    (file, dir)
}

fn records(dir: &ResultsDir, id: &str) -> Vec<Record> {
    read_journal(&dir.run(id).records()).unwrap().items
}

/// The first cell of each row that can be seen.
async fn rows(browser: &Browser) -> Vec<String> {
    browser.texts("#runs-table tbody th").await
}

#[tokio::test]
async fn the_table_sorts_and_the_filter_narrows_without_a_complaint_of_the_browser() {
    let Some(browser) = browser("the_table_sorts_and_the_filter_narrows_without_a_complaint_of_the_browser").await
    else {
        return;
    };
    let sandbox = Sandbox::with_scenarios();
    let (file, _) = simulated(&sandbox);
    browser.open(&file).await;
    let planned = rows(&browser).await;
    assert_eq!(planned.len(), 8);
    assert_eq!(browser.texts("#filter-count").await, ["8 of 8 runs"]);

    // by the throughput, up and down
    let heads = browser.texts("#runs-table thead th").await;
    let column = 1 + heads.iter().position(|head| head.starts_with("Req/s")).unwrap();
    let values = async || -> Vec<f64> {
        let texts = browser.texts(&format!("#runs-table tbody tr :nth-child({column})")).await;
        texts.iter().map(|text| text.split(' ').next().unwrap().parse().unwrap()).collect()
    };
    let button = format!("#runs-table thead th:nth-child({column}) button");
    browser.click(&button).await;
    let up = values().await;
    assert!(up.is_sorted() && up.len() == 8, "{up:?}");
    browser.click(&button).await;
    let down = values().await;
    assert!(down.is_sorted_by(|a, b| a >= b), "{down:?}");
    let sorted = "return [...document.querySelectorAll('#runs-table thead th')].map((th) => th.ariaSort)";
    let states = browser.run(sorted).await;
    let states: Vec<&str> = states.as_array().unwrap().iter().map(|state| state.as_str().unwrap()).collect();
    assert_eq!(states[column - 1], "descending");
    assert_eq!(states.iter().filter(|state| **state == "none").count(), states.len() - 1);
    // and by name with the keyboard alone
    browser.run("document.querySelector('#runs-table thead button').focus()").await;
    browser.press("\u{e007}").await;
    assert_eq!(rows(&browser).await, planned);

    browser.keys("#filter", "seqs-8 c4").await;
    assert_eq!(rows(&browser).await, ["seqs-8/A/c4"]);
    assert_eq!(browser.texts("#filter-count").await, ["1 of 8 runs"]);
    browser.keys("#filter", " nothing of that name").await;
    assert!(rows(&browser).await.is_empty());

    assert_eq!(browser.console().await, [""; 0]);
    browser.close().await;
}

#[tokio::test]
async fn two_clicks_reach_the_slowest_request_of_a_run() {
    let Some(browser) = browser("two_clicks_reach_the_slowest_request_of_a_run").await else { return };
    let sandbox = Sandbox::with_scenarios();
    let (file, dir) = simulated(&sandbox);
    let slowest = records(&dir, "seqs-8/A/c8").into_iter().max_by_key(|record| record.latency_us).unwrap();
    browser.open(&file).await;
    let shown = async || {
        let facts = browser.texts(".requests details[open]").await;
        facts.into_iter().filter(|text| text.contains(&slowest.request_id)).collect::<Vec<_>>()
    };
    assert!(shown().await.is_empty());
    let row =
        "[...document.querySelectorAll('#runs-table tbody tr')].find((tr) => tr.innerText.includes('seqs-8/A/c8'))";
    let run = browser.run(&format!("return {row}.querySelector('a').hash")).await;
    let run = run.as_str().unwrap();
    browser.click(&format!("#runs-table a[href='{run}-slowest']")).await;
    browser.click(&format!("{run}-slow-1 > summary")).await;
    let facts = shown().await;
    assert_eq!(facts.len(), 1);
    for word in ["Latency", "Generate", "Queue", "512x512, 20 steps, 1 output", "PNG 512x512"] {
        assert!(facts[0].contains(word), "{word}: {}", facts[0]);
    }
    // the link into a section that was closed again opens it anew
    browser.run(&format!("document.querySelector('{run}').open = false")).await;
    browser.click(&format!("#runs-table a[href='{run}-slowest']")).await;
    assert!(!browser.texts(&format!("{run}-slowest")).await.is_empty());
    assert_eq!(browser.console().await, [""; 0]);
    browser.close().await;
}

/// Words that take over the title when they are carried out.
const HOSTILE: &str = "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">";

#[tokio::test]
async fn hostile_words_are_shown_and_not_carried_out() {
    let Some(browser) = browser("hostile_words_are_shown_and_not_carried_out").await else { return };
    let mut stored = Stored::sweep(&["a", "b"], &[1, 2], 50);
    stored.plan.title = HOSTILE.to_owned();
    stored.plan.variants[0].label = HOSTILE.to_owned();
    stored.plan.datasets["A"].label = HOSTILE.to_owned();
    for record in stored.records.values_mut().flatten() {
        record.request_id.push_str(HOSTILE);
        if let Some(error) = &mut record.error {
            error.message = HOSTILE.to_owned();
        }
    }
    let sandbox = Sandbox::new();
    let file = sandbox.path().join("report.html");
    fs_err::write(&file, stored.html()).unwrap();
    browser.open(&file).await;
    assert_eq!(browser.texts("h1").await, [HOSTILE]);
    let seen = browser.run("return [document.images.length, document.scripts.length, document.title]").await;
    assert_eq!(seen, json!([0, 1, HOSTILE]));
    assert_eq!(browser.console().await, [""; 0]);
    browser.close().await;
}

#[tokio::test]
async fn pictures_in_light_and_dark_and_on_a_phone_are_not_blank_and_nothing_sticks_out() {
    let Some(browser) = browser("pictures_in_light_and_dark_and_on_a_phone_are_not_blank_and_nothing_sticks_out").await
    else {
        return;
    };
    let mut stored = Stored::sweep(&["seqs-1", "seqs-8", "seqs-16"], &[1, 2, 4, 8], 320);
    stored.results.simulated = true;
    stored.results.speed = 20.0;
    let sandbox = Sandbox::new();
    let file = sandbox.path().join("report.html");
    fs_err::write(&file, stored.html()).unwrap();
    browser.open(&file).await;
    browser
        .run("document.querySelector('#run-4').open = true; document.querySelector('#run-4-slow-1').open = true")
        .await;
    let light = picture(&browser, "light", "light").await;
    let dark = picture(&browser, "dark", "dark").await;
    assert!(light > 200.0 && dark < 60.0, "{light} {dark}");
    let phone = json!({"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": true});
    browser.chromium("Emulation.setDeviceMetricsOverride", phone).await;
    picture(&browser, "dark", "phone").await;
    let widths = browser.run("return [document.documentElement.scrollWidth, innerWidth]").await;
    assert_eq!(widths, json!([390, 390]));
    assert_eq!(browser.console().await, [""; 0]);
    browser.close().await;
}

/// Keeps a picture of the page in that colour scheme; its mean brightness, 0 to 255.
async fn picture(browser: &Browser, scheme: &str, name: &str) -> f64 {
    let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
    browser.chromium("Emulation.setEmulatedMedia", json!({"features": features})).await;
    let png = browser.picture(12_000).await;
    let folder = repository().join("target/test-output/html");
    keep(&folder, &format!("{name}.png"), &png);
    let grey = image::load_from_memory(&png).unwrap().into_luma8();
    let mut levels = [0_u32; 256];
    grey.pixels().for_each(|pixel| levels[usize::from(pixel.0[0])] += 1);
    let most = levels.iter().max().unwrap();
    let all = grey.width() * grey.height();
    // words, lines and points leave marks of many kinds on what is mostly background
    assert!(levels.iter().filter(|count| **count > 0).count() > 100 && *most < all / 100 * 97, "{name} is blank");
    levels.iter().zip(0_u32..).map(|(count, level)| f64::from(*count) * f64::from(level)).sum::<f64>() / f64::from(all)
}

fn keep(folder: &Path, name: &str, bytes: &[u8]) {
    fs_err::create_dir_all(folder).unwrap();
    fs_err::write(folder.join(name), bytes).unwrap();
}
