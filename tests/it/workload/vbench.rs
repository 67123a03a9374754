//! VBench: prompt lists by path and by address, and pictures with captions from a folder.

use omni_bench::workload::Reference;
use serde_json::{Value, json};

use super::{Files, Tool, head, loaded, picture, problems, requests};
use crate::support::fake::{Answer, Fake};

const LIST: &str = "\u{feff}a person swimming\r\n\n  # 1 in the race \n";
const INFO: &str = r#"[
 {"file_name": "a dog.jpg", "type": "single-animal", "caption": "a dog runs"},
 {"file_name": "b.png", "type": "scenery", "caption": "waves"}
]"#;

fn prompts(text: &str, count: u64) -> Vec<String> {
    requests(text, count).into_iter().map(|request| request.prompt).collect()
}

#[test]
fn a_list_of_lines_is_read_and_cycled() {
    let files = Files::new(&[("list.txt", LIST.as_bytes())]);
    let text = head("t2v") + &files.dataset("vbench", "list.txt", "defaults = { num_frames = 33, fps = 16 }");
    let told = prompts(&text, 3);
    assert_eq!(told, ["a person swimming", "# 1 in the race", "a person swimming"], "a prompt may begin with #");
    let odd = Files::new(&[("list.txt", b"[wide shot] a bay\n<b> in chalk\n")]);
    let told = prompts(&(head("t2v") + &odd.dataset("vbench", "list.txt", "")), 2);
    assert_eq!(told, ["[wide shot] a bay", "<b> in chalk"], "neither JSON nor a web page");
    assert_eq!(requests(&text, 1)[0].shape.num_frames, Some(33));
}

#[test]
fn the_json_of_the_dimensions_is_told_by_its_content() {
    let full = r#"[{"prompt_en": "a cat", "dimension": ["color"], "auxiliary_info": {}}, {"dimension": []}, {"prompt_en": "a dog"}]"#;
    let files = Files::new(&[("list.data", full.as_bytes())]);
    let text = head("t2v") + &files.dataset("vbench", "list.data", "");
    assert_eq!(prompts(&text, 2), ["a cat", "a dog"]);
    let data = loaded(&text);
    assert_eq!(data.dataset("d").unwrap().facts.bad_rows, 1);
    let notes: Vec<&str> = data.notes().collect();
    assert_eq!(notes[1], "  list.data[1]: neither `prompt_en` nor `caption` is there");
}

#[test]
fn pictures_and_captions_come_from_the_list_of_a_folder() {
    for info in ["data/i2v-bench-info.json", "i2v-bench-info.json"] {
        let origin = info.replace("i2v-bench-info.json", "origin");
        let (dog, waves) = (format!("{origin}/a dog.jpg"), format!("{origin}/b.png"));
        let files = Files::new(&[(info, INFO.as_bytes()), (&dog, &picture(1)), (&waves, &picture(2))]);
        for path in ["", info] {
            let made = requests(&(head("i2v") + &files.dataset("vbench", path, "")), 3);
            let told: Vec<&str> = made.iter().map(|request| request.prompt.as_str()).collect();
            assert_eq!(told, ["a dog runs", "waves", "a dog runs"], "{info} {path}");
            let Reference::Bytes { bytes, .. } = &made[0].images[0] else { panic!("{:?}", made[0].images) };
            assert_eq!(bytes.as_ref(), picture(1));
        }
    }
}

#[test]
fn a_folder_of_pictures_gives_their_names_as_prompts() {
    let files = Files::new(&[
        ("a red kite.PNG", &picture(1)),
        ("notes.txt", b"no picture"),
        ("data/origin/boat.webp", &picture(3)),
        ("an old mill.jpeg", &picture(2)),
    ]);
    let text = head("ti2v") + &files.dataset("vbench", "", "");
    assert_eq!(prompts(&text, 3), ["a red kite", "an old mill", "boat"]);
    assert!(requests(&text, 3).iter().all(|request| request.images.len() == 1));
    let facts = loaded(&text).dataset("d").unwrap().facts.clone();
    let expected = sha256(&[picture(1), picture(2), picture(3)].concat());
    assert_eq!((facts.rows, facts.sha256), (Some(3), Some(expected)), "the pictures are the data");
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest as _, Sha256};
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

