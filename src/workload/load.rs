//! Scenario datasets → [`Data`]: settings resolved, profiles typed, files read, everything hashed.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::canonical::short_hash;
use super::data::{Data, Row, Set};
use super::files::{self, DataFile};
use super::intake::{Intake, Surround};
use super::references::References;
use super::remote::{self, Remote, Sources, is_sha256};
use super::vbench::Gathered;
use super::{Dataset, Facts, InputMedia, Origin, clips, custom, synthetic, trace, vbench};
use crate::catalog::Task;
use crate::diagnostic::{KeyPath, Problem};
use crate::scenario::Scenario;
use crate::scenario::model::{self, OnShort, RequestSeed, Source};

/// Largest side of a synthetic picture; larger ones would be work for the client, not the server.
pub(crate) const LARGEST_IMAGE_SIDE: u32 = 8192;
/// More lines about the rows of a dataset would bury the others.
const MOST_LINES: usize = 10;

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

struct Loader<'a> {
    name: &'a str,
    written: &'a model::Dataset,
    at: KeyPath,
    task: Option<Task>,
    sources: &'a Sources,
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

impl Loader<'_> {
    fn problem(&mut self, key: &str, message: impl Into<String>) {
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
            let without =
                |lacks: fn(&References) -> bool| (rows.iter().filter(|row| lacks(&row.references)).count(), rows.len());
            let (no_image, no_video) = (without(|own| own.images.is_empty()), without(|own| own.videos.is_empty()));
            self.own_media("image", self.written.images.is_some(), &mut images, no_image, &mut notes);
            self.own_media("video", self.written.videos.is_some(), &mut videos, no_video, &mut notes);
        }
        if self.problems.len() > before {
            return None;
        }
        let negative_prompt = self.written.negative_prompt.unwrap_or(false);
        facts.hash = short_hash(
            "omni-bench dataset v1",
            &json!({
                "origin": hashed_origin(&origin),
                "rows": rows.iter().map(hashed_row).collect::<Vec<_>>(),
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
        (without, rows): (usize, usize),
        notes: &mut Vec<String>,
    ) {
        if is_written || media.is_none() {
            return;
        }
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

    fn rows_of_files(&mut self, source: Source, surround: &Surround) -> Option<Parts> {
        if let Some(wanted) = self.written.sha256.as_ref().filter(|wanted| !is_sha256(wanted)) {
            self.problem("sha256", format!("`{wanted}` is not a SHA-256 checksum of 64 hex digits"));
            return None;
        }
        let download = match remote::of_dataset(self.written, &self.at, self.task) {
            Ok(Some((key, remote))) => Some(self.downloaded(key, &remote)?),
            Ok(None) => None,
            Err(problem) => {
                self.problems.push(problem);
                return None;
            }
        };
        let mut intake = Intake::new(surround, self.task);
        let read = match source {
            Source::Vbench => self.vbench(download, &mut intake).map(|gathered| (gathered, 0)),
            _ => self.table(source, download, &mut intake),
        };
        let (gathered, comments) = match read {
            Ok(read) => read,
            Err(messages) => {
                let key = self.data_key();
                messages.into_iter().for_each(|message| self.problem(key, message));
                return None;
            }
        };
        self.finish(source, intake, gathered, comments)
    }

    /// The downloaded file, or a problem with the key that asks for it.
    fn downloaded(&mut self, key: &'static str, remote: &Remote) -> Option<DataFile> {
        let message = match self.sources.get(self.name) {
            Some(Ok(path)) => match DataFile::downloaded(path, remote) {
                Ok(file) => return Some(file),
                Err(message) => message,
            },
            Some(Err(reason)) => format!("`{remote}` could not be downloaded: {reason}"),
            None => {
                let message = format!("dataset `{}` would be downloaded from `{remote}`", self.name);
                let hint = format!("write `allow_download = true` under `{}`, or give a local `path`", self.at);
                self.problems.push(Problem::value(self.at.key(key), message).hint(hint));
                return None;
            }
        };
        self.problem(key, message);
        None
    }

    fn table(
        &self,
        source: Source,
        download: Option<DataFile>,
        intake: &mut Intake<'_>,
    ) -> Result<(Gathered, u64), Vec<String>> {
        let files = match (download, &self.written.path) {
            (Some(file), _) => vec![file],
            (None, Some(paths)) => files::read_all(&paths.0)?,
            (None, None) => return Err(vec![format!("dataset `{}` needs the `path` of its data", self.name)]),
        };
        let comments = match source {
            Source::Trace => trace::read(&files, intake),
            _ => custom::read(&files, intake)?,
        };
        let sha256 = files::sha256(files.iter().map(|file| file.bytes.as_slice()));
        Ok((Gathered { files: files.into_iter().map(|file| file.shown).collect(), sha256 }, comments))
    }

    fn vbench(&self, download: Option<DataFile>, intake: &mut Intake<'_>) -> Result<Gathered, Vec<String>> {
        let pictures = self.task.is_some_and(Task::needs_image);
        let read = match (download, &self.written.path) {
            (Some(file), _) => vbench::list(&file, pictures, intake),
            (None, Some(model::PathList(paths))) => match paths.as_slice() {
                [path] => vbench::local(path.as_ref(), pictures, intake),
                _ => Err("a vbench dataset is one list or one folder".to_owned()),
            },
            (None, None) => Err(format!("dataset `{}` needs the `path` of its data", self.name)),
        };
        read.map_err(|message| vec![message])
    }

    /// Rows as read → what is kept of them, or what is wrong with them.
    fn finish(&mut self, source: Source, intake: Intake<'_>, read: Gathered, comments: u64) -> Option<Parts> {
        let Intake { rows, bad, other_keys, replaced, .. } = intake;
        let key = self.data_key();
        if source == Source::Custom {
            self.refuse_rows(key, &bad);
        }
        if rows.is_empty() {
            // for a custom dataset the rows have been told already
            if source != Source::Custom || bad.is_empty() {
                let first = bad.first().map_or_else(String::new, |bad| format!("; {bad}"));
                self.problem(key, format!("`{}` has no row that can be read{first}", read.files.join("`, `")));
            }
            return None;
        }
        self.check_sha256(&read.sha256);
        let mut notes = self.notes_on_bad_rows(&bad, rows.len());
        if replaced > 0 {
            let all = rows.len();
            notes.push(format!("dataset `{}`: `override` changed {replaced} of {all} rows", self.name));
        }
        let facts = Facts {
            rows: Some(rows.len() as u64),
            bad_rows: bad.len() as u64,
            comments,
            sha256: Some(read.sha256),
            hash: String::new(),
        };
        let on_short = self.written.on_short;
        let files = read.files;
        let origin = match source {
            Source::Trace => Origin::Trace { files, on_short: on_short.unwrap_or(OnShort::Truncate) },
            Source::Vbench => Origin::Vbench { files, on_short: on_short.unwrap_or(OnShort::Cycle) },
            _ => Origin::Custom { files, on_short: on_short.unwrap_or(OnShort::Cycle) },
        };
        Some(Parts { origin, rows, facts, notes, other_keys })
    }

    /// The key that names the data.
    const fn data_key(&self) -> &'static str {
        match (&self.written.url, &self.written.path) {
            (Some(_), _) => "url",
            (None, Some(_)) => "path",
            (None, None) if matches!(self.written.source, Some(Source::Vbench)) => "source",
            (None, None) => "path",
        }
    }

    fn refuse_rows(&mut self, key: &str, bad: &[String]) {
        for message in bad.iter().take(MOST_LINES) {
            self.problem(key, message);
        }
        if let Some(more) = bad.len().checked_sub(MOST_LINES).filter(|more| *more > 0) {
            self.problem(key, format!("and {more} more rows of dataset `{}`", self.name));
        }
    }

    fn notes_on_bad_rows(&self, bad: &[String], good: usize) -> Vec<String> {
        let mut notes = Vec::new();
        if !bad.is_empty() {
            let rows = good + bad.len();
            notes.push(format!("dataset `{}`: {} of {rows} rows were left out", self.name, bad.len()));
            notes.extend(bad.iter().take(MOST_LINES).map(|bad| format!("  {bad}")));
            if let Some(more) = bad.len().checked_sub(MOST_LINES).filter(|more| *more > 0) {
                notes.push(format!("  and {more} more"));
            }
        }
        notes
    }

    fn check_sha256(&mut self, found: &str) {
        if self.written.sha256.as_ref().is_some_and(|wanted| !wanted.eq_ignore_ascii_case(found)) {
            self.problems.push(
                Problem::value(self.at.key("sha256"), "the data is not what this checksum stands for")
                    .hint(format!("the data's checksum is `{found}`")),
            );
        }
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
