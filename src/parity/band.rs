//! Repeats of one configuration → the noise that restarts leave.

use super::compare::find;
use super::folder::Folder;
use super::frames::Ffmpeg;
use super::judge::band_of;
use super::types::Band;

/// The noise among repeats of one configuration with the same seeds: every repeat against every other.
/// `None` with fewer than two.
pub fn band(repeats: &[Folder], ffmpeg: &Ffmpeg) -> Option<Band> {
    if repeats.len() < 2 {
        return None;
    }
    let pairs = repeats.iter().enumerate().flat_map(|(place, a)| repeats.iter().skip(place + 1).map(move |b| (a, b)));
    let found: Vec<_> = pairs.flat_map(|(a, b)| find(a, b, ffmpeg)).collect();
    Some(band_of(repeats.len() as u64, found.iter().map(|found| &found.finding)))
}
