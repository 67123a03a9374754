//! The one route of each reference, as the bodies show it.

use omni_bench::catalog::{Api, Task};
use omni_bench::endpoint::{Body, Wire};
use omni_bench::workload::{Reference, Request};
use serde_json::json;

use super::encode::{fields, files, refused, url};
use super::{PNG_1X1, PNG_4X3, file, request, wire, with_fields};

/// Case C30.
#[test]
fn each_reference_of_a_video_takes_one_route() {
    let wire = wire(Api::Videos, Task::I2v);
    let with = |images: Vec<Reference>, videos: Vec<Reference>| Request { images, videos, ..request(Task::I2v) };
    let one = wire.encode(&with(vec![file("ref.png", PNG_1X1)], vec![])).unwrap();
    assert_eq!(files(&one).len(), 1);
    assert!(files(&one)[0].0.starts_with("name=\"input_reference\"; filename=\"ref.png\""));
    assert!(!fields(&one).iter().any(|field| field.contains("reference")));

    let two = wire.encode(&with(vec![file("a.png", PNG_1X1), file("b.png", PNG_4X3)], vec![])).unwrap();
    let heads: Vec<_> = files(&two).into_iter().map(|(head, _)| head).collect();
    assert!(heads.len() == 2 && heads.iter().all(|head| head.starts_with("name=\"input_references\";")));

    let link = wire.encode(&with(vec![url("https://example.com/r.png")], vec![url("https://example.com/v")])).unwrap();
    assert_eq!(
        fields(&link)[2..],
        [
            r#"image_reference={"image_url":"https://example.com/r.png"}"#,
            r#"video_reference={"video_url":"https://example.com/v"}"#,
        ]
    );
    let links = wire.encode(&with(vec![url("http://a/1"), url("http://a/2")], vec![])).unwrap();
    assert_eq!(fields(&links)[2], r#"image_reference=[{"image_url":"http://a/1"},{"image_url":"http://a/2"}]"#);
}

/// Case C30.
#[test]
fn references_that_cannot_be_routed_are_refused() {
    // C30 (g): a file and a link in one request
    let both = Request { images: vec![file("a.png", PNG_1X1), url("http://a/1")], ..request(Task::I2v) };
    assert_eq!(refused(Api::Videos, &both), "reference files and reference links cannot be combined in one request");
    let with_field = Request { images: vec![file("a.png", PNG_1X1)], ..request(Task::I2v) };
    let with_field = with_fields(with_field, &json!({"image_reference": {"image_url": "http://a/1"}}));
    assert!(refused(Api::Videos, &with_field).contains("cannot be combined"));
    for value in [json!({"file_id": "f"}), json!({"nope": 1}), json!({"image_url": "u", "x": 1}), json!([]), json!("x")]
    {
        let request = with_fields(request(Task::I2v), &json!({"image_reference": value}));
        assert!(refused(Api::Videos, &request).starts_with("`image_reference` must be {\"image_url\""), "{value}");
    }
    let path = with_fields(request(Task::I2v), &json!({"input_reference": "ref.png"}));
    assert!(refused(Api::Videos, &path).starts_with("`input_reference` is a file"));
}

/// A PNG with so many bytes, the rest in a chunk that readers pass over.
fn png_of(length: usize) -> Vec<u8> {
    let png = base64_simd::STANDARD.decode_to_vec(PNG_1X1).unwrap();
    let (head, end) = png.split_at(png.len() - 12);
    let filling = length - png.len() - 12;
    let size = u32::try_from(filling).unwrap().to_be_bytes();
    [head, &size, b"teSt", &vec![0; filling], &[0; 4], end].concat()
}

/// An MP4 with so many bytes, the rest in a box that readers pass over.
fn mp4_of(length: usize) -> Vec<u8> {
    let mp4 = omni_bench::media::write_moving_video(64, 48, 5, 8.0, 1).unwrap();
    let filling = length - mp4.len();
    let size = u32::try_from(filling).unwrap().to_be_bytes();
    [&mp4[..], &size, b"free", &vec![0; filling - 8]].concat()
}

fn data_url(mime: &str, bytes: &[u8]) -> Reference {
    url(&format!("data:{mime};base64,{}", base64_simd::STANDARD.encode_to_string(bytes)))
}

#[test]
fn an_edit_sends_a_long_data_url_as_the_file_it_holds() {
    let picture = png_of(900_000);
    let images = vec![url("http://a/1"), data_url("image/png", &picture), data_url("image/png", &png_of(3_000))];
    let body = wire(Api::Edits, Task::I2i).encode(&Request { images, ..request(Task::I2i) }).unwrap();
    let files = files(&body);
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].0, "name=\"image\"; filename=\"reference.png\"\r\nContent-Type: image/png");
    assert_eq!(files[0].1, picture);
    assert_eq!(fields(&body).iter().filter(|field| field.starts_with("url=")).count(), 2);
}

