use std::sync::Arc;

use axum::extract::FromRequest as _;
use bytes::Bytes;
use omni_bench::catalog::{Api, Spelling, Task};
use omni_bench::endpoint::{Body, Encoder, Wire, asked};
use omni_bench::workload::{Reference, Request, Shape};
use serde_json::{Value, json};

use super::{PNG_1X1, PNG_4X3, file, request, sized, wire, with_fields};

fn whole(body: &Body) -> Vec<u8> {
    let bytes = body.segments.concat();
    assert_eq!(bytes.len() as u64, body.len());
    bytes
}

fn json_text(body: &Body) -> String {
    assert_eq!(body.content_type, "application/json");
    String::from_utf8(whole(body)).unwrap()
}

/// The parts of a form as (head, content), read the way RFC 7578 says.
pub(super) fn parts(body: &Body) -> Vec<(String, Vec<u8>)> {
    let boundary = body.content_type.strip_prefix("multipart/form-data; boundary=").expect("a form");
    let bytes = whole(body);
    let text = bytes.iter().map(|byte| char::from(*byte)).collect::<String>();
    let inner = text.strip_suffix(&format!("--{boundary}--\r\n")).expect("the closing boundary");
    inner
        .split(&format!("--{boundary}\r\n"))
        .skip(1)
        .map(|part| {
            let (head, content) = part.split_once("\r\n\r\n").expect("a head");
            let content = content.strip_suffix("\r\n").expect("a line end");
            let head = head.strip_prefix("Content-Disposition: form-data; ").expect("a disposition");
            (head.to_owned(), content.chars().map(|c| u8::try_from(c).unwrap()).collect())
        })
        .collect()
}

/// The text parts as `name=value`.
pub(super) fn fields(body: &Body) -> Vec<String> {
    let text =
        |head: &str| Some(head.strip_prefix("name=\"")?.strip_suffix('"')?.to_owned()).filter(|n| !n.contains('"'));
    parts(body)
        .into_iter()
        .filter_map(|(head, content)| Some(format!("{}={}", text(&head)?, String::from_utf8(content).unwrap())))
        .collect()
}

/// Heads of the file parts.
pub(super) fn files(body: &Body) -> Vec<(String, Vec<u8>)> {
    parts(body).into_iter().filter(|(head, _)| head.contains("filename=")).collect()
}

pub(super) fn refused(api: Api, request: &Request) -> String {
    wire(api, request.task).encode(request).expect_err("refused").to_string()
}

fn full(task: Task) -> Request {
    Request {
        shape: Shape { num_inference_steps: Some(20), ..sized(task, 1024, 768).shape },
        negative_prompt: Some("blurry".to_owned()),
        n: Some(2),
        seed: Some(0),
        ..request(task)
    }
}

pub(super) fn url(text: &str) -> Reference {
    Reference::Url(Arc::from(text))
}

#[test]
fn generations_puts_every_field_at_the_root_and_the_size_in_one_text() {
    let request = with_fields(full(Task::T2i), &json!({"true_cfg_scale": 4.0, "lora": {"name": "a"}, "user": null}));
    let body = wire(Api::Generations, Task::T2i).encode(&request).unwrap();
    assert_eq!(
        json_text(&body),
        r#"{"model":"Qwen/Qwen-Image","prompt":"a cat","n":2,"size":"1024x768","response_format":"b64_json","num_inference_steps":20,"seed":0,"negative_prompt":"blurry","true_cfg_scale":4.0,"lora":{"name":"a"}}"#
    );
}

