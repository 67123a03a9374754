//! Replies as they come over a connection: streams, late bodies, whole decoding, the blocking video
//! endpoint, and ids that must not become paths.

use base64_simd::STANDARD;
use omni_bench::catalog::Flag;
use omni_bench::media::{ImageFormat, write_image};
use omni_bench::record::Status;
use omni_bench::scenario::model::Validate;
use omni_bench::units::{Limit, Span};
use serde_json::json;

use super::setup::{Setup, error, job, picture, video};
use crate::support::fake::{Answer, Fake};

const PNG_4X3: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAAAAACRn/EaAAAADklEQVR42mOoBwIGOAEALLUF9RKX40QAAAAASUVORK5CYII=";
const DELTA: &str =
    r#"data: {"object":"image.edit.chunk","type":"ar_delta","delta":"a","index":0,"created":1,"model":"m"}"#;

fn events(events: &[String]) -> Answer {
    Answer::bytes(200, "text/event-stream", events.join("\n\n") + "\n\n")
}

fn images(pictures: &[&[u8]]) -> Answer {
    let data: Vec<_> = pictures.iter().map(|picture| json!({"b64_json": STANDARD.encode_to_string(picture)})).collect();
    Answer::json(200, json!({"created": 1, "data": data}).to_string())
}

/// Case C03 over a connection: the first event has its time, the failure its reason.
#[tokio::test]
async fn the_time_of_a_streams_first_event_is_kept() {
    let server = Fake::start(|_| {
        let answer = events(&[DELTA.to_owned(), "data: [DONE]".to_owned()]);
        answer.paced(&[(30, 10), (60, DELTA.len() + 2), (400, DELTA.len() + 16)])
    })
    .await;
    let outcome = Setup::streamed_edits(1).run(&server).await;
    assert_eq!(outcome.error(0), "invalid_response: stream ended without image");
    let record = &outcome.records[0];
    let stream = record.stream.as_ref().expect("a stream");
    assert_eq!(stream.text.as_deref(), Some("a"));
    let first_event_ms = (stream.first_event_us.unwrap() - record.sent_us.unwrap()) / 1000;
    assert!((60..350).contains(&first_event_ms), "{first_event_ms}");
    assert!(record.first_byte_us < stream.first_event_us && stream.first_event_us < record.body_done_us);
    assert!(record.latency_us.unwrap() >= 400_000);
    let sent = String::from_utf8_lossy(&server.seen()[0].body).into_owned();
    assert!(sent.contains("name=\"stream\"\r\n\r\ntrue\r\n"), "{sent}");
}

/// Case C04 over a connection.
#[tokio::test]
async fn an_error_inside_a_stream_fails_the_request_and_is_not_retried() {
    let server = Fake::start(|_| {
        let told = r#"{"object":"error","created":1,"model":"m","error":{"message":"image generation failed","type":"server_error","code":500}}"#;
        events(&[DELTA.replace("\"a\"", "\"partial\""), format!("data: {told}"), "data: [DONE]".to_owned()]).unannounced()
    })
    .await;
    let outcome = Setup::streamed_edits(1).run(&server).await;
    let record = &outcome.records[0];
    assert_eq!(outcome.error(0), "http_status: image generation failed");
    assert_eq!(record.error.as_ref().unwrap().http_status, Some(500));
    assert_eq!(record.stream.as_ref().unwrap().text.as_deref(), Some("partial"));
    assert_eq!((server.seen().len(), record.attempts), (1, 1));
}

