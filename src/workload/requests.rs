//! The requests of a run, made one by one when they are needed: a run of a million does not hold a
//! million of them. In: the rows that were drawn. Out: the same requests, however often they are gone through.

use std::collections::{BTreeSet, HashSet};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::Request;
use super::clips::Clips;
use super::data::{Maker, Selection, Set};
use super::fields::Fields;
use super::images::Images;
use crate::units::SafeName;

/// Requests in the order in which they are sent. As a slice they are all made and held, which is for those
/// who want to look at some; who sends them goes through them with [`Requests::each`].
#[derive(Debug, Clone)]
pub struct Requests {
    source: Source,
    listed: OnceLock<Vec<Request>>,
}

#[derive(Debug, Clone)]
enum Source {
    Listed,
    Drawn(Arc<Drawn>),
}

/// What a request is made from.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) set: Arc<Set>,
    pub(super) images: Arc<Images>,
    pub(super) clips: Arc<Clips>,
    pub(super) selection: Selection,
    pub(super) gaps: Fields,
    /// Positions of rows; all of them exist.
    pub(super) rows: Vec<u32>,
    /// Names of the requests, when some row has one of its own.
    pub(super) ids: Option<Vec<String>>,
}

impl Drawn {
    fn request(&self, index: usize) -> Option<Request> {
        let row = self.set.rows.get(usize::try_from(*self.rows.get(index)?).ok()?)?;
        let id = self.ids.as_ref().and_then(|ids| ids.get(index)).cloned();
        let Self { set, images, clips, selection, gaps, .. } = self;
        let maker = Maker { set, images, clips, selection, gaps };
        Some(maker.request(row, index, index, id.unwrap_or_else(|| numbered(index))))
    }
}

impl Requests {
    pub(super) fn drawn(drawn: Drawn) -> Self {
        Self { source: Source::Drawn(Arc::new(drawn)), listed: OnceLock::new() }
    }

    /// How many.
    pub fn len(&self) -> usize {
        match &self.source {
            Source::Listed => self.listed.get().map_or(0, Vec::len),
            Source::Drawn(drawn) => drawn.rows.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The request at this position.
    pub fn request(&self, index: usize) -> Option<Request> {
        match &self.source {
            Source::Listed => self.listed.get()?.get(index).cloned(),
            Source::Drawn(drawn) => drawn.request(index),
        }
    }

    /// All requests in order, each made when its turn comes.
    pub fn each(&self) -> impl Iterator<Item = Request> + Send {
        (0..self.len()).filter_map(|index| self.request(index))
    }

    /// The first request of every row, which is all that differs beyond names, prompts and seeds.
    pub fn kinds(&self) -> impl Iterator<Item = Request> {
        let first: BTreeSet<usize> = match &self.source {
            Source::Listed => (0..self.len()).collect(),
            Source::Drawn(drawn) => {
                let mut seen = vec![false; drawn.set.rows.len()];
                let is_new = |row: &u32| {
                    let known = usize::try_from(*row).ok().and_then(|row| seen.get_mut(row));
                    known.is_some_and(|known| !std::mem::replace(known, true))
                };
                drawn.rows.iter().map(is_new).enumerate().filter_map(|(at, new)| new.then_some(at)).collect()
            }
        };
        first.into_iter().filter_map(|index| self.request(index))
    }
}

impl Default for Requests {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl From<Vec<Request>> for Requests {
    fn from(requests: Vec<Request>) -> Self {
        Self { source: Source::Listed, listed: requests.into() }
    }
}

impl Deref for Requests {
    type Target = [Request];

    fn deref(&self) -> &[Request] {
        self.listed.get_or_init(|| self.each().collect())
    }
}

impl<'a> IntoIterator for &'a Requests {
    type Item = &'a Request;
    type IntoIter = std::slice::Iter<'a, Request>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl PartialEq for Requests {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.each().eq(other.each())
    }
}

/// The name of a request whose row has none.
fn numbered(index: usize) -> String {
    format!("req-{:04}", index + 1)
}

/// Names for requests of these rows, no two alike; `None` when no row has one of its own.
pub(super) fn names(set: &Set, rows: &[u32]) -> Option<Vec<String>> {
    set.rows.iter().any(|row| row.fields.request_id.is_some()).then(|| {
        let mut taken = HashSet::new();
        let name = |(index, row): (usize, &u32)| {
            let row = usize::try_from(*row).ok().and_then(|row| set.rows.get(row));
            let own = row.and_then(|row| row.fields.request_id.as_ref());
            let id = own.map_or_else(|| numbered(index), |id| SafeName::lossy(id).as_str().to_owned());
            unique(&id, &mut taken)
        };
        rows.iter().enumerate().map(name).collect()
    })
}

/// A name that no earlier request of the run has.
fn unique(id: &str, taken: &mut HashSet<String>) -> String {
    let mut name = id.to_owned();
    let mut copy = 2;
    while !taken.insert(name.clone()) {
        name = format!("{id}.{copy}");
        copy += 1;
    }
    name
}