#[test]
fn what_is_not_asked_is_not_sent() {
    let body = wire(Api::Generations, Task::T2i).encode(&request(Task::T2i)).unwrap();
    assert_eq!(json_text(&body), r#"{"model":"Qwen/Qwen-Image","prompt":"a cat","response_format":"b64_json"}"#);
}

#[test]
fn chat_puts_diffusion_keys_at_the_root_once() {
    let request =
        with_fields(full(Task::T2i), &json!({"extra_body": {"seed": 9, "guidance_scale": 1.0}, "cfg_scale": 2}));
    let mut wire = wire(Api::Chat, Task::T2i);
    wire.extra_body.insert("guidance_scale".to_owned(), json!(7.5));
    wire.extra_body.insert("n".to_owned(), json!(5));
    wire.extra_body.insert("width".to_owned(), json!(5));
    let body = wire.encode(&request).unwrap();
    assert_eq!(
        json_text(&body),
        r#"{"model":"Qwen/Qwen-Image","messages":[{"role":"user","content":"a cat"}],"height":768,"width":1024,"num_outputs_per_prompt":2,"num_inference_steps":20,"seed":0,"negative_prompt":"blurry","guidance_scale":1.0,"cfg_scale":2}"#
    );
}

#[test]
fn the_python_clients_spelling_nests_the_fields_of_chat_and_splits_the_size_of_videos() {
    let python = |api, task| Wire { spelling: Spelling::PythonClient, ..wire(api, task) };
    let body = python(Api::Chat, Task::T2i).encode(&full(Task::T2i)).unwrap();
    assert_eq!(
        json_text(&body),
        r#"{"model":"Qwen/Qwen-Image","messages":[{"role":"user","content":"a cat"}],"extra_body":{"height":768,"width":1024,"num_outputs_per_prompt":2,"num_inference_steps":20,"seed":0,"negative_prompt":"blurry"}}"#
    );
    let body = python(Api::Chat, Task::T2i).encode(&request(Task::T2i)).unwrap();
    assert_eq!(json_text(&body), r#"{"model":"Qwen/Qwen-Image","messages":[{"role":"user","content":"a cat"}]}"#);
    let body = python(Api::Videos, Task::T2v).encode(&sized(Task::T2v, 854, 480)).unwrap();
    assert_eq!(fields(&body), ["prompt=a cat", "width=854", "height=480"]);
    let mut plain = request(Task::T2v);
    plain.fields.insert("size".to_owned(), json!("640x480"));
    let body = python(Api::Videos, Task::T2v).encode(&plain).unwrap();
    assert_eq!(fields(&body), ["prompt=a cat", "size=640x480"]);
}

#[test]
fn chat_sends_images_as_data_urls_after_the_text() {
    let images = vec![file("a.png", PNG_1X1), url("data:image/jpeg;base64,AAAA")];
    let request = Request { images, ..request(Task::Ti2i) };
    let body = wire(Api::Chat, Task::Ti2i).encode(&request).unwrap();
    let sent: Value = serde_json::from_str(&json_text(&body)).unwrap();
    assert_eq!(
        sent["messages"],
        json!([{"role": "user", "content": [
            {"type": "text", "text": "a cat"},
            {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{PNG_1X1}")}},
            {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,AAAA"}},
        ]}])
    );
}

#[test]
fn chat_refuses_what_the_server_would_ignore() {
    let request = Request { images: vec![url("https://example.com/a.png")], ..request(Task::I2i) };
    assert_eq!(
        refused(Api::Chat, &request),
        "chat reads data URLs only and ignores image links without notice; fetch `https://example.com/a.png` to a file first"
    );
}

#[test]
fn an_encoder_encodes_a_shared_image_once() {
    let wire = wire(Api::Chat, Task::I2i);
    let request = Request { images: vec![file("a.png", PNG_4X3)], ..request(Task::I2i) };
    let mut encoder = Encoder::new(&wire);
    let (first, second) = (encoder.encode(&request).unwrap(), encoder.encode(&request).unwrap());
    assert_eq!(first, second);
    assert_eq!(first.segments[1].as_ptr(), second.segments[1].as_ptr());
}

#[test]
fn edits_is_a_form_with_one_part_per_image() {
    let images = vec![file("a.png", PNG_1X1), file("b \"x\".png", PNG_4X3), url("https://example.com/c.png")];
    let request = Request { images, ..full(Task::Ti2i) };
    let mut wire = wire(Api::Edits, Task::Ti2i);
    wire.bot_task = Some("think".to_owned());
    wire.return_stage_metrics = true;
    let body = wire.encode(&request).unwrap();
    assert_eq!(
        fields(&body),
        [
            "model=Qwen/Qwen-Image",
            "prompt=a cat",
            "n=2",
            "size=1024x768",
            "response_format=b64_json",
            "num_inference_steps=20",
            "seed=0",
            "negative_prompt=blurry",
            "bot_task=think",
            "return_stage_metrics=true",
            "url=https://example.com/c.png",
        ]
    );
    let files = files(&body);
    let heads: Vec<&str> = files.iter().map(|(head, _)| head.as_str()).collect();
    assert_eq!(
        heads,
        [
            "name=\"image\"; filename=\"a.png\"\r\nContent-Type: image/png",
            "name=\"image\"; filename=\"b %22x%22.png\"\r\nContent-Type: image/png",
        ]
    );
    assert_eq!(files[1].1, base64_simd::STANDARD.decode_to_vec(PNG_4X3).unwrap());
    assert_eq!(body, wire.encode(&request).unwrap(), "the same request has the same bytes");
}

#[test]
fn file_parts_share_the_bytes_of_the_reference() {
    let bytes = Bytes::from(vec![7; 100_000]);
    let image = Reference::Bytes { bytes: bytes.clone(), mime: "image/png".into(), file_name: "a.png".into() };
    let body = wire(Api::Edits, Task::I2i).encode(&Request { images: vec![image], ..request(Task::I2i) }).unwrap();
    assert!(body.segments.iter().any(|segment| segment.as_ptr() == bytes.as_ptr()));
}

#[test]
fn edits_needs_an_image_and_streams_as_the_endpoint_is_set() {
    assert_eq!(refused(Api::Edits, &request(Task::I2i)), "edits needs at least one reference image");
    let request = Request { images: vec![file("a.png", PNG_1X1)], ..request(Task::I2i) };
    let request = with_fields(request, &json!({"stream": true}));
    assert_eq!(refused(Api::Edits, &request), "`stream` is no field of a request; set `endpoint.stream`");
    let streamed = Wire { stream: true, ..wire(Api::Edits, Task::I2i) };
    let sent = fields(&streamed.encode(&request).unwrap());
    assert_eq!(sent.iter().filter(|field| field.starts_with("stream=")).collect::<Vec<_>>(), ["stream=true"]);
}

#[test]
fn videos_is_a_form_with_frames_and_whole_rates_without_fraction() {
    let mut request = full(Task::T2v);
    request.n = None;
    request.shape.num_frames = Some(33);
    request.shape.fps = Some(24.0);
    let body = wire(Api::Videos, Task::T2v).encode(&request).unwrap();
    assert_eq!(
        fields(&body),
        [
            "model=Qwen/Qwen-Image",
            "prompt=a cat",
            "size=1024x768",
            "num_frames=33",
            "fps=24",
            "num_inference_steps=20",
            "seed=0",
            "negative_prompt=blurry",
        ]
    );
    assert!(files(&body).is_empty());
    request.shape.fps = Some(7.5);
    assert!(fields(&wire(Api::Videos, Task::T2v).encode(&request).unwrap()).contains(&"fps=7.5".to_owned()));
}

/// Case C32.
#[test]
fn structured_values_travel_as_json_in_a_form() {
    let mut wire = wire(Api::Videos, Task::T2v);
    let extra = json!({"extra_params": {"use_res": true, "g": [1, 2]}, "generate_sound": true, "negative_prompt": null,
        "flow_shift": 10.0, "lora": {"name": "a", "scale": 0.5}});
    wire.extra_body = serde_json::from_value(extra).unwrap();
    let sent = fields(&wire.encode(&request(Task::T2v)).unwrap());
    assert_eq!(
        sent[2..],
        [
            r#"extra_params={"use_res":true,"g":[1,2]}"#,
            "generate_sound=true",
            "flow_shift=10.0",
            r#"lora={"name":"a","scale":0.5}"#,
        ]
    );
    let text = r#"{"task":"t2va","duration":8.7}"#;
    let sent = fields(&wire.encode(&with_fields(request(Task::T2v), &json!({"extra_params": text}))).unwrap());
    assert_eq!(sent[2], format!("extra_params={text}"), "a text is sent as it is");
}

#[test]
fn a_text_part_that_servers_refuse_is_an_error() {
    let long = Request { prompt: "a".repeat(1_048_577), ..request(Task::T2v) };
    let message = "`prompt` has 1048577 bytes, and servers refuse form fields above 1048576; pass media as files";
    assert_eq!(refused(Api::Videos, &long), message);
}

#[test]
fn the_row_wins_over_the_wire_and_typed_values_over_all() {
    let mut wire = wire(Api::Edits, Task::I2i);
    wire.bot_task = Some("think".to_owned());
    wire.extra_body = serde_json::from_value(json!({
        "bot_task": "recaption", "seed": 1, "strength": 0.1, "guidance_scale": 2, "response_format": "b64_json", "size": "auto",
    }))
    .unwrap();
    let request = Request { images: vec![file("a.png", PNG_1X1)], seed: Some(3), ..request(Task::I2i) };
    let request = with_fields(request, &json!({"strength": 0.9, "guidance_scale": null}));
    let sent = fields(&wire.encode(&request).unwrap());
    assert_eq!(sent[2..], ["size=auto", "response_format=b64_json", "seed=3", "bot_task=think", "strength=0.9"]);
    let row = with_fields(request, &json!({"bot_task": "vanilla"}));
    assert!(fields(&wire.encode(&row).unwrap()).contains(&"bot_task=vanilla".to_owned()));
}

#[test]
fn a_row_wins_in_whatever_spelling() {
    let mut wire = wire(Api::Chat, Task::T2i);
    wire.extra_body = serde_json::from_value(json!({"num_outputs_per_prompt": 4, "width": 64, "height": 64})).unwrap();
    let sent = |fields: Value| {
        let body = wire.encode(&with_fields(request(Task::T2i), &fields)).unwrap();
        let sent: Value = serde_json::from_str(&json_text(&body)).unwrap();
        ["num_outputs_per_prompt", "n", "size", "width", "extra_body"].map(|name| sent[name].clone())
    };
    assert_eq!(sent(json!({})), [json!(4), json!(null), json!(null), json!(64), json!(null)]);
    assert_eq!(sent(json!({"n": 2})), [json!(2), json!(null), json!(null), json!(64), json!(null)]);
    let nested = json!({"extra_body": {"n": 2, "size": "8x8"}});
    assert_eq!(sent(nested), [json!(2), json!(null), json!("8x8"), json!(null), json!(null)]);
}

#[tokio::test]
async fn a_server_reads_back_what_a_form_holds() {
    let wire = wire(Api::Edits, Task::I2i);
    let sent = wire.encode(&Request { images: vec![file("x\"\r\ny.png", PNG_1X1)], ..request(Task::I2i) }).unwrap();
    let boundary = sent.content_type.rsplit_once('=').unwrap().1.to_owned();
    let prompt = format!("zürich\r\n--{boundary}\r\n--{boundary}--\r\n \"quoted\"");
    let images = vec![file("x\"\r\ny.png", PNG_1X1), file("b.png", PNG_4X3)];
    let body = wire.encode(&Request { images, prompt: prompt.clone(), ..request(Task::I2i) }).unwrap();
    let http = axum::http::Request::post("/").header("content-type", &body.content_type);
    let http = http.body(axum::body::Body::from(whole(&body))).unwrap();
    let mut form = axum::extract::Multipart::from_request(http, &()).await.unwrap();
    let mut read = Vec::new();
    while let Some(field) = form.next_field().await.unwrap() {
        let head = [field.name(), field.file_name(), field.content_type()].map(|part| part.unwrap_or("").to_owned());
        read.push((head, field.bytes().await.unwrap()));
    }
    let names: Vec<&str> = read.iter().map(|(head, _)| head[0].as_str()).collect();
    assert_eq!(names, ["model", "prompt", "response_format", "image", "image"]);
    assert_eq!(read[1].1, prompt.as_bytes());
    assert_eq!(read[3].0, ["image", "x%22%0D%0Ay.png", "image/png"]);
    assert_eq!(read[4].1, base64_simd::STANDARD.decode_to_vec(PNG_4X3).unwrap());
}

#[test]
fn bot_task_and_stage_metrics_go_only_where_they_are_read() {
    let mut wire = wire(Api::Videos, Task::T2v);
    (wire.bot_task, wire.return_stage_metrics) = (Some("think".to_owned()), true);
    assert_eq!(fields(&wire.encode(&request(Task::T2v)).unwrap()).len(), 2);
    (wire.api, wire.task) = (Api::Generations, Task::T2i);
    let sent: Value = serde_json::from_str(&json_text(&wire.encode(&request(Task::T2i)).unwrap())).unwrap();
    assert_eq!((&sent["bot_task"], sent.get("return_stage_metrics")), (&json!("think"), None));
}

#[test]
fn values_that_cannot_be_meant_are_refused() {
    let one_side = with_fields(request(Task::T2i), &json!({"width": 512}));
    assert_eq!(refused(Api::Generations, &one_side), "a size needs both `width` and `height`");
    let text = with_fields(request(Task::T2i), &json!({"n": "2"}));
    assert_eq!(refused(Api::Generations, &text), "`n` must be a whole number, not `\"2\"`");
    let format = with_fields(request(Task::T2i), &json!({"response_format": "url"}));
    assert_eq!(refused(Api::Generations, &format), "`response_format` must be `b64_json`, not `\"url\"`");
}

#[test]
fn what_is_asked_is_read_from_the_same_layers() {
    let mut wire = wire(Api::Generations, Task::T2i);
    wire.extra_body = serde_json::from_value(json!({"size": "64x48", "n": 3, "num_inference_steps": 7})).unwrap();
    let asked = asked(&wire, &request(Task::T2i));
    assert_eq!((asked.width, asked.height, asked.n, asked.num_inference_steps), (Some(64), Some(48), 3, Some(7)));
}
