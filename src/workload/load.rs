//! Scenario datasets → [`Data`]: settings resolved, profiles typed, files read, everything hashed.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::canonical::short_hash_with_list;
use super::data::{Data, Row, Set};
use super::intake::Surround;
use super::references::References;
use super::remote::Sources;
use super::{Dataset, Facts, InputMedia, Origin, Reference, clips, synthetic};
use crate::catalog::Task;
use crate::diagnostic::{KeyPath, Problem};
use crate::scenario::Scenario;
use crate::scenario::model::{self, RequestSeed, Source};

/// Largest side of a synthetic picture; larger ones would be work for the client, not the server.
pub(crate) const LARGEST_IMAGE_SIDE: u32 = 8192;

/// Resolves every dataset of a scenario and reads the files it names; `sources` says where its
/// downloads lie. Problems of all datasets are reported together; those of rows carry file and line
/// in the message.
pub fn load(scenario: &Scenario, sources: &Sources) -> Result<Data, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut sets = IndexMap::new();
    for (name, written) in &scenario.datasets {
        let at = KeyPath::root().key("datasets").key(name);
        let mut loader = Loader { name, written, at, task: scenario.model.task, sources, problems: &mut problems };
        if let Some(set) = loader.load() {
            sets.insert(name.clone(), set);
        }
    }
    if problems.is_empty() { Ok(Data::new(sets)) } else { Err(problems) }
}

/// One dataset while it is loaded.
pub(super) struct Loader<'a> {
    pub(super) name: &'a str,
    pub(super) written: &'a model::Dataset,
    pub(super) at: KeyPath,
    pub(super) task: Option<Task>,
    pub(super) sources: &'a Sources,
    pub(super) problems: &'a mut Vec<Problem>,
}

/// What a source makes of a dataset.
pub(super) struct Parts {
    pub(super) origin: Origin,
    pub(super) rows: Vec<Row>,
    pub(super) facts: Facts,
    pub(super) notes: Vec<String>,
    pub(super) other_keys: IndexMap<String, (String, Value)>,
}

impl Loader<'_> {
    pub(super) fn problem(&mut self, key: &str, message: impl Into<String>) {
        self.problems.push(Problem::value(self.at.key(key), message));
    }

    fn load(&mut self) -> Option<Set> {
        let before = self.problems.len();
        let surround = self.surround();
        let mut images = self.images();
        let mut videos = clips::read(self.written.videos.as_ref(), self.task, &self.at.key("videos"), self.problems);
        let source = self.source()?;
        self.refuse_keys_of_others(source);
        let Parts { origin, rows, mut facts, mut notes, other_keys } = match source {
            Source::Random => self.random(&surround),
            Source::Trace | Source::Custom | Source::Vbench => self.rows_of_files(source, &surround)?,
        };
        if source != Source::Random {
            let written = self.written;
            self.own_media("image", written.images.is_some(), &mut images, &rows, |own| &own.images, &mut notes);
            self.own_media("video", written.videos.is_some(), &mut videos, &rows, |own| &own.videos, &mut notes);
        }
        if self.problems.len() > before {
            return None;
        }
        let negative_prompt = self.written.negative_prompt.unwrap_or(false);
        let mut hashed = Map::from_iter([
            ("origin".to_owned(), hashed_origin(&origin)),
            ("negative_prompt".to_owned(), json!(negative_prompt)),
            ("images".to_owned(), json!(images.map(|images| json!([images.count, images.width, images.height])))),
            ("request_seed".to_owned(), json!(surround.request_seed)),
        ]);
        if let Some(videos) = videos {
            hashed.insert("videos".to_owned(), json!(videos));
        }
        facts.hash = short_hash_with_list("omni-bench dataset v1", &hashed, "rows", rows.iter().map(hashed_row));
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
                .hint("write `source = \"trace\"`, `\"custom\"` or `\"vbench\"`"),
        );
        None
    }

    fn surround(&mut self) -> Surround {
        let mut defaults = synthetic::table(&self.at.key("defaults"), &self.written.defaults, self.problems);
        let overrides = synthetic::table(&self.at.key("override"), &self.written.overrides, self.problems);
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

    /// Media of the rows' own against synthetic ones, which fill in only where that was asked for.
    fn own_media<T>(
        &mut self,
        kind: &str,
        is_written: bool,
        media: &mut Option<T>,
        rows: &[Row],
        of: fn(&References) -> &Vec<Reference>,
        notes: &mut Vec<String>,
    ) {
        if is_written || media.is_none() {
            return;
        }
        let (without, rows) = (rows.iter().filter(|row| of(&row.references).is_empty()).count(), rows.len());
        if without == 0 {
            *media = None;
        } else if without == rows {
            notes.push(format!("dataset `{}`: its rows name no {kind}, so that synthetic ones are sent", self.name));
        } else {
            let message = format!("{without} of {rows} rows of dataset `{}` name no {kind}", self.name);
            let hint = format!("give every row one, or write `{kind}s = {{}}` for synthetic ones in their place");
            self.problems.push(Problem::value(self.at.key(self.data_key()), message).hint(hint));
        }
    }

    fn random(&mut self, surround: &Surround) -> Parts {
        let (origin, rows) = synthetic::read(self.written, &self.at, surround, self.problems);
        Parts { origin, rows, facts: Facts::default(), notes: Vec::new(), other_keys: IndexMap::new() }
    }

    /// Refuses keys that would have no effect under a source.
    fn refuse_keys_of_others(&mut self, source: Source) {
        let written = self.written;
        let of_files = [
            ("path", written.path.is_some()),
            ("url", written.url.is_some()),
            ("sha256", written.sha256.is_some()),
            ("on_short", written.on_short.is_some()),
            ("allow_download", written.allow_download == Some(true)),
        ];
        let of_profiles = [("profiles", !written.profiles.is_empty()), ("sampling", written.sampling.is_some())];
        let (keys, owner, hint) = match source {
            Source::Random => (&of_files[..], "a random dataset", None),
            Source::Trace => (&of_profiles[..], "a trace", Some("a trace's")),
            Source::Custom => (&of_profiles[..], "a custom dataset", Some("its")),
            Source::Vbench => (&of_profiles[..], "a vbench dataset", Some("its")),
        };
        for (key, _) in keys.iter().filter(|(_, given)| *given) {
            let mut problem = Problem::key(self.at.key(*key), format!("{owner} has no `{key}`"));
            if let Some(whose) = hint {
                problem = problem.hint(format!("{whose} rows say what is sent; `defaults` fill their gaps"));
            }
            self.problems.push(problem);
        }
    }
}

/// What of a row decides its requests; media only where a row has some, so that other hashes stay.
fn hashed_row(row: &Row) -> Value {
    let fields = serde_json::to_value(&row.fields).unwrap_or_default();
    if row.hashes.is_empty() { fields } else { json!([fields, row.hashes]) }
}

/// What of the origin decides the requests, beyond the rows themselves; paths do not.
fn hashed_origin(origin: &Origin) -> Value {
    match origin {
        Origin::Random { profiles, sampling } => {
            let weights: Vec<f64> = profiles.iter().map(|profile| profile.weight).collect();
            json!({ "source": "random", "weights": weights, "sampling": sampling })
        }
        Origin::Trace { on_short, .. } => json!({ "source": "trace", "on_short": on_short }),
        Origin::Custom { on_short, .. } => json!({ "source": "custom", "on_short": on_short }),
        Origin::Vbench { on_short, .. } => json!({ "source": "vbench", "on_short": on_short }),
    }
}
