use std::path::Path;

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::References;
use crate::media::{ImageFormat, write_image, write_moving_video};
use crate::workload::Reference;

struct Folder(tempfile::TempDir);

impl Folder {
    /// A folder `data` with one file of each kind, beside a picture that is outside it.
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs_err::create_dir(folder.0.path().join("data")).unwrap();
        folder.write("ref.png", &write_image(ImageFormat::Png, 32, 16, 1).unwrap());
        folder.write("ref.jpg", &write_image(ImageFormat::Jpeg, 32, 16, 1).unwrap());
        folder.write("clip.mp4", &write_moving_video(32, 16, 5, 8.0, 1).unwrap());
        folder.write("../outside.png", &write_image(ImageFormat::Png, 8, 8, 1).unwrap());
        folder
    }

    fn base(&self) -> std::path::PathBuf {
        self.0.path().join("data")
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs_err::write(self.base().join(name), bytes).unwrap();
    }

    fn take(&self, row: Value) -> Result<(References, IndexMap<String, Value>), String> {
        let mut fields: IndexMap<String, Value> = serde_json::from_value(row).unwrap();
        References::take(&mut fields, &self.base()).map(|references| (references, fields))
    }

    fn refusal(&self, row: Value) -> String {
        self.take(row).expect_err("refused")
    }
}

fn facts(reference: &Reference) -> (String, String, usize) {
    match reference {
        Reference::Bytes { bytes, mime, file_name } => (mime.to_string(), file_name.to_string(), bytes.len()),
        Reference::Url(url) => ("url".into(), url.to_string(), 0),
    }
}

fn names(references: &[Reference]) -> Vec<String> {
    references.iter().map(|reference| facts(reference).1).collect()
}

#[test]
fn columns_name_files_links_and_data_urls_in_order() {
    let folder = Folder::new();
    let png = write_image(ImageFormat::Png, 4, 4, 9).unwrap();
    let data_url = format!("data:application/octet-stream;base64,{}", base64_simd::STANDARD.encode_to_string(&png));
    let row = json!({
        "prompt": "p", "image_path": "ref.png", "strength": 0.5, "video_paths": ["clip.mp4", "https://example.com/v"],
        "image_paths": ["./ref.jpg", data_url, "https://example.com/ref"],
    });
    let (references, left) = folder.take(row).unwrap();
    assert_eq!(left.keys().collect::<Vec<_>>(), ["prompt", "strength"], "and nothing else is touched");
    assert_eq!(names(&references.images), ["ref.png", "ref.jpg", "reference.png", "https://example.com/ref"]);
    assert_eq!(names(&references.videos), ["clip.mp4", "https://example.com/v"]);
    assert_eq!(facts(&references.images[1]).0, "image/jpeg");
    assert_eq!(facts(&references.images[2]), ("image/png".into(), "reference.png".into(), png.len()));
    assert_eq!(facts(&references.videos[0]).0, "video/mp4");
}

#[test]
fn the_bytes_and_not_the_name_say_what_a_file_is() {
    let folder = Folder::new();
    folder.write("really a.png", &write_image(ImageFormat::Jpeg, 8, 8, 2).unwrap());
    folder.write("..hidden \"x\"", &write_image(ImageFormat::Webp, 8, 8, 2).unwrap());
    let row = json!({ "image_paths": ["really a.png", "..hidden \"x\""], "input_reference": "clip.mp4" });
    let (references, _) = folder.take(row).unwrap();
    assert_eq!(facts(&references.images[0]).0, "image/jpeg");
    assert_eq!(names(&references.images), ["really_a.png.jpg", "_.hidden__x_.webp"]);
    assert_eq!(names(&references.videos), ["clip.mp4"], "an input reference may be either");
    let wrong = folder.refusal(json!({ "image_path": "clip.mp4" }));
    assert_eq!(wrong, "`image_path`: `clip.mp4` cannot be sent: it is a video (video/mp4), not an image");
    let wrong = folder.refusal(json!({ "video_path": "ref.png" }));
    assert_eq!(wrong, "`video_path`: `ref.png` cannot be sent: it is an image (image/png), not a video");
}

