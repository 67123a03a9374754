//! `bench` and the Python client, given the same flags, send the same bodies: see
//! `tests/fixtures/python_client/NOTE.md`.

use omni_bench::media::decode_image;
use serde_json::{Map, Value, json};

use super::{Recorder, bench, code, json as read_json, talk};
use crate::support::fake::Seen;
use crate::support::{Sandbox, repository};

/// A JSON value as text, whose keys are in order.
pub(super) fn canonical(value: &Value) -> String {
    match value {
        Value::Object(table) => {
            let mut entries: Vec<(&String, &Value)> = table.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let entries = entries.iter().map(|(key, value)| format!("{key:?}:{}", canonical(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(canonical).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}

/// A body as the fixtures have it, in one spelling: parts in order, nothing that is not compared.
pub(super) fn body(seen: &Seen) -> String {
    let content_type = seen.header("content-type").unwrap();
    if content_type == "application/json" {
        return canonical(&serde_json::from_slice(&seen.body).unwrap());
    }
    let boundary = content_type.strip_prefix("multipart/form-data; boundary=").unwrap();
    form(&parts(&seen.body, boundary))
}

fn form(parts: &[Value]) -> String {
    let mut parts: Vec<String> = parts.iter().map(|part| canonical(&compared(part))).collect();
    parts.sort();
    parts.join("\n")
}

/// What of a part is compared.
fn compared(part: &Value) -> Value {
    let mut part = part.as_object().unwrap().clone();
    if part.contains_key("value") {
        part.shift_remove("content_type");
    } else {
        let name = part.shift_remove("filename").unwrap();
        assert_eq!(std::path::Path::new(name.as_str().unwrap()).extension().unwrap(), "png");
    }
    Value::Object(part)
}

fn parts(body: &[u8], boundary: &str) -> Vec<Value> {
    let text: String = body.iter().map(|byte| char::from(*byte)).collect();
    let inner = text.strip_suffix(&format!("--{boundary}--\r\n")).unwrap();
    inner.split(&format!("--{boundary}\r\n")).skip(1).map(part).collect()
}

fn part(text: &str) -> Value {
    let (head, content) = text.split_once("\r\n\r\n").unwrap();
    let content: Vec<u8> = content.strip_suffix("\r\n").unwrap().chars().map(|c| u8::try_from(c).unwrap()).collect();
    let mut part = Map::new();
    for item in head.split("\r\n").flat_map(|line| line.split("; ")) {
        if let Some((key, value)) = item.split_once("=\"") {
            part.insert(key.to_owned(), value.trim_end_matches('"').into());
        } else if let Some(kind) = item.strip_prefix("Content-Type: ") {
            part.insert("content_type".to_owned(), kind.into());
        }
    }
    if part.contains_key("filename") {
        let facts = decode_image(&content).unwrap();
        part.insert("picture".to_owned(), json!([facts.width, facts.height]));
    } else {
        part.insert("value".to_owned(), String::from_utf8(content).unwrap().into());
    }
    part.into()
}

pub(super) fn sorted(mut bodies: Vec<String>) -> Vec<String> {
    bodies.sort();
    bodies
}

/// The flags of a fixture and the bodies that the Python client sends for them.
pub(super) fn fixture(name: &str) -> (Vec<String>, String, Vec<String>) {
    let fixture = read_json(&repository().join(format!("tests/fixtures/python_client/{name}.json")));
    let flags = fixture["flags"].as_array().unwrap().iter().map(|flag| flag.as_str().unwrap().to_owned()).collect();
    let bodies = fixture["bodies"].as_array().unwrap();
    let bodies = bodies.iter().map(|body| body.as_array().map_or_else(|| canonical(body), |parts| form(parts)));
    (flags, fixture["path"].as_str().unwrap().to_owned(), sorted(bodies.collect()))
}

fn same(name: &str) {
    let (flags, path, wanted) = fixture(name);
    let (sandbox, server) = (Sandbox::new(), Recorder::start());
    let mut flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    flags.extend(["--base-url", &server.fake.url, "--warmup-requests", "0"]);
    let output = bench(&sandbox, &flags);
    assert_eq!(code(&output), 0, "{}", talk(&output));
    let asked = server.asked();
    assert!(asked.iter().all(|seen| seen.path == path), "every request goes to {path}");
    assert_eq!(sorted(asked.iter().map(body).collect()), wanted);
}

#[test]
fn text_to_image_by_generations_is_asked_as_the_python_client_asks() {
    same("t2i_generations");
}

#[test]
fn text_to_image_by_chat_is_asked_as_the_python_client_asks() {
    same("t2i_chat");
}

#[test]
fn edits_are_asked_as_the_python_client_asks() {
    same("ti2i_edits");
}

#[test]
fn videos_are_asked_as_the_python_client_asks() {
    same("t2v_videos");
}

#[test]
fn the_comparison_sees_a_changed_field_in_every_fixture() {
    for (name, from, to) in [
        ("t2i_generations", "\"num_inference_steps\":25", "\"num_inference_steps\":26"),
        ("t2i_chat", "\"guidance_scale\":4.5", "\"guidance_scale\":4"),
        ("ti2i_edits", "512,512", "512,511"),
        ("t2v_videos", "\"value\":\"120\"", "\"value\":\"121\""),
    ] {
        let (.., bodies) = fixture(name);
        let changed: Vec<String> = bodies.iter().map(|body| body.replace(from, to)).collect();
        assert_ne!(sorted(changed), bodies, "{name}");
    }
}

#[test]
fn a_warm_up_has_the_measured_shape_the_warm_up_steps_and_a_prompt_of_its_own() {
    let (flags, path, wanted) = fixture("t2v_videos");
    let (sandbox, server) = (Sandbox::new(), Recorder::start());
    let mut flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    flags.extend(["--base-url", &server.fake.url]);
    let output = bench(&sandbox, &flags);
    assert_eq!(code(&output), 0, "{}", talk(&output));
    let asked = server.fake.calls("POST", &path);
    let (warm, measured) = asked.split_first().unwrap();
    assert_eq!(sorted(measured.iter().map(body).collect()), wanted);
    let warm = body(warm);
    // the Python client repeats prompt 0 here and asks for a single frame
    let first = body(&measured[0]);
    let expected: Vec<String> = first
        .lines()
        .map(|part| match part {
            part if part.contains("\"num_inference_steps\"") => part.replace("\"value\":\"6\"", "\"value\":\"2\""),
            part => part.replace("prompt 0 for", "prompt 6 for"),
        })
        .collect();
    assert!(first.contains("\"value\":\"6\""), "{first}");
    assert_eq!(warm.lines().collect::<Vec<_>>(), expected);
}
