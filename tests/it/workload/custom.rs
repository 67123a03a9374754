//! Custom datasets: JSON lines and CSV, gaps, overrides, references, and rows that are refused.

use omni_bench::workload::Reference;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Files, Tool, head, loaded, picture, problems, requests};
use crate::support::fake::{Answer, Fake};

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAAAAACRn/EaAAAADklEQVR42mOoBwIGOAEALLUF9RKX40QAAAAASUVORK5CYII=";

const MIXED: &str = r#"{"prompt":"a","width":1024,"height":1024}
{"prompt":"b"}
{"prompt":"c","width":512,"height":768,"num_inference_steps":8,"seed":0}
"#;
const DEFAULTS: &str = "defaults = { width = 1024, height = 1024, num_inference_steps = 20 }";

/// Runs a custom dataset against a server that keeps the bodies; they come back as JSON, in order.
async fn bodies(rows: &str, dataset: &str, count: u64) -> (Vec<Value>, String) {
    let server = Fake::start(|seen| match seen.path.as_str() {
        "/health" => Answer::json(200, "{}"),
        "/v1/models" => Answer::json(200, r#"{"object":"list","data":[{"id":"m","object":"model"}]}"#),
        _ => Answer::json(200, json!({ "created": 1, "data": [{ "b64_json": PNG }] }).to_string()),
    })
    .await;
    let head = head("t2i").replace("http://localhost:8091", &server.url);
    let text = format!(
        "{head}[datasets.d]\nsource = 'custom'\npath = 'rows.jsonl'\n{dataset}\n[traffic]\nrequests = {count}\n[warmup]\nrequests = 0\n"
    );
    let tool = Tool::new(&text);
    fs_err::write(tool.path().join("rows.jsonl"), rows).unwrap();
    let said = tool.run(&["run", "s.toml"], "").await;
    assert_eq!(said.code, Some(0), "{}", said.err);
    let posted = server.calls("POST", "/v1/images/generations");
    let bodies = posted.iter().map(|seen| serde_json::from_slice(&seen.body).unwrap()).collect();
    (bodies, said.err)
}

#[tokio::test(flavor = "multi_thread")]
async fn mixed_rows_arrive_without_nan_floats_or_invented_seeds() {
    let (bodies, _) = bodies(MIXED, DEFAULTS, 3).await;
    let told: Vec<(&Value, &Value, Option<&Value>)> =
        bodies.iter().map(|body| (&body["size"], &body["num_inference_steps"], body.get("seed"))).collect();
    assert_eq!(
        told,
        [
            (&json!("1024x1024"), &json!(20), None),
            (&json!("1024x1024"), &json!(20), None),
            (&json!("512x768"), &json!(8), Some(&json!(0))),
        ]
    );
    for body in &bodies {
        let text = body.to_string();
        assert!(!text.contains("NaN") && !text.contains(".0") && !text.contains("null"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_cycled_and_their_other_keys_are_sent_as_they_are() {
    let rows = "{\"prompt\":\"\",\"guidance_scale\":0,\"generator_device\":\"\",\"vae_use_slicing\":false,\"layers\":null}\n{\"prompt\":\"b\",\"lora\":{\"name\":\"x\",\"scale\":0}}\n";
    let (bodies, _) = bodies(rows, "", 3).await;
    let prompts: Vec<&Value> = bodies.iter().map(|body| &body["prompt"]).collect();
    assert_eq!(prompts, ["", "b", ""]);
    assert_eq!(
        (&bodies[0]["guidance_scale"], &bodies[0]["generator_device"], &bodies[0]["vae_use_slicing"]),
        (&json!(0), &json!(""), &json!(false)),
        "0, an empty text and false are values"
    );
    assert_eq!(bodies[0].get("layers"), None, "null is a gap");
    assert_eq!(bodies[1]["lora"], json!({ "name": "x", "scale": 0 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn overrides_replace_what_rows_say_and_the_note_says_how_often() {
    let (bodies, err) = bodies(MIXED, "override = { num_inference_steps = 8, width = 512, height = 768 }", 3).await;
    assert!(bodies.iter().all(|body| body["size"] == "512x768" && body["num_inference_steps"] == 8), "{bodies:?}");
    assert!(err.contains("dataset `d`: `override` changed 2 of 3 rows"), "{err}");
}

#[test]
fn csv_cells_are_gaps_when_empty_and_values_when_zero() {
    let files = Files::new(&[(
        "rows.csv",
        b"prompt,width,height,seed,guidance_scale,layers\n\"a, \"\"b\"\"\",512,512,0,0,\n12,,,,4.5,3\n",
    )]);
    let text = head("t2i") + &files.dataset("custom", "rows.csv", DEFAULTS);
    let requests = requests(&text, 2);
    assert_eq!((requests[0].prompt.as_str(), requests[1].prompt.as_str()), ("a, \"b\"", "12"));
    assert_eq!((requests[0].seed, requests[1].seed), (Some(0), None));
    assert_eq!((requests[0].shape.width, requests[1].shape.width), (Some(512), Some(1024)));
    assert_eq!(requests[0].fields.get("guidance_scale"), Some(&json!(0)));
    assert_eq!(requests[0].fields.get("layers"), None);
    assert_eq!(requests[1].fields.get("layers"), Some(&json!(3)));
}

#[test]
fn every_bad_row_is_an_error_with_its_file_and_line() {
    let rows = "# rows\n{\"prompt\":\"a\"}\n{\"width\":64,\"height\":64}\n{\"prompt\":\"c\",\"width\":64}\n[1]\n{\"prompt\":\"d\",\"seed\":-1}\n{\"prompt\":\"e\",\"strength\":NaN}\n{\"prompt\":7}\n";
    let files = Files::new(&[("rows.jsonl", rows.as_bytes()), ("more.csv", b"prompt,seed\nx,nan\ny\n")]);
    let text = head("t2i") + &files.dataset("custom", "rows.jsonl", "");
    assert_eq!(
        problems(&text),
        [
            "datasets.d.path: rows.jsonl:3: the row has no `prompt`",
            "datasets.d.path: rows.jsonl:4: `width` needs `height`",
            "datasets.d.path: rows.jsonl:5: not a JSON object",
            "datasets.d.path: rows.jsonl:6: `seed` must be a whole number of at least 0, not `-1`",
            "datasets.d.path: rows.jsonl:7: not a JSON object (column 26)",
            "datasets.d.path: rows.jsonl:8: `prompt` must be text, not `7`",
        ]
    );
    let text = head("t2i") + &files.dataset("custom", "more.csv", "");
    assert_eq!(
        problems(&text),
        [
            "datasets.d.path: more.csv:2: `seed` is `nan`, which is no number; leave the cell empty",
            "datasets.d.path: more.csv:3: 1 cells where the header has 2",
        ]
    );
}

#[test]
fn many_bad_rows_are_told_in_short() {
    let files = Files::new(&[("rows.jsonl", "{}\n".repeat(25).as_bytes())]);
    let told = problems(&(head("t2i") + &files.dataset("custom", "rows.jsonl", "")));
    assert_eq!(told.len(), 11);
    assert_eq!(told[10], "datasets.d.path: and 15 more rows of dataset `d`");
}

#[test]
fn files_that_are_no_table_are_refused() {
    let files = Files::new(&[
        ("empty.jsonl", b"\n# nothing\n"),
        ("trace.txt", b"Request(prompt='a')\n"),
        ("list.json", b"[{\"prompt\":\"a\"}]"),
    ]);
    let told = |path: &str| problems(&(head("t2i") + &files.dataset("custom", path, ""))).remove(0);
    assert!(told("empty.jsonl").ends_with("empty.jsonl` has no row that can be read"), "{}", told("empty.jsonl"));
    assert!(told("trace.txt").ends_with("`trace.txt` holds `Request(…)` lines: write `source = \"trace\"`"));
    assert!(told("list.json").contains("`list.json` is neither JSON lines"), "{}", told("list.json"));
    assert!(told("none.jsonl").starts_with("datasets.d.path: there is no file"), "{}", told("none.jsonl"));
    let missing = head("t2i") + "[datasets.d]\nsource = 'custom'\n";
    assert_eq!(problems(&missing), ["datasets.d.path: dataset `d` needs the `path` of its data"]);
    let profiles = files.dataset("custom", "empty.jsonl", "profiles = [{ width = 1 }]");
    assert!(
        problems(&(head("t2i") + &profiles))
            .contains(&"datasets.d.profiles: a custom dataset has no `profiles`".into())
    );
}

#[test]
fn images_of_a_row_take_the_place_of_synthetic_ones() {
    let rows = "{\"prompt\":\"a\",\"image_path\":\"in/a.png\"}\n{\"prompt\":\"b\",\"image_paths\":[\"in/a.png\",\"https://pictures.test/b.png\"]}\n";
    let files = Files::new(&[("rows.jsonl", rows.as_bytes()), ("in/a.png", &picture(1))]);
    let text = head("i2i") + &files.dataset("custom", "rows.jsonl", "");
    let made = requests(&text, 2);
    let counts: Vec<usize> = made.iter().map(|request| request.images.len()).collect();
    assert_eq!(counts, [1, 2]);
    let Reference::Bytes { bytes, .. } = &made[0].images[0] else { panic!("{:?}", made[0].images) };
    assert_eq!(bytes.as_ref(), picture(1));
    assert!(made[0].fields.is_empty(), "the column is not a request field: {:?}", made[0].fields);
    assert_eq!(made[1].images[1], Reference::Url("https://pictures.test/b.png".into()));

    let data = loaded(&text);
    assert_eq!(data.dataset("d").unwrap().images, None, "no synthetic images are planned");
    let hash = |number| {
        let other = Files::new(&[("rows.jsonl", rows.as_bytes()), ("in/a.png", &picture(number))]);
        loaded(&(head("i2i") + &other.dataset("custom", "rows.jsonl", ""))).dataset("d").unwrap().facts.hash.clone()
    };
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1), hash(2), "other pictures are other data");
}

#[test]
fn rows_with_and_without_images_need_a_word_about_the_gap() {
    let rows = "{\"prompt\":\"a\",\"image_path\":\"a.png\"}\n{\"prompt\":\"b\"}\n";
    let files = Files::new(&[
        ("rows.jsonl", rows.as_bytes()),
        ("a.png", &picture(1)),
        ("plain.jsonl", b"{\"prompt\":\"a\"}\n"),
    ]);
    let text = |path: &str, more: &str| head("ti2i") + &files.dataset("custom", path, more);
    assert_eq!(problems(&text("rows.jsonl", "")), ["datasets.d.path: 1 of 2 rows of dataset `d` name no image"]);
    let filled = requests(&text("rows.jsonl", "images = { count = 2 }"), 2);
    assert_eq!(filled.iter().map(|request| request.images.len()).collect::<Vec<_>>(), [1, 2]);
    let notes = loaded(&text("plain.jsonl", ""));
    assert_eq!(
        notes.notes().collect::<Vec<_>>(),
        ["dataset `d`: its rows name no image, so that synthetic ones are sent"]
    );
    let other = head("t2i") + &files.dataset("custom", "rows.jsonl", "");
    assert_eq!(problems(&other), ["datasets.d.path: rows.jsonl:1: task `t2i` takes no reference images or videos"]);
}

#[test]
fn a_missing_image_is_an_error_that_names_the_row() {
    let files = Files::new(&[("rows.jsonl", b"{\"prompt\":\"a\",\"image_path\":\"none.png\"}\n")]);
    let told = problems(&(head("i2v") + &files.dataset("custom", "rows.jsonl", ""))).remove(0);
    assert!(told.starts_with("datasets.d.path: rows.jsonl:1: ") && told.contains("none.png"), "{told}");
}

#[test]
fn fewer_rows_than_requests_are_cycled_unless_the_scenario_says_otherwise() {
    let files = Files::new(&[("rows.jsonl", MIXED.as_bytes())]);
    let rows = |more: &str| {
        let requests = requests(&(head("t2i") + &files.dataset("custom", "rows.jsonl", more)), 7);
        requests.iter().map(|request| request.row).collect::<Vec<_>>()
    };
    assert_eq!(rows(""), [0, 1, 2, 0, 1, 2, 0]);
    assert_eq!(rows("on_short = 'truncate'"), [0, 1, 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_shows_the_checksum_and_the_rows_and_a_short_dataset_its_limit() {
    let text = |more: &str| {
        format!(
            "{}[datasets.d]\nsource = 'custom'\npath = 'rows.jsonl'\n{more}\n[traffic]\nrequests = 7\n",
            head("t2i")
        )
    };
    let tool = Tool::new(&text(""));
    fs_err::write(tool.path().join("rows.jsonl"), MIXED).unwrap();
    let said = tool.run(&["plan", "s.toml", "--format", "json"], "").await;
    let plan: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(plan["runs"][0]["requests"], 7);
    let dataset = &plan["datasets"][0];
    assert_eq!((&dataset["name"], &dataset["rows"], &dataset["bad_rows"]), (&json!("d"), &json!(3), &json!(0)));
    let checksum = dataset["sha256"].as_str().unwrap().to_owned();
    assert_eq!(checksum.len(), 64);
    let said = tool.run(&["plan", "s.toml"], "").await;
    assert!(said.out.contains(&format!("dataset d: 3 rows, SHA-256 {checksum}")), "{}", said.out);
    let said = tool.run(&["explain", "s.toml"], "").await;
    let line = said.out.lines().find(|line| line.starts_with("datasets.d.sha256")).unwrap();
    assert!(line.contains(&checksum) && line.ends_with("data"), "{line}");

    let pinned = format!("on_short = 'error'\nsha256 = '{checksum}'");
    fs_err::write(tool.path().join("s.toml"), text(&pinned)).unwrap();
    let said = tool.run(&["plan", "s.toml"], "").await;
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("dataset `d` has 3 rows, and 7 requests are asked for"), "{}", said.err);
    fs_err::write(tool.path().join("s.toml"), text(&pinned.replace("'error'", "'truncate'"))).unwrap();
    let said = tool.run(&["plan", "s.toml"], "").await;
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.err.contains("dataset `d` has 3 rows; no run of it has more requests"), "{}", said.err);
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(0)),
        Just(json!(false)),
        Just(json!("")),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e12_f64..1e12).prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn fields_of_a_row_survive_from_its_file_to_its_request(
        prompt in "\\PC{0,20}", seed in 0_u64..1 << 53,
        fields in prop::collection::btree_map("x_[a-z_]{1,10}", value(), 0..6),
    ) {
        let mut row: serde_json::Map<String, Value> = fields.clone().into_iter().collect();
        row.insert("prompt".into(), json!(prompt));
        row.insert("seed".into(), json!(seed));
        let line = Value::Object(row).to_string();
        let files = Files::new(&[("rows.jsonl", line.as_bytes())]);
        let request = requests(&(head("t2i") + &files.dataset("custom", "rows.jsonl", "")), 1).remove(0);
        prop_assert_eq!(request.prompt, prompt);
        prop_assert_eq!(request.seed, Some(seed));
        prop_assert_eq!(request.fields.len(), fields.len());
        for (key, value) in &fields {
            prop_assert_eq!(request.fields.get(key), Some(value));
        }
    }
}
