//! The media that `run --save-media` kept of two arms → how alike they are, pair of runs by pair of runs.

use crate::commands::stored::Stored;
use crate::compare::{Arm, Comparison, Excluded, Point};
use crate::parity::{Ffmpeg, Folder, band, compare_with};
use crate::report::{OutputParity, RunParity};

/// An arm and the folder that it comes from.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) stored: &'a Stored,
    pub(super) arm: &'a Arm,
}

/// A run and its media, or why there are none.
struct Media {
    id: String,
    folder: Result<Folder, String>,
}

/// How alike the outputs of the compared points are; `None` when no run of theirs kept any.
pub(super) fn parity(comparison: &Comparison, a: Side<'_>, b: Side<'_>) -> Option<OutputParity> {
    let (mut runs, mut skipped) = (Vec::new(), Vec::new());
    let mut kept = false;
    for run in &comparison.runs {
        let (Some(point_a), Some(point_b)) = (a.point(&run.id), b.point(&run.candidate_id)) else { continue };
        let (media_a, media_b) = (a.media(point_a), b.media(point_b));
        kept |= media_a.iter().chain(&media_b).any(|media| media.folder.is_ok());
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

    /// Of every repeat, in order.
    fn media(self, point: &Point) -> Vec<Media> {
        let of = |id: &String| Media { id: id.clone(), folder: self.folder(id) };
        point.repeats.iter().map(|repeat| of(&repeat.summary.id)).collect()
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

/// The repeats of two points in turn, held against the noise among those of the first.
fn pairs(a: &[Media], b: &[Media], runs: &mut Vec<RunParity>, skipped: &mut Vec<Excluded>) {
    let ffmpeg = Ffmpeg::default();
    let mut noise = None;
    for (a_run, b_run) in a.iter().zip(b) {
        match (&a_run.folder, &b_run.folder) {
            (Ok(folder_a), Ok(folder_b)) => {
                let noise = *noise.get_or_insert_with(|| {
                    let repeats: Vec<Folder> = a.iter().filter_map(|run| run.folder.clone().ok()).collect();
                    band(&repeats, &ffmpeg)
                });
                let found = compare_with(folder_a, folder_b, noise, &ffmpeg);
                runs.push(RunParity::new(a_run.id.clone(), b_run.id.clone(), found));
            }
            (Err(reason), _) | (_, Err(reason)) => {
                skipped.push(Excluded { id: a_run.id.clone(), reason: reason.clone() });
            }
        }
    }
    let alone = a.iter().skip(b.len()).chain(b.iter().skip(a.len()));
    let reason = || "the other arm has fewer repeats".to_owned();
    skipped.extend(alone.map(|run| Excluded { id: run.id.clone(), reason: reason() }));
}
