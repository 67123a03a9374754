//! The life of a video job, and the synchronous sibling.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use super::{Server, base64, fast, picture};
use omni_bench::catalog::Task;
use omni_bench::media::VideoProbe;
use omni_bench::simulator::{Layout, Settings};

const VIDEOS: &str = "/v1/videos";
const SMALL: [(&str, &str); 4] =
    [("prompt", "x"), ("size", "64x48"), ("num_frames", "9"), ("num_inference_steps", "1")];

/// Polls until the job is over; the last status and job.
async fn over(server: &Server, id: &str) -> (u16, Value) {
    loop {
        let reply = server.get(&format!("{VIDEOS}/{id}")).await;
        let job = reply.json();
        if !matches!(job["status"].as_str(), Some("queued" | "in_progress")) {
            return (reply.status.as_u16(), job);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn created(server: &Server, texts: &[(&str, &str)]) -> Value {
    let reply = server.form(VIDEOS, texts, &[]).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()
}

fn with<'a>(extra: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    SMALL.iter().copied().chain(extra.iter().copied()).collect()
}

fn probed(bytes: &[u8]) -> (u32, u32, u64, f64) {
    let mut probe = VideoProbe::new();
    probe.feed(bytes);
    let info = probe.finish().unwrap();
    (info.width, info.height, info.frames, info.fps)
}

#[tokio::test]
async fn a_job_is_created_polled_fetched_and_deleted() {
    let server = Server::start(Settings { profiler: true, ..fast() }).await;
    let job = created(&server, &with(&[("fps", "8.0"), ("unknown", "x")])).await;
    let id = job["id"].as_str().unwrap();
    assert!(id.starts_with("video_gen_"));
    for (key, value) in [
        ("object", json!("video")),
        ("status", json!("queued")),
        ("progress", json!(0)),
        ("size", json!("64x48")),
        ("seconds", json!("4")),
        ("quality", json!("default")),
        ("prompt", json!("x")),
        ("model", json!("Qwen/Qwen-Image")),
        ("media_type", json!("video/mp4")),
        ("stage_durations", json!({})),
        ("peak_memory_mb", json!(0.0)),
    ] {
        assert_eq!(job[key], value, "{key}");
    }
    for key in ["completed_at", "error", "file_name", "inference_time_s", "expires_at", "remixed_from_video_id"] {
        assert_eq!(job[key], Value::Null, "{key}");
    }
    let (status, done) = over(&server, id).await;
    assert_eq!((status, &done["status"], &done["progress"]), (200, &json!("completed"), &json!(100)));
    assert_eq!(done["file_name"], format!("{id}.mp4"));
    assert!(done["stage_durations"]["vae.decode"].as_f64().unwrap() > 0.0);
    assert!(done["completed_at"].as_i64() >= job["created_at"].as_i64());
    let content = server.get(&format!("{VIDEOS}/{id}/content")).await;
    assert_eq!(content.headers["content-type"], "video/mp4");
    assert_eq!(probed(&content.body), (64, 48, 9, 8.0));
    let deleted = server.call(Method::DELETE, &format!("{VIDEOS}/{id}")).await;
    assert_eq!(deleted.json(), json!({"id": id, "deleted": true, "object": "video.deleted"}));
    for (method, path) in [(Method::GET, ""), (Method::GET, "/content"), (Method::DELETE, "")] {
        let gone = server.call(method, &format!("{VIDEOS}/{id}{path}")).await;
        assert_eq!(gone.refusal(404), "Video not found");
    }
    server.stop().await;
}

#[tokio::test]
async fn frames_follow_from_seconds_and_interpolation() {
    let server = Server::start(fast()).await;
    let bare = [("prompt", "x"), ("width", "32"), ("height", "32"), ("num_inference_steps", "1")];
    let extra = [("seconds", "2"), ("fps", "10"), ("enable_frame_interpolation", "true")];
    let texts: Vec<_> = bare.into_iter().chain(extra).collect();
    let job = created(&server, &texts).await;
    assert_eq!((&job["seconds"], &job["size"]), (&json!("2"), &Value::Null));
    let id = job["id"].as_str().unwrap();
    over(&server, id).await;
    // 20 frames at 10, one more between each pair
    assert_eq!(probed(&server.get(&format!("{VIDEOS}/{id}/content")).await.body), (32, 32, 39, 20.0));
    server.stop().await;
}

#[tokio::test]
async fn a_size_the_encoder_cannot_write_fails_after_the_post_succeeded() {
    let server = Server::start(fast()).await;
    for (size, code) in [("63x48", 500), ("0x0", 400)] {
        let texts = [("prompt", "x"), ("size", size), ("num_frames", "5"), ("num_inference_steps", "1")];
        let id = created(&server, &texts).await["id"].as_str().unwrap().to_owned();
        let (status, job) = over(&server, &id).await;
        assert_eq!((status, &job["status"], &job["error"]["code"]), (code, &json!("failed"), &json!(code)));
        assert!(!job["error"]["message"].as_str().unwrap().is_empty());
        server.get(&format!("{VIDEOS}/{id}/content")).await.refusal(422);
        assert_eq!(server.call(Method::DELETE, &format!("{VIDEOS}/{id}")).await.status, 200);
    }
    server.form("/v1/videos/sync", &[("prompt", "x"), ("size", "0x0")], &[]).await.refusal(400);
    server.stop().await;
}

#[tokio::test]
async fn a_running_job_has_no_content_and_can_be_cancelled() {
    let server = Server::start(Settings::default()).await;
    let running = created(&server, &SMALL).await["id"].as_str().unwrap().to_owned();
    let waiting = created(&server, &SMALL).await["id"].as_str().unwrap().to_owned();
    for id in [&running, &waiting] {
        let job = server.get(&format!("{VIDEOS}/{id}")).await.json();
        assert!(matches!(job["status"].as_str(), Some("queued" | "in_progress")), "{job}");
        let content = server.get(&format!("{VIDEOS}/{id}/content")).await;
        assert_eq!(content.refusal(404), "Generation is still in-progress");
        assert_eq!(server.call(Method::DELETE, &format!("{VIDEOS}/{id}")).await.json()["deleted"], true);
        server.get(&format!("{VIDEOS}/{id}")).await.refusal(404);
    }
    server.stop().await;
}

#[tokio::test]
async fn jobs_are_listed_in_pages() {
    let server = Server::start(fast()).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(created(&server, &SMALL).await["id"].clone());
    }
    let page = async |query: &str| server.get(&format!("{VIDEOS}{query}")).await.json();
    let listed =
        |page: &Value| page["data"].as_array().unwrap().iter().map(|job| job["id"].clone()).collect::<Vec<_>>();
    let newest = page("?limit=2").await;
    assert_eq!(listed(&newest), [ids[2].clone(), ids[1].clone()]);
    assert_eq!((&newest["object"], &newest["has_more"]), (&json!("list"), &json!(true)));
    assert_eq!((&newest["first_id"], &newest["last_id"]), (&ids[2], &ids[1]));
    let oldest = page(&format!("?order=asc&after={}", ids[0].as_str().unwrap())).await;
    assert_eq!(listed(&oldest), [ids[1].clone(), ids[2].clone()]);
    assert_eq!(oldest["has_more"], false);
    assert_eq!(listed(&page("?after=unknown").await), Vec::<Value>::new());
    let none = page("?limit=0").await;
    assert_eq!((listed(&none).len(), &none["has_more"], &none["first_id"]), (0, &json!(true), &Value::Null));
    for query in ["?limit=101", "?limit=-1", "?order=up"] {
        server.get(&format!("{VIDEOS}{query}")).await.refusal(400);
    }
    server.stop().await;
}

#[tokio::test]
async fn forms_are_refused_as_the_real_server_refuses_them() {
    let server = Server::start(fast()).await;
    for (name, value) in [
        ("fps", "7.5"),
        ("fps", "0"),
        ("size", "abc"),
        ("seconds", "0"),
        ("seconds", "1.5"),
        ("num_inference_steps", "201"),
        ("num_frames", "0"),
        ("num_outputs_per_prompt", "11"),
        ("quality", "low"),
        ("lora", "{"),
        ("extra_params", "[]"),
        ("model", "other"),
        ("image_reference", "7"),
        ("image_reference", r#"{"file_id": "f"}"#),
        ("image_reference", r#"{"image_url": "data:image/png;base64,AAAA", "more": 1}"#),
        ("image_reference", r#"{"image_url": "data:image/png;base64,AAAA"}"#),
    ] {
        let mut texts = vec![("prompt", "x")];
        texts.push((name, value));
        let reply = server.form(VIDEOS, &texts, &[]).await;
        assert_eq!(reply.status, 400, "{name}={value}: {}", reply.text());
    }
    server.json(VIDEOS, &json!({"prompt": "x"})).await.refusal(400);
    server.form(VIDEOS, &[("size", "64x64")], &[]).await.refusal(400);
    server.stop().await;
}

#[tokio::test]
async fn references_are_decoded_and_exclude_each_other() {
    let server = Server::start(fast()).await;
    let file = picture(16, 16);
    let reference = json!([{"image_url": format!("data:image/png;base64,{}", base64(&file))}]).to_string();
    assert_eq!(server.form(VIDEOS, &SMALL, &[("input_reference", &file)]).await.status, 200);
    assert_eq!(
        server.form(VIDEOS, &SMALL, &[("input_references", &file), ("input_references", &file)]).await.status,
        200
    );
    assert_eq!(server.form(VIDEOS, &with(&[("image_reference", &reference), ("lora", "")]), &[]).await.status, 200);
    server.form(VIDEOS, &SMALL, &[("input_reference", b"no picture")]).await.refusal(400);
    server.form(VIDEOS, &SMALL, &[("input_reference", &file), ("input_references", &file)]).await.refusal(400);
    for files in ["input_reference", "input_references"] {
        server.form(VIDEOS, &with(&[("image_reference", &reference)]), &[(files, &file)]).await.refusal(400);
    }
    server.stop().await;
}

#[tokio::test]
async fn reference_videos_are_read_as_files_and_as_links() {
    let server = Server::start(Settings { task: Some(Task::V2v), ..fast() }).await;
    let clip = include_bytes!("../../fixtures/clip_64x64_33f_24fps.mp4");
    let link = |bytes: &[u8]| json!([{"video_url": format!("data:video/mp4;base64,{}", base64(bytes))}]).to_string();
    assert_eq!(server.form(VIDEOS, &SMALL, &[("input_reference", clip)]).await.status, 200);
    assert_eq!(server.form(VIDEOS, &with(&[("video_reference", &link(clip))]), &[]).await.status, 200);
    let both = [("input_references", picture(8, 8)), ("input_references", clip.to_vec())];
    let both: Vec<(&str, &[u8])> = both.iter().map(|(name, bytes)| (*name, &bytes[..])).collect();
    assert_eq!(server.form(VIDEOS, &SMALL, &both).await.status, 200);

    let refused =
        async |texts: &[(&str, &str)], files: &[(&str, &[u8])]| server.form(VIDEOS, texts, files).await.refusal(400);
    let missing = "the model does v2v: the request has no reference video";
    assert_eq!(refused(&SMALL, &[]).await, missing);
    assert_eq!(refused(&SMALL, &[("input_reference", &picture(8, 8))]).await, missing);
    let cut = &clip[..clip.len() - 9];
    let told = "Invalid video at index 0: video is cut off: 9 bytes";
    for message in [
        refused(&SMALL, &[("input_reference", cut)]).await,
        refused(&with(&[("video_reference", &link(cut))]), &[]).await,
    ] {
        assert!(message.starts_with(told), "{message}");
    }
    let no_video = refused(&with(&[("video_reference", &link(&picture(8, 8)))]), &[]).await;
    assert!(no_video.starts_with("Invalid video at index 0: not an MP4 video"), "{no_video}");
    let sound = json!({"audio_url": "data:audio/wav;base64,AAAA"}).to_string();
    let sound = with(&[("audio_reference", &sound)]);
    assert_eq!(server.form(VIDEOS, &sound, &[("input_reference", clip)]).await.status, 200);
    refused(&sound, &[("input_references", clip)]).await;
    server.stop().await;
}

#[tokio::test]
async fn a_model_that_works_on_an_image_refuses_requests_without() {
    let server = Server::start(Settings { task: Some(Task::I2v), ..fast() }).await;
    let missing = "the model does i2v: the request has no reference image";
    assert_eq!(server.form(VIDEOS, &SMALL, &[]).await.refusal(400), missing);
    let clip = include_bytes!("../../fixtures/clip_64x64_33f_24fps.mp4");
    assert_eq!(server.form(VIDEOS, &SMALL, &[("input_reference", clip)]).await.refusal(400), missing);
    assert_eq!(server.form("/v1/videos/sync", &SMALL, &[]).await.refusal(400), missing);
    assert_eq!(server.form(VIDEOS, &SMALL, &[("input_reference", &picture(8, 8))]).await.status, 200);
    server.stop().await;
    let server = Server::start(Settings { task: Some(Task::Ti2i), ..fast() }).await;
    let body = json!({"messages": [{"role": "user", "content": "x"}], "size": "16x16"});
    let told = server.json("/v1/chat/completions", &body).await.refusal(400);
    assert_eq!(told, "the model does ti2i: the request has no reference image");
    server.stop().await;
}

#[tokio::test]
async fn urlencoded_forms_are_taken_too() {
    let server = Server::start(fast()).await;
    let request = server.client.post(format!("{}{VIDEOS}", server.url));
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    let reply = server.send(request.body("prompt=a+b&size=64x48&num_frames=5&num_inference_steps=1")).await;
    assert_eq!((reply.status.as_u16(), &reply.json()["prompt"]), (200, &json!("a b")));
    server.stop().await;
}

#[tokio::test]
async fn the_synchronous_sibling_returns_the_video_and_its_facts() {
    let layout = Layout { cfg: 2, ..Layout::default() };
    let server = Server::start(Settings { profiler: true, layout, ..fast() }).await;
    let reply = server.form("/v1/videos/sync", &SMALL, &[]).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(probed(&reply.body), (64, 48, 9, 24.0));
    let header = |name: &str| reply.headers[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "video/mp4");
    assert_eq!(header("x-model"), "Qwen/Qwen-Image");
    assert!(!header("x-request-id").is_empty());
    let stages: Value = serde_json::from_str(&header("x-stage-durations")).unwrap();
    assert!(stages["diffuse"].as_f64().unwrap() > 0.0);
    assert!(header("x-inference-time-s").parse::<f64>().unwrap() > 0.0);
    assert!(header("x-peak-memory-mb").parse::<f64>().unwrap() > 0.0);
    server.stop().await;
}
