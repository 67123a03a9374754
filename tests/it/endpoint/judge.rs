use std::collections::BTreeSet;

use omni_bench::catalog::{Api, ErrorClass, Flag, Task};
use omni_bench::endpoint::{Judge, Reply, SaveMedia, Verdict, server_message};
use omni_bench::media::{ImageFormat, write_image};
use omni_bench::record::OutputKind;
use omni_bench::workload::Request;
use serde_json::json;

use super::{PNG_1X1, PNG_4X3, PNG_64X48, judge, message, ok_reply, request, sized, wire};

fn generations(request: &Request, body: &str) -> Verdict {
    judge(&wire(Api::Generations, Task::T2i), request, body)
}

fn chat(body: &str) -> Verdict {
    judge(&wire(Api::Chat, Task::T2i), &request(Task::T2i), body)
}

fn content(content: &serde_json::Value) -> String {
    json!({"choices": [{"message": {"role": "assistant", "content": content}}], "usage": {"total_tokens": 3}})
        .to_string()
}

fn answered(reply: &Reply, body: &[u8]) -> Verdict {
    let mut judge = Judge::reply(&wire(Api::Edits, Task::I2i), &request(Task::I2i), reply, None);
    judge.feed(body);
    judge.finish()
}

/// Case C01.
#[test]
fn of_eight_replies_with_status_200_only_the_one_with_a_picture_is_a_success() {
    let asked = Request { n: Some(2), ..request(Task::T2i) };
    let bodies = [
        r#"{"created":1,"data":[]}"#.to_owned(),
        r#"{"created":1}"#.to_owned(),
        r#"{"created":1,"data":null}"#.to_owned(),
        r#"{"data":[{"b64_json":""}]}"#.to_owned(),
        r#"{"data":[{"b64_json":null,"url":null}]}"#.to_owned(),
        r#"{"data":[{"b64_json":"!!!"}]}"#.to_owned(),
        r#"{"data":[{"b64_json":"aGVsbG8="}]}"#.to_owned(),
    ];
    let mut reasons = BTreeSet::new();
    for body in &bodies {
        let error = generations(&asked, body).error.expect(body);
        assert_eq!((error.class, error.http_status), (ErrorClass::InvalidResponse, Some(200)));
        assert!(error.message.len() < 120, "{}", error.message);
        reasons.insert(error.message);
    }
    assert_eq!(reasons.len(), 7, "{reasons:#?}");
    assert!(reasons.contains("the reply's `data` is empty"));
    assert!(reasons.contains("the reply has no `data`"));
    assert!(reasons.contains("the reply's `data` is null"));
    assert!(reasons.contains("data[0].b64_json is empty"));
    assert!(reasons.contains("data[0].b64_json is null"));
    assert!(reasons.contains("data[0].b64_json is not base64: unexpected `!`"));

    let good = generations(&asked, &json!({"data": [{"b64_json": PNG_4X3}]}).to_string());
    assert_eq!(good.error, None);
    assert_eq!(good.flags, [Flag::FewerOutputs]);
    let [output] = good.outputs.as_slice() else { panic!("one picture") };
    assert_eq!((output.kind, output.width, output.height), (OutputKind::Png, Some(4), Some(3)));
    let decoded = base64_simd::STANDARD.decode_to_vec(PNG_4X3).unwrap();
    assert_eq!(output.bytes, decoded.len() as u64);
    assert_eq!(output.blake3, blake3::hash(&decoded).to_hex().to_string());
}

/// Case C02.
#[test]
fn a_sentence_from_chat_is_not_an_image() {
    let sentence = chat(&content(&json!("generation completed but no images were produced")));
    assert_eq!(
        message(&sentence),
        "the reply holds text and no image: generation completed but no images were produced"
    );
    assert_eq!(message(&chat(&content(&json!([])))), "the message's `content` is empty");
    let image = chat(&content(&json!([
        {"type": "text", "text": "thinking"},
        {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{PNG_1X1}")},
         "stage_durations": {"stage_0_gen_ms": 12.5}, "peak_memory_mb": null},
    ])));
    assert_eq!(image.error, None);
    assert_eq!(image.outputs.len(), 1);
    assert_eq!((image.peak_memory_mb, image.generation_ms), (None, Some(12.5)));
}

