use omni_bench::catalog::{Api, ErrorClass, Flag, Task};
use omni_bench::endpoint::{JobState, JobStatus, Judge, Reply, SaveMedia, Verdict};
use omni_bench::workload::Request;

use super::{message, ok_reply, request, sized, wire};

/// 64×64, 33 frames, 24 frames per second.
pub(crate) fn clip() -> Vec<u8> {
    include_bytes!("../../fixtures/clip_64x64_33f_24fps.mp4").to_vec()
}

fn job() -> JobState {
    JobState {
        id: "v".to_owned(),
        status: JobStatus::Completed,
        error: None,
        inference_time_s: None,
        stage_ms: [("stage_0_gen_ms".to_owned(), 4502.59)].into(),
        peak_memory_mb: Some(46790.0),
        num_frames: None,
        fps: None,
        duration_s: None,
    }
}

fn content(job: Option<&JobState>, request: &Request, reply: &Reply, body: &[u8]) -> Verdict {
    let mut judge = Judge::content(&wire(Api::Videos, Task::T2v), request, job, reply, None);
    for chunk in body.chunks(100) {
        judge.feed(chunk);
    }
    judge.finish()
}

fn asked(frames: u32, fps: f64) -> Request {
    let mut request = sized(Task::T2v, 64, 64);
    (request.shape.num_frames, request.shape.fps) = (Some(frames), Some(fps));
    request
}

/// Case C22: never the echoed `seconds`.
#[test]
fn the_container_says_how_long_the_clip_is() {
    let verdict = content(Some(&job()), &asked(33, 24.0), &ok_reply("video/mp4"), &clip());
    assert_eq!((verdict.error, verdict.flags.as_slice()), (None, [].as_slice()));
    let output = &verdict.outputs[0];
    assert_eq!((output.width, output.height, output.frames), (Some(64), Some(64), Some(33)));
    assert_eq!((output.fps, output.duration_s), (Some(24.0), Some(1.375)));
    assert_eq!(output.bytes, clip().len() as u64);
    assert_eq!(output.blake3, blake3::hash(&clip()).to_hex().to_string());
    assert_eq!((verdict.generation_ms, verdict.peak_memory_mb), (Some(4502.59), Some(46790.0)));
}

#[test]
fn a_clip_that_is_not_the_one_asked_for_is_flagged() {
    let mut other = asked(49, 16.0);
    (other.shape.width, other.n) = (Some(128), Some(4));
    let verdict = content(Some(&job()), &other, &ok_reply("video/mp4"), &clip());
    assert_eq!(verdict.outputs.len(), 1);
    assert_eq!(verdict.flags, [Flag::FramesMismatch, Flag::FpsMismatch, Flag::FewerOutputs, Flag::SizeMismatch]);
    assert_eq!(content(Some(&job()), &asked(33, 23.976), &ok_reply("video/mp4"), &clip()).flags, []);
}

/// Case C20.
#[test]
fn generation_time_comes_from_stages_then_inference_time_then_latency() {
    let generation = |job: &JobState| {
        let verdict = content(Some(job), &asked(33, 24.0), &ok_reply("video/mp4"), &clip());
        (verdict.generation_ms, verdict.flags)
    };
    let mut job = JobState { inference_time_s: Some(5.0), ..job() };
    assert_eq!(generation(&job), (Some(4502.59), vec![]));
    job.stage_ms.clear();
    assert_eq!(generation(&job), (Some(5000.0), vec![Flag::RtfFromInferenceTime]));
    job.inference_time_s = None;
    assert_eq!(generation(&job), (None, vec![Flag::RtfFromLatency]));
}

