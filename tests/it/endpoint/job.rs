use omni_bench::catalog::ErrorClass;
use omni_bench::endpoint::{JobReader, JobState, JobStatus, Reply, content_path, job_path};
use omni_bench::record::RequestError;
use serde_json::json;

fn read(status: u16, body: &str) -> Result<JobState, RequestError> {
    let mut reader = JobReader::new(&Reply { status, ..Reply::default() });
    for chunk in body.as_bytes().chunks(9) {
        reader.feed(chunk);
    }
    reader.finish()
}

#[test]
fn a_created_and_a_completed_job_are_read() {
    let queued = r#"{"model":"m","prompt":"p","id":"video_gen_1","object":"video","status":"queued","size":null,"progress":0,
        "seconds":"4","error":null,"inference_time_s":null,"stage_durations":{},"peak_memory_mb":0.0}"#;
    let job = read(200, queued).unwrap();
    assert_eq!((job.id.as_str(), &job.status, &job.error), ("video_gen_1", &JobStatus::Queued, &None));
    assert_eq!((job.inference_time_s, job.peak_memory_mb, job.duration_s), (None, None, None));
    assert!(job.stage_ms.is_empty());

    let completed = json!({"id": "v", "status": "completed", "seconds": "4", "num_frames": 48, "fps": 24, "duration_s": 2.0,
        "inference_time_s": 11.2, "stage_durations": {"diffuse": 0.9}, "peak_memory_mb": 46790.0});
    let job = read(201, &completed.to_string()).unwrap();
    assert_eq!(job.status, JobStatus::Completed);
    assert_eq!((job.num_frames, job.fps, job.duration_s), (Some(48), Some(24.0), Some(2.0)));
    assert_eq!((job.inference_time_s, job.peak_memory_mb), (Some(11.2), Some(46790.0)));
    assert_eq!(job.stage_ms.get("diffuse"), Some(&900.0));
}

/// Case C15.
#[test]
fn a_failed_job_with_an_error_status_is_a_state() {
    let body = r#"{"id":"video_gen_1","object":"video","status":"failed","error":{"code":400,"message":"num_frames must be 17n+5"}}"#;
    for status in [200, 400, 500] {
        let job = read(status, body).unwrap();
        assert_eq!(job.status, JobStatus::Failed);
        let error = job.error.unwrap();
        assert_eq!((error.class, error.message.as_str()), (ErrorClass::JobFailed, "num_frames must be 17n+5"));
        assert_eq!(error.http_status, Some(status));
    }
    let silent = read(500, r#"{"id":"v","status":"failed","error":null}"#).unwrap();
    assert_eq!(silent.error.unwrap().message, "the job failed and the server did not say why");
}

#[test]
fn a_refused_call_carries_the_servers_words() {
    let gone = read(404, r#"{"error":{"message":"Video not found","code":404}}"#).unwrap_err();
    assert_eq!(
        (gone.class, gone.http_status, gone.message.as_str()),
        (ErrorClass::HttpStatus, Some(404), "Video not found")
    );
    let validation = read(422, r#"{"detail":[{"loc":["body","fps"],"msg":"must be an integer"}]}"#).unwrap_err();
    assert_eq!(validation.message, "body.fps: must be an integer");
    let other = read(409, r#"{"id":"v","status":"in_progress"}"#).unwrap_err();
    assert_eq!(other.http_status, Some(409));
}

#[test]
fn what_is_no_job_is_a_poll_error() {
    for (body, wanted) in [
        (" ", "the job reply is empty"),
        ("", "the job reply is empty"),
        ("<html>", "the job reply is not json: expected value at line 1 column 1"),
        ("{\"id\":\"v\",", "the job reply is not json: EOF while parsing"),
        ("{\"id\":\"v\"}", "the job reply has no `status`"),
        ("{\"error\":{\"message\":\"engine gone\"}}", "the job reply is an error: engine gone"),
    ] {
        let error = read(200, body).unwrap_err();
        assert_eq!(error.class, ErrorClass::PollError);
        assert_eq!(error.http_status, Some(200));
        assert!(error.message.starts_with(wanted), "{body}: {}", error.message);
    }
    let long = read(200, &format!("{{\"status\":\"queued\",\"prompt\":\"{}\"}}", "x".repeat(1 << 20))).unwrap_err();
    assert_eq!(long.message, "the job reply is longer than 1048576 bytes (limit `max_job_reply`)");
    let mut short = JobReader::new(&Reply { status: 200, content_length: Some(100), ..Reply::default() });
    short.feed(b"{\"id\":");
    assert_eq!(short.finish().unwrap_err().message, "the job reply ended after 6 of 100 bytes");
}

#[test]
fn a_create_call_must_name_a_usable_job() {
    let create = |body: &str| {
        let mut reader = JobReader::for_create(&Reply { status: 200, ..Reply::default() });
        reader.feed(body.as_bytes());
        reader.finish()
    };
    assert_eq!(create(r#"{"id":"v","status":"queued"}"#).unwrap().id, "v");
    for body in [r#"{"status":"queued"}"#, r#"{"id":"..","status":"queued"}"#, r#"{"id":"a\nb","status":"queued"}"#] {
        let error = create(body).unwrap_err();
        assert_eq!((error.class, error.message.as_str()), (ErrorClass::InvalidResponse, "the job has no usable `id`"));
    }
    assert_eq!(create("{}").unwrap_err().class, ErrorClass::InvalidResponse);
}

#[test]
fn unknown_words_are_kept() {
    assert_eq!(read(200, r#"{"id":"v","status":"paused"}"#).unwrap().status, JobStatus::Unknown("paused".to_owned()));
    let deleted = read(200, r#"{"id":"v","deleted":true,"object":"video.deleted"}"#).unwrap();
    assert_eq!(deleted.status, JobStatus::Unknown("deleted".to_owned()));
}

/// Case C29.
#[test]
fn a_job_id_is_one_path_segment() {
    assert_eq!(job_path("video_gen_1a-b.c~").as_deref(), Some("/v1/videos/video_gen_1a-b.c~"));
    assert_eq!(job_path("../../v1/models?x=").as_deref(), Some("/v1/videos/..%2F..%2Fv1%2Fmodels%3Fx%3D"));
    assert_eq!(content_path("a b%2f").as_deref(), Some("/v1/videos/a%20b%252f/content"));
    assert_eq!(content_path("ä").as_deref(), Some("/v1/videos/%C3%A4/content"));
    for id in ["", ".", "..", "a\nb", "a\u{7f}", &"x".repeat(10_000)] {
        assert_eq!(job_path(id), None);
        assert_eq!(content_path(id), None);
    }
    let base = url::Url::parse("http://localhost:8091/").unwrap();
    let joined = base.join(&job_path("../../v1/models?x=").unwrap()).unwrap();
    assert_eq!((joined.path(), joined.query()), ("/v1/videos/..%2F..%2Fv1%2Fmodels%3Fx%3D", None));
}
