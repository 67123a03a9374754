//! Scenario datasets → [`Data`]: settings resolved, profiles typed, traces read, everything hashed.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::canonical::short_hash;
use super::data::{Data, Row, Set};
use super::fields::{Fields, Scope};
use super::references::References;
use super::{Dataset, Facts, InputMedia, Origin, WeightedProfile, clips, trace};
use crate::catalog::Task;
use crate::diagnostic::{KeyPath, Problem};
use crate::scenario::Scenario;
use crate::scenario::model::{self, OnShort, RequestSeed, Source};

/// Largest side of a synthetic picture; larger ones would be work for the client, not the server.
pub(crate) const LARGEST_IMAGE_SIDE: u32 = 8192;

/// Resolves every dataset of a scenario and reads the files it names. Problems of all datasets are
/// reported together; those of a trace carry file and line in the message.
pub fn load(scenario: &Scenario) -> Result<Data, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut sets = IndexMap::new();
    for (name, written) in &scenario.datasets {
        let at = KeyPath::root().key("datasets").key(name);
        let mut loader = Loader { name, written, at, task: scenario.model.task, problems: &mut problems };
        if let Some(set) = loader.load() {
            sets.insert(name.clone(), set);
        }
    }
    if problems.is_empty() { Ok(Data::new(sets)) } else { Err(problems) }
}

struct Loader<'a> {
    name: &'a str,
    written: &'a model::Dataset,
    at: KeyPath,
    task: Option<Task>,
    problems: &'a mut Vec<Problem>,
}

/// What a source makes of a dataset.
struct Parts {
    origin: Origin,
    rows: Vec<Row>,
    facts: Facts,
    notes: Vec<String>,
    other_keys: IndexMap<String, (String, Value)>,
}

/// What is laid around the fields of every profile or row.
struct Surround {
    defaults: Fields,
    overrides: Fields,
    request_seed: RequestSeed,
}

impl Surround {
    fn complete(&self, fields: Fields) -> Fields {
        fields.or(&self.defaults).replaced_by(&self.overrides)
    }
}

