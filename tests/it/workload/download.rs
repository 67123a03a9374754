//! Downloads of traces and custom datasets: what is needed, the hub's names, and what rows from
//! elsewhere may not do.

use omni_bench::workload::{DEFAULT_HUB, downloads};
use serde_json::Value;

use super::{Tool, head, scenario};
use crate::support::fake::{Answer, Fake};

const TRACE: &str = "Request(request_id='t-1', prompt='a', width=64, height=64, num_inference_steps=2)\n";

async fn hub() -> Fake {
    Fake::start(|seen| match seen.path.as_str() {
        "/datasets/asukaqaqzz/Dit_Trace/resolve/main/sd3_trace.txt" => {
            Answer::bytes(302, "text/plain", "").header("location", "/storage/1")
        }
        "/storage/1" | "/datasets/org/repo/resolve/v1/sets/t.txt" => Answer::bytes(200, "text/plain", TRACE),
        "/rows.csv?v=2" => Answer::bytes(200, "text/csv", "prompt,width,height\nx,64,64\n"),
        "/local.jsonl" => Answer::bytes(
            200,
            "application/octet-stream",
            "{\"prompt\":\"a\",\"image_path\":\"/etc/hostname\"}\n{\"prompt\":\"b\",\"image_path\":\"b.png\"}\n",
        ),
        "/loop" => Answer::bytes(302, "text/plain", "").header("location", "/loop"),
        "/huge.txt" => Answer::bytes(200, "text/plain", TRACE).header("content-length", "1073741825").unannounced(),
        "/torn.txt" => Answer::bytes(200, "text/plain", TRACE).torn(10),
        _ => Answer::json(404, "{}"),
    })
    .await
}

fn dataset(task: &str, lines: &str) -> String {
    format!("{}[datasets.d]\n{lines}\n[traffic]\nrequests = 1\n", head(task))
}