#[test]
fn missing_pictures_are_counted_and_nothing_takes_their_place() {
    let files =
        Files::new(&[("i2v-bench-info.json", INFO.as_bytes()), ("origin/b.png", &picture(1)), ("x/y.txt", b"")]);
    let data = loaded(&(head("i2v") + &files.dataset("vbench", "", "")));
    assert_eq!(data.dataset("d").unwrap().facts.bad_rows, 1);
    assert!(data.notes().any(|note| note.starts_with("  i2v-bench-info.json[0]: ") && note.contains("a dog.jpg")));
    let told = problems(&(head("i2v") + &files.dataset("vbench", "x", ""))).remove(0);
    assert!(told.contains("holds neither `i2v-bench-info.json` nor .jpg, .jpeg, .png, .webp"), "{told}");
    let told = problems(&(head("i2v") + "[datasets.d]\nsource = 'vbench'\n"));
    assert_eq!(told, ["datasets.d.source: the pictures of VBench are not downloaded: give the `path` of their folder"]);
    let escape = r#"[{"file_name": "../../secret.png", "caption": "x"}]"#;
    let files = Files::new(&[("i2v-bench-info.json", escape.as_bytes())]);
    let told = problems(&(head("i2v") + &files.dataset("vbench", "", ""))).remove(0);
    assert!(told.contains("`../../secret.png` is not the name of a file"), "{told}");
}

#[test]
fn a_task_without_pictures_takes_captions_but_no_bare_folder() {
    let files = Files::new(&[("i2v-bench-info.json", INFO.as_bytes()), ("pictures/a.png", b"a")]);
    let text = head("t2v") + &files.dataset("vbench", "", "");
    assert_eq!(prompts(&text, 2), ["a dog runs", "waves"]);
    let told = problems(&(head("t2v") + &files.dataset("vbench", "pictures", ""))).remove(0);
    assert!(told.contains("is a folder, and the task takes no pictures"), "{told}");
}

/// A server with a prompt list, and a scenario that names it.
async fn list_server() -> (Fake, String) {
    let server = Fake::start(|seen| match seen.path.as_str() {
        "/prompts/list.txt" => Answer::bytes(200, "text/plain; charset=utf-8", LIST.as_bytes()),
        "/moved.txt" => Answer::bytes(302, "text/plain", "").header("location", "/prompts/list.txt"),
        "/page.txt" => Answer::bytes(200, "text/html", "<html>sign in</html>"),
        "/plain-page.txt" => Answer::bytes(200, "text/plain", "<!doctype html><html>sign in</html>"),
        "/empty.txt" => Answer::bytes(200, "text/plain", ""),
        _ => Answer::json(404, "{}"),
    })
    .await;
    let url = server.url.clone();
    (server, url)
}

