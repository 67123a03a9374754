//! What the `moof`s of a fragmented file add: samples and their durations, per track.

use std::collections::BTreeMap;

use super::super::types::MediaError;
use super::boxes::{Boxes, Mp4Box};

/// Most tracks that are told apart; real files have two or three.
const MOST_TRACKS: usize = 1024;

const HAS_BASE_OFFSET: u32 = 0x01;
const HAS_DESCRIPTION: u32 = 0x02;
const HAS_DEFAULT_DURATION: u32 = 0x08;

const HAS_DATA_OFFSET: u32 = 0x01;
const HAS_FIRST_FLAGS: u32 = 0x04;
const HAS_DURATION: u32 = 0x100;
const HAS_SIZE: u32 = 0x200;
const HAS_FLAGS: u32 = 0x400;
const HAS_COMPOSITION: u32 = 0x800;

/// Sums over all `moof`s read so far. The `moov` may come later, so samples that take their duration
/// from it are counted apart.
#[derive(Debug, Default)]
pub(crate) struct Fragments(BTreeMap<u32, Sum>);

#[derive(Debug, Default, Clone, Copy)]
struct Sum {
    samples: u64,
    duration: u64,
    /// Samples whose duration is the track's default.
    defaulted: u64,
}

impl Fragments {
    /// Adds the payload of a `moof` box.
    pub(crate) fn read(&mut self, payload: &[u8]) -> Result<(), MediaError> {
        for part in Boxes::of(*b"moof", payload) {
            let part = part?;
            if &part.kind == b"traf" {
                self.read_track(part)?;
            }
        }
        Ok(())
    }

    fn read_track(&mut self, traf: Mp4Box<'_>) -> Result<(), MediaError> {
        let mut id = None;
        let mut default = None;
        let mut sum = Sum::default();
        for part in traf.parts() {
            let part = part?;
            match &part.kind {
                b"tfhd" => {
                    let (track, duration) = read_header(part)?;
                    (id, default) = (Some(track), duration);
                }
                b"trun" => sum.add_run(part, default)?,
                _ => {}
            }
        }
        let id = id.ok_or_else(|| MediaError::new("track fragment has no `tfhd` box"))?;
        if self.0.len() >= MOST_TRACKS && !self.0.contains_key(&id) {
            return Err(MediaError(format!("fragments name more than {MOST_TRACKS} tracks")));
        }
        let total = self.0.entry(id).or_default();
        total.samples = total.samples.saturating_add(sum.samples);
        total.duration = total.duration.saturating_add(sum.duration);
        total.defaulted = total.defaulted.saturating_add(sum.defaulted);
        Ok(())
    }

    /// Samples of a track and their duration, given the track's default sample duration.
    pub(super) fn of(&self, track: u32, default: u32) -> (u64, u64) {
        let sum = self.0.get(&track).copied().unwrap_or_default();
        (sum.samples, sum.duration.saturating_add(sum.defaulted.saturating_mul(default.into())))
    }
}

/// Reads a `tfhd`: the track and, when it has one, the default duration within this fragment.
fn read_header(part: Mp4Box<'_>) -> Result<(u32, Option<u32>), MediaError> {
    let mut fields = part.fields();
    let (_, flags) = fields.version_and_flags()?;
    let track = fields.u32()?;
    if flags & HAS_BASE_OFFSET != 0 {
        fields.skip(8)?;
    }
    if flags & HAS_DESCRIPTION != 0 {
        fields.skip(4)?;
    }
    let duration = if flags & HAS_DEFAULT_DURATION != 0 { Some(fields.u32()?) } else { None };
    Ok((track, duration))
}

impl Sum {
    /// Adds a `trun`, whose samples take `default` when they carry no duration of their own.
    fn add_run(&mut self, part: Mp4Box<'_>, default: Option<u32>) -> Result<(), MediaError> {
        let mut fields = part.fields();
        let (_, flags) = fields.version_and_flags()?;
        let samples = fields.u32()?;
        for (flag, bytes) in [(HAS_DATA_OFFSET, 4), (HAS_FIRST_FLAGS, 4)] {
            if flags & flag != 0 {
                fields.skip(bytes)?;
            }
        }
        let columns = (flags & (HAS_DURATION | HAS_SIZE | HAS_FLAGS | HAS_COMPOSITION)).count_ones();
        // the duration, where there is one, is the first column of each sample's row
        let words = fields.rows::<4>(samples.saturating_mul(columns))?;
        self.samples = self.samples.saturating_add(samples.into());
        if flags & HAS_DURATION != 0 {
            for word in words.iter().step_by(usize::try_from(columns).unwrap_or(1).max(1)) {
                self.duration = self.duration.saturating_add(u32::from_be_bytes(*word).into());
            }
        } else if let Some(default) = default {
            self.duration = self.duration.saturating_add(u64::from(samples).saturating_mul(default.into()));
        } else {
            self.defaulted = self.defaulted.saturating_add(samples.into());
        }
        Ok(())
    }
}