/// Case C30 (b) to (h): the spellings of the video form.
#[test]
fn the_video_forms_own_spelling_is_read_and_checked() {
    let folder = Folder::new();
    let one = json!({ "image_reference": { "image_url": "https://example.com/r.png" } });
    assert_eq!(names(&folder.take(one).unwrap().0.images), ["https://example.com/r.png"]);
    let two = json!({ "image_reference": [{ "image_url": "http://a/1" }, { "image_url": "http://a/2" }] });
    assert_eq!(names(&folder.take(two).unwrap().0.images), ["http://a/1", "http://a/2"]);
    let text = json!({ "video_reference": "{\"video_url\": \"https://example.com/ref\"}" });
    assert_eq!(names(&folder.take(text).unwrap().0.videos), ["https://example.com/ref"]);
    let (none, left) = folder.take(json!({ "audio_reference": { "audio_url": "http://a/1" } })).unwrap();
    assert_eq!((none, left.len()), (References::default(), 1));

    let file_id = folder.refusal(json!({ "image_reference": { "file_id": "f" } }));
    assert!(file_id.ends_with("servers do not know `file_id`"), "{file_id}");
    for wrong in [json!({ "nope": 1 }), json!({ "image_url": "http://a", "x": 1 }), json!([]), json!("x"), json!(3)] {
        let message = folder.refusal(json!({ "image_reference": wrong }));
        assert!(message.starts_with("`image_reference` must be {\"image_url\": \"…\"}"), "{message}");
    }
    let broken = folder.refusal(json!({ "image_reference": { "image_url": "data:image/png;base64,AAAA" } }));
    assert_eq!(broken, "`image_reference`: it is not a PNG, JPEG or WebP image");
    let path = folder.refusal(json!({ "image_reference": { "image_url": "ref.png" } }));
    assert_eq!(path, "`image_reference`: `ref.png` is not an `http` or `https` link");
    let untold = folder.refusal(json!({ "input_reference": "https://example.com/r.png" }));
    assert!(untold.contains("name it in `image_path` or `video_path`"), "{untold}");
}

#[test]
fn a_csv_cell_may_hold_a_list() {
    let folder = Folder::new();
    let (references, _) = folder.take(json!({ "image_paths": "[\"ref.png\", \"ref.jpg\"]" })).unwrap();
    assert_eq!(names(&references.images), ["ref.png", "ref.jpg"]);
    let wrong = folder.refusal(json!({ "image_paths": [1] }));
    assert_eq!(wrong, "`image_paths` holds `1`, which is no path, link or data URL");
    assert!(folder.take(json!({ "image_path": null })).unwrap().0.images.is_empty());
}

#[test]
fn a_relative_path_stays_in_its_folder_and_an_absolute_one_is_taken() {
    let folder = Folder::new();
    let leaves = |text: &str| {
        let told =
            format!("`image_path`: `{text}` leads out of the folder of the file that names it; write an absolute path");
        assert_eq!(folder.refusal(json!({ "image_path": text })), told);
    };
    leaves("../outside.png");
    leaves("x/../../outside.png");
    let absolute = folder.0.path().join("outside.png");
    assert!(folder.take(json!({ "image_path": absolute })).is_ok());
    fs_err::create_dir(folder.base().join("sub")).unwrap();
    assert!(folder.take(json!({ "image_path": "sub/../ref.png" })).is_ok());
}

#[cfg(unix)]
#[test]
fn links_are_followed_only_inside_the_folder() {
    let folder = Folder::new();
    std::os::unix::fs::symlink("ref.png", folder.base().join("inner.png")).unwrap();
    std::os::unix::fs::symlink("../outside.png", folder.base().join("outer.png")).unwrap();
    assert!(folder.take(json!({ "image_path": "inner.png" })).is_ok());
    let told = folder.refusal(json!({ "image_path": "outer.png" }));
    assert!(told.contains("`outer.png` leads out of the folder"), "{told}");
}

