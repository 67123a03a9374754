use omni_bench::catalog::{Api, Task};
use omni_bench::endpoint::{JobReader, Judge, Reply, Verdict, server_message};
use proptest::prelude::*;
use serde_json::json;

use super::video::clip;
use super::{PNG_1X1, PNG_4X3, PNG_64X48, ok_reply, request, sized, wire};

fn reply_in(api: Api, body: &[u8], cuts: &[usize]) -> Verdict {
    let task = api_task(api);
    let mut judge = Judge::reply(&wire(api, task), &sized(task, 64, 48), &ok_reply("application/json"), None);
    let mut rest = body;
    for cut in cuts {
        let (chunk, tail) = rest.split_at((*cut).min(rest.len()));
        judge.feed(chunk);
        rest = tail;
    }
    judge.feed(rest);
    judge.finish()
}

fn api_task(api: Api) -> Task {
    match api {
        Api::Chat | Api::Generations => Task::T2i,
        Api::Edits => Task::I2i,
        Api::Videos => Task::T2v,
    }
}

fn bodies() -> Vec<(Api, String)> {
    let url = |png: &str| format!("data:image/png;base64,{png}");
    let content = json!([
        {"type": "text", "text": "zürich \u{1f600}"},
        {"type": "image_url", "image_url": {"url": url(PNG_64X48)}, "stage_durations": {"stage_0_gen_ms": 12.5}},
        {"type": "image_url", "image_url": {"url": url(PNG_4X3)}},
        {"type": "image_url", "image_url": {"url": "https://example.com"}},
    ]);
    let data = json!({"data": [{"b64_json": PNG_64X48}, {"b64_json": "aGVsbG8="}, {"b64_json": "!"}, {"b64_json": PNG_1X1}],
        "metrics": {"peak_memory_mb": 1000.0, "stage_durations": {"diffuse": 1.5}}});
    vec![
        (Api::Chat, json!({"choices": [{"message": {"content": content}}]}).to_string()),
        (Api::Chat, json!({"choices": [{"message": {"content": "no image, only wörds"}}]}).to_string()),
        (Api::Generations, data.to_string()),
        (Api::Generations, data.to_string().replace('/', "\\/")),
        (Api::Edits, data.to_string() + "trailing"),
        (Api::Edits, r#"{"data":[{"b64_json":"iVBOR"#.to_owned()),
    ]
}

proptest! {
    #[test]
    fn the_verdict_does_not_depend_on_chunks(cuts in prop::collection::vec(0usize..40, 0..60)) {
        for (api, body) in bodies() {
            prop_assert_eq!(reply_in(api, body.as_bytes(), &cuts), reply_in(api, body.as_bytes(), &[]));
        }
    }

    #[test]
    fn a_clip_is_judged_alike_in_any_chunks(cuts in prop::collection::vec(0usize..400, 0..30)) {
        let clip = clip();
        prop_assert_eq!(reply_in(Api::Videos, &clip, &cuts), reply_in(Api::Videos, &clip, &[]));
    }

    #[test]
    fn arbitrary_bytes_never_panic_and_never_succeed(body in prop::collection::vec(any::<u8>(), 0..400), status in 100u16..600) {
        for api in Api::ALL {
            let verdict = reply_in(api, &body, &[1, 7]);
            prop_assert!(!verdict.error.expect("a failure").message.is_empty());
        }
        let reply = Reply { status, ..ok_reply("application/json") };
        let mut job = JobReader::new(&reply);
        job.feed(&body);
        prop_assert!(job.finish().is_err());
        prop_assert!(!server_message(status, &body).is_empty());
    }

    #[test]
    fn a_damaged_reply_never_panics(place in 0usize..2000, byte in any::<u8>()) {
        for (api, body) in bodies() {
            let mut body = body.into_bytes();
            let place = place % body.len();
            body[place] = byte;
            reply_in(api, &body, &[3, 50]);
        }
    }
}

#[test]
fn every_prefix_of_a_reply_is_a_failure() {
    let (api, body) = &bodies()[2];
    for end in 0..body.len() {
        assert!(reply_in(*api, &body.as_bytes()[..end], &[]).error.is_some(), "{end}");
    }
    assert_eq!(reply_in(*api, body.as_bytes(), &[]).error, None);
}

#[test]
fn a_large_picture_passes_without_being_kept() {
    let mut picture = base64_simd::STANDARD.decode_to_vec(PNG_64X48).unwrap();
    picture.resize(8 << 20, 0x5a);
    let body = json!({"data": [{"b64_json": base64_simd::STANDARD.encode_to_string(&picture)}]}).to_string();
    let wire = wire(Api::Generations, Task::T2i);
    let mut judge = Judge::reply(&wire, &request(Task::T2i), &ok_reply("application/json"), None);
    let mut most = 0;
    for chunk in body.as_bytes().chunks(64 * 1024) {
        judge.feed(chunk);
        most = most.max(judge.retained());
    }
    assert!(most <= 32 * 1024, "{most} bytes were held");
    let verdict = judge.finish();
    assert_eq!(verdict.bytes, body.len() as u64);
    assert_eq!(verdict.outputs[0].bytes, 8 << 20);
    assert_eq!(verdict.outputs[0].blake3, blake3::hash(&picture).to_hex().to_string());
}

#[test]
fn judges_and_readers_can_move_between_threads() {
    fn is_send<T: Send + 'static>() {}
    is_send::<Judge>();
    is_send::<JobReader>();
    is_send::<Verdict>();
}
