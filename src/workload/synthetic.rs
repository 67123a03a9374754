//! Profiles of a random dataset → rows with weights; nothing is read.

use indexmap::IndexMap;

use super::data::Row;
use super::fields::{Fields, Scope};
use super::intake::{Media, Surround};
use super::references::References;
use super::{Origin, WeightedProfile};
use crate::diagnostic::{KeyPath, Problem};
use crate::scenario::model::{Dataset, Profile};

/// The rows of a random dataset, one a profile; `at` is the dataset's place.
pub(super) fn read(
    written: &Dataset,
    at: &KeyPath,
    surround: &Surround,
    problems: &mut Vec<Problem>,
) -> (Origin, Vec<Row>) {
    let alone = [Profile { weight: None, fields: IndexMap::new() }];
    let profiles = if written.profiles.is_empty() { &alone[..] } else { &written.profiles };
    let mut media = Media::default();
    let mut rows = Vec::new();
    let mut weighted = Vec::new();
    for (number, profile) in profiles.iter().enumerate() {
        let place = at.key("profiles").index(number);
        let weight = profile.weight.unwrap_or(1.0);
        if !(weight.is_finite() && weight >= 0.0) {
            let message = format!("weight `{weight}` is not a number of at least 0");
            problems.push(Problem::value(place.key("weight"), message));
        }
        let mut own = profile.fields.clone();
        let taken = References::of_profile(&mut own)
            .and_then(|mut references| media.keep(&mut references).map(|hashes| (references, hashes)));
        let (references, hashes) = taken.unwrap_or_else(|message| {
            problems.push(Problem::key(place.clone(), message));
            (References::default(), Vec::new())
        });
        let fields = surround.complete(table(&place, &own, problems));
        if let Some((given, missing)) = fields.lone_side() {
            let place = if written.profiles.is_empty() { at.key("defaults") } else { place };
            problems.push(
                Problem::value(place.key(given), format!("`{given}` needs `{missing}`"))
                    .hint("give both sides, or neither for the server's own size"),
            );
        }
        weighted.push(WeightedProfile { fields: profile.fields.clone(), weight });
        rows.push(Row { number, fields, references, hashes });
    }
    if weighted.iter().all(|profile| profile.weight == 0.0) {
        let message = "every weight is 0, so no profile could be drawn";
        problems.push(Problem::value(at.key("profiles").index(0).key("weight"), message));
    }
    (Origin::Random { profiles: weighted, sampling: written.sampling.unwrap_or_default() }, rows)
}

/// Reads a table of fields and reports what is wrong with it.
pub(super) fn table(at: &KeyPath, table: &IndexMap<String, serde_json::Value>, problems: &mut Vec<Problem>) -> Fields {
    let (fields, faults) = Fields::read(table, Scope::Table);
    for fault in faults {
        problems.push(Problem::value(at.key(fault.key), fault.message));
    }
    fields
}
