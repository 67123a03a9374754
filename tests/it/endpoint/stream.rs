//! Streamed edits: cases C03 to C05, and what else a stream can hold.

use omni_bench::catalog::{Api, ErrorClass, Flag, Task};
use omni_bench::endpoint::{Judge, Reply, SaveMedia, Verdict, Wire};
use omni_bench::media::{ImageFormat, write_image};
use omni_bench::workload::Request;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{PNG_1X1, PNG_4X3, message, ok_reply, request, sized, wire};

const DONE: &str = "data: [DONE]\n\n";
const SPLIT_TEXT: &str = "zürich \u{1f600}";

fn streaming() -> Wire {
    Wire { stream: true, ..wire(Api::Edits, Task::I2i) }
}

fn delta(text: &str) -> Value {
    json!({"object": "image.edit.chunk", "type": "ar_delta", "delta": text, "index": 0, "created": 1, "model": "m"})
}

fn image(pictures: &[&str]) -> Value {
    let data: Vec<Value> = pictures.iter().map(|picture| json!({"b64_json": picture})).collect();
    json!({"object": "image.edit.chunk", "type": "image", "data": data, "output_format": "png", "size": "4x3",
        "created": 1, "model": "m"})
}

fn event(document: &Value) -> String {
    format!("data: {document}\n\n")
}

fn judged_in(request: &Request, stream: &[u8], step: usize) -> Verdict {
    let mut judge = Judge::reply(&streaming(), request, &ok_reply("text/event-stream; charset=utf-8"), None);
    for chunk in stream.chunks(step) {
        judge.feed(chunk);
    }
    judge.finish()
}

fn judged(stream: &str) -> Verdict {
    judged_in(&request(Task::I2i), stream.as_bytes(), 10_000)
}

fn text(verdict: &Verdict) -> Option<&str> {
    verdict.stream.as_ref().expect("a stream").text.as_deref()
}

/// Case C03.
#[test]
fn a_stream_without_an_image_is_a_failure() {
    let verdict = judged(&(event(&delta("a")) + DONE));
    assert_eq!(message(&verdict), "stream ended without image");
    let error = verdict.error.as_ref().unwrap();
    assert_eq!((error.class, error.http_status), (ErrorClass::InvalidResponse, Some(200)));
    assert_eq!(text(&verdict), Some("a"));
    assert_eq!(message(&judged("")), "stream ended without image");
    assert_eq!(message(&judged(&event(&image(&[])))), "stream ended without image");
    let broken = judged(&(event(&image(&["aGVsbG8="])) + DONE));
    assert!(message(&broken).starts_with("data[0].b64_json holds 5 bytes that are no picture"), "{}", message(&broken));
}

#[test]
fn an_image_and_a_clean_end_are_a_success_with_or_without_the_closing_event() {
    for end in [DONE, ""] {
        let verdict = judged(&(event(&delta("think")) + &event(&image(&[PNG_4X3])) + end));
        assert_eq!((verdict.error.as_ref(), verdict.outputs.len()), (None, 1));
        assert_eq!((verdict.outputs[0].width, verdict.outputs[0].height), (Some(4), Some(3)));
        assert_eq!(text(&verdict), Some("think"));
    }
    let whole = event(&image(&[PNG_4X3]));
    for lost in 1..whole.len() - 1 {
        let verdict = judged_in(&request(Task::I2i), &whole.as_bytes()[..whole.len() - lost], 100);
        assert!(verdict.error.is_some(), "an event that lacks {lost} bytes");
    }
    let torn = event(&image(&[PNG_4X3])) + "data: {\"object\":";
    assert_eq!(message(&judged(&torn)), "the stream ended within an event");
    assert_eq!(
        judged(&(event(&image(&[PNG_4X3])) + DONE + "data: {broken")).error,
        None,
        "nothing counts behind the end"
    );
}

/// Case C04.
#[test]
fn an_error_event_inside_a_stream_is_the_requests_error() {
    let error = json!({"object": "error", "created": 1, "model": "m",
        "error": {"message": "image generation failed", "type": "server_error", "code": 500}});
    for before in [delta("partial"), image(&[PNG_4X3])] {
        let verdict = judged(&(event(&before) + &event(&error) + DONE));
        let told = verdict.error.as_ref().unwrap();
        assert_eq!(told.message, "image generation failed");
        assert_eq!((told.class, told.http_status), (ErrorClass::HttpStatus, Some(500)));
        assert!(verdict.outputs.is_empty() && verdict.pictures.is_empty());
    }
    let verdict = judged(&(event(&delta("partial")) + &event(&error)));
    assert_eq!(text(&verdict), Some("partial"));
    let silent = judged(&event(&json!({"object": "error", "error": null})));
    assert_eq!(message(&silent), "the stream holds an error without a message");
    assert_eq!(silent.error.unwrap().class, ErrorClass::InvalidResponse);
}