fn by_url(url: &str, more: &str) -> String {
    format!("{}[datasets.d]\nsource = 'vbench'\nurl = '{url}'\n{more}\n[traffic]\nrequests = 2\n", head("t2v"))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allowed_list_is_fetched_once_and_then_read_from_the_cache() {
    let (server, base) = list_server().await;
    let tool = Tool::new(&by_url(&format!("{base}/prompts/list.txt"), "allow_download = true"));
    let said = tool.run(&["plan", "s.toml", "--format", "json"], "").await;
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.err.contains(&format!("dataset `d`: downloading {base}/prompts/list.txt")), "{}", said.err);
    let plan: Value = serde_json::from_str(&said.out).unwrap();
    let dataset = &plan["datasets"][0];
    assert_eq!(dataset["files"], json!([format!("{base}/prompts/list.txt")]), "no path of this machine");
    assert_eq!((&dataset["rows"], &dataset["sha256"]), (&json!(2), &json!(sha256(LIST.as_bytes()))));
    assert_eq!(tool.cached().len(), 1, "{:?}", tool.cached());

    let again = tool.run(&["run", "s.toml", "--simulate", "--speed", "2000"], "").await;
    assert_eq!(again.code, Some(0), "{}", again.err);
    assert!(!again.err.contains("downloading"), "{}", again.err);
    assert_eq!(server.seen().len(), 1, "the second time nothing is asked");
    let explained = tool.run(&["explain", "s.toml"], "").await;
    assert!(explained.out.contains(&sha256(LIST.as_bytes())), "{}", explained.out);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_consent_nothing_is_fetched_and_the_error_says_how_to_allow_it() {
    let (server, base) = list_server().await;
    let url = format!("{base}/prompts/list.txt");
    let tool = Tool::new(&by_url(&url, ""));
    let said = tool.run(&["plan", "s.toml"], "").await;
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    assert!(said.err.contains(&format!("dataset `d` would be downloaded from `{url}`")), "{}", said.err);
    assert!(said.err.contains("write `allow_download = true` under `datasets.d`"), "{}", said.err);
    assert_eq!((server.seen().len(), tool.cached().len()), (0, 0));

    let default = Tool::new(&format!("{}[datasets.d]\nsource = 'vbench'\n", head("t2v")));
    let said = default.run(&["validate", "s.toml"], "").await;
    assert_eq!(said.code, Some(2));
    let list = "https://raw.githubusercontent.com/Vchitect/VBench/master/prompts/prompts_per_dimension/subject_consistency.txt";
    assert!(said.err.contains(list), "{}", said.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_download_is_an_error_with_its_reason_and_leaves_nothing() {
    let (_server, base) = list_server().await;
    for (path, reason) in [
        ("absent.txt", "the server answered 404 Not Found"),
        ("page.txt", "the server answered with a web page, not with data"),
        ("empty.txt", "the file is empty"),
    ] {
        let url = format!("{base}/{path}");
        let tool = Tool::new(&by_url(&url, "allow_download = true"));
        let said = tool.run(&["plan", "s.toml"], "").await;
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{}", said.err);
        assert!(said.err.contains(&url) && said.err.contains(reason), "{}", said.err);
        assert_eq!(tool.cached(), Vec::<String>::new());
    }
    let tool = Tool::new(&by_url(&format!("{base}/plain-page.txt"), "allow_download = true"));
    let said = tool.run(&["plan", "s.toml"], "").await;
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("is a web page, not a list of prompts"), "{}", said.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_followed_for_downloads() {
    let (server, base) = list_server().await;
    let tool = Tool::new(&by_url(&format!("{base}/moved.txt"), "allow_download = true"));
    let said = tool.run(&["validate", "s.toml"], "").await;
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checksum_is_checked_before_and_after_the_cache() {
    let (server, base) = list_server().await;
    let url = format!("{base}/prompts/list.txt");
    let right = sha256(LIST.as_bytes());
    let with = |sum: &str| by_url(&url, &format!("allow_download = true\nsha256 = '{sum}'"));
    let tool = Tool::new(&with(&"0".repeat(64)));
    let said = tool.run(&["plan", "s.toml"], "").await;
    assert_eq!(said.code, Some(2));
    for part in [&url, &right, &"0".repeat(64)] {
        assert!(said.err.contains(part.as_str()), "{part}: {}", said.err);
    }
    assert_eq!(tool.cached(), Vec::<String>::new(), "what is not the right file is not kept");

    fs_err::write(tool.path().join("s.toml"), with(&right.to_uppercase())).unwrap();
    assert_eq!(tool.run(&["plan", "s.toml"], "").await.code, Some(0));
    assert_eq!(server.seen().len(), 2);
    let cached = tool.path().join("cache/datasets").join(&tool.cached()[0]);
    fs_err::write(&cached, "tampered").unwrap();
    let said = tool.run(&["plan", "s.toml"], "").await;
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.err.contains("has another checksum and is fetched again"), "{}", said.err);
    assert_eq!((server.seen().len(), fs_err::read(&cached).unwrap()), (3, LIST.as_bytes().to_vec()));
    fs_err::write(tool.path().join("s.toml"), with("abc")).unwrap();
    let said = tool.run(&["plan", "s.toml"], "").await;
    assert!(said.err.contains("a SHA-256 has 64 hexadecimal digits, this has 3"), "{}", said.err);
    assert_eq!(server.seen().len(), 3);
}
