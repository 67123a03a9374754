//! The media that `run --save-media` kept of two arms → how alike they are, pair of runs by pair of runs.

use std::collections::BTreeMap;

use crate::commands::stored::Stored;
use crate::compare::{Arm, Comparison, Excluded, Point, Repeat};
use crate::parity::{Ffmpeg, Folder, Parity, band, compare_with};
use crate::report::{OutputParity, RunParity};

/// An arm and the folder that it comes from.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) stored: &'a Stored,
    pub(super) arm: &'a Arm,
}

/// Media of a point's repeats by their number, or why there are none.
type Media = BTreeMap<u32, (String, Result<Folder, String>)>;

/// How alike the outputs of the compared points are; `None` when no run of theirs kept any.
pub(super) fn parity(comparison: &Comparison, a: Side<'_>, b: Side<'_>) -> Option<OutputParity> {
    let (mut runs, mut skipped) = (Vec::new(), Vec::new());
    let mut kept = false;
    for run in &comparison.runs {
        let (Some(point_a), Some(point_b)) = (a.point(&run.id), b.point(&run.candidate_id)) else { continue };
        let (media_a, media_b) = (a.media(point_a), b.media(point_b));
        kept |= media_a.values().chain(media_b.values()).any(|(_, media)| media.is_ok());
        if point_a.workload_key == point_b.workload_key {
            pairs(&media_a, &media_b, &mut runs, &mut skipped);
        } else {
            let reason = "the runs were asked for other things".to_owned();
            skipped.push(Excluded { id: run.id.clone(), reason });
        }
    }
    kept.then(|| OutputParity::new(comparison, runs, skipped))
}

impl<'a> Side<'a> {
    fn point(self, id: &str) -> Option<&'a Point> {
        self.arm.points.iter().find(|point| point.id == id)
    }

    fn media(self, point: &Point) -> Media {
        let of = |repeat: &Repeat| (repeat.number, (repeat.summary.id.clone(), self.folder(&repeat.summary.id)));
        point.repeats.iter().map(of).collect()
    }

    fn folder(self, id: &str) -> Result<Folder, String> {
        let run = self.stored.dir.run(id);
        let none = || format!("no media of `{id}` were saved; `run --save-media` keeps them");
        if !run.media().is_dir() {
            return Err(none());
        }
        let folder = Folder::of_run(&run).map_err(|error| error.to_string())?;
        if folder.is_empty() { Err(none()) } else { Ok(folder) }
    }
}

/// The repeats of two points by their number, held against the noise among those of the first.
fn pairs(a: &Media, b: &Media, runs: &mut Vec<RunParity>, skipped: &mut Vec<Excluded>) {
    let ffmpeg = Ffmpeg::default();
    let both = a.iter().filter_map(|(number, a)| Some((a, b.get(number)?)));
    let mut noise = None;
    for ((id, media_a), (candidate_id, media_b)) in both {
        match (media_a, media_b) {
            (Ok(media_a), Ok(media_b)) => {
                let noise = *noise.get_or_insert_with(|| {
                    let repeats: Vec<Folder> = a.values().filter_map(|(_, media)| media.clone().ok()).collect();
                    band(&repeats, &ffmpeg)
                });
                let found: Parity = compare_with(media_a, media_b, noise, &ffmpeg);
                runs.push(RunParity::new(id.clone(), candidate_id.clone(), found));
            }
            (Err(reason), _) | (_, Err(reason)) => {
                skipped.push(Excluded { id: id.clone(), reason: reason.clone() });
            }
        }
    }
}
