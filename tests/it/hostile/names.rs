//! Names and words that others choose: they stay inside the results folder, and stay words wherever they
//! are shown.

use serde_json::json;

use super::setup::{Bench, IMAGES, said};
use crate::endpoint::PNG_4X3;
use crate::support::fake::{Answer, Fake, Seen};

#[test]
fn names_of_a_scenario_are_single_plain_path_components() {
    let long = "x".repeat(101);
    let odd = ["../x", "/etc/x", "a/b", "", "a\\u0000b", "é", ".hidden", "a b", "..", "-\\u001b[31m", &long];
    for name in odd {
        let texts = [
            IMAGES.replace("name = \"small\"", &format!("name = \"{name}\"")),
            IMAGES.replace("name = \"v\"", &format!("name = \"{name}\"")),
            IMAGES.replace("[datasets.A]", &format!("[datasets.\"{name}\"]")),
        ];
        for text in texts {
            let bench = Bench::new(&text.replace("URL", "http://127.0.0.1:9"));
            let output = bench.run(&["run", "small.toml"]);
            assert_eq!(output.status.code(), Some(2), "{name}: {}", said(&output));
            assert!(!said(&output).contains('\u{1b}'), "{name}: {}", said(&output));
            assert_eq!(bench.files().len(), 1, "{name}");
        }
    }
}

/// Markup, a table's border, a formula and orders to a terminal.
const WORDS: &str = "=HYPERLINK(1) <img src=x onerror=alert(1)> | </script><script>alert(2)</script> [a](javascript:b) \
                     \u{1b}[31mred\u{1b}]0;owned\u{7} \u{9b}2J \u{202e}desrever `<b>code</b>`";

fn server(seen: &Seen) -> Answer {
    match seen.path.as_str() {
        "/health" => Answer::json(200, "{}"),
        "/v1/models" => {
            Answer::json(200, json!({ "data": [{ "id": "Qwen/Qwen-Image" }, { "id": WORDS }] }).to_string())
        }
        "/version" => Answer::json(200, json!({ "version": WORDS }).to_string()),
        _ if seen.nth.is_multiple_of(2) => Answer::json(500, json!({ "error": { "message": WORDS } }).to_string()),
        _ => {
            let item = json!({ "b64_json": PNG_4X3 });
            Answer::json(200, json!({ "data": [item], "stage_durations": { WORDS: 1.5, "vae": 2.0 } }).to_string())
        }
    }
}

/// Text outside of code spans, in which Markdown reads no markup.
fn outside_code(markdown: &str) -> String {
    let mut out = String::new();
    for line in markdown.lines() {
        out.extend(line.split('`').step_by(2));
        out.push('\n');
    }
    out
}

#[tokio::test(flavor = "multi_thread")]
async fn words_of_a_server_and_of_a_scenario_stay_words_in_every_report() {
    let server = Fake::start(server).await;
    let words = serde_json::to_string(WORDS).unwrap().replace("\u{9b}", "\\u009b");
    let scenario = IMAGES
        .replace("URL", &server.url)
        .replace("name = \"small\"", &format!("name = \"small\"\ntitle = {words}\ntags = [{words}]"))
        .replace("name = \"v\"", &format!("name = \"v\"\nlabel = {words}\nenvironment = {{ gpu = {words} }}"))
        .replace("[datasets.A]", &format!("[datasets.A]\nlabel = {words}\ndescription = {words}"))
        .replace("requests = 2", "requests = 6");
    let bench = Bench::new(&format!("{scenario}\n[dashboard]\npage = \"page.md\"\n"));
    // what the scenario's own description says is its author's Markdown, and goes into the page as it is
    tokio::task::spawn_blocking(move || assert_words_stay_words(&bench)).await.unwrap();
}