#[test]
fn a_synchronous_reply_tells_its_making_in_headers() {
    let headers = [
        ("x-request-id", "r-1"),
        ("x-inference-time-s", "5.000"),
        ("x-stage-durations", r#"{"diffuse":0.5}"#),
        ("x-peak-memory-mb", "38562.000"),
    ];
    let headers = headers.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let verdict = content(None, &asked(33, 24.0), &Reply { headers, ..ok_reply("video/mp4") }, &clip());
    assert_eq!(verdict.error, None);
    assert_eq!(verdict.server_request_id.as_deref(), Some("r-1"));
    assert_eq!((verdict.generation_ms, verdict.peak_memory_mb), (Some(5000.0), Some(38562.0)));
    assert_eq!(verdict.stage_ms.get("diffuse"), Some(&500.0));
    assert_eq!(verdict.flags, [Flag::RtfFromInferenceTime]);
}

/// Case C19.
#[test]
fn content_that_is_no_video_has_messages_of_its_own() {
    let mp4 = ok_reply("video/mp4");
    let cases = [
        (mp4.clone(), b"".as_slice(), "the video is empty"),
        (ok_reply("application/json"), br#"{"error":"x"}"#, "the reply is `application/json`, not a video: x"),
        (mp4.clone(), br#"{"error":"x"}"#, "the reply is json, not a video: x"),
        (ok_reply("text/html"), b"<p>gone</p>", "the reply is `text/html`, not a video: <p>gone</p>"),
        (ok_reply("application/json"), b"", "the reply is empty, and `application/json`, not a video"),
        (
            Reply { status: 404, ..ok_reply("application/json") },
            br#"{"error":{"message":"Generation is still in-progress"}}"#,
            "Generation is still in-progress",
        ),
        (Reply { content_length: Some(1000), ..mp4.clone() }, &[0; 144], "the reply ended after 144 of 1000 bytes"),
    ];
    for (reply, body, wanted) in cases {
        let verdict = content(Some(&job()), &request(Task::T2v), &reply, body);
        assert_eq!(message(&verdict), wanted);
        let error = verdict.error.unwrap();
        assert_eq!((error.class, error.http_status), (ErrorClass::Content, Some(reply.status)));
        assert!(verdict.flags.is_empty() && verdict.outputs.is_empty());
    }
    let verdict = content(Some(&job()), &request(Task::T2v), &mp4, b"<html>not found</html> and more text");
    assert!(message(&verdict).starts_with("36 bytes that are no video: "), "{}", message(&verdict));

    let sync = |status, body: &[u8]| {
        let reply = Reply { status, ..ok_reply("application/json") };
        content(None, &request(Task::T2v), &reply, body).error.unwrap().class
    };
    assert_eq!(sync(200, b"{}"), ErrorClass::InvalidResponse);
    assert_eq!(sync(504, b"{}"), ErrorClass::HttpStatus);
}

#[test]
fn without_a_check_the_length_comes_from_job_then_request() {
    let mut wire = wire(Api::Videos, Task::T2v);
    wire.check_media = false;
    let output = |job: &JobState, request: &Request| {
        let mut judge = Judge::content(&wire, request, Some(job), &ok_reply("video/mp4"), None);
        judge.feed(b"not really a video");
        let verdict = judge.finish();
        let output = verdict.outputs.into_iter().next().unwrap();
        (output.frames, output.duration_s, verdict.flags)
    };
    let told = JobState { num_frames: Some(48), fps: Some(24.0), ..job() };
    assert_eq!(output(&told, &asked(48, 24.0)), (Some(48), Some(2.0), vec![]));
    let exact = JobState { duration_s: Some(2.5), ..told };
    assert_eq!(output(&exact, &asked(48, 24.0)), (Some(48), Some(2.5), vec![]));
    assert_eq!(output(&job(), &asked(33, 24.0)), (Some(33), Some(1.375), vec![Flag::DurationFromRequest]));
    assert_eq!(output(&job(), &request(Task::T2v)), (None, None, vec![]));
}

#[test]
fn a_saved_video_is_the_bytes_that_came() {
    let folder = tempfile::tempdir().unwrap();
    let save = SaveMedia { folder: folder.path().to_owned(), stem: "req_0001".to_owned() };
    let wire = wire(Api::Videos, Task::T2v);
    let mut judge = Judge::content(&wire, &request(Task::T2v), Some(&job()), &ok_reply("video/mp4"), Some(save));
    clip().chunks(33).for_each(|chunk| judge.feed(chunk));
    assert_eq!(judge.finish().error, None);
    assert_eq!(fs_err::read(folder.path().join("req_0001.mp4")).unwrap(), clip());
    assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 1);
}