#[test]
fn other_chat_replies_without_a_picture_say_what_is_missing() {
    for (body, wanted) in [
        (content(&json!(null)), "the message's `content` is null"),
        (content(&json!([{"type": "text", "text": "only words"}])), "the reply holds text and no image: only words"),
        (content(&json!(7)), "the message's `content` is neither a text nor a list"),
        (json!({"choices": []}).to_string(), "the reply's `choices` is empty"),
        (json!({"choices": [{}]}).to_string(), "the reply's first choice has no `message`"),
        (json!({"error": {"message": "engine gone"}}).to_string(), "the reply is an error: engine gone"),
        ("[1]".to_owned(), "the reply is not a json object"),
        (" \n".to_owned(), "the reply is empty"),
        (String::new(), "the reply is empty"),
        (
            content(&json!([{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}])),
            "choices[0].message.content[0].image_url.url is a link, not a data URL",
        ),
        (
            content(&json!([{"type": "image_url", "image_url": {"url": "data:image/svg+xml,<svg/>"}}])),
            "choices[0].message.content[0].image_url.url is a data URL without base64",
        ),
    ] {
        let verdict = chat(&body);
        assert_eq!(message(&verdict), wanted);
        assert_eq!(verdict.error.unwrap().class, ErrorClass::InvalidResponse);
    }
}

/// Case C09.
#[test]
fn a_link_in_place_of_a_picture_is_an_error() {
    let verdict = generations(&request(Task::T2i), r#"{"data":[{"url":"https://example.com/a.png"}]}"#);
    assert_eq!(message(&verdict), "server returned url, not b64_json");
    let with_null = r#"{"data":[{"b64_json":null,"url":"https://example.com/a.png"}]}"#;
    assert_eq!(message(&generations(&request(Task::T2i), with_null)), "server returned url, not b64_json");
}

/// Case C07.
#[test]
fn pictures_are_counted_as_they_came() {
    let asked = Request { n: Some(4), ..request(Task::T2i) };
    let counts: Vec<(usize, bool)> = [4, 4, 3, 4, 4]
        .into_iter()
        .map(|n| {
            let body = json!({"data": vec![json!({"b64_json": PNG_1X1}); n]}).to_string();
            let verdict = generations(&asked, &body);
            (verdict.outputs.len(), verdict.flags.contains(&Flag::FewerOutputs))
        })
        .collect();
    assert_eq!(counts, [(4, false), (4, false), (3, true), (4, false), (4, false)]);
}

#[test]
fn every_picture_format_is_known_by_its_bytes_and_saved_under_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let formats = [
        (ImageFormat::Png, OutputKind::Png, "x_00.png"),
        (ImageFormat::Jpeg, OutputKind::Jpeg, "x_00.jpg"),
        (ImageFormat::Webp, OutputKind::Webp, "x_00.webp"),
    ];
    for (format, kind, name) in formats {
        let picture = write_image(format, 48, 32, 7).unwrap();
        let url = format!("data:image/png;base64,{}", base64_simd::STANDARD.encode_to_string(&picture));
        let body = content(&json!([{"type": "image_url", "image_url": {"url": url}}]));
        let save = SaveMedia { folder: folder.path().to_owned(), stem: "x".to_owned() };
        let reply = ok_reply("application/json");
        let mut judge = Judge::reply(&wire(Api::Chat, Task::T2i), &sized(Task::T2i, 48, 32), &reply, Some(save));
        judge.feed(body.as_bytes());
        let verdict = judge.finish();
        assert_eq!((verdict.error, verdict.flags), (None, vec![]), "{format:?}");
        assert_eq!(verdict.outputs[0].kind, kind, "whatever the data URL claims");
        assert_eq!(fs_err::read(folder.path().join(name)).unwrap(), picture);
    }
}

#[test]
fn an_unreadable_picture_beside_a_good_one_is_not_counted() {
    let asked = Request { n: Some(2), ..request(Task::T2i) };
    let body = json!({"data": [{"b64_json": "aGVsbG8="}, {"b64_json": PNG_1X1}]}).to_string();
    let verdict = generations(&asked, &body);
    assert_eq!((verdict.error, verdict.outputs.len()), (None, 1));
    assert_eq!(verdict.flags, [Flag::FewerOutputs]);
}

#[test]
fn a_picture_of_another_size_is_flagged() {
    let body = json!({"data": [{"b64_json": PNG_64X48}], "size": "64x64"}).to_string();
    assert_eq!(generations(&sized(Task::T2i, 64, 64), &body).flags, [Flag::SizeMismatch]);
    assert_eq!(generations(&sized(Task::T2i, 64, 48), &body).flags, []);
    assert_eq!(generations(&request(Task::T2i), &body).flags, []);
}

