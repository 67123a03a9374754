//! Modelled time: what is reported, what passes on the wall, batching, null mode, cancellation, shutdown.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{Server, fast};
use omni_bench::simulator::{Layout, Settings, request_seconds};

const GENERATIONS: &str = "/v1/images/generations";

fn published() -> Settings {
    Settings { layout: Layout { cfg: 2, ulysses: 2, ..Layout::default() }, profiler: true, ..Settings::default() }
}

fn body(side: u32, steps: u32) -> Value {
    json!({"prompt": "x", "size": format!("{side}x{side}"), "num_inference_steps": steps})
}

fn sum(stages: &Value) -> f64 {
    stages.as_object().unwrap().values().map(|seconds| seconds.as_f64().unwrap()).sum()
}

#[tokio::test]
async fn reported_times_are_modelled_and_the_wall_is_faster_by_the_speed() {
    let settings = Settings { speed: 20.0, ..published() };
    let modelled = request_seconds(&settings, 512, 512, 20, 1).unwrap();
    let server = Server::start(settings).await;
    let begun = Instant::now();
    let reply = server.json(GENERATIONS, &body(512, 20)).await.json();
    let wall = begun.elapsed().as_secs_f64();
    assert!((sum(&reply["metrics"]["stage_durations"]) - modelled).abs() < 1e-4);
    assert!(wall >= modelled / 20.0, "{wall} s are less than {modelled} / 20");
    assert!(wall < modelled / 4.0, "{wall} s are not much less than {modelled}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_queue_is_part_of_a_jobs_inference_time_and_of_the_latency_of_others() {
    let settings = Settings { speed: 50.0, ..published() };
    let alone = request_seconds(&settings, 64, 48, 20, 9).unwrap();
    let server = Server::start(settings).await;
    let texts = [("prompt", "x"), ("size", "64x48"), ("num_frames", "9"), ("num_inference_steps", "20")];
    let replies = join_all((0..3).map(|_| server.form("/v1/videos/sync", &texts, &[]))).await;
    let mut times: Vec<f64> =
        replies.iter().map(|reply| reply.headers["x-inference-time-s"].to_str().unwrap().parse().unwrap()).collect();
    times.sort_by(f64::total_cmp);
    for (place, seconds) in (1..).zip(times) {
        let expected = f64::from(place) * alone;
        // the three do not arrive at the same instant, and 50 modelled milliseconds are one on the wall
        assert!((0.5 * expected..=1.05 * expected).contains(&seconds), "{seconds} instead of {expected}");
    }
    server.stop().await;
}

/// Requests per modelled second at a concurrency of 8.
async fn throughput(settings: Settings) -> f64 {
    let speed = settings.speed;
    let server = Server::start(settings).await;
    let begun = Instant::now();
    join_all((0..8).map(|_| async {
        for _ in 0..2 {
            assert_eq!(server.json(GENERATIONS, &body(256, 40)).await.status, 200);
        }
    }))
    .await;
    let seconds = begun.elapsed().as_secs_f64() * speed;
    server.stop().await;
    16.0 / seconds
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_slots_gain_about_two_under_step_execution_and_nothing_without() {
    let settings = |max_num_seqs, step_execution| Settings { speed: 40.0, max_num_seqs, step_execution, ..published() };
    let (one, eight) = (throughput(settings(1, true)).await, throughput(settings(8, true)).await);
    assert!((1.5..=2.5).contains(&(eight / one)), "gain {}", eight / one);
    let serial = throughput(settings(8, false)).await;
    assert!((0.7..=1.4).contains(&(serial / one)), "gain {}", serial / one);
}

#[tokio::test]
async fn noise_spreads_times_and_its_seed_repeats_them() {
    let times = async |seed| {
        let server = Server::start(Settings { noise: 0.2, seed, speed: 1000.0, ..published() }).await;
        let mut times = Vec::new();
        for _ in 0..3 {
            let reply = server.json(GENERATIONS, &body(64, 2)).await.json();
            times.push(sum(&reply["metrics"]["stage_durations"]));
        }
        server.stop().await;
        times
    };
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4);
    let (first, again, other) = (times(1).await, times(1).await, times(2).await);
    assert!(close(&first, &again), "{first:?} {again:?}");
    assert!(!close(&first, &other));
    assert!((first[0] - first[1]).abs() > 1e-4);
}

#[tokio::test]
async fn null_mode_answers_every_endpoint_at_once() {
    let server = Server::start(Settings { null: true, ..Settings::default() }).await;
    let begun = Instant::now();
    let heavy = json!({"prompt": "x", "size": "256x128", "num_inference_steps": 200});
    for _ in 0..20 {
        let reply = server.json(GENERATIONS, &heavy).await.json();
        let png = base64_simd::STANDARD.decode_to_vec(reply["data"][0]["b64_json"].as_str().unwrap()).unwrap();
        let info = omni_bench::media::decode_image(&png).unwrap();
        assert_eq!((info.width, info.height), (256, 128));
    }
    let chat = json!({"messages": [{"role": "user", "content": "x"}], "size": "64x64"});
    assert_eq!(server.json("/v1/chat/completions", &chat).await.status, 200);
    let edit = [("prompt", "x"), ("size", "64x64")];
    assert_eq!(server.form("/v1/images/edits", &edit, &[("image", b"unread")]).await.status, 200);
    let video = [("prompt", "x"), ("size", "64x64"), ("num_frames", "200")];
    assert_eq!(server.form("/v1/videos/sync", &video, &[]).await.status, 200);
    let job = server.form("/v1/videos", &video, &[]).await.json();
    let id = job["id"].as_str().unwrap();
    assert_eq!(server.get(&format!("/v1/videos/{id}")).await.json()["status"], "completed");
    assert_eq!(server.get(&format!("/v1/videos/{id}/content")).await.status, 200);
    // modelled, one of these requests alone would take a quarter of a minute
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_leaves_the_queue() {
    let server = Server::start(Settings::default()).await;
    let shows = async |gauge: &str, count: u32| {
        let line = format!("vllm_omni:num_requests_{gauge}{{model_name=\"Qwen/Qwen-Image\"}} {count}");
        let deadline = Instant::now() + Duration::from_secs(20);
        while !server.get("/metrics").await.text().contains(&line) {
            assert!(Instant::now() < deadline, "never were {count} {gauge}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let heavy = body(512, 200);
    let observed = async {
        shows("running", 1).await;
        tokio::select! {
            _ = server.json(GENERATIONS, &heavy) => panic!("a minute has not passed"),
            () = shows("waiting", 1) => {}
        }
        shows("waiting", 0).await;
        shows("running", 1).await;
    };
    tokio::select! {
        _ = server.json(GENERATIONS, &heavy) => panic!("a minute has not passed"),
        () = observed => {}
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_lets_short_requests_finish_and_drops_long_ones() {
    // the second takes a quarter of a minute
    for (settings, side, finishes) in [(Settings { speed: 50.0, ..published() }, 512, true), (published(), 1536, false)]
    {
        let server = Server::start(settings).await;
        let begun = Instant::now();
        let client = server.client.clone();
        let request = client.post(format!("{}{GENERATIONS}", server.url));
        let request = request.header("content-type", "application/json").body(body(side, 35).to_string()).send();
        let stop = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            server.stop().await;
        };
        let (reply, ()) = tokio::join!(request, stop);
        assert_eq!(reply.is_ok_and(|reply| reply.status() == 200), finishes);
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    }
}

#[tokio::test]
async fn replies_have_a_length_and_connections_are_kept() {
    let server = Server::start(fast()).await;
    let reply = server.json(GENERATIONS, &body(64, 1)).await;
    assert_eq!(reply.headers["content-length"].to_str().unwrap(), reply.body.len().to_string());
    assert!(!reply.headers.contains_key("connection"));
    server.stop().await;
}
