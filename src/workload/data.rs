//! The requests of a dataset: a pure function of the data, a selection and a seed.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value;

use super::clips::{self, Clips};
use super::fields::{Fields, or_shape};
use super::images::Images;
use super::references::{Destination, References};
use super::requests::{Drawn, Requests, names};
use super::seed::request_seed;
use super::{Class, Dataset, Origin, Reference, Request, Shape, images, sample};
use crate::catalog::Task;
use crate::scenario::model::{OnShort, RequestSeed};
use crate::units::PixelSize;

/// The resolved datasets of a scenario with their rows.
#[derive(Debug)]
pub struct Data {
    sets: IndexMap<String, Arc<Set>>,
    images: Arc<Images>,
    clips: Arc<Clips>,
}

/// One dataset with its rows.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) dataset: Dataset,
    pub(super) rows: Vec<Row>,
    pub(super) notes: Vec<String>,
    pub(super) other_keys: IndexMap<String, (String, Value)>,
}

/// A profile or a row of a file, with defaults and overrides in place.
#[derive(Debug)]
pub(super) struct Row {
    /// Position among the good and bad rows, from 0.
    pub(super) number: usize,
    pub(super) fields: Fields,
    /// Images and videos of its own, in the place of synthetic ones.
    pub(super) references: References,
    /// What identifies each of them.
    pub(super) hashes: Vec<String>,
}

/// Which requests of a dataset, and what the matrix puts over them.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// The model's task.
    pub task: Task,
    /// How many requests; data that is not cycled may give fewer.
    pub requests: u64,
    /// Traffic seed.
    pub seed: u64,
    /// Output size that replaces the rows'.
    pub size: Option<PixelSize>,
    /// Steps that replace the rows'.
    pub num_inference_steps: Option<u32>,
    /// Frames that replace the rows'.
    pub num_frames: Option<u32>,
}

/// The classes of a selection, in order of first appearance.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Tally {
    pub(crate) classes: Vec<ClassCount>,
}

/// One class of a selection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ClassCount {
    pub(crate) class: Class,
    pub(crate) requests: u64,
    /// A row of the class, by position.
    pub(crate) row: usize,
    /// Whether some request of the class has no SLO of its own.
    pub(crate) untargeted: bool,
}

/// How requests outside the measured ones are told apart and made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extra<'a> {
    /// What their ids start with.
    pub(crate) prefix: &'a str,
    /// Number of the first one for prompts and seeds, past those of the measured requests.
    pub(crate) first: usize,
}

impl Data {
    pub(super) fn new(sets: IndexMap<String, Set>) -> Self {
        let sets = sets.into_iter().map(|(name, set)| (name, Arc::new(set))).collect();
        Self { sets, images: Arc::default(), clips: Arc::default() }
    }

    /// The dataset of that name.
    pub fn dataset(&self, name: &str) -> Option<&Dataset> {
        self.sets.get(name).map(|set| &set.dataset)
    }

    /// Every dataset, in the file's order.
    pub fn datasets(&self) -> impl Iterator<Item = &Dataset> {
        self.sets.values().map(|set| &set.dataset)
    }

    /// What a user should know about the data that was read: rows left out, rows overridden.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.sets.values().flat_map(|set| set.notes.iter().map(String::as_str))
    }

    /// The requests of a selection; none for a dataset that does not exist.
    pub fn requests(&self, name: &str, selection: &Selection) -> Requests {
        self.requests_with(name, selection, &Fields::default())
    }

    /// The same, where `gaps` gives fields that rows leave open.
    pub(crate) fn requests_with(&self, name: &str, selection: &Selection, gaps: &Fields) -> Requests {
        let Some(set) = self.sets.get(name) else { return Requests::default() };
        let known = |position: &usize| *position < set.rows.len();
        let rows = set.drawn(selection).into_iter().filter(known).filter_map(|row| u32::try_from(row).ok());
        let rows: Vec<u32> = rows.collect();
        Requests::drawn(Drawn {
            set: Arc::clone(set),
            images: Arc::clone(&self.images),
            clips: Arc::clone(&self.clips),
            selection: selection.clone(),
            gaps: gaps.clone(),
            ids: names(set, &rows),
            rows,
        })
    }

    /// Requests outside the measured ones, made from the rows at these positions.
    pub(crate) fn extra_requests(
        &self,
        name: &str,
        selection: &Selection,
        gaps: &Fields,
        rows: &[usize],
        extra: Extra<'_>,
    ) -> Vec<Request> {
        let Some(set) = self.sets.get(name) else { return Vec::new() };
        let maker = Maker { set, images: &self.images, clips: &self.clips, selection, gaps };
        rows.iter()
            .filter_map(|position| set.rows.get(*position))
            .enumerate()
            .map(|(index, row)| {
                maker.request(row, index, extra.first + index, format!("{}-{:04}", extra.prefix, index + 1))
            })
            .collect()
    }

    /// The classes of a selection with their counts.
    pub(crate) fn tally(&self, name: &str, selection: &Selection, gaps: &Fields) -> Tally {
        let Some(set) = self.sets.get(name) else { return Tally::default() };
        let shapes: Vec<Shape> = set.rows.iter().map(|row| shape(&row.fields, selection, gaps)).collect();
        let mut tally = Tally::default();
        for position in set.drawn(selection) {
            let (Some(row), Some(shape)) = (set.rows.get(position), shapes.get(position)) else { continue };
            let class = Class::new(selection.task, *shape);
            let untargeted = row.fields.slo_ms.is_none();
            match tally.classes.iter_mut().find(|known| known.class == class) {
                Some(known) => {
                    known.requests += 1;
                    known.untargeted |= untargeted;
                }
                None => tally.classes.push(ClassCount { class, requests: 1, row: position, untargeted }),
            }
        }
        tally
    }

    /// Fields of rows of files beyond the known ones, each with the first place and value.
    pub(crate) fn other_keys(&self, name: &str) -> impl Iterator<Item = (&str, &str, &Value)> {
        let keys = self.sets.get(name).map(|set| &set.other_keys);
        keys.into_iter().flatten().map(|(key, (place, value))| (key.as_str(), place.as_str(), value))
    }

    /// The rows of a dataset, with defaults and overrides in place.
    pub(crate) fn rows(&self, name: &str) -> impl Iterator<Item = &Fields> {
        self.sets.get(name).into_iter().flat_map(|set| set.rows.iter().map(|row| &row.fields))
    }

    /// Width and height of the largest synthetic reference image of a selection; `None` without any.
    pub(crate) fn largest_image(&self, name: &str, selection: &Selection, gaps: &Fields) -> Option<(u32, u32)> {
        let set = self.sets.get(name)?;
        let media = set.dataset.images?;
        set.rows
            .iter()
            .filter(|row| row.references.images.is_empty())
            .map(|row| images::size(media, shape(&row.fields, selection, gaps)))
            .max_by_key(|(width, height)| (*width).max(*height))
    }

    /// Why the reference videos of a selection cannot be made.
    pub(crate) fn unmakeable_video(&self, name: &str, selection: &Selection, gaps: &Fields) -> Option<String> {
        let set = self.sets.get(name)?;
        let media = set.dataset.videos?;
        let made = set.rows.iter().filter(|row| row.references.videos.is_empty());
        made.into_iter().find_map(|row| clips::fault(media, shape(&row.fields, selection, gaps)))
    }

    /// The first row or profile that cannot be sent to an endpoint as it is, with the reason.
    pub(crate) fn misrouted(&self, name: &str, destination: Destination<'_>) -> Option<String> {
        let set = self.sets.get(name)?;
        let kind = if matches!(set.dataset.origin, Origin::Random { .. }) { "profile" } else { "row" };
        set.rows.iter().find_map(|row| {
            let fault = destination.fault(&set.dataset, &row.references, &row.fields)?;
            Some(format!("{kind} {}: {fault}", row.number + 1))
        })
    }
}