#[test]
fn escapes_white_space_missing_padding_and_a_data_url_do_not_matter() {
    let escaped = PNG_64X48.replace('/', "\\/").replace('+', "\\u002b");
    let wrapped: String = PNG_64X48.as_bytes().chunks(20).map(|c| String::from_utf8_lossy(c) + "\\n").collect();
    let bare = PNG_64X48.trim_end_matches('=');
    let url = format!("data:image/png;base64,{PNG_64X48}");
    for text in [escaped.as_str(), &wrapped, bare, &url] {
        let verdict = generations(&request(Task::T2i), &format!("{{\"data\":[{{\"b64_json\":\"{text}\"}}]}}"));
        assert_eq!(verdict.error, None, "{text}");
        assert_eq!(verdict.outputs[0].width, Some(64));
    }
}

#[test]
fn without_a_check_any_decodable_bytes_are_an_output() {
    let mut wire = wire(Api::Generations, Task::T2i);
    wire.check_media = false;
    let body = r#"{"data":[{"b64_json":"aGVsbG8="}],"output_format":"webp"}"#;
    let verdict = judge(&wire, &request(Task::T2i), body);
    let output = &verdict.outputs[0];
    assert_eq!((output.kind, output.bytes, output.width), (OutputKind::Webp, 5, None));
    for bad in ["", "!!!"] {
        let body = format!("{{\"data\":[{{\"b64_json\":\"{bad}\"}}]}}");
        assert!(judge(&wire, &request(Task::T2i), &body).error.is_some());
    }
}

#[test]
fn broken_bodies_have_messages_of_their_own() {
    let picture = json!({"data": [{"b64_json": PNG_1X1}]}).to_string();
    let cases = [
        (picture.trim_end_matches('}').to_owned(), "truncated json: the reply ends within the document"),
        (picture.clone() + "x", "malformed json: something follows the document at byte 118"),
        ("<html>".to_owned(), "malformed json at byte 0: expected a value, found `<`"),
        (
            format!("{{\"data\":[{{\"b64_json\":\"{PNG_1X1}\",\"b64_json\":\"{PNG_1X1}\"}}]}}"),
            "`data[0].b64_json` holds more than one picture",
        ),
    ];
    for (body, wanted) in cases {
        let verdict = generations(&request(Task::T2i), &body);
        assert_eq!(message(&verdict), wanted);
        assert!(verdict.outputs.is_empty(), "a failed request has no outputs");
    }
    let mut invalid =
        Judge::reply(&wire(Api::Chat, Task::T2i), &request(Task::T2i), &ok_reply("application/json"), None);
    invalid.feed(b"{\"a\":\"\xff\"}");
    assert_eq!(message(&invalid.finish()), "malformed json: invalid utf-8 in a string");
}

#[test]
fn a_reply_of_another_type_is_named() {
    let html = answered(&ok_reply("text/html; charset=utf-8"), b"<h1>Bad\n gateway</h1>");
    assert_eq!(message(&html), "the reply is `text/html`, not json: <h1>Bad gateway</h1>");
    let events = answered(&ok_reply("text/event-stream"), b"data: [DONE]\n\n");
    assert_eq!(message(&events), "the reply is `text/event-stream`, not json: data: [DONE]");
    assert_eq!(message(&answered(&ok_reply("image/png"), &[0x89, 0xff, 0])), "the reply is `image/png`, not json");
    let body = json!({"data": [{"b64_json": PNG_1X1}]}).to_string();
    assert_eq!(answered(&ok_reply("Application/JSON; charset=utf-8"), body.as_bytes()).error, None);
    assert_eq!(answered(&Reply { status: 200, ..Reply::default() }, body.as_bytes()).error, None);
}

#[test]
fn a_short_reply_is_an_io_error() {
    let body = json!({"data": [{"b64_json": PNG_1X1}]}).to_string();
    let reply = Reply { content_length: Some(1000), ..ok_reply("application/json") };
    let error = answered(&reply, body.as_bytes()).error.unwrap();
    assert_eq!((error.class, error.message.as_str()), (ErrorClass::Io, "the reply ended after 118 of 1000 bytes"));
}