impl Loader<'_> {
    fn problem(&mut self, key: &str, message: impl Into<String>) {
        self.problems.push(Problem::value(self.at.key(key), message));
    }

    fn load(&mut self) -> Option<Set> {
        let before = self.problems.len();
        let surround = self.surround();
        let images = self.images();
        let videos = clips::read(self.written.videos.as_ref(), self.task, &self.at.key("videos"), self.problems);
        let source = self.source()?;
        let Parts { origin, rows, mut facts, notes, other_keys } = match source {
            Source::Random => {
                self.refuse_keys_of_traces();
                self.random(&surround)
            }
            Source::Trace => {
                self.refuse_keys_of_profiles();
                self.trace(&surround)?
            }
            Source::Vbench | Source::Custom => {
                let source = if source == Source::Vbench { "vbench" } else { "custom" };
                self.problem("source", format!("`source = \"{source}\"` is not available in this version"));
                return None;
            }
        };
        if self.problems.len() > before {
            return None;
        }
        let negative_prompt = self.written.negative_prompt.unwrap_or(false);
        facts.hash = short_hash(
            "omni-bench dataset v1",
            &json!({
                "origin": hashed_origin(&origin),
                "rows": rows.iter().map(|row| serde_json::to_value(&row.fields).unwrap_or_default()).collect::<Vec<_>>(),
                "negative_prompt": negative_prompt,
                "images": images.map(|images| json!([images.count, images.width, images.height])),
                "videos": videos,
                "request_seed": surround.request_seed,
            }),
        );
        let dataset = Dataset {
            name: self.name.to_owned(),
            label: self.written.label.clone().unwrap_or_else(|| self.name.to_owned()),
            description: self.written.description.clone(),
            origin,
            negative_prompt,
            defaults: self.written.defaults.clone(),
            overrides: self.written.overrides.clone(),
            images,
            videos,
            request_seed: surround.request_seed,
            facts,
        };
        Some(Set { dataset, rows, notes, other_keys })
    }

    fn source(&mut self) -> Option<Source> {
        let written = self.written;
        if let Some(source) = written.source {
            return Some(source);
        }
        if written.path.is_none() && written.url.is_none() {
            return Some(Source::Random);
        }
        self.problems.push(
            Problem::value(self.at.key("source"), format!("dataset `{}` does not say what `path` holds", self.name))
                .hint("write `source = \"trace\"`"),
        );
        None
    }

    /// Reads a table of fields and reports what is wrong with it.
    fn table(&mut self, at: &KeyPath, table: &IndexMap<String, Value>) -> Fields {
        let (fields, faults) = Fields::read(table, Scope::Table);
        for fault in faults {
            self.problems.push(Problem::value(at.key(fault.key), fault.message));
        }
        fields
    }

    fn surround(&mut self) -> Surround {
        let mut defaults = self.table(&self.at.key("defaults"), &self.written.defaults);
        let overrides = self.table(&self.at.key("override"), &self.written.overrides);
        let request_seed = match self.written.request_seed {
            Some(policy) => policy,
            // a default fills gaps, also that of the seed
            None if defaults.seed.is_some() => RequestSeed::Fixed,
            None => RequestSeed::None,
        };
        let at = self.at.key("request_seed");
        match (request_seed, defaults.seed) {
            (RequestSeed::Fixed, None) => self.problems.push(
                Problem::value(at, "`request_seed = \"fixed\"` needs a seed")
                    .hint(format!("write `{}.defaults.seed`", self.at)),
            ),
            (RequestSeed::None | RequestSeed::PerRequest, Some(_)) => self.problems.push(
                Problem::value(at, "`defaults.seed` would never be sent under this `request_seed`")
                    .hint("write `request_seed = \"fixed\"`, or leave `defaults.seed` out"),
            ),
            _ => {}
        }
        if request_seed != RequestSeed::Fixed {
            defaults.seed = None;
        }
        Surround { defaults, overrides, request_seed }
    }

    fn images(&mut self) -> Option<InputMedia> {
        let needed = self.task.is_some_and(Task::needs_image);
        let Some(written) = &self.written.images else {
            return needed.then_some(InputMedia { count: 1, width: None, height: None });
        };
        let images = InputMedia { count: written.count.unwrap_or(1), width: written.width, height: written.height };
        let at = self.at.key("images");
        match self.task {
            Some(task) if !task.takes_image() => {
                self.problems.push(Problem::key(at.clone(), format!("task `{task}` takes no reference images")));
            }
            Some(task) if needed && images.count == 0 => {
                let message = format!("task `{task}` needs at least one reference image");
                self.problems.push(Problem::value(at.key("count"), message));
            }
            _ => {}
        }
        if images.count > 64 {
            self.problem("images", format!("{} reference images per request are too many", images.count));
        }
        for (key, side) in [("width", images.width), ("height", images.height)] {
            if side.is_some_and(|side| side == 0 || side > LARGEST_IMAGE_SIDE) {
                let message = format!("a reference image is between 1 and {LARGEST_IMAGE_SIDE} pixels a side");
                self.problems.push(Problem::value(at.key(key), message));
            }
        }
        if images.width.is_some() != images.height.is_some() {
            self.problem("images", "`width` and `height` of reference images go together");
        }
        Some(images)
    }

    fn random(&mut self, surround: &Surround) -> Parts {
        let alone = [model::Profile { weight: None, fields: IndexMap::new() }];
        let profiles = if self.written.profiles.is_empty() { &alone[..] } else { &self.written.profiles };
        let at = self.at.key("profiles");
        let mut rows = Vec::new();
        let mut weighted = Vec::new();
        for (number, profile) in profiles.iter().enumerate() {
            let at = at.index(number);
            let weight = profile.weight.unwrap_or(1.0);
            if !(weight.is_finite() && weight >= 0.0) {
                let message = format!("weight `{weight}` is not a number of at least 0");
                self.problems.push(Problem::value(at.key("weight"), message));
            }
            let fields = self.table(&at, &profile.fields);
            let fields = surround.complete(fields);
            if let Some((given, missing)) = fields.lone_side() {
                let at = if self.written.profiles.is_empty() { self.at.key("defaults") } else { at };
                self.problems.push(
                    Problem::value(at.key(given), format!("`{given}` needs `{missing}`"))
                        .hint("give both sides, or neither for the server's own size"),
                );
            }
            weighted.push(WeightedProfile { fields: profile.fields.clone(), weight });
            rows.push(Row { number, fields, references: References::default() });
        }
        if weighted.iter().all(|profile| profile.weight == 0.0) {
            let message = "every weight is 0, so no profile could be drawn";
            self.problems.push(Problem::value(at.index(0).key("weight"), message));
        }
        let sampling = self.written.sampling.unwrap_or_default();
        Parts {
            origin: Origin::Random { profiles: weighted, sampling },
            rows,
            facts: Facts::default(),
            notes: Vec::new(),
            other_keys: IndexMap::new(),
        }
    }

    fn trace(&mut self, surround: &Surround) -> Option<Parts> {
        let Some(paths) = &self.written.path else {
            self.problem("path", format!("dataset `{}` needs the `path` of its trace", self.name));
            return None;
        };
        let replaced = std::cell::Cell::new(0_u64);
        let complete = |row: Fields| {
            let filled = row.or(&surround.defaults);
            let fields = filled.clone().replaced_by(&surround.overrides);
            if let Some((given, missing)) = fields.lone_side() {
                return Err(format!("`{given}` needs `{missing}`"));
            }
            if fields.prompt.is_none() {
                return Err("the row has no `prompt`".to_owned());
            }
            replaced.set(replaced.get() + u64::from(fields != filled));
            Ok(fields)
        };
        let trace = match trace::load(&paths.0, complete) {
            Ok(trace) => trace,
            Err(messages) => {
                for message in messages {
                    self.problem("path", message);
                }
                return None;
            }
        };
        self.check_sha256(&trace.sha256);
        let notes = self.notes(&trace, replaced.get());
        let facts = Facts {
            rows: Some(trace.rows.len() as u64),
            bad_rows: trace.bad.len() as u64,
            sha256: Some(trace.sha256),
            hash: String::new(),
        };
        let on_short = self.written.on_short.unwrap_or(OnShort::Truncate);
        let rows = trace
            .rows
            .into_iter()
            .map(|row| Row { number: row.number, fields: row.fields, references: References::default() })
            .collect();
        let origin = Origin::Trace { files: trace.files, on_short };
        Some(Parts { origin, rows, facts, notes, other_keys: trace.other_keys })
    }

    fn notes(&self, trace: &trace::Trace, replaced: u64) -> Vec<String> {
        /// More lines would bury the others.
        const MOST: usize = 10;
        let mut notes = Vec::new();
        if !trace.bad.is_empty() {
            let rows = trace.rows.len() + trace.bad.len();
            notes.push(format!("dataset `{}`: {} of {rows} rows were left out", self.name, trace.bad.len()));
            notes.extend(trace.bad.iter().take(MOST).map(|bad| format!("  {bad}")));
            if let Some(more) = trace.bad.len().checked_sub(MOST).filter(|more| *more > 0) {
                notes.push(format!("  and {more} more"));
            }
        }
        if replaced > 0 {
            let rows = trace.rows.len();
            notes.push(format!("dataset `{}`: `override` changed {replaced} of {rows} rows", self.name));
        }
        notes
    }

    fn check_sha256(&mut self, found: &str) {
        let Some(wanted) = &self.written.sha256 else { return };
        if wanted.len() != 64 || !wanted.chars().all(|c| c.is_ascii_hexdigit()) {
            self.problem("sha256", format!("`{wanted}` is not a SHA-256 checksum of 64 hex digits"));
        } else if !wanted.eq_ignore_ascii_case(found) {
            self.problems.push(
                Problem::value(self.at.key("sha256"), "the data is not what this checksum stands for")
                    .hint(format!("the data's checksum is `{found}`")),
            );
        }
    }

    fn refuse_keys_of_traces(&mut self) {
        let written = self.written;
        let given = [
            ("path", written.path.is_some()),
            ("sha256", written.sha256.is_some()),
            ("on_short", written.on_short.is_some()),
        ];
        for (key, _) in given.into_iter().filter(|(_, given)| *given) {
            self.problems.push(Problem::key(self.at.key(key), format!("a random dataset has no `{key}`")));
        }
    }

    fn refuse_keys_of_profiles(&mut self) {
        let given = [("profiles", !self.written.profiles.is_empty()), ("sampling", self.written.sampling.is_some())];
        for (key, _) in given.into_iter().filter(|(_, given)| *given) {
            self.problems.push(
                Problem::key(self.at.key(key), format!("a trace has no `{key}`"))
                    .hint("a trace's rows say what is sent; `defaults` fill their gaps"),
            );
        }
    }
}

/// What of the origin decides the requests, beyond the rows themselves; paths do not.
fn hashed_origin(origin: &Origin) -> Value {
    match origin {
        Origin::Random { profiles, sampling } => {
            let weights: Vec<f64> = profiles.iter().map(|profile| profile.weight).collect();
            json!({ "source": "random", "weights": weights, "sampling": sampling })
        }
        Origin::Trace { on_short, .. } => json!({ "source": "trace", "on_short": on_short }),
    }
}
