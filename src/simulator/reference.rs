//! Reference pictures and videos of a request: taken from files and data URLs, and decoded, so that a client
//! that sends something else is told.

use bytes::Bytes;
use serde_json::Value;

use super::reply::Refusal;
use super::state::{App, off_loop};
use crate::catalog::Task;
use crate::media::{ImageInfo, MediaError, VideoProbe, decode_image};

/// The bytes of a data URL; `None` for a URL of another kind.
///
/// # Errors
/// 400 for a data URL that is not base64.
pub(crate) fn from_data_url(url: &str) -> Result<Option<Bytes>, Refusal> {
    let Some(rest) = url.strip_prefix("data:") else { return Ok(None) };
    let payload = rest.split_once(";base64,").map(|(_, payload)| payload);
    let bytes = payload.and_then(|text| base64_simd::forgiving_decode_to_vec(text.as_bytes()).ok());
    bytes.map(|bytes| Some(Bytes::from(bytes))).ok_or_else(|| Refusal::bad("Invalid data URL: not base64"))
}

/// The bytes behind a URL. The simulator reaches nothing but data URLs.
pub(crate) fn from_url(url: &str) -> Result<Bytes, Refusal> {
    from_data_url(url)?.ok_or_else(|| Refusal::bad("the simulator fetches no URLs; send a file or a data URL"))
}

/// Decodes every picture and gives the first one's facts. Null mode believes the client unless the size is
/// needed.
///
/// # Errors
/// 400 naming the first picture that cannot be decoded.
pub(crate) async fn check_pictures(
    app: &App,
    pictures: Vec<Bytes>,
    needed: bool,
) -> Result<Option<ImageInfo>, Refusal> {
    if pictures.is_empty() || (app.settings.null && !needed) {
        return Ok(None);
    }
    let decode = move || {
        let mut first = None;
        for (index, picture) in pictures.iter().enumerate() {
            let info = decode_image(picture).map_err(|error| (index, error))?;
            first.get_or_insert(info);
        }
        Ok(first)
    };
    off_loop(decode)
        .await?
        .map_err(|(index, error): (usize, MediaError)| Refusal::bad(format!("Invalid image at index {index}: {error}")))
}

/// Reads the container of every video. Null mode believes the client.
///
/// # Errors
/// 400 naming the first video that cannot be read.
pub(crate) async fn check_videos(app: &App, videos: Vec<Bytes>) -> Result<(), Refusal> {
    if videos.is_empty() || app.settings.null {
        return Ok(());
    }
    let read = move || {
        for (index, video) in videos.iter().enumerate() {
            let mut probe = VideoProbe::new();
            probe.feed(video);
            probe.finish().map_err(|error| (index, error))?;
        }
        Ok(())
    };
    off_loop(read)
        .await?
        .map_err(|(index, error): (usize, MediaError)| Refusal::bad(format!("Invalid video at index {index}: {error}")))
}

/// Refuses a request that lacks what the model works on.
///
/// # Errors
/// 400 naming what is missing.
pub(crate) fn check_inputs(app: &App, pictures: usize, videos: usize) -> Result<(), Refusal> {
    let Some(task) = app.settings.task else { return Ok(()) };
    let missing = if task.needs_image() && pictures == 0 {
        "image"
    } else if task.needs_video() && videos == 0 {
        "video"
    } else {
        return Ok(());
    };
    Err(Refusal::bad(format!("the model does {}: the request has no reference {missing}", Task::name(task))))
}

/// Whether bytes are an MP4 by their first box.
pub(crate) fn is_video(bytes: &[u8]) -> bool {
    bytes.get(4..8) == Some(b"ftyp")
}

/// The URLs of a reference field of the video form: an object or a list of objects with exactly one of the keys.
///
/// # Errors
/// 400 for another shape, another key, or a file id.
pub(crate) fn listed(name: &str, value: &Value, url_key: &str) -> Result<Vec<Bytes>, Refusal> {
    let items = match value {
        Value::Null => return Ok(Vec::new()),
        Value::Object(_) => std::slice::from_ref(value),
        Value::Array(items) => items.as_slice(),
        _ => return Err(Refusal::field(name, format!("form field '{name}' must be a JSON object or list"))),
    };
    items.iter().map(|item| one_listed(name, item, url_key)).collect()
}

fn one_listed(name: &str, item: &Value, url_key: &str) -> Result<Bytes, Refusal> {
    let Value::Object(keys) = item else {
        return Err(Refusal::field(name, format!("form field '{name}' must hold JSON objects")));
    };
    if let Some(extra) = keys.keys().find(|key| *key != url_key && *key != "file_id") {
        return Err(Refusal::field(name, format!("{name}.{extra}: Extra inputs are not permitted")));
    }
    if keys.get("file_id").is_some_and(|id| !id.is_null()) {
        return Err(Refusal::field(name, format!("{name}: file_id is not supported")));
    }
    match keys.get(url_key) {
        Some(Value::String(url)) => from_url(url),
        _ => Err(Refusal::field(name, format!("{name}.{url_key}: Field required"))),
    }
}