#[test]
fn what_a_scenario_needs_is_told_with_key_address_and_checksum() {
    let sum = "0".repeat(64);
    let text = format!(
        "{}[datasets.a]\nsource = 'vbench'\n[datasets.b]\nsource = 'trace'\nurl = 'hf:org/repo/t.txt'\nallow_download = true\nsha256 = '{sum}'\n[datasets.c]\nsource = 'trace'\npath = 'x/asukaqaqzz/Dit_Trace'\n[datasets.e]\nsource = 'custom'\nurl = 'ftp://x.test/a'\n[datasets.f]\nsource = 'custom'\npath = 'rows.csv'\n[datasets.g]\n",
        head("t2v")
    );
    let told: Vec<(String, String, bool, Option<String>)> = downloads(&scenario(&text))
        .into_iter()
        .map(|need| (need.at.to_string(), need.remote.address(DEFAULT_HUB), need.allowed, need.sha256))
        .collect();
    let hub = "https://huggingface.co/datasets";
    assert_eq!(
        told,
        [
            (
                "datasets.a.source".into(),
                "https://raw.githubusercontent.com/Vchitect/VBench/master/prompts/prompts_per_dimension/subject_consistency.txt".into(),
                false,
                None
            ),
            ("datasets.b.url".into(), format!("{hub}/org/repo/resolve/main/t.txt"), true, Some(sum)),
            (
                "datasets.c.path".into(),
                format!("{hub}/asukaqaqzz/Dit_Trace/resolve/main/cogvideox_trace.txt"),
                false,
                None
            ),
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_default_trace_of_the_python_client_comes_from_the_hub_by_its_name() {
    let hub = hub().await;
    for place in ["path = 'asukaqaqzz/Dit_Trace'", "url = 'hf:asukaqaqzz/Dit_Trace'"] {
        let tool = Tool::new(&dataset("t2i", &format!("source = 'trace'\nallow_download = true\n{place}")));
        let said = tool.run(&["plan", "s.toml", "--format", "json"], &hub.url).await;
        assert_eq!(said.code, Some(0), "{}", said.err);
        let address = format!("{}/datasets/asukaqaqzz/Dit_Trace/resolve/main/sd3_trace.txt", hub.url);
        assert!(said.err.contains(&format!("dataset `d`: downloading {address}")), "{}", said.err);
        let plan: Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(plan["datasets"][0]["files"][0], "hf:asukaqaqzz/Dit_Trace/sd3_trace.txt");
    }
    let tool = Tool::new(&dataset("t2i", "source = 'trace'\npath = 'asukaqaqzz/Dit_Trace'"));
    let said = tool.run(&["plan", "s.toml"], &hub.url).await;
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("would be downloaded from `hf:asukaqaqzz/Dit_Trace/sd3_trace.txt`"), "{}", said.err);
    assert_eq!(hub.seen().len(), 4, "two files, each after a redirect");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_file_of_that_name_is_read_and_nothing_is_fetched() {
    let hub = hub().await;
    let tool = Tool::new(&dataset("t2i", "source = 'trace'\nallow_download = true\npath = 'asukaqaqzz/Dit_Trace'"));
    fs_err::create_dir_all(tool.path().join("asukaqaqzz/Dit_Trace")).unwrap();
    fs_err::write(tool.path().join("asukaqaqzz/Dit_Trace/own.txt"), TRACE).unwrap();
    let said = tool.run(&["plan", "s.toml"], &hub.url).await;
    assert_eq!((said.code, hub.seen().len()), (Some(0), 0), "{}", said.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn traces_and_tables_by_address_run_in_simulation() {
    let hub = hub().await;
    let csv = format!("source = 'custom'\nurl = '{}/rows.csv?v=2'", hub.url);
    for lines in ["source = 'trace'\nurl = 'hf:org/repo@v1/sets/t.txt'", &csv] {
        let tool = Tool::new(&dataset("t2i", &format!("{lines}\nallow_download = true")));
        let said = tool.run(&["run", "s.toml", "--simulate", "--speed", "2000"], &hub.url).await;
        assert_eq!(said.code, Some(0), "{}", said.err);
        let records = tool.path().join("results/test/latest/runs/default/d/c1/records.jsonl");
        let record: Value = serde_json::from_str(fs_err::read_to_string(records).unwrap().trim()).unwrap();
        assert_eq!((&record["status"], &record["asked"]["width"]), (&Value::from("ok"), &Value::from(64)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn downloaded_rows_cannot_make_this_machine_send_its_files() {
    let hub = hub().await;
    let tool = Tool::new(&dataset(
        "i2i",
        &format!("source = 'custom'\nallow_download = true\nurl = '{}/local.jsonl'", hub.url),
    ));
    let said = tool.run(&["validate", "s.toml"], "").await;
    assert_eq!(said.code, Some(2));
    for line in ["local.jsonl:1: `image_path` is `/etc/hostname`", "local.jsonl:2: `image_path` is `b.png`"] {
        assert!(said.err.contains(line) && said.err.contains("downloaded data may name URLs only"), "{}", said.err);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_downloads_are_told_and_leave_nothing() {
    let hub = hub().await;
    for (path, part) in
        [("loop", "more than 5 redirects"), ("torn.txt", "torn.txt: "), ("huge.txt", "the file has more than 1 GiB")]
    {
        let url = format!("{}/{path}", hub.url);
        let tool = Tool::new(&dataset("t2i", &format!("source = 'trace'\nallow_download = true\nurl = '{url}'")));
        let said = tool.run(&["plan", "s.toml"], "").await;
        assert_eq!(said.code, Some(2), "{}", said.err);
        assert!(said.err.contains("could not be downloaded") && said.err.contains(part), "{}", said.err);
        assert_eq!(tool.cached(), Vec::<String>::new());
    }
    let tool = Tool::new(&dataset("t2i", "source = 'trace'\nallow_download = true\nurl = 'http://127.0.0.1:1/x.txt'"));
    let said = tool.run(&["plan", "s.toml"], "").await;
    assert!(said.code == Some(2) && said.err.to_lowercase().contains("connection refused"), "{}", said.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn several_tools_at_once_share_a_cache_safely() {
    let hub = hub().await;
    let tool = Tool::new(&dataset("t2i", "source = 'trace'\nallow_download = true\nurl = 'hf:org/repo@v1/sets/t.txt'"));
    let run = || tool.run(&["validate", "s.toml"], &hub.url);
    let (a, b, c, d) = tokio::join!(run(), run(), run(), run());
    for said in [a, b, c, d] {
        assert_eq!(said.code, Some(0), "{}", said.err);
    }
    assert_eq!(tool.cached().len(), 1, "{:?}", tool.cached());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_beside_an_address_and_an_address_as_a_path_are_refused() {
    let tool = Tool::new(&dataset("t2i", "source = 'custom'\npath = 'a.csv'\nurl = 'https://x.test/a.csv'"));
    let said = tool.run(&["validate", "s.toml"], "").await;
    assert!(said.code == Some(2) && said.err.contains("`url` and `path` would both be the data"), "{}", said.err);
    let tool = Tool::new(&dataset("t2i", "source = 'custom'\npath = 'https://x.test/a.csv'"));
    let said = tool.run(&["validate", "s.toml"], "").await;
    assert!(said.code == Some(2) && said.err.contains("is no path: write it as `url`"), "{}", said.err);
}
