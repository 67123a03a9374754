//! What a reply is worth: pictures that are none, and real-time factors by where their time comes from.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use omni_bench::catalog::Flag;
use omni_bench::media::write_video;

use super::setup::{Asks, Bench, Ran, deleted, number, outcomes};
use crate::support::fake::Answer;

const PNG_4X3: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAAAAACRn/EaAAAADklEQVR42mOoBwIGOAEALLUF9RKX40QAAAAASUVORK5CYII=";

#[test]
fn seven_kinds_of_empty_replies_are_seven_failures_and_one_picture_is_one() {
    let bench = Bench::new(|seen| {
        let body = match seen.nth {
            1 => r#"{"created":1,"data":[]}"#.to_owned(),
            2 => r#"{"created":1}"#.to_owned(),
            3 => r#"{"created":1,"data":null}"#.to_owned(),
            4 => r#"{"created":1,"data":[{"b64_json":""}]}"#.to_owned(),
            5 => r#"{"created":1,"data":[{"b64_json":null,"url":null}]}"#.to_owned(),
            6 => r#"{"created":1,"data":[{"b64_json":"!!!"}]}"#.to_owned(),
            7 => r#"{"created":1,"data":[{"b64_json":"aGVsbG8="}]}"#.to_owned(),
            _ => format!(r#"{{"created":1,"data":[{{"b64_json":"{PNG_4X3}"}}]}}"#),
        };
        Answer::json(200, body)
    });
    let profile = "{ width = 64, height = 48, num_inference_steps = 50, n = 2 }";
    let ran = bench.run("t2i", profile, "[warmup]\nrequests = 0\n[traffic]\nrequests = 8", &[]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let run = ran.run();
    assert_eq!(outcomes(run), [1, 7, 0, 0]);
    assert_eq!((&run["images"], number(run, "/pixels_per_image")), (&1.into(), 12.0));
    let errors = run["errors"].as_array().unwrap();
    assert!(errors.iter().all(|error| error["class"] == "invalid_response" && error["count"] == 1), "{errors:?}");
    let reasons: BTreeSet<&str> = errors.iter().map(|error| error["message"].as_str().unwrap()).collect();
    assert_eq!(reasons.len(), 7, "{reasons:?}");
    let records = ran.records(run["id"].as_str().unwrap());
    let last = serde_json::to_value(&records[7]).unwrap();
    assert_eq!((&last["asked"]["n"], last["outputs"].as_array().unwrap().len()), (&2.into(), 1));
    assert!(last["flags"].as_array().unwrap().contains(&"fewer_outputs".into()), "a shortfall is noted: {last}");
}

/// A run of one job that takes 150 ms, makes a clip of 2 s, and tells this about its making.
fn one_clip(told: &'static str, poll: &str) -> (Bench, Ran) {
    let clip = write_video(64, 64, 48, 24.0, 1).unwrap();
    let end = Mutex::new(None);
    let bench = Bench::new(move |seen| match Asks::of(seen) {
        Asks::Create => {
            *end.lock().unwrap() = Some(Instant::now() + Duration::from_millis(150));
            Answer::json(200, r#"{"id":"1","object":"video","status":"queued"}"#)
        }
        Asks::Status(_) if end.lock().unwrap().unwrap() > Instant::now() => {
            Answer::json(200, r#"{"id":"1","object":"video","status":"in_progress"}"#)
        }
        Asks::Status(_) => Answer::json(
            200,
            format!(
                r#"{{"id":"1","object":"video","status":"completed","duration_s":2.0,"num_frames":48,"fps":24.0{told}}}"#
            ),
        ),
        Asks::Content(_) => Answer::bytes(200, "video/mp4", clip.clone()),
        Asks::Delete(_) => deleted(),
    });
    let ran = bench.videos(poll, "[traffic]\nrequests = 1");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(outcomes(ran.run()), [1, 0, 0, 0]);
    assert_eq!(ran.run()["video_duration_s"], 2.0);
    (bench, ran)
}

#[test]
fn the_real_time_factor_names_its_basis_and_does_not_depend_on_polls_where_the_server_tells_it() {
    let stage = r#","stage_durations":{"stage_0_gen_ms":4000,"vae.decode":0.5},"inference_time_s":5.0"#;
    let inference = r#","inference_time_s":5.0"#;
    let mut latencies = Vec::new();
    for poll in ["100ms", "2s"] {
        for (told, basis, factor) in
            [(stage, "stage", Some(2.0)), (inference, "inference_time_s", Some(2.5)), ("", "latency", None)]
        {
            let (_bench, ran) = one_clip(told, poll);
            let run = ran.run();
            let latency_s = number(run, "/latency_s/mean");
            println!("poll {poll}: latency {latency_s:.3} s, RTF {} by {}", run["rtf"]["mean"], run["rtf"]["basis"]);
            assert_eq!(run["rtf"]["basis"], basis);
            let wanted = factor.unwrap_or(latency_s / 2.0);
            assert!((number(run, "/rtf/mean") - wanted).abs() < 1e-9, "{poll} {basis}: {}", run["rtf"]);
            let flags = &ran.records(run["id"].as_str().unwrap())[0].flags;
            assert_eq!(flags.contains(&Flag::RtfFromLatency), basis == "latency");
            assert_eq!(flags.contains(&Flag::RtfFromInferenceTime), basis == "inference_time_s");
            latencies.push(latency_s);
        }
    }
    assert!(latencies[5] > 2.0, "the slow poll is in the latency, and only there: {latencies:?}");
}
