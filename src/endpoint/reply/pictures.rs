//! The usable pictures of a reply, counted into its verdict.

use super::gallery::Found;
use super::metrics::Told;
use super::picture::{Picture, PictureFault};
use super::save::PartFile;
use crate::catalog::{ErrorClass, Flag};
use crate::endpoint::types::Verdict;
use crate::media::ImageFormat;
use crate::record::{Asked, Output, OutputKind, RequestError};

/// What was read of a reply that must hold pictures.
pub(super) struct Pictures {
    pub(super) found: Vec<Found>,
    pub(super) told: Told,
    /// The format that the reply claims.
    pub(super) format: Option<String>,
}

impl Pictures {
    /// Counts the pictures; `nothing` says what to tell of a reply that holds none at all.
    pub(super) fn count(
        self,
        verdict: &mut Verdict,
        asked: &Asked,
        nothing: impl FnOnce() -> String,
    ) -> Result<(), RequestError> {
        verdict.generation_ms = self.told.generation_ms;
        verdict.stage_ms = self.told.stage_ms;
        verdict.peak_memory_mb = self.told.peak_memory_mb;
        let mut first_fault = None;
        let mut files = Vec::new();
        for (name, result) in self.found {
            match result {
                Ok(picture) => {
                    let kind = kind(&picture, self.format.as_deref());
                    let Picture { counted, info, .. } = picture;
                    let size = info.map(|info| (info.width, info.height)).unzip();
                    files.extend(counted.file.map(|file| (file, extension(kind))));
                    verdict.pictures.extend(counted.kept);
                    verdict.outputs.push(Output {
                        kind,
                        width: size.0,
                        height: size.1,
                        frames: None,
                        fps: None,
                        duration_s: None,
                        bytes: counted.bytes,
                        blake3: counted.blake3,
                    });
                }
                Err(PictureFault::Io(error)) => return Err(RequestError::new(ErrorClass::Io, error.to_string())),
                Err(fault) => {
                    first_fault.get_or_insert_with(|| format!("{name} {fault}"));
                }
            }
        }
        if verdict.outputs.is_empty() {
            return Err(RequestError::new(ErrorClass::InvalidResponse, first_fault.unwrap_or_else(nothing)));
        }
        if (verdict.outputs.len() as u64) < u64::from(asked.n) {
            verdict.flags.push(Flag::FewerOutputs);
        }
        compare_sizes(verdict, asked);
        files.into_iter().try_for_each(|(file, extension)| keep(Some(file), extension))
    }
}

/// Remarks on outputs of another size than asked for.
pub(super) fn compare_sizes(verdict: &mut Verdict, asked: &Asked) {
    let differs = |made: Option<u32>, asked: Option<u32>| made.is_some() && asked.is_some() && made != asked;
    let is_other = |output: &Output| differs(output.width, asked.width) || differs(output.height, asked.height);
    if verdict.outputs.iter().any(is_other) {
        verdict.flags.push(Flag::SizeMismatch);
    }
}

/// Gives a saved output its final name.
pub(super) fn keep(file: Option<PartFile>, extension: &str) -> Result<(), RequestError> {
    match file.map(|file| file.keep(extension)) {
        Some(Err(error)) => Err(RequestError::new(ErrorClass::Io, error.to_string())),
        None | Some(Ok(())) => Ok(()),
    }
}

/// The format by the bytes; where they are not looked at, the one that the reply claims.
fn kind(picture: &Picture, format: Option<&str>) -> OutputKind {
    match (picture.info.map(|info| info.format), picture.mime.as_deref().or(format)) {
        (Some(ImageFormat::Jpeg), _) | (None, Some("image/jpeg" | "jpeg" | "jpg")) => OutputKind::Jpeg,
        (Some(ImageFormat::Webp), _) | (None, Some("image/webp" | "webp")) => OutputKind::Webp,
        (Some(ImageFormat::Png) | None, _) => OutputKind::Png,
    }
}

fn extension(kind: OutputKind) -> &'static str {
    match kind {
        OutputKind::Png => "png",
        OutputKind::Jpeg => "jpg",
        OutputKind::Webp => "webp",
        OutputKind::Mp4 => "mp4",
    }
}
