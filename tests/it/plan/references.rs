//! Reference media that rows and profiles name, from the file to the request.

use omni_bench::media::{ImageFormat, write_image, write_moving_video};
use omni_bench::workload::{Reference, Request};

use super::*;
use crate::support::Sandbox;

/// A folder with a picture, a clip and a data file of these rows.
fn folder(rows: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let write = |name: &str, bytes: &[u8]| fs_err::write(sandbox.path().join(name), bytes).unwrap();
    write("ref.png", &write_image(ImageFormat::Png, 32, 16, 1).unwrap());
    write("clip.mp4", &write_moving_video(32, 16, 5, 8.0, 1).unwrap());
    write("rows.jsonl", rows.as_bytes());
    sandbox
}

fn text(sandbox: &Sandbox, task: &str, model: &str, more: &str) -> String {
    let path = sandbox.path().join("rows.jsonl");
    format!(
        "name = 'test'\nmodel = {{ id = '{model}', task = '{task}' }}\n{more}[datasets.A]\nsource = 'custom'\npath = '{}'\n",
        path.display()
    )
}

/// The problems of a dataset with these rows, with the folder's own path left out.
fn told(task: &str, more: &str, rows: &str) -> Vec<String> {
    let sandbox = folder(rows);
    problems_of(&text(&sandbox, task, "m", more), SIMULATED)
}

fn media(request: &Request) -> (Vec<String>, Vec<String>) {
    let name = |reference: &Reference| match reference {
        Reference::Bytes { file_name, mime, .. } => format!("{file_name} {mime}"),
        Reference::Url(url) => url.to_string(),
    };
    (request.images.iter().map(name).collect(), request.videos.iter().map(name).collect())
}

/// Case C30 (a) to (c).
#[test]
fn rows_name_files_and_links_and_synthetic_media_stand_back() {
    let rows = r#"{"prompt": "a", "image_path": "ref.png"}
{"prompt": "b", "image_reference": {"image_url": "https://example.com/r.png"}}
{"prompt": "c", "image_paths": ["ref.png", "ref.png"]}"#;
    let sandbox = folder(rows);
    let (_, phases) = first_phases(&format!("{}on_short = 'truncate'\n", text(&sandbox, "i2v", "m", "")));
    let sent: Vec<_> = phases.measured.iter().map(|request| media(request).0).collect();
    assert_eq!(
        sent,
        [vec!["ref.png image/png"], vec!["https://example.com/r.png"], vec!["ref.png image/png", "ref.png image/png"]]
    );
    let Some([Reference::Bytes { bytes, .. }]) = phases.measured.first().map(|request| &request.images[..]) else {
        panic!("one file")
    };
    assert_eq!(bytes, &fs_err::read(sandbox.path().join("ref.png")).unwrap());
}