/// Case C31: servers refuse text parts above 1 MiB.
#[test]
fn a_link_field_above_the_servers_limit_becomes_the_file_it_holds() {
    let wire = wire(Api::Videos, Task::V2v);
    let frame = r#"{"video_url":"data:video/mp4;base64,"}"#.len();
    // base64 of whole groups; a space more or less in the head makes every length possible
    let with = |length: usize| {
        let groups = (length - frame) / 4;
        let clip = mp4_of(groups * 3);
        let Reference::Url(link) = data_url("video/mp4", &clip) else { panic!("a link") };
        let padding = "0".repeat(length - frame - groups * 4);
        (clip, url(&link.replace(";base64", &format!("{padding};base64"))))
    };
    let (_, short) = with(1_048_576);
    let sent = wire.encode(&Request { videos: vec![short], ..request(Task::V2v) }).unwrap();
    assert!(files(&sent).is_empty());
    assert_eq!(fields(&sent)[2].len(), "video_reference=".len() + 1_048_576);

    let (clip, long) = with(1_048_577);
    let sent = wire.encode(&Request { videos: vec![long.clone()], ..request(Task::V2v) }).unwrap();
    assert!(!fields(&sent).iter().any(|field| field.contains("reference")));
    let file_parts = files(&sent);
    assert_eq!(file_parts.len(), 1);
    assert_eq!(file_parts[0].0, "name=\"input_reference\"; filename=\"reference.mp4\"\r\nContent-Type: video/mp4");
    assert!(file_parts[0].1 == clip);

    let reason = "`video_reference` has 1048577 bytes, and servers refuse form fields above 1048576";
    let beside = |image: Reference| {
        refused(Api::Videos, &Request { images: vec![image], videos: vec![long.clone()], ..request(Task::V2v) })
    };
    assert_eq!(
        beside(file("a.png", PNG_1X1)),
        format!("{reason}, and a reference video that is a file cannot be combined with other files")
    );
    assert_eq!(
        beside(url("http://a/1")),
        format!("{reason}, and reference files and reference links cannot be combined in one request")
    );
    let unreadable = url(&format!("data:video/mp4;base64,{}", "A".repeat(1_048_576)));
    let message = refused(Api::Videos, &Request { videos: vec![unreadable], ..request(Task::V2v) });
    assert!(message.ends_with("servers refuse form fields above 1048576; pass media as files"), "{message}");
}

fn clip(bytes: Vec<u8>) -> Reference {
    Reference::Bytes { bytes: bytes.into(), mime: "video/mp4".into(), file_name: "clip.mp4".into() }
}

#[test]
fn a_video_file_is_the_one_input_reference_and_several_are_refused() {
    let bytes = mp4_of(5_000);
    let with = |images: Vec<Reference>, videos| Request { images, videos, ..request(Task::V2v) };
    let body = wire(Api::Videos, Task::V2v).encode(&with(vec![], vec![clip(bytes.clone())])).unwrap();
    let parts = files(&body);
    assert_eq!(parts.len(), 1);
    assert_eq!(parts[0].0, "name=\"input_reference\"; filename=\"clip.mp4\"\r\nContent-Type: video/mp4");
    assert_eq!(parts[0].1, bytes);
    let message = "a reference video that is a file cannot be combined with other files";
    assert_eq!(refused(Api::Videos, &with(vec![], vec![clip(bytes.clone()), clip(bytes.clone())])), message);
    assert_eq!(refused(Api::Videos, &with(vec![file("a.png", PNG_1X1)], vec![clip(bytes)])), message);
}

#[test]
fn minimax_h3_gets_its_videos_as_video_reference() {
    let wire = Wire { model: "MiniMaxAI/MiniMax-H3".to_owned(), ..wire(Api::Videos, Task::V2v) };
    let with = |images: Vec<Reference>, videos| Request { images, videos, ..request(Task::V2v) };
    let names = |body: &Body| {
        files(body).into_iter().map(|(head, _)| head.split('"').nth(1).unwrap().to_owned()).collect::<Vec<_>>()
    };
    let bytes = mp4_of(5_000);

    let one = wire.encode(&with(vec![], vec![clip(bytes.clone())])).unwrap();
    assert!(files(&one).is_empty());
    let link = format!("data:video/mp4;base64,{}", base64_simd::STANDARD.encode_to_string(&bytes));
    assert_eq!(fields(&one)[2], format!("video_reference=[{{\"video_url\":\"{link}\"}}]"));
    let beside_a_link = wire.encode(&with(vec![url("http://a/1")], vec![clip(bytes.clone())])).unwrap();
    assert_eq!(fields(&beside_a_link).len(), 4);

    let mixed = wire.encode(&with(vec![file("a.png", PNG_1X1)], vec![clip(bytes)])).unwrap();
    assert_eq!(names(&mixed), ["input_references", "input_references"]);
    let large = wire.encode(&with(vec![], vec![clip(mp4_of(900_000))])).unwrap();
    assert_eq!((names(&large), fields(&large).len()), (vec!["input_references".to_owned()], 2));
}

#[test]
fn sound_goes_with_one_file_but_not_with_several() {
    let sound = json!({"audio_reference": {"audio_url": "https://example.com/a.wav"}});
    let with = |images: Vec<Reference>| with_fields(Request { images, ..request(Task::I2v) }, &sound);
    let wire = wire(Api::Videos, Task::I2v);
    let one = wire.encode(&with(vec![file("a.png", PNG_1X1)])).unwrap();
    assert_eq!(files(&one).len(), 1);
    assert_eq!(fields(&one)[2], r#"audio_reference={"audio_url":"https://example.com/a.wav"}"#);
    assert_eq!(
        refused(Api::Videos, &with(vec![file("a.png", PNG_1X1), file("b.png", PNG_4X3)])),
        "several reference files cannot be combined with `audio_reference`"
    );
}
