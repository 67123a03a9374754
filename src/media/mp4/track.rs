//! What a `moov` says: the first video track, and the sample durations that fragments fall back on.

use std::collections::BTreeMap;

use super::super::types::{MediaError, VideoInfo};
use super::boxes::{Boxes, Fields, Mp4Box};
use super::fragments::Fragments;

/// What is kept of a `moov`.
#[derive(Debug, Default)]
pub(crate) struct Movie {
    video: Option<VideoTrack>,
    /// Track id → default sample duration (`trex`).
    defaults: BTreeMap<u32, u32>,
}

/// The first track whose handler is `vide`.
#[derive(Debug, Default)]
struct VideoTrack {
    id: u32,
    width: u32,
    height: u32,
    /// Time units per second.
    timescale: u32,
    /// Length as the media header has it; 0 when unknown.
    duration: u64,
    samples: u64,
    /// Length as the table of sample durations has it.
    samples_duration: u64,
}

impl Movie {
    /// Reads the payload of a `moov` box.
    pub(crate) fn read(payload: &[u8]) -> Result<Self, MediaError> {
        let mut movie = Self::default();
        for part in Boxes::of(*b"moov", payload) {
            let part = part?;
            match &part.kind {
                b"trak" if movie.video.is_none() => movie.video = read_track(part)?,
                b"mvex" => movie.read_defaults(part)?,
                _ => {}
            }
        }
        Ok(movie)
    }

    fn read_defaults(&mut self, mvex: Mp4Box<'_>) -> Result<(), MediaError> {
        for part in mvex.parts() {
            let part = part?;
            if &part.kind == b"trex" {
                let mut fields = part.fields();
                fields.skip(4)?;
                let track = fields.u32()?;
                fields.skip(4)?;
                self.defaults.insert(track, fields.u32()?);
            }
        }
        Ok(())
    }

    /// The video track together with what the fragments add to it.
    pub(crate) fn info(&self, fragments: &Fragments) -> Result<VideoInfo, MediaError> {
        let track = self.video.as_ref().ok_or_else(|| MediaError::new("no video track"))?;
        if track.width == 0 || track.height == 0 {
            return Err(MediaError(format!("video track has size {}x{}", track.width, track.height)));
        }
        if track.timescale == 0 {
            return Err(MediaError::new("video track has timescale 0"));
        }
        let default = self.defaults.get(&track.id).copied().unwrap_or(0);
        let (more, more_duration) = fragments.of(track.id, default);
        let frames = track.samples.saturating_add(more);
        if frames == 0 {
            return Err(MediaError::new("video track has no frames"));
        }
        // a media header of a fragmented file may count the fragments or not, so it is not asked
        let own = if more > 0 || track.duration == 0 { track.samples_duration } else { track.duration };
        let units = own.saturating_add(more_duration);
        if units == 0 {
            return Err(MediaError::new("video track has no duration"));
        }
        #[expect(clippy::cast_precision_loss, reason = "counts of frames and time units are far below 2^53")]
        let (count, duration_s) = (frames as f64, units as f64 / f64::from(track.timescale));
        Ok(VideoInfo { width: track.width, height: track.height, frames, fps: count / duration_s, duration_s })
    }
}

/// Reads a `trak`; `None` when it is not a video track.
fn read_track(part: Mp4Box<'_>) -> Result<Option<VideoTrack>, MediaError> {
    let mut track = VideoTrack::default();
    let mut shown = (0, 0);
    let mut is_video = false;
    for inner in part.parts() {
        let inner = inner?;
        match &inner.kind {
            b"tkhd" => shown = read_track_header(inner, &mut track)?,
            b"mdia" => is_video = read_media(inner, &mut track)?,
            _ => {}
        }
    }
    if track.width == 0 || track.height == 0 {
        (track.width, track.height) = shown;
    }
    Ok(is_video.then_some(track))
}

/// Reads the track's id and returns the size at which it is shown, in whole pixels.
fn read_track_header(part: Mp4Box<'_>, track: &mut VideoTrack) -> Result<(u32, u32), MediaError> {
    let mut fields = part.fields();
    let (version, _) = fields.version_and_flags()?;
    skip_times(&mut fields, version)?;
    track.id = fields.u32()?;
    fields.skip(4)?;
    fields.by_version(version)?;
    // reserved, layer, group, volume, reserved, matrix
    fields.skip(8 + 2 + 2 + 2 + 2 + 36)?;
    let (width, height) = (fields.u32()?, fields.u32()?);
    Ok((width >> 16, height >> 16))
}

