//! What arrives at a server that answers all four endpoints, request by request: the whole tool is
//! run against the scripted server, and every body and form is compared with the wire's demands.

#![cfg(test)] // the lints that spare tests then spare their helpers too

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::Sandbox;
use crate::support::fake::{Answer, Fake, Seen};

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAAAAACRn/EaAAAADklEQVR42mOoBwIGOAEALLUF9RKX40QAAAAASUVORK5CYII=";
const CLIP: &[u8] = include_bytes!("../fixtures/clip_64x64_33f_24fps.mp4");

fn answer(seen: &Seen) -> Answer {
    match (seen.method.as_str(), seen.path.as_str()) {
        ("GET", "/health") => Answer::json(200, r#"{"status":"healthy"}"#),
        ("GET", "/v1/models") => Answer::json(200, r#"{"object":"list","data":[{"id":"m","object":"model"}]}"#),
        ("POST", "/v1/images/generations" | "/v1/images/edits") => {
            Answer::json(200, json!({"created": 1, "data": [{"b64_json": PNG}], "output_format": "png"}).to_string())
        }
        ("POST", "/v1/chat/completions") => {
            let image = json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{PNG}")}});
            Answer::json(200, json!({"id": "c", "choices": [{"message": {"content": [image]}}]}).to_string())
        }
        ("POST", "/v1/videos") => Answer::json(200, r#"{"id":"video_gen_1","object":"video","status":"queued"}"#),
        ("GET", "/v1/videos/video_gen_1") => {
            Answer::json(200, r#"{"id":"video_gen_1","object":"video","status":"completed"}"#)
        }
        ("GET", "/v1/videos/video_gen_1/content") => Answer::bytes(200, "video/mp4", CLIP),
        ("DELETE", "/v1/videos/video_gen_1") => {
            Answer::json(200, r#"{"id":"video_gen_1","deleted":true,"object":"video.deleted"}"#)
        }
        _ => Answer::json(404, r#"{"detail":"Not Found"}"#),
    }
}

/// Runs two requests of a scenario against the scripted server and returns what arrived.
async fn arrived(task: &str, path: &str, dataset: &str) -> Vec<Seen> {
    let server = Fake::start(answer).await;
    let scenario = format!(
        "name = \"wire\"\n[model]\nid = \"m\"\ntask = \"{task}\"\n[endpoint]\nurl = \"{}\"\npath = \"{path}\"\n\
         [datasets.d]\nsource = \"random\"\n{dataset}\n[traffic]\nrequests = 2\n[warmup]\nrequests = 0\n",
        server.url
    );
    let output = tokio::task::spawn_blocking(move || {
        let sandbox = Sandbox::new();
        fs_err::write(sandbox.path().join("wire.toml"), scenario).unwrap();
        sandbox.omni_bench(&["run", "wire.toml"])
    });
    let output = output.await.unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let mut seen = server.seen();
    for request in &seen {
        assert_eq!(request.header("transfer-encoding"), None, "{} {}", request.method, request.path);
        assert_eq!(request.header("authorization"), None, "no key was named");
    }
    seen.retain(|seen| seen.method != "GET" || seen.path.starts_with("/v1/videos/"));
    seen
}

fn body(seen: &Seen) -> Value {
    assert_eq!(seen.header("content-type"), Some("application/json"));
    serde_json::from_slice(&seen.body).unwrap()
}

/// The parts of a form by name: content, and for files the head as well.
fn form(seen: &Seen) -> BTreeMap<String, Vec<(String, Vec<u8>)>> {
    let content_type = seen.header("content-type").unwrap();
    let boundary = content_type.strip_prefix("multipart/form-data; boundary=").unwrap();
    let text: String = seen.body.iter().map(|byte| char::from(*byte)).collect();
    let mut parts = BTreeMap::<String, Vec<_>>::new();
    let inner = text.strip_suffix(&format!("--{boundary}--\r\n")).unwrap();
    for part in inner.split(&format!("--{boundary}\r\n")).skip(1) {
        let (head, content) = part.split_once("\r\n\r\n").unwrap();
        let name = head.split("name=\"").nth(1).unwrap().split('"').next().unwrap();
        let content = content.strip_suffix("\r\n").unwrap().chars().map(|c| u8::try_from(c).unwrap()).collect();
        parts.entry(name.to_owned()).or_default().push((head.to_owned(), content));
    }
    parts
}

/// The text parts of a form; files are left out.
fn texts(seen: &Seen) -> Value {
    let named = form(seen).into_iter().filter(|(_, parts)| !parts[0].0.contains("filename="));
    Value::Object(named.map(|(name, parts)| (name, String::from_utf8(parts[0].1.clone()).unwrap().into())).collect())
}

const SHAPE: &str = "negative_prompt = true\nrequest_seed = \"fixed\"\ndefaults = { seed = 7 }\n\
    profiles = [{ width = 64, height = 48, num_inference_steps = 2, guidance_scale = 4.5 }]";

#[tokio::test(flavor = "multi_thread")]
async fn generations_arrive_as_one_json_object_with_a_size_text() {
    let seen = arrived("t2i", "/v1/images/generations", SHAPE).await;
    let wanted = |index: usize| {
        json!({
            "model": "m", "prompt": format!("Random prompt {index} for benchmarking diffusion models"),
            "negative_prompt": format!("Negative prompt {index} for benchmarking diffusion models"),
            "size": "64x48", "response_format": "b64_json", "num_inference_steps": 2, "guidance_scale": 4.5, "seed": 7
        })
    };
    assert_eq!(seen.iter().map(body).collect::<Vec<_>>(), [wanted(0), wanted(1)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_arrives_with_its_diffusion_keys_in_one_place() {
    let seen = arrived("t2i", "vllm-omni", SHAPE).await;
    assert!(seen.iter().all(|seen| seen.path == "/v1/chat/completions"));
    let wanted = |index: usize| {
        json!({
            "model": "m",
            "messages": [{"role": "user", "content": format!("Random prompt {index} for benchmarking diffusion models")}],
            "negative_prompt": format!("Negative prompt {index} for benchmarking diffusion models"),
            "width": 64, "height": 48, "num_inference_steps": 2, "guidance_scale": 4.5, "seed": 7
        })
    };
    assert_eq!(seen.iter().map(body).collect::<Vec<_>>(), [wanted(0), wanted(1)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_carries_reference_images_as_data_urls() {
    let dataset = format!("images = {{ count = 2, width = 32, height = 32 }}\n{SHAPE}");
    let seen = arrived("ti2i", "/v1/chat/completions", &dataset).await;
    let content = body(&seen[0])["messages"][0]["content"].clone();
    let kinds: Vec<_> = content.as_array().unwrap().iter().map(|part| part["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "image_url", "image_url"]);
    let url = content[1]["image_url"]["url"].as_str().unwrap();
    assert!(url.starts_with("data:image/png;base64,iVBORw0KGgo"), "{url}");
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_arrive_as_a_form_with_an_image_part_per_reference() {
    let dataset = format!("images = {{ count = 2, width = 32, height = 16 }}\n{SHAPE}");
    let seen = arrived("ti2i", "/v1/images/edits", &dataset).await;
    let wanted = |index: usize| {
        json!({
            "model": "m", "prompt": format!("Random prompt {index} for benchmarking diffusion models"),
            "negative_prompt": format!("Negative prompt {index} for benchmarking diffusion models"),
            "size": "64x48", "response_format": "b64_json", "num_inference_steps": "2", "guidance_scale": "4.5",
            "seed": "7"
        })
    };
    assert_eq!(seen.iter().map(texts).collect::<Vec<_>>(), [wanted(0), wanted(1)]);
    for request in &seen {
        let images = &form(request)["image"];
        assert_eq!(images.len(), 2);
        for (head, content) in images {
            assert!(head.contains("filename=\"") && head.contains("Content-Type: image/png"), "{head}");
            assert_eq!(&content[..8], b"\x89PNG\r\n\x1a\n");
            assert_eq!(&content[16..24], [0, 0, 0, 32, 0, 0, 0, 16], "32 wide and 16 high");
        }
    }
}

const CLIP_SHAPE: &str = "negative_prompt = true\nprofiles = [{ width = 64, height = 64, num_inference_steps = 3, \
    num_frames = 33, fps = 24, extra_params = { use_res = true, g = [1, 2] }, generate_sound = true }]";

#[tokio::test(flavor = "multi_thread")]
async fn videos_arrive_as_a_form_and_are_polled_fetched_and_deleted() {
    let seen = arrived("t2v", "/v1/videos", CLIP_SHAPE).await;
    let calls: Vec<_> = seen.iter().map(|seen| format!("{} {}", seen.method, seen.path)).collect();
    let job = [
        "POST /v1/videos",
        "GET /v1/videos/video_gen_1",
        "GET /v1/videos/video_gen_1/content",
        "DELETE /v1/videos/video_gen_1",
    ];
    let count = |call: &str| calls.iter().filter(|made| *made == call).count();
    assert_eq!(job.map(count), [2, 2, 2, 2], "{calls:?}");
    let wanted = |index: usize| {
        json!({
            "model": "m", "prompt": format!("Random prompt {index} for benchmarking diffusion models"),
            "negative_prompt": format!("Negative prompt {index} for benchmarking diffusion models"),
            "size": "64x64", "num_frames": "33", "fps": "24", "num_inference_steps": "3",
            "extra_params": r#"{"use_res":true,"g":[1,2]}"#, "generate_sound": "true"
        })
    };
    let forms: Vec<_> = seen.iter().filter(|seen| seen.method == "POST").map(texts).collect();
    assert_eq!(forms, [wanted(0), wanted(1)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_video_from_an_image_carries_it_as_one_file_part() {
    let seen = arrived("i2v", "v1/videos", &format!("images = {{ count = 1 }}\n{CLIP_SHAPE}")).await;
    let create = seen.iter().find(|seen| seen.method == "POST").unwrap();
    let parts = form(create);
    assert_eq!(parts["input_reference"].len(), 1);
    assert!(parts["input_reference"][0].0.contains("filename=\""));
    assert_eq!(&parts["input_reference"][0].1[16..24], [0, 0, 0, 64, 0, 0, 0, 64], "the request's own size");
    assert!(!parts.contains_key("input_references") && !parts.contains_key("image_reference"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_video_from_a_video_carries_it_as_one_file_part() {
    let dataset = format!("videos = {{ width = 96, height = 32, num_frames = 5, fps = 12 }}\n{CLIP_SHAPE}");
    let seen = arrived("v2v", "/v1/videos", &dataset).await;
    let create = seen.iter().find(|seen| seen.method == "POST").unwrap();
    let parts = form(create);
    let [(head, clip)] = &parts["input_reference"][..] else { panic!("one part") };
    assert!(head.contains("filename=\"input_0.mp4\"") && head.contains("Content-Type: video/mp4"), "{head}");
    let mut probe = omni_bench::media::VideoProbe::new();
    probe.feed(clip);
    let info = probe.finish().unwrap();
    assert_eq!((info.width, info.height, info.frames, info.fps), (96, 32, 5, 12.0));
    assert!(["input_references", "video_reference"].iter().all(|name| !parts.contains_key(*name)));
}

/// Case C91: what the server would ignore is refused before it is asked, and arrives once it is moved.
#[tokio::test(flavor = "multi_thread")]
async fn fields_that_no_one_reads_are_refused_and_arrive_in_extra_params() {
    let fields = "guidance_scale = 6.0, flow_shift = 10.0";
    let ignored = "max_sequence_length = 4096, guardrails = false, condition_frame_indexes_vision = [0, 1]";
    let sandbox = Sandbox::new();
    let text = format!(
        "name = \"c91\"\nmodel = {{ id = \"m\", task = \"t2v\" }}\n[datasets.d]\nprofiles = [{{ {fields}, {ignored} }}]\n"
    );
    fs_err::write(sandbox.path().join("s.toml"), text).unwrap();
    let output = sandbox.omni_bench(&["validate", "s.toml"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{told}");
    let found: Vec<_> = told.lines().filter(|line| line.contains("ignores the field")).collect();
    assert_eq!(found.len(), 3, "{told}");
    for key in ["max_sequence_length", "guardrails", "condition_frame_indexes_vision"] {
        assert!(found.iter().any(|line| line.contains(&format!("`{key}`"))), "{told}");
    }
    assert_eq!(told.matches("put fields of the model under `extra_params`").count(), 3, "{told}");

    let seen =
        arrived("t2v", "/v1/videos", &format!("profiles = [{{ {fields}, extra_params = {{ {ignored} }} }}]")).await;
    let create = texts(seen.iter().find(|seen| seen.method == "POST").unwrap());
    assert_eq!(
        create["extra_params"],
        r#"{"max_sequence_length":4096,"guardrails":false,"condition_frame_indexes_vision":[0,1]}"#
    );
    assert_eq!((&create["guidance_scale"], &create["flow_shift"]), (&json!("6.0"), &json!("10.0")));
}