/// Case C05, (a) to (g).
#[test]
fn framing_does_not_change_what_a_stream_says() {
    let (first, second) = (delta(SPLIT_TEXT).to_string(), image(&[PNG_4X3]).to_string());
    let plain = format!("data: {first}\n\ndata: {second}\n\n{DONE}");
    let in_lines = |document: &str| {
        let pretty = serde_json::to_string_pretty(&serde_json::from_str::<Value>(document).unwrap()).unwrap();
        format!("data: {}\n\n", pretty.replace('\n', "\ndata: "))
    };
    let streams = [
        plain.clone(),
        plain.replace('\n', "\r\n"),
        plain.replace('\n', "\r"),
        plain.replace("data: ", "data:"),
        format!(": keep-alive\n\ndata: {first}\n: keep-alive\n\n: keep-alive\n\ndata: {second}\n\n{DONE}"),
        in_lines(&first) + &in_lines(&second) + DONE,
        in_lines(&first).replace('\n', "\r\n") + &in_lines(&second) + DONE,
    ];
    let asked = sized(Task::I2i, 4, 3);
    let wanted = Verdict { bytes: 0, ..judged_in(&asked, plain.as_bytes(), plain.len()) };
    assert_eq!((&wanted.error, wanted.outputs.len(), text(&wanted)), (&None, 1, Some(SPLIT_TEXT)));
    for stream in &streams {
        for step in [1, 2, 3, 5, 7, 100, stream.len()] {
            let verdict = Verdict { bytes: 0, ..judged_in(&asked, stream.as_bytes(), step) };
            assert_eq!(verdict, wanted, "{stream:?} by {step}");
        }
    }
}

proptest! {
    #[test]
    fn the_verdict_on_a_stream_does_not_depend_on_chunks(damage in 0usize..900, byte in any::<u8>(), step in 1usize..50) {
        let mut stream = (event(&delta(SPLIT_TEXT)) + &event(&image(&[PNG_4X3, PNG_1X1])) + DONE).into_bytes();
        let asked = request(Task::I2i);
        prop_assert_eq!(judged_in(&asked, &stream, step), judged_in(&asked, &stream, 10_000));
        if let Some(place) = stream.get_mut(damage) {
            *place = byte;
        }
        prop_assert_eq!(judged_in(&asked, &stream, step), judged_in(&asked, &stream, 10_000));
    }
}

#[test]
fn images_of_several_events_are_counted_and_saved_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let save = SaveMedia { folder: folder.path().to_owned(), stem: "req_0001".to_owned() };
    let draft = json!({"object": "image.edit.chunk", "type": "partial_image", "data": [{"b64_json": PNG_1X1}]});
    let stream = event(&draft) + &event(&image(&[PNG_4X3, PNG_1X1])) + &event(&image(&[PNG_1X1])) + DONE;
    let asked = Request { n: Some(4), ..request(Task::I2i) };
    let mut judge = Judge::reply(&streaming(), &asked, &ok_reply("text/event-stream"), Some(save));
    assert!(!judge.has_event());
    stream.as_bytes().chunks(33).for_each(|chunk| judge.feed(chunk));
    assert!(judge.has_event());
    let verdict = judge.finish();
    assert_eq!((verdict.error, verdict.outputs.len(), verdict.flags), (None, 3, vec![Flag::FewerOutputs]));
    let entries = fs_err::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["req_0001_00.png", "req_0001_01.png", "req_0001_02.png"]);
}

#[test]
fn the_making_is_told_by_any_event() {
    let mut thinking = delta("a");
    thinking["metrics"] = json!({"stage_durations": {"queue_wait_ms": 3.0}, "peak_memory_mb": 0.0});
    let mut made = image(&[PNG_4X3]);
    made["metrics"] =
        json!({"stage_durations": {"queue_wait_ms": 2.0, "stage_1_gen_ms": 12.5}, "peak_memory_mb": 100.0});
    let verdict = judged(&(event(&thinking) + &event(&made) + DONE));
    assert_eq!((verdict.generation_ms, verdict.peak_memory_mb), (Some(12.5), Some(100.0)));
    assert_eq!(verdict.stage_ms.get("queue_wait_ms"), Some(&3.0));
}

#[test]
fn an_event_that_is_no_json_is_named_by_its_number() {
    let verdict = judged(&(event(&delta("a")) + "data: {\"object\":\n\n"));
    assert_eq!(message(&verdict), "event 2: truncated json: the reply ends within the document");
    assert_eq!(message(&judged("data: [DO\n\n")), "event 1: truncated json");
    assert!(message(&judged("data: hello\n\n")).starts_with("event 1: malformed json at byte 0"));
}

#[test]
fn a_reply_that_does_not_stream_is_judged_for_what_it_is() {
    let body = json!({"data": [{"b64_json": PNG_1X1}]}).to_string();
    let judged = |reply: &Reply, body: &str| {
        let mut judge = Judge::reply(&streaming(), &request(Task::I2i), reply, None);
        judge.feed(body.as_bytes());
        judge.finish()
    };
    let whole = judged(&ok_reply("application/json"), &body);
    assert_eq!((whole.error, whole.stream), (None, None));
    let refused = judged(
        &Reply { status: 400, ..ok_reply("application/json") },
        r#"{"error":{"message":"stream=true is only supported for multi-stage pipelines"}}"#,
    );
    assert_eq!(message(&refused), "stream=true is only supported for multi-stage pipelines");
    assert_eq!(refused.error.unwrap().class, ErrorClass::HttpStatus);
    let html = judged(&ok_reply("text/html"), "<h1>no</h1>");
    assert_eq!(message(&html), "the reply is `text/html`, not a stream of events: <h1>no</h1>");
}

#[test]
fn a_large_picture_in_a_stream_passes_without_being_kept() {
    let picture = write_image(ImageFormat::Png, 1024, 1024, 1).unwrap();
    let mut padded = picture.clone();
    padded.resize(4 << 20, 0x5a);
    let stream = event(&image(&[&base64_simd::STANDARD.encode_to_string(&padded)])) + DONE;
    let mut judge = Judge::reply(&streaming(), &request(Task::I2i), &ok_reply("text/event-stream"), None);
    let mut most = 0;
    for chunk in stream.as_bytes().chunks(64 * 1024) {
        judge.feed(chunk);
        most = most.max(judge.retained());
    }
    assert!(most <= 32 * 1024, "{most} bytes were held");
    assert_eq!(judge.finish().outputs[0].bytes, 4 << 20);
}
