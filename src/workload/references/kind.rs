//! What reference bytes are.

use std::sync::Arc;

use bytes::Bytes;

use crate::media::{ImageFormat, VideoProbe, check_image};
use crate::units::SafeName;
use crate::workload::Reference;

/// Most bytes of one reference, 256 MiB.
pub(crate) const LARGEST: u64 = 256 << 20;

/// What a column wants, or what bytes turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Image,
    Video,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Video => "video",
        }
    }
}

/// A recognised medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Recognised {
    pub(super) kind: Kind,
    mime: &'static str,
    extensions: &'static [&'static str],
}

/// Tells what the bytes are and that the file is whole; `wanted` decides how other bytes are named.
pub(super) fn recognise(bytes: &[u8], wanted: Option<Kind>) -> Result<Recognised, String> {
    let found = if ImageFormat::sniff(bytes).is_some() {
        let info = check_image(bytes).map_err(|error| error.to_string())?;
        let extensions: &[&str] = match info.format {
            ImageFormat::Png => &["png"],
            ImageFormat::Jpeg => &["jpg", "jpeg"],
            ImageFormat::Webp => &["webp"],
        };
        Recognised { kind: Kind::Image, mime: info.format.mime(), extensions }
    } else if is_mp4(bytes) {
        let mut probe = VideoProbe::new();
        probe.feed(bytes);
        probe.finish().map_err(|error| error.to_string())?;
        Recognised { kind: Kind::Video, mime: "video/mp4", extensions: &["mp4", "m4v", "mov"] }
    } else if bytes.is_empty() {
        return Err("it is empty".to_owned());
    } else {
        let what = match wanted {
            Some(Kind::Image) => "it is not a PNG, JPEG or WebP image",
            Some(Kind::Video) => "it is not an MP4 video",
            None => "it is neither a PNG, JPEG or WebP image nor an MP4 video",
        };
        return Err(what.to_owned());
    };
    match wanted {
        Some(wanted) if wanted != found.kind => {
            Err(format!("it is a {} ({}), not a {}", found.kind.name(), found.mime, wanted.name())
                .replace("a image", "an image"))
        }
        _ => Ok(found),
    }
}

/// Whether the first box is that of an MP4 file.
fn is_mp4(bytes: &[u8]) -> bool {
    bytes.get(4..8).is_some_and(|kind| matches!(kind, b"ftyp" | b"styp" | b"moov" | b"mdat" | b"free" | b"wide"))
}

/// A reference of recognised bytes. The name told to the server is the file's own as far as it is
/// safe, with an ending that fits the bytes.
pub(super) fn reference(bytes: Bytes, found: Recognised, name: &str) -> Reference {
    let usual = found.extensions.first().copied().unwrap_or_default();
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let fits = found.extensions.iter().any(|extension| extension.eq_ignore_ascii_case(ending));
    let stem: String = SafeName::lossy(if fits { stem } else { name }).as_str().chars().take(80).collect();
    let ending = if fits { ending.to_ascii_lowercase() } else { usual.to_owned() };
    Reference::Bytes { bytes, mime: Arc::from(found.mime), file_name: Arc::from(format!("{stem}.{ending}")) }
}
