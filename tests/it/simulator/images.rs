//! Generations, edits and chat.

use image::ImageReader;
use serde_json::{Value, json};

use super::{Server, base64, fast, picture};
use omni_bench::simulator::Settings;

const GENERATIONS: &str = "/v1/images/generations";
const EDITS: &str = "/v1/images/edits";
const CHAT: &str = "/v1/chat/completions";

/// Decodes a picture whole: its format's name, width and height.
fn decoded(bytes: &[u8]) -> (String, u32, u32) {
    let reader = ImageReader::new(std::io::Cursor::new(bytes)).with_guessed_format().unwrap();
    let format = reader.format().unwrap().to_mime_type().trim_start_matches("image/").to_owned();
    let picture = reader.decode().unwrap();
    (format, picture.width(), picture.height())
}

fn unpacked(text: &Value) -> Vec<u8> {
    base64_simd::STANDARD.decode_to_vec(text.as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn generations_return_pictures_of_the_asked_size_number_and_format() {
    let server = Server::start(fast()).await;
    for (asked, written) in [("png", "png"), ("jpeg", "jpeg"), ("jpg", "jpeg"), ("webp", "webp"), ("tiff", "jpeg")] {
        let body = json!({"prompt": "x", "model": "Qwen/Qwen-Image", "size": "96x65", "n": 2, "seed": 7,
            "num_inference_steps": 2, "output_format": asked, "unknown": [1], "width": 8, "extra_body": {}});
        let reply = server.json(GENERATIONS, &body).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        let reply = reply.json();
        assert_eq!(reply["output_format"], written);
        assert_eq!(reply["size"], "96x65");
        assert_eq!(reply["metrics"]["stage_durations"], Value::Null);
        assert!(reply["metrics"]["peak_memory_mb"].as_f64().unwrap() > 50_000.0);
        let data = reply["data"].as_array().unwrap();
        assert_eq!(data.len(), 2);
        for item in data {
            assert_eq!(decoded(&unpacked(&item["b64_json"])), (written.to_owned(), 96, 65));
        }
        assert_ne!(data[0]["b64_json"], data[1]["b64_json"]);
    }
    server.stop().await;
}

#[tokio::test]
async fn a_seed_decides_the_picture_and_without_one_pictures_differ() {
    let server = Server::start(fast()).await;
    let made = async |seed: Value| {
        let body = json!({"prompt": "x", "size": "64x64", "num_inference_steps": 1, "seed": seed});
        server.json(GENERATIONS, &body).await.json()["data"][0]["b64_json"].clone()
    };
    assert_eq!(made(json!(5)).await, made(json!(5)).await);
    assert_ne!(made(json!(5)).await, made(json!(6)).await);
    assert_ne!(made(Value::Null).await, made(Value::Null).await);
    server.stop().await;
}

#[tokio::test]
async fn a_file_is_the_picture_itself_and_several_are_an_archive() {
    let server = Server::start(fast()).await;
    let body = |n| json!({"prompt": "x", "size": "64x32", "num_inference_steps": 1, "n": n, "response_format": "file"});
    let one = server.json(GENERATIONS, &body(1)).await;
    assert_eq!(one.headers["content-type"], "image/png");
    assert_eq!(decoded(&one.body), ("png".into(), 64, 32));
    let two = server.json(GENERATIONS, &body(2)).await;
    assert_eq!(two.headers["content-type"], "application/zip");
    assert!(two.body.starts_with(b"PK\x03\x04"));
    assert_eq!(two.body.windows(11).filter(|name| *name == b"image_1.png").count(), 2);
    server.stop().await;
}

#[tokio::test]
async fn generations_refuse_what_the_real_server_refuses() {
    let server = Server::start(fast()).await;
    let cases = [
        (json!({"size": "64x64", "prompt": null}), "body.prompt"),
        (json!({"size": "abc"}), "body.size"),
        (json!({"size": "auto"}), "body.size"),
        (json!({"size": "64X64"}), "body.size"),
        (json!({"size": "64*64"}), "body.size"),
        (json!({"size": "0x64"}), "body.size"),
        (json!({"size": "100000x100000"}), "body.size"),
        (json!({"n": 0}), "body.n"),
        (json!({"n": 11}), "body.n"),
        (json!({"n": 1.5}), "body.n"),
        (json!({"num_inference_steps": 0}), "body.num_inference_steps"),
        (json!({"num_inference_steps": 201}), "body.num_inference_steps"),
        (json!({"guidance_scale": 20.5}), "body.guidance_scale"),
        (json!({"response_format": "url"}), "body.response_format"),
        (json!({"use_system_prompt": "none"}), "body.use_system_prompt"),
        (json!({"extra_params": "x"}), "body.extra_params"),
        (json!({"layers": 1}), "body.layers"),
    ];
    for (extra, param) in cases {
        let mut body = json!({"prompt": "x"});
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let reply = server.json(GENERATIONS, &body).await;
        reply.refusal(400);
        assert_eq!(reply.json()["error"]["param"], param, "{extra}");
    }
    let other = server.json(GENERATIONS, &json!({"prompt": "x", "model": "other"})).await;
    assert!(other.refusal(400).starts_with("Model mismatch: "));
    server.form(GENERATIONS, &[("prompt", "x")], &[]).await.refusal(400);
    server.json(GENERATIONS, &json!([])).await.refusal(400);
    server.stop().await;
}

#[tokio::test]
async fn edits_take_the_size_from_the_request_or_from_the_first_picture() {
    let server = Server::start(fast()).await;
    let file = picture(80, 40);
    for (texts, size) in [
        (&[("size", "48x32")][..], "48x32"),
        (&[("size", "auto")], "80x40"),
        (&[], "80x40"),
        (&[("resolution", "640"), ("size", "auto")], "896x448"),
    ] {
        let texts: Vec<_> = texts.iter().copied().chain([("prompt", "x"), ("num_inference_steps", "1")]).collect();
        let reply = server.form(EDITS, &texts, &[("image", &file), ("image", &picture(8, 8))]).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        let reply = reply.json();
        assert_eq!((&reply["size"], &reply["metrics"]), (&size.into(), &Value::Null));
        let (format, width, height) = decoded(&unpacked(&reply["data"][0]["b64_json"]));
        assert_eq!((format.as_str(), format!("{width}x{height}").as_str()), ("png", size));
    }
    let url = format!("data:image/png;base64,{}", base64(&file));
    let reply = server.form(EDITS, &[("prompt", "x"), ("url[]", &url), ("n", "0")], &[]).await;
    assert_eq!((reply.status.as_u16(), &reply.json()["data"]), (200, &json!([])));
    server.stop().await;
}

#[tokio::test]
async fn edits_refuse_what_the_real_server_refuses() {
    let server = Server::start(fast()).await;
    let file = picture(16, 16);
    let none = server.form(EDITS, &[("prompt", "x")], &[]).await;
    assert_eq!(none.refusal(422), "Field 'image' or 'url' is required");
    let many: Vec<_> = (0..17).map(|_| ("image", file.as_slice())).collect();
    server.form(EDITS, &[("prompt", "x")], &many).await.refusal(400);
    server.form(EDITS, &[("prompt", "x")], &[("image", b"no picture")]).await.refusal(400);
    server.form(EDITS, &[("prompt", "x"), ("url", "data:image/png;base64,%%%")], &[]).await.refusal(400);
    server.form(EDITS, &[], &[("image", &file)]).await.refusal(400);
    for (name, value, status) in [
        ("stream", "true", 400),
        ("response_format", "url", 400),
        ("resolution", "512", 400),
        ("size", "64*64", 400),
        ("layers", "11", 400),
        ("lora", "[1]", 400),
        ("lora", "{", 400),
        ("model", "other", 400),
        ("num_inference_steps", "0", 500),
    ] {
        let reply = server.form(EDITS, &[("prompt", "x"), (name, value)], &[("image", &file)]).await;
        assert_eq!(reply.status, status, "{name}={value}: {}", reply.text());
    }
    let both = [("prompt", "x"), ("size", "64x64"), ("resolution", "640")];
    server.form(EDITS, &both, &[("image", &file)]).await.refusal(400);
    let long = "x".repeat(1024 * 1024 + 1);
    server.form(EDITS, &[("prompt", &long)], &[("image", &file)]).await.refusal(400);
    // neither n nor the steps are bounded
    let free = [("prompt", "x"), ("n", "11"), ("num_inference_steps", "201"), ("size", "16x16")];
    assert_eq!(server.form(EDITS, &free, &[("image", &file)]).await.json()["data"].as_array().unwrap().len(), 11);
    server.stop().await;
}

#[tokio::test]
async fn chat_returns_pictures_inside_the_message() {
    let server = Server::start(Settings { profiler: true, ..fast() }).await;
    let url = format!("data:image/png;base64,{}", base64(&picture(16, 16)));
    let content = json!([
        {"type": "text", "text": "hello"}, {"type": "image_url", "image_url": {"url": url}},
        {"type": "image_url", "image_url": {"url": "http://127.0.0.1:1/ignored.png"}},
    ]);
    let body = json!({
        "model": "any", "messages": [{"role": "user", "content": content}], "n": 3, "size": "8x8", "stream": true,
        "extra_body": {"width": 64, "height": 48, "num_outputs_per_prompt": 2, "num_inference_steps": 1, "new": 1},
    });
    let reply = server.json(CHAT, &body).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let reply = reply.json();
    assert_eq!(reply["metrics"], Value::Null);
    assert!(reply["id"].as_str().unwrap().starts_with("chatcmpl-"));
    assert!(reply["usage"]["total_tokens"].is_u64());
    assert_eq!(reply["choices"][0]["finish_reason"], "stop");
    let items = reply["choices"][0]["message"]["content"].as_array().unwrap();
    assert_eq!(items.len(), 2);
    for item in items {
        assert_eq!(item["type"], "image_url");
        let url = item["image_url"]["url"].as_str().unwrap();
        let bytes = base64_simd::STANDARD.decode_to_vec(url.strip_prefix("data:image/png;base64,").unwrap()).unwrap();
        assert_eq!(decoded(&bytes), ("png".into(), 64, 48));
        assert!(item["stage_durations"]["diffuse"].as_f64().unwrap() > 0.0);
        assert!(item["peak_memory_mb"].as_f64().unwrap() > 0.0);
    }
    server.stop().await;
}

#[tokio::test]
async fn chat_refuses_a_key_given_twice_and_fails_on_numbers_written_as_text() {
    let server = Server::start(fast()).await;
    let ask = async |extra: Value| {
        let mut body = json!({"messages": [{"role": "user", "content": "x"}], "num_inference_steps": 1, "seed": 1});
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        server.json(CHAT, &body).await
    };
    assert!(ask(json!({"extra_body": {"seed": 1}})).await.refusal(400).contains("provided more than once"));
    ask(json!({"width": "64", "height": "64"})).await.refusal(500);
    ask(json!({"messages": []})).await.refusal(400);
    ask(json!({"messages": null})).await.refusal(400);
    let broken = json!([{"type": "text", "text": "x"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]);
    ask(json!({"messages": [{"role": "user", "content": broken}]})).await.refusal(400);
    // a size that cannot be read is passed over
    let passed = ask(json!({"size": "64*64"})).await.json();
    let url = passed["choices"][0]["message"]["content"][0]["image_url"]["url"].as_str().unwrap().to_owned();
    let bytes = base64_simd::STANDARD.decode_to_vec(url.strip_prefix("data:image/png;base64,").unwrap()).unwrap();
    assert_eq!(decoded(&bytes), ("png".into(), 1024, 1024));
    // nothing to show is a sentence, and still a success
    let sentence = ask(json!({"size": "64x64", "num_frames": 5})).await.json();
    assert!(sentence["choices"][0]["message"]["content"].is_string());
    server.stop().await;
}