/// Reads a `mdia` and tells whether its handler is video.
fn read_media(mdia: Mp4Box<'_>, track: &mut VideoTrack) -> Result<bool, MediaError> {
    let mut is_video = false;
    let mut tables = None;
    for part in mdia.parts() {
        let part = part?;
        match &part.kind {
            b"mdhd" => {
                let mut fields = part.fields();
                let (version, _) = fields.version_and_flags()?;
                skip_times(&mut fields, version)?;
                track.timescale = fields.u32()?;
                let duration = fields.by_version(version)?;
                let unknown = if version == 1 { u64::MAX } else { u32::MAX.into() };
                track.duration = if duration == unknown { 0 } else { duration };
            }
            b"hdlr" => {
                let mut fields = part.fields();
                fields.skip(8)?;
                is_video = &fields.take::<4>()? == b"vide";
            }
            b"minf" => tables = find(part, *b"stbl")?,
            _ => {}
        }
    }
    // sample tables of other media may have another form, and nobody asks for them
    if let Some(tables) = tables.filter(|_| is_video) {
        read_tables(tables, track)?;
    }
    Ok(is_video)
}

fn find(parent: Mp4Box<'_>, kind: [u8; 4]) -> Result<Option<Mp4Box<'_>>, MediaError> {
    parent.parts().find(|part| part.as_ref().map_or(true, |part| part.kind == kind)).transpose()
}

fn skip_times(fields: &mut Fields<'_>, version: u8) -> Result<(), MediaError> {
    fields.by_version(version)?;
    fields.by_version(version)?;
    Ok(())
}

/// Reads a `stbl`: the picture size, the number of samples and their durations.
fn read_tables(stbl: Mp4Box<'_>, track: &mut VideoTrack) -> Result<(), MediaError> {
    let mut timed = 0_u64;
    let mut sized = None;
    for part in stbl.parts() {
        let part = part?;
        let mut fields = part.fields();
        match &part.kind {
            b"stsd" => (track.width, track.height) = read_sample_entry(fields)?,
            b"stts" => {
                fields.skip(4)?;
                let count = fields.u32()?;
                for row in fields.rows::<8>(count)? {
                    let [n3, n2, n1, n0, d3, d2, d1, d0] = *row;
                    let samples = u64::from(u32::from_be_bytes([n3, n2, n1, n0]));
                    let each = u64::from(u32::from_be_bytes([d3, d2, d1, d0]));
                    timed = timed.saturating_add(samples);
                    track.samples_duration = track.samples_duration.saturating_add(samples.saturating_mul(each));
                }
            }
            b"stsz" => {
                fields.skip(4)?;
                let (common_size, count) = (fields.u32()?, fields.u32()?);
                if common_size == 0 {
                    fields.rows::<4>(count)?;
                }
                sized = Some(count);
            }
            b"stz2" => {
                fields.skip(4)?;
                let [_, _, _, bits] = fields.take()?;
                let count = fields.u32()?;
                let held = fields.rest().len().saturating_mul(8) / usize::from(bits.max(1));
                if usize::try_from(count).map_or(true, |count| count > held) {
                    return Err(MediaError(format!("`stz2` box says it has {count} entries and holds {held}")));
                }
                sized = Some(count);
            }
            _ => {}
        }
    }
    track.samples = sized.map_or(timed, u64::from);
    Ok(())
}

/// The size in the first entry of a `stsd`; `(0, 0)` when it has none.
fn read_sample_entry(mut fields: Fields<'_>) -> Result<(u32, u32), MediaError> {
    fields.skip(8)?;
    let Some(entry) = Boxes::of(*b"stsd", fields.rest()).next().transpose()? else { return Ok((0, 0)) };
    let mut fields = entry.fields();
    // reserved, data reference, and what QuickTime used between them
    fields.skip(6 + 2 + 16)?;
    Ok((fields.u16()?.into(), fields.u16()?.into()))
}