#[test]
fn a_reply_beyond_the_limit_is_cut_off() {
    let mut wire = wire(Api::Generations, Task::T2i);
    wire.max_reply = 50;
    let mut judge = Judge::reply(&wire, &request(Task::T2i), &ok_reply("application/json"), None);
    judge.feed(&[b' '; 50]);
    assert!(!judge.is_too_long());
    judge.feed(b"{");
    assert!(judge.is_too_long());
    let verdict = judge.finish();
    assert_eq!(message(&verdict), "the reply is longer than the limit of 50 bytes (`endpoint.max_reply`)");
    assert_eq!(verdict.bytes, 51);
    let refused = Reply { status: 500, content_length: Some(60), ..ok_reply("application/json") };
    let mut error = Judge::reply(&wire, &request(Task::T2i), &refused, None);
    error.feed(br#"{"error":{"message":"out of memory","type":"server_error"}}"#);
    assert_eq!(message(&error.finish()), "out of memory", "an error is read up to a bound of its own");
    let announced = Reply { content_length: Some(51), ..ok_reply("application/json") };
    assert!(Judge::reply(&wire, &request(Task::T2i), &announced, None).is_too_long());
}

#[test]
fn an_error_status_carries_the_servers_words() {
    let reply = Reply { status: 503, ..ok_reply("application/json") };
    let error = answered(&reply, br#"{"error":{"message":"No diffusion stage found","code":503}}"#).error.unwrap();
    assert_eq!((error.class, error.http_status), (ErrorClass::HttpStatus, Some(503)));
    assert_eq!(error.message, "No diffusion stage found");
}

#[test]
fn every_shape_of_error_body_is_read() {
    for (status, body, wanted) in [
        (401, r#"{"error":"Unauthorized"}"#, "Unauthorized"),
        (404, r#"{"detail":"Not Found"}"#, "Not Found"),
        (
            422,
            r#"{"detail":[{"loc":["body","size"],"msg":"bad"},{"loc":["body","n",0],"msg":"worse"}]}"#,
            "body.size: bad; body.n.0: worse",
        ),
        (400, r#"{"object":"error","message":"old style"}"#, "old style"),
        (400, r#"{"error":{"code":7}}"#, r#"{"code":7}"#),
        (400, r#"{"error":{"message":"a\nb\u0000  c"}}"#, "a b c"),
        (502, " <h1>Bad Gateway</h1>\r\n", "<h1>Bad Gateway</h1>"),
        (500, "", "the server answered 500 Internal Server Error without a message"),
        (599, "{}", "the server answered 599 without a message"),
        (400, r#"{"error":{"message":""},"detail":"second"}"#, r#"{"message":""}"#),
    ] {
        assert_eq!(server_message(status, body.as_bytes()), wanted);
    }
    let long = server_message(500, "ä".repeat(2000).as_bytes());
    assert_eq!(long.chars().count(), 500);
}

#[test]
fn saved_pictures_are_the_bytes_that_came() {
    let folder = tempfile::tempdir().unwrap();
    let save = || Some(SaveMedia { folder: folder.path().to_owned(), stem: "req_0001".to_owned() });
    let names = || {
        let entries =
            fs_err::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        entries.collect::<BTreeSet<String>>()
    };
    let wire = wire(Api::Generations, Task::T2i);
    let body = json!({"data": [{"b64_json": PNG_1X1}, {"b64_json": "aGVsbG8="}, {"b64_json": PNG_4X3}]}).to_string();

    let mut failed = Judge::reply(&wire, &request(Task::T2i), &ok_reply("application/json"), save());
    failed.feed(body.trim_end_matches('}').as_bytes());
    assert!(failed.finish().error.is_some());
    assert_eq!(names(), BTreeSet::new(), "a failed request leaves no file");

    let mut judge = Judge::reply(&wire, &request(Task::T2i), &ok_reply("application/json"), save());
    judge.feed(body.as_bytes());
    assert_eq!(judge.finish().error, None);
    assert_eq!(names(), BTreeSet::from(["req_0001_00.png".to_owned(), "req_0001_02.png".to_owned()]));
    let saved = fs_err::read(folder.path().join("req_0001_02.png")).unwrap();
    assert_eq!(saved, base64_simd::STANDARD.decode_to_vec(PNG_4X3).unwrap());

    let nowhere = SaveMedia { folder: folder.path().join("absent"), stem: "x".to_owned() };
    let mut judge = Judge::reply(&wire, &request(Task::T2i), &ok_reply("application/json"), Some(nowhere));
    judge.feed(body.as_bytes());
    let error = judge.finish().error.unwrap();
    assert_eq!(error.class, ErrorClass::Io);
    assert!(error.message.contains("absent"), "{}", error.message);
}