/// Case C30 (d) to (g): nothing is sent, and the row is named.
#[test]
fn references_that_no_server_would_take_are_plan_errors_with_their_row() {
    let first = r#"{"prompt": "a", "image_path": "ref.png"}"#;
    let of = |row: &str| told("i2v", "", &format!("{first}\n{row}\n"));
    let at = "datasets.A.path: rows.jsonl:2: ";
    let must = "`image_reference` must be {\"image_url\": \"…\"} or a list of such objects, not ";
    assert_eq!(
        of(r#"{"prompt": "b", "image_reference": {"file_id": "f"}}"#),
        [format!("{at}{must}`{{\"file_id\":\"f\"}}`; servers do not know `file_id`")]
    );
    assert_eq!(of(r#"{"prompt": "b", "image_reference": {"nope": 1}}"#), [format!("{at}{must}`{{\"nope\":1}}`")]);
    assert_eq!(
        of(r#"{"prompt": "b", "image_path": "gone.png"}"#),
        [format!("{at}`image_path`: `gone.png` does not exist")]
    );
    assert_eq!(
        of(r#"{"prompt": "b", "image_path": "ref.png", "image_reference": {"image_url": "http://a/1"}}"#),
        ["datasets.A: row 2: reference files and reference links cannot be combined in one request"]
    );
}

#[test]
fn each_endpoint_takes_the_references_it_knows() {
    let link = r#"{"prompt": "a", "image_path": "https://example.com/a"}"#;
    let clip = r#"{"prompt": "a", "image_path": "ref.png", "video_path": "clip.mp4"}"#;
    assert_eq!(told("ti2i", "", link), Vec::<String>::new());
    assert_eq!(
        told("ti2i", "endpoint = { path = '/v1/chat/completions' }\n", link),
        ["datasets.A: row 1: chat reads data URLs only and ignores image links without notice; \
          fetch `https://example.com/a` to a file first"]
    );
    assert_eq!(told("ti2i", "", clip), ["datasets.A: row 1: task `ti2i` takes no reference videos"]);
    let combined = "a reference video that is a file cannot be combined with other files";
    assert_eq!(told("v2v", "", clip), [format!("datasets.A: row 1: {combined}")]);
    assert_eq!(
        told("i2v", "", r#"{"prompt": "a", "video_path": "clip.mp4"}"#),
        [format!("datasets.A: row 1: {combined}")],
        "the image is made"
    );
    let sandbox = folder(clip);
    let minimax = text(&sandbox, "v2v", "MiniMaxAI/MiniMax-H3", "");
    assert_eq!(problems_of(&minimax, SIMULATED), Vec::<String>::new());
}

/// Case C31, before anything is sent.
#[test]
fn texts_above_the_forms_limit_are_plan_errors() {
    let long = "a".repeat(1_048_577);
    let message = "datasets.A: row 1: `prompt` has 1048577 bytes, and servers refuse form fields above 1048576";
    let row = format!(r#"{{"prompt": "{long}", "image_path": "ref.png"}}"#);
    assert_eq!(told("i2v", "", &row), [message]);
    assert_eq!(told("i2i", "endpoint = { path = '/v1/chat/completions' }\n", &row), Vec::<String>::new());

    let clip = write_moving_video(64, 48, 5, 8.0, 1).unwrap();
    let filling = [&900_000_u32.to_be_bytes()[..], b"free", &vec![0; 899_992]].concat();
    let url = base64_simd::STANDARD.encode_to_string([clip, filling].concat());
    let with = |more: &str| {
        format!(r#"{{"prompt": "a", "video_reference": {{"video_url": "data:video/mp4;base64,{url}"}}{more}}}"#)
    };
    assert_eq!(told("v2v", "", &with("")), Vec::<String>::new(), "it is sent as a file");
    let told = told("v2v", "", &with(r#", "image_path": "ref.png""#));
    assert!(told[0].starts_with("datasets.A: row 1: `video_reference` has "), "{told:?}");
    assert!(told[0].ends_with("a reference video that is a file cannot be combined with other files"), "{told:?}");
}

#[test]
fn profiles_name_media_beside_the_scenario() {
    let sandbox = folder("");
    let scenario = "name = 'p'\nmodel = { id = 'm', task = 'v2v' }\n[datasets.A]\n\
        profiles = [{ prompt = 'p', video_path = 'clip.mp4' }]\n[traffic]\nrequests = 1\n";
    fs_err::write(sandbox.path().join("s.toml"), scenario).unwrap();
    let output = sandbox.omni_bench(&["run", "s.toml", "--simulate", "--speed", "1000", "--no-progress"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    fs_err::write(sandbox.path().join("s.toml"), scenario.replace("clip.mp4", "gone.mp4")).unwrap();
    let output = sandbox.omni_bench(&["plan", "s.toml", "--simulate"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("`video_path`: `") && told.contains("gone.mp4` does not exist"), "{told}");
    assert!(told.contains("s.toml:4"), "{told}");
}

/// Which bytes are sent is part of what is asked, where they lie is not.
#[test]
fn the_workload_key_follows_the_bytes_and_not_the_paths() {
    let key = |row: &str, other: bool| {
        let sandbox = folder(row);
        if other {
            fs_err::write(sandbox.path().join("ref.png"), write_image(ImageFormat::Png, 32, 16, 2).unwrap()).unwrap();
        }
        planned_data(&text(&sandbox, "i2v", "m", ""), SIMULATED).0.runs[0].workload_key.clone()
    };
    let row = r#"{"prompt": "a", "image_path": "ref.png"}"#;
    assert_eq!(key(row, false), key(r#"{"prompt": "a", "image_paths": ["./ref.png"]}"#, false));
    assert_ne!(key(row, false), key(row, true));
    let videos = |videos: &str| {
        let text = format!("name = 'test'\nmodel = {{ id = 'm', task = 'v2v' }}\n[datasets.A]\nvideos = {videos}\n");
        planned_data(&text, SIMULATED).0.runs[0].workload_key.clone()
    };
    assert_eq!(videos("{}"), videos("{ count = 1 }"));
    assert_ne!(videos("{}"), videos("{ num_frames = 9 }"));
}

#[test]
fn a_video_to_video_request_carries_a_clip_of_its_own_shape() {
    let text = "name = 'test'\nmodel = { id = 'm', task = 'v2v' }\n[datasets.A]\n\
        profiles = [{ width = 64, height = 48, num_frames = 9, fps = 12 }]\n";
    let (_, phases) = first_phases(text);
    assert_eq!(media(&phases.measured[0]), (vec![], vec!["input_0.mp4 video/mp4".to_owned()]));
    let pointer = |request: &Request| match &request.videos[0] {
        Reference::Bytes { bytes, .. } => (bytes.as_ptr(), bytes.clone()),
        Reference::Url(url) => panic!("{url}"),
    };
    assert_eq!(pointer(&phases.measured[0]), pointer(&phases.warmup[0]), "made once for all phases");
    let mut probe = omni_bench::media::VideoProbe::new();
    probe.feed(&pointer(&phases.measured[0]).1);
    let info = probe.finish().unwrap();
    assert_eq!((info.width, info.height, info.frames, info.fps), (64, 48, 9, 12.0));
}
