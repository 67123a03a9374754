//! Faults of the pictures and videos themselves: others are put in their place.

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header;
use serde_json::Value;

use super::commit::whole;
use crate::catalog::FaultKind as Kind;
use crate::media::{ImageProbe, VideoProbe, write_image, write_video};
use crate::simulator::state::off_loop;

/// The seed of what everyone gets.
const SAME: u64 = 0;

/// The reply with other media in it.
pub(super) async fn spoil(kind: Kind, response: Response) -> Response {
    if !response.status().is_success() {
        return response;
    }
    let (parts, bytes) = whole(response).await;
    let json = parts.headers.get(header::CONTENT_TYPE).is_some_and(|value| value == "application/json");
    let replaced = off_loop(move || {
        if json { in_json(kind, &bytes) } else { other_video(kind, &bytes) }.map_or(bytes, Bytes::from)
    });
    match replaced.await {
        Ok(bytes) => Response::from_parts(parts, bytes.into()),
        Err(refusal) => refusal.into_response(),
    }
}

fn in_json(kind: Kind, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut root: Value = serde_json::from_slice(bytes).ok()?;
    replace(kind, "", &mut root);
    Some(root.to_string().into_bytes())
}

/// Replaces every picture below a value that stands under `key`.
fn replace(kind: Kind, key: &str, value: &mut Value) {
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| replace(kind, key, value)),
        Value::Array(items) => items.iter_mut().for_each(|value| replace(kind, key, value)),
        Value::String(text) => {
            let (head, data) = match text.split_once(',') {
                Some((head, data)) if head.starts_with("data:image/") => (Some(head), data),
                _ if key == "b64_json" => (None, text.as_str()),
                _ => return,
            };
            let old = base64_simd::STANDARD.decode_to_vec(data.as_bytes()).ok();
            if let Some(new) = old.and_then(|old| other_picture(kind, &old)) {
                let new = base64_simd::STANDARD.encode_to_string(new);
                *text = head.map_or_else(|| new.clone(), |head| format!("{head},{new}"));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn other_picture(kind: Kind, old: &[u8]) -> Option<Vec<u8>> {
    let mut probe = ImageProbe::new();
    probe.feed(old);
    let info = probe.finish().ok()?;
    let width = if kind == Kind::WrongSize { info.width.div_ceil(2) } else { info.width };
    write_image(info.format, width, info.height, SAME).ok()
}

fn other_video(kind: Kind, old: &[u8]) -> Option<Vec<u8>> {
    let mut probe = VideoProbe::new();
    probe.feed(old);
    let info = probe.finish().ok()?;
    // sides of a video are even
    let width = if kind == Kind::WrongSize { (info.width / 4 * 2).max(2) } else { info.width };
    write_video(width, info.height, u32::try_from(info.frames).ok()?, info.fps, SAME).ok()
}