impl Set {
    /// Positions of the rows that a selection sends, in order.
    fn drawn(&self, selection: &Selection) -> Vec<usize> {
        let asked = usize::try_from(selection.requests).unwrap_or(usize::MAX);
        match &self.dataset.origin {
            Origin::Random { profiles, sampling } => {
                let weights: Vec<f64> = profiles.iter().map(|profile| profile.weight).collect();
                sample::draw(&weights, *sampling, selection.seed, asked)
            }
            Origin::Trace { on_short, .. } | Origin::Custom { on_short, .. } | Origin::Vbench { on_short, .. } => {
                match on_short {
                    OnShort::Cycle => (0..self.rows.len()).cycle().take(asked).collect(),
                    OnShort::Error | OnShort::Truncate => (0..self.rows.len()).take(asked).collect(),
                }
            }
        }
    }
}

/// What requests are made from.
pub(super) struct Maker<'a> {
    pub(super) set: &'a Set,
    pub(super) images: &'a Images,
    pub(super) clips: &'a Clips,
    pub(super) selection: &'a Selection,
    pub(super) gaps: &'a Fields,
}

impl Maker<'_> {
    /// `number` counts requests of the whole run, for prompts and seeds; `index` within its phase.
    pub(super) fn request(&self, row: &Row, index: usize, number: usize, request_id: String) -> Request {
        let Self { set, gaps, selection, .. } = self;
        let fields = &row.fields;
        let shape = shape(fields, selection, gaps);
        let derived = match set.dataset.request_seed {
            RequestSeed::PerRequest => Some(request_seed(selection.seed, number)),
            RequestSeed::None | RequestSeed::Fixed => None,
        };
        let synthetic = || format!("Random prompt {number} for benchmarking diffusion models");
        let negative = || format!("Negative prompt {number} for benchmarking diffusion models");
        Request {
            index,
            row: row.number,
            request_id,
            task: selection.task,
            shape,
            prompt: fields.prompt.clone().unwrap_or_else(synthetic),
            negative_prompt: fields
                .negative_prompt
                .clone()
                .or_else(|| set.dataset.negative_prompt.then(negative))
                .or_else(|| gaps.negative_prompt.clone()),
            n: fields.n.or(gaps.n),
            seed: fields.seed.or(derived).or(gaps.seed),
            fields: fields.other.clone(),
            images: own_or(&row.references.images, || self.images.of(set.dataset.images, shape)),
            videos: own_or(&row.references.videos, || self.clips.of(set.dataset.videos, shape)),
            slo_ms: fields.slo_ms,
            timestamp_s: fields.timestamp_s,
        }
    }
}

/// What a row names itself, else what is made for it.
fn own_or(own: &[Reference], made: impl FnOnce() -> Vec<Reference>) -> Vec<Reference> {
    if own.is_empty() { made() } else { own.to_vec() }
}

/// The matrix goes over the row, the row over the gaps.
fn shape(fields: &Fields, selection: &Selection, gaps: &Fields) -> Shape {
    let axes = Shape {
        width: selection.size.map(|size| size.width),
        height: selection.size.map(|size| size.height),
        num_inference_steps: selection.num_inference_steps,
        num_frames: selection.num_frames,
        fps: None,
    };
    or_shape(or_shape(axes, fields.shape), gaps.shape)
}