fn assert_words_stay_words(bench: &Bench) {
    let latest = "results/small/latest";
    let told = bench.run(&["-v", "-v", "run", "small.toml"]);
    assert_eq!(told.status.code(), Some(3), "{}", said(&told));
    let text = |arguments: &[&str]| {
        let output = bench.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let report = |format: &str| text(&["report", latest, "--format", format]);
    let terminal = report("terminal");
    text(&["dashboard", "small.toml"]);
    for shown in [said(&told), terminal.clone(), text(&["plan", "small.toml"])] {
        assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']), "{shown:?}");
    }
    assert!(terminal.contains("HYPERLINK"), "{terminal}");

    let page = fs_err::read_to_string(bench.path("page.md")).unwrap();
    let copy = fs_err::read_to_string(bench.latest().join("page.md")).unwrap();
    for (name, markdown) in [("results.md", report("markdown")), ("page", page), ("its copy", copy)] {
        assert!(markdown.contains("HYPERLINK"), "{name}");
        let plain = outside_code(&markdown);
        for tag in ["<img", "<script", "</script", "<b>"] {
            assert!(!plain.contains(tag), "{name}: {tag}\n{markdown}");
        }
        assert!(!markdown.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']), "{name}\n{markdown}");
    }

    let html = report("html");
    assert!(html.contains("HYPERLINK") && html.contains("&lt;img"), "the words are there");
    assert_eq!((html.matches("<script").count(), html.matches("</script").count()), (1, 1), "only its own script");
    assert!(!html.contains("<img src=x") && !html.contains("<b>code"), "no tag of others");
    assert!(!html.contains("href=\"javascript"), "no link of others");

    for table in [None, Some("results"), Some("stages"), Some("classes")] {
        let mut arguments = vec!["report", latest, "--format", "csv"];
        arguments.extend(table.into_iter().flat_map(|table| ["--table", table]));
        let csv = text(&arguments);
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(csv.as_bytes());
        for cell in reader.records().flat_map(|row| row.unwrap().iter().map(str::to_owned).collect::<Vec<_>>()) {
            assert!(!cell.starts_with(['=', '+', '@', '\t', '\r']), "{table:?}: {cell}");
            assert!(!cell.starts_with('-') || cell.parse::<f64>().is_ok(), "{table:?}: {cell}");
        }
    }
    let openmetrics = report("openmetrics");
    assert!(openmetrics.lines().all(|line| line.starts_with("# ") || line.starts_with("omni_bench")), "{openmetrics}");
}

/// Ids of a dataset's rows and of a server's jobs become file names only in their safe form.
#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_saved_under_names_of_others_stay_in_their_folder() {
    let server = Fake::start(|seen| match seen.path.as_str() {
        "/health" | "/version" => Answer::json(200, "{}"),
        "/v1/models" => Answer::json(200, json!({ "data": [{ "id": "Qwen/Qwen-Image" }] }).to_string()),
        _ => Answer::json(
            200,
            json!({ "data": [{ "b64_json": PNG_4X3, "url": "../../x.png" }], "id": "../../x" }).to_string(),
        ),
    })
    .await;
    let ids = ["../../../up", "/etc/passwd", "a\u{0}b", "..", "", "CON", "é\u{202e}", &"n".repeat(4000), "a/../../b"];
    let rows: Vec<String> = ids
        .iter()
        .map(|id| {
            json!({ "prompt": "p", "request_id": id, "width": 64, "height": 64, "num_inference_steps": 2 }).to_string()
        })
        .collect();
    let random = "source = \"random\"\nprofiles = [{ width = 64, height = 64, num_inference_steps = 2 }]\n";
    let scenario = IMAGES
        .replace("URL", &server.url)
        .replace(random, "source = \"trace\"\npath = \"rows.jsonl\"\n")
        .replace("requests = 2", &format!("requests = {}", ids.len()));
    let bench = Bench::new(&scenario);
    fs_err::write(bench.path("rows.jsonl"), rows.join("\n")).unwrap();
    let (output, bench) = tokio::task::spawn_blocking(move || {
        let output = bench.run(&["run", "small.toml", "--save-media"]);
        (output, bench)
    })
    .await
    .unwrap();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", said(&output));
    let media = fs_err::canonicalize(bench.latest().join("runs")).unwrap();
    let pictures: Vec<_> =
        bench.files().into_iter().filter(|(path, _)| path.extension().is_some_and(|e| e == "png")).collect();
    assert!(pictures.len() >= ids.len() - 2, "{pictures:?}\n{}", said(&output));
    for (path, bytes) in &pictures {
        assert!(fs_err::canonicalize(path).unwrap().starts_with(&media), "{path:?}");
        let name = path.file_name().unwrap().to_string_lossy();
        assert!(name.len() < 130 && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)), "{name}");
        assert!(bytes.starts_with(b"\x89PNG"));
    }
    let top: Vec<_> = std::fs::read_dir(bench.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        top.iter().all(|name| ["small.toml", "rows.jsonl", "results"].iter().any(|known| name == known)),
        "{top:?}"
    );
}

#[cfg(unix)]
#[test]
fn what_is_resumed_is_not_written_through_a_link_to_another_place() {
    let bench = Bench::new(&IMAGES.replace("url = \"URL\"\n", ""));
    let output = bench.run(&["run", "small.toml", "--simulate"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let (elsewhere, run) = (bench.path("elsewhere"), bench.latest().join("runs/v"));
    let run = if run.exists() { run } else { bench.latest().join("runs") };
    fs_err::rename(&run, &elsewhere).unwrap();
    for (path, _) in
        bench.files().into_iter().filter(|(path, _)| path.starts_with(&elsewhere) && path.ends_with("run.json"))
    {
        fs_err::remove_file(path).unwrap();
    }
    let before = bench.files();
    std::os::unix::fs::symlink(&elsewhere, &run).unwrap();
    let output = bench.run(&["run", "small.toml", "--simulate", "--resume", "results/small/latest"]);
    assert_eq!(output.status.code(), Some(5), "{}", said(&output));
    assert!(said(&output).contains("is a link"), "{}", said(&output));
    assert_eq!(bench.files(), before);
}

/// The simulator is for this machine, unless somebody says otherwise, and then it says so.
#[test]
fn the_simulator_says_when_other_machines_can_reach_it() {
    use std::io::{BufRead as _, BufReader, Read as _};
    for (host, told) in [(None, false), (Some("0.0.0.0"), true)] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_omni-bench"));
        command.args(["simulate", "--port", "0"]).args(host.into_iter().flat_map(|host| ["--host", host]));
        let mut child =
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        child.kill().unwrap();
        let mut talk = String::new();
        child.stderr.as_mut().unwrap().read_to_string(&mut talk).unwrap();
        child.wait().unwrap();
        assert!(line.starts_with(&format!("listening on {}:", host.unwrap_or("127.0.0.1"))), "{line}");
        assert_eq!(talk.contains("open to other machines"), told, "{talk}");
    }
}