#[tokio::test]
async fn a_streamed_edit_succeeds_in_whatever_packets_it_comes() {
    let image = format!(r#"data: {{"object":"image.edit.chunk","type":"image","data":[{{"b64_json":"{PNG_4X3}"}}]}}"#);
    let server = Fake::start(move |seen| {
        let all = [DELTA.to_owned(), image.clone(), "data: [DONE]".to_owned()];
        match seen.nth {
            1 => events(&all),
            2 => events(&all).paced(&[(5, 3), (10, 7), (15, DELTA.len() + 8), (20, DELTA.len() + 90)]),
            3 => events(&all[..2]).unannounced(),
            _ => error(400, "stream=true needs a pipeline of more than one stage"),
        }
    })
    .await;
    let outcome = Setup::streamed_edits(4).run(&server).await;
    for index in 0..3 {
        let record = &outcome.records[index];
        assert_eq!(outcome.error(index), "");
        assert_eq!((record.outputs[0].width, record.outputs[0].height), (Some(4), Some(3)));
    }
    assert_eq!(outcome.error(3), "http_status: stream=true needs a pipeline of more than one stage");
    assert_eq!(outcome.records[3].stream, None);
}

#[tokio::test]
async fn what_a_cut_stream_had_begun_is_kept() {
    let server = Fake::start(|_| events(&[DELTA.to_owned(), DELTA.to_owned()]).torn(DELTA.len() + 10)).await;
    let outcome = Setup::streamed_edits(1).run(&server).await;
    assert!(outcome.error(0).starts_with("io: the reply broke off"), "{}", outcome.error(0));
    assert!(outcome.records[0].stream.as_ref().unwrap().first_event_us.is_some());
}

/// Case C11.
#[tokio::test]
async fn the_latency_includes_the_whole_body() {
    let server = Fake::start(|_| picture().paced(&[(20, 1), (120, 100)])).await;
    let outcome = Setup::images(1, 1).run(&server).await;
    let record = &outcome.records[0];
    let since_sent = |us: Option<u64>| us.unwrap() - record.sent_us.unwrap();
    assert!(since_sent(record.headers_us) < 20_000 + 60_000);
    assert!(since_sent(record.headers_us) <= since_sent(record.first_byte_us));
    assert!(since_sent(record.first_byte_us) >= 20_000);
    assert!((120_000..200_000).contains(&record.latency_us.unwrap()), "{:?}", record.latency_us);
    assert_eq!(record.judged_us, None);
}

/// Case C01 over a connection.
#[tokio::test]
async fn of_eight_replies_without_an_error_status_one_has_a_picture() {
    let bodies = [
        r#"{"created":1,"data":[]}"#.to_owned(),
        r#"{"created":1}"#.to_owned(),
        r#"{"created":1,"data":null}"#.to_owned(),
        r#"{"data":[{"b64_json":""}]}"#.to_owned(),
        r#"{"data":[{"b64_json":null,"url":null}]}"#.to_owned(),
        r#"{"data":[{"b64_json":"!!!"}]}"#.to_owned(),
        r#"{"data":[{"b64_json":"aGVsbG8="}]}"#.to_owned(),
        format!(r#"{{"data":[{{"b64_json":"{PNG_4X3}"}}]}}"#),
    ];
    let server = Fake::start(move |seen| Answer::json(200, bodies[seen.nth - 1].clone())).await;
    let outcome = Setup::images(8, 1).run(&server).await;
    let counts = outcome.driven().counts;
    assert_eq!((counts.ok, counts.failed), (1, 7));
    let reasons: std::collections::BTreeSet<String> = (0..7).map(|index| outcome.error(index)).collect();
    assert!(reasons.len() == 7 && reasons.iter().all(|reason| reason.starts_with("invalid_response: ")), "{reasons:?}");
    let outputs: Vec<_> = outcome.records.iter().flat_map(|record| &record.outputs).collect();
    assert_eq!(outputs.iter().map(|output| output.width.unwrap() * output.height.unwrap()).sum::<u32>(), 12);
}

fn blank() -> Vec<u8> {
    STANDARD.decode_to_vec(PNG_4X3).unwrap()
}

#[tokio::test]
async fn full_validation_flags_what_a_header_does_not_show() {
    let sound = |seed| write_image(ImageFormat::Png, 64, 48, seed).unwrap();
    let script = move |nth: usize| {
        let cut = |picture: Vec<u8>| picture[..picture.len() / 2].to_vec();
        match nth {
            1 => images(&[&sound(1)]),
            2 => images(&[&cut(sound(2))]),
            3 => images(&[&sound(3), &sound(3)]),
            4 => images(&[&sound(4), &sound(1)]),
            _ => Answer::json(200, r#"{"data":[]}"#),
        }
    };
    let run = |validate| async move {
        let server = Fake::start(move |seen| script(seen.nth)).await;
        Setup { validate, ..Setup::images(5, 1) }.run(&server).await
    };
    let outcome = run(Validate::Full).await;
    let flags: Vec<_> = outcome.records.iter().map(|record| record.flags.clone()).collect();
    assert_eq!(flags, [vec![], vec![Flag::Truncated], vec![], vec![Flag::Duplicate], vec![]]);
    let statuses: Vec<Status> = outcome.records.iter().map(|record| record.status).collect();
    assert_eq!(statuses, [Status::Ok, Status::Ok, Status::Ok, Status::Ok, Status::Failed], "a flag is no failure");
    for record in &outcome.records[..4] {
        assert!(record.judged_us.unwrap() >= record.done_us, "the decoding is timed apart");
        assert_eq!(record.latency_us, Some(record.done_us - record.sent_us.unwrap()));
    }
    assert_eq!(outcome.records[4].judged_us, None);

    let outcome = run(Validate::Header).await;
    assert!(outcome.records.iter().all(|record| record.flags.is_empty() && record.judged_us.is_none()));
}

#[tokio::test]
async fn full_validation_finds_single_colours_and_leaves_videos_as_they_are() {
    let one_colour = |seen: &crate::support::fake::Seen| {
        let side = u32::try_from(seen.nth).unwrap();
        let surface = image::GrayImage::from_pixel(side, 1, image::Luma([9]));
        let mut bytes = std::io::Cursor::new(Vec::new());
        surface.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        images(&[bytes.get_ref(), &blank()])
    };
    let server = Fake::start(one_colour).await;
    let outcome = Setup { validate: Validate::Full, ..Setup::images(1, 1) }.run(&server).await;
    assert!(outcome.records[0].flags.contains(&Flag::Blank), "{:?}", outcome.records[0].flags);

    let server = Fake::start(|_| video()).await;
    let setup = Setup { validate: Validate::Full, sync_video: true, ..Setup::videos(2, 1) };
    let outcome = setup.run(&server).await;
    assert_eq!(outcome.driven().counts.ok, 2, "{}", outcome.error(0));
    assert!(!outcome.records[0].flags.contains(&Flag::Duplicate));
    assert!(outcome.records[1].flags.contains(&Flag::Duplicate), "the same clip came back");
    assert!(outcome.records.iter().all(|record| record.judged_us.is_some()));
}

#[tokio::test]
async fn the_blocking_endpoint_tells_everything_in_headers() {
    let server = Fake::start(|_| {
        video()
            .header("x-request-id", "r-7")
            .header("x-inference-time-s", "5.000")
            .header("x-stage-durations", r#"{"stage_0_gen_ms":4000.0,"diffuse":3.5}"#)
            .header("x-peak-memory-mb", "38562.000")
    })
    .await;
    let outcome = Setup { sync_video: true, ..Setup::videos(1, 1) }.run(&server).await;
    let record = &outcome.records[0];
    assert_eq!(outcome.error(0), "");
    assert_eq!((record.generation_ms, record.peak_memory_mb), (Some(4000.0), Some(38_562.0)));
    assert_eq!((record.stage_ms["diffuse"], record.server_request_id.as_deref()), (3500.0, Some("r-7")));
    assert_eq!((record.created_us, record.job_bounds_us, record.polls.len()), (None, None, 0));
    assert!(record.flags.is_empty(), "{:?}", record.flags);
}

#[tokio::test]
async fn the_blocking_endpoints_own_limit_is_a_failure_and_the_clients_is_censoring() {
    let server = Fake::start(|seen| match seen.nth {
        1 => error(504, "video generation timed out after 600 s"),
        _ => video().after(5_000),
    })
    .await;
    let limit = Limit::After(Span::millis(300));
    let outcome = Setup { sync_video: true, request_limit: limit, ..Setup::videos(2, 1) }.run(&server).await;
    assert_eq!(outcome.error(0), "http_status: video generation timed out after 600 s");
    assert_eq!(outcome.records[0].error.as_ref().unwrap().http_status, Some(504));
    assert_eq!((outcome.records[0].status, outcome.records[1].status), (Status::Failed, Status::Censored));
    assert_eq!(outcome.error(1), "timeout: no reply within 300ms");
    assert!((300_000..1_000_000).contains(&outcome.records[1].latency_us.unwrap()));
    assert!(server.seen().iter().all(|seen| seen.is("POST", "/v1/videos/sync")), "there is no job to delete");
}

/// Case C26 after a limit of the client ran out.
#[tokio::test]
async fn a_job_cut_by_its_limit_is_deleted_with_retries_outside_the_latency() {
    let server = Fake::start(|seen| match (seen.method.as_str(), seen.nth) {
        ("POST", _) => job("v", "queued"),
        ("DELETE", 1 | 2) => error(409, "Cancellation in progress"),
        ("DELETE", _) => Answer::json(200, r#"{"id":"v","deleted":true,"object":"video.deleted"}"#),
        _ => job("v", "in_progress"),
    })
    .await;
    let outcome = Setup::videos(1, 1).job_limit_ms(200).run(&server).await;
    let record = &outcome.records[0];
    assert_eq!((record.status, record.flags.contains(&Flag::CleanupFailed)), (Status::Censored, false));
    assert_eq!(server.calls("DELETE", "/v1/videos/v").len(), 3);
    // the pauses between the tries alone are 750 ms
    assert!(record.latency_us.unwrap() < 700_000, "{:?}", record.latency_us);
    assert!(!outcome.jobs.last().unwrap().live);
}

/// Case C29.
#[tokio::test]
async fn a_job_id_stays_one_segment_of_the_address_or_is_refused() {
    let server = Fake::start(|seen| match (seen.method.as_str(), seen.nth) {
        ("POST", 1) => job("../../v1/models?x=", "queued"),
        ("POST", 2) => job("a\\nb", "queued"),
        ("POST", _) => job(&"x".repeat(10_000), "queued"),
        ("DELETE", _) => Answer::json(200, r#"{"deleted":true}"#),
        _ if seen.path.ends_with("/content") => video(),
        _ => job("../../v1/models?x=", "completed"),
    })
    .await;
    let outcome = Setup::videos(3, 1).run(&server).await;
    assert_eq!(outcome.error(0), "");
    for index in [1, 2] {
        assert_eq!(outcome.error(index), "invalid_response: the job has no usable `id`");
    }
    let paths: Vec<String> = server.seen().into_iter().skip(1).map(|seen| seen.path).collect();
    let base = "/v1/videos/..%2F..%2Fv1%2Fmodels%3Fx%3D";
    assert_eq!(paths[..3], [base.to_owned(), format!("{base}/content"), base.to_owned()]);
    assert!(paths[3..].iter().all(|path| path == "/v1/videos"), "{paths:?}");
}

#[tokio::test]
async fn kept_media_are_named_after_their_requests() {
    let server = Fake::start(|_| picture()).await;
    let outcome = Setup { save_media: true, ..Setup::images(2, 1) }.run(&server).await;
    assert_eq!(outcome.media, ["req_0001_00.png", "req_0002_00.png"]);
}