#[test]
fn what_is_no_readable_file_is_named() {
    let folder = Folder::new();
    let told = |text: &str| folder.refusal(json!({ "image_path": text }));
    assert_eq!(told("missing.png"), "`image_path`: `missing.png` does not exist");
    assert_eq!(told("."), "`image_path`: `.` is a folder, not a file");
    assert_eq!(told(""), "`image_path`: a path is empty or holds a zero byte");
    assert_eq!(
        told("ftp://example.com/a.png"),
        "`image_path`: `ftp://example.com/a.png` is not an `http` or `https` link"
    );
    assert_eq!(told("http://"), "`image_path`: `http://` is not an `http` or `https` link");
    assert_eq!(told("data:image/png,AAAA"), "`image_path`: a data URL must be written as `data:TYPE;base64,…`");
    assert_eq!(told("data:image/png;base64,%%"), "`image_path`: a data URL is not valid base64");
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused_without_waiting_for_them() {
    let folder = Folder::new();
    let made = std::process::Command::new("mkfifo").arg(folder.base().join("pipe.png")).status().unwrap();
    assert!(made.success());
    for text in ["pipe.png", "/dev/zero"] {
        let told = folder.refusal(json!({ "image_path": text }));
        assert_eq!(told, format!("`image_path`: `{text}` is a device, pipe or socket, not a file"));
    }
}

#[test]
fn broken_and_foreign_files_are_refused_with_their_fault() {
    let folder = Folder::new();
    let png = write_image(ImageFormat::Png, 64, 64, 1).unwrap();
    let clip = write_moving_video(32, 16, 5, 8.0, 1).unwrap();
    folder.write("cut.png", &png[..png.len() - 20]);
    folder.write("cut.mp4", &clip[..clip.len() - 20]);
    folder.write("text.png", b"hello, this is no image");
    folder.write("empty.png", b"");
    let told = |column: &str, text: &str| folder.refusal(json!({ column: text }));
    assert_eq!(told("image_path", "cut.png"), "`image_path`: `cut.png` cannot be sent: PNG is cut off");
    let cut = "`video_path`: `cut.mp4` cannot be sent: video is cut off: 20 bytes of its `mdat` box are missing";
    assert_eq!(told("video_path", "cut.mp4"), cut);
    let text = "`image_path`: `text.png` cannot be sent: it is not a PNG, JPEG or WebP image";
    assert_eq!(told("image_path", "text.png"), text);
    let neither = "it is neither a PNG, JPEG or WebP image nor an MP4 video";
    assert!(told("input_reference", "text.png").ends_with(neither));
    assert!(told("video_path", "text.png").ends_with("it is not an MP4 video"));
    assert_eq!(told("image_path", "empty.png"), "`image_path`: `empty.png` cannot be sent: it is empty");
}

#[test]
fn a_file_above_the_cap_is_refused_unread() {
    let folder = Folder::new();
    let file = fs_err::File::create(folder.base().join("large.png")).unwrap();
    file.set_len((256 << 20) + 1).unwrap();
    let told = folder.refusal(json!({ "image_path": "large.png" }));
    assert_eq!(told, "`image_path`: `large.png` has more than 256 MiB, too much for a reference");
}

#[test]
fn rows_that_name_the_same_file_share_its_bytes_until_it_changes() {
    let folder = Folder::new();
    let bytes = || match &folder.take(json!({ "image_path": "ref.png" })).unwrap().0.images[0] {
        Reference::Bytes { bytes, .. } => bytes.clone(),
        Reference::Url(url) => panic!("{url}"),
    };
    let first = bytes();
    assert_eq!(first.as_ptr(), bytes().as_ptr());
    folder.write("ref.png", &write_image(ImageFormat::Png, 48, 32, 5).unwrap());
    assert_ne!(first, bytes());
}

#[test]
fn a_profile_may_name_files_anywhere() {
    let folder = Folder::new();
    let path = folder.base().join("../outside.png");
    let mut fields = IndexMap::from([("image_path".to_owned(), Value::from(path.display().to_string()))]);
    let references = References::of_profile(&mut fields).unwrap();
    assert_eq!((names(&references.images), fields.len()), (vec!["outside.png".to_owned()], 0));
    assert!(Path::new(&path).exists());
}
