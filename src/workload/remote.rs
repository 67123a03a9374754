//! Data that is not on this machine: what a scenario's datasets would download, as values. In: the
//! datasets as written. Out: [`Download`]s, and the [`Sources`] that whoever carried them out hands
//! back. Sends nothing.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use indexmap::IndexMap;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use url::Url;

use crate::catalog::Task;
use crate::diagnostic::{KeyPath, Problem};
use crate::scenario::Scenario;
use crate::scenario::model::{Dataset, Source};

/// Where names of hub files point to when the environment does not say.
pub const DEFAULT_HUB: &str = "https://huggingface.co";
/// The prompt list of a vbench dataset that names none, the one of vLLM-Omni's Python client.
const VBENCH_PROMPTS: &str =
    "https://raw.githubusercontent.com/Vchitect/VBench/master/prompts/prompts_per_dimension/subject_consistency.txt";
/// The hub repository with the traces of vLLM-Omni's Python client.
const TRACES: &str = "asukaqaqzz/Dit_Trace";
/// What has a meaning of its own inside a path of a URL.
const IN_PATH: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'?').add(b'`').add(b'%');

/// A file somewhere else, under the name by which a scenario calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remote {
    /// An `http(s)` address.
    Web(Url),
    /// A file of a dataset repository on the Hugging Face hub, written `hf:ORG/REPO[@REVISION]/FILE`.
    Hub {
        /// `ORG/REPO`.
        repository: String,
        /// Branch, tag or commit; `None` is the main branch.
        revision: Option<String>,
        /// Path inside the repository.
        file: String,
    },
}

impl Remote {
    /// Reads a `url`. The task chooses the file of the known trace repository when none is named.
    fn parse(text: &str, task: Option<Task>) -> Result<Self, String> {
        if let Some(name) = text.strip_prefix("hf:") {
            return Self::hub(name.trim_start_matches('/'), task).ok_or_else(|| {
                format!(
                    "`{text}` does not name a file of the hub; write `hf:ORG/REPO/FILE` or `hf:ORG/REPO@REVISION/FILE`"
                )
            });
        }
        let url = Url::parse(text).map_err(|error| format!("`{text}` is not a URL: {error}"))?;
        match url.scheme() {
            "http" | "https" => {}
            other => {
                return Err(format!("`{other}:` cannot be downloaded; write `http:`, `https:`, `hf:`, or a `path`"));
            }
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("the URL holds a user name or a password, which would end up in results".to_owned());
        }
        Ok(Self::Web(url))
    }

    fn hub(name: &str, task: Option<Task>) -> Option<Self> {
        if name.trim_end_matches('/') == TRACES {
            return Some(Self::trace(None, task));
        }
        let (owner, rest) = name.split_once('/')?;
        let (repository, file) = rest.split_once('/')?;
        let (repository, revision) = match repository.split_once('@') {
            Some((repository, revision)) => (repository, Some(revision)),
            None => (repository, None),
        };
        let plain = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains(['?', '#', '@']);
        let all_plain = [owner, repository].into_iter().chain(revision).chain(file.split('/')).all(plain);
        all_plain.then(|| Self::Hub {
            repository: format!("{owner}/{repository}"),
            revision: revision.map(str::to_owned),
            file: file.to_owned(),
        })
    }

    /// A file of the Python client's trace repository; without a name the one it takes for the task.
    fn trace(file: Option<String>, task: Option<Task>) -> Self {
        let by_task = || match task {
            Some(Task::T2v) => "cogvideox_trace.txt",
            _ => "sd3_trace.txt",
        };
        Self::Hub { repository: TRACES.to_owned(), revision: None, file: file.unwrap_or_else(|| by_task().to_owned()) }
    }

    /// The address to fetch; `hub` is the base address of the hub.
    pub fn address(&self, hub: &str) -> String {
        match self {
            Self::Web(url) => url.to_string(),
            Self::Hub { repository, revision, file } => {
                let revision = revision.as_deref().unwrap_or("main");
                let path = format!("datasets/{repository}/resolve/{revision}/{file}");
                format!("{}/{}", hub.trim_end_matches('/'), utf8_percent_encode(&path, IN_PATH))
            }
        }
    }

    /// The file's own name.
    pub fn file_name(&self) -> String {
        let path = match self {
            Self::Web(url) => url.path(),
            Self::Hub { file, .. } => file,
        };
        path.rsplit('/').find(|part| !part.is_empty()).unwrap_or("data").to_owned()
    }
}

impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Web(url) => write!(f, "{url}"),
            Self::Hub { repository, revision, file } => {
                write!(f, "hf:{repository}")?;
                if let Some(revision) = revision {
                    write!(f, "@{revision}")?;
                }
                write!(f, "/{file}")
            }
        }
    }
}

/// A file that a dataset needs and that is not on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    /// The dataset's name.
    pub dataset: String,
    /// The key that asks for it.
    pub at: KeyPath,
    /// The file.
    pub remote: Remote,
    /// The checksum it must have, as 64 hex digits, when the scenario gives one.
    pub sha256: Option<String>,
    /// Whether the scenario allows it.
    pub allowed: bool,
}

/// What the datasets of a scenario would download, allowed or not. Looks whether named paths exist;
/// what is wrong with a dataset is left to [`super::load()`].
pub fn downloads(scenario: &Scenario) -> Vec<Download> {
    let needed = scenario.datasets.iter().filter_map(|(name, written)| {
        let at = KeyPath::root().key("datasets").key(name);
        let (key, remote) = of_dataset(written, &at, scenario.model.task).ok()??;
        Some(Download {
            dataset: name.clone(),
            at: at.key(key),
            remote,
            sha256: written.sha256.clone(),
            allowed: written.allow_download == Some(true),
        })
    });
    needed.filter(|download| download.sha256.as_deref().is_none_or(is_sha256)).collect()
}

/// Whether a text is a SHA-256 checksum in hexadecimal.
pub(super) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.chars().all(|c| c.is_ascii_hexdigit())
}

/// What a dataset downloads, with the key that says so; `at` is the dataset's place.
pub(super) fn of_dataset(
    written: &Dataset,
    at: &KeyPath,
    task: Option<Task>,
) -> Result<Option<(&'static str, Remote)>, Problem> {
    match (written.source, &written.url, &written.path) {
        (None | Some(Source::Random), ..) => Ok(None),
        (Some(_), Some(_), Some(_)) => {
            let problem = Problem::key(at.key("url"), "`url` and `path` would both be the data");
            Err(problem.hint("leave one of them out"))
        }
        (Some(_), Some(url), None) => Remote::parse(url, task)
            .map(|remote| Some(("url", remote)))
            .map_err(|message| Problem::value(at.key("url"), message)),
        (Some(Source::Trace), None, Some(paths)) => Ok(known_repository(&paths.0, task).map(|remote| ("path", remote))),
        (Some(Source::Vbench), None, None) if task.is_some_and(Task::needs_image) => {
            let message = "the pictures of VBench are not downloaded: give the `path` of their folder";
            Err(Problem::value(at.key("source"), message)
                .hint("a folder with `i2v-bench-info.json`, or with pictures named by their prompts"))
        }
        (Some(Source::Vbench), None, None) => {
            let list =
                Url::parse(VBENCH_PROMPTS).map_err(|error| Problem::value(at.key("source"), error.to_string()))?;
            Ok(Some(("source", Remote::Web(list))))
        }
        (Some(Source::Trace | Source::Custom | Source::Vbench), None, _) => Ok(None),
    }
}

/// The Python client's trace repository, named as a path (which a scenario joins with its folder)
/// where there is no such file.
fn known_repository(paths: &[String], task: Option<Task>) -> Option<Remote> {
    let [path] = paths else { return None };
    if Path::new(path).exists() {
        return None;
    }
    let words: Vec<&str> = Path::new(path)
        .components()
        .filter_map(|part| match part {
            Component::Normal(word) => word.to_str(),
            _ => None,
        })
        .collect();
    let (owner, repository) = TRACES.split_once('/')?;
    let position = words.windows(2).position(|pair| pair == [owner, repository])?;
    let file = words.get(position + 2..).filter(|rest| !rest.is_empty()).map(|rest| rest.join("/"));
    Some(Remote::trace(file, task))
}

/// Where downloads lie on this machine, or why they do not, by dataset.
#[derive(Debug, Clone, Default)]
pub struct Sources(IndexMap<String, Result<PathBuf, String>>);

impl Sources {
    /// Notes how the download of a dataset ended.
    pub fn insert(&mut self, dataset: impl Into<String>, outcome: Result<PathBuf, String>) {
        self.0.insert(dataset.into(), outcome);
    }

    pub(super) fn get(&self, dataset: &str) -> Option<&Result<PathBuf, String>> {
        self.0.get(dataset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Remote {
        Remote::parse(text, Some(Task::T2v)).unwrap()
    }

    #[test]
    fn names_of_the_hub_become_addresses_of_its_files() {
        for (name, address, file) in [
            ("hf:org/repo/a.txt", "https://hub.test/datasets/org/repo/resolve/main/a.txt", "a.txt"),
            ("hf:org/repo@v1/x y/b%.csv", "https://hub.test/datasets/org/repo/resolve/v1/x%20y/b%25.csv", "b%.csv"),
            (
                "hf:asukaqaqzz/Dit_Trace",
                "https://hub.test/datasets/asukaqaqzz/Dit_Trace/resolve/main/cogvideox_trace.txt",
                "cogvideox_trace.txt",
            ),
        ] {
            let remote = parsed(name);
            assert_eq!((remote.address("https://hub.test/").as_str(), remote.file_name().as_str()), (address, file));
        }
        assert_eq!(parsed("hf:org/repo@v1/a.txt").to_string(), "hf:org/repo@v1/a.txt");
        let image = Remote::parse("hf:asukaqaqzz/Dit_Trace/", Some(Task::T2i)).unwrap();
        assert_eq!(image.to_string(), "hf:asukaqaqzz/Dit_Trace/sd3_trace.txt");
    }

    #[test]
    fn web_addresses_keep_their_query_and_lose_it_in_the_name() {
        let remote = parsed("https://data.test/sets/rows.csv?download=1");
        assert_eq!(remote.file_name(), "rows.csv");
        assert_eq!(remote.address("unused"), "https://data.test/sets/rows.csv?download=1");
        assert_eq!(parsed("https://data.test").file_name(), "data");
    }

    #[test]
    fn what_cannot_be_fetched_is_told() {
        for (text, part) in [
            ("hf:org/repo", "write `hf:ORG/REPO/FILE`"),
            ("hf:org/repo/../x", "write `hf:ORG/REPO/FILE`"),
            ("hf:org//x", "write `hf:ORG/REPO/FILE`"),
            ("file:///etc/passwd", "`file:` cannot be downloaded"),
            ("https://user:secret@data.test/x", "holds a user name or a password"),
            ("data.txt", "is not a URL"),
        ] {
            let message = Remote::parse(text, None).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
            assert!(!message.contains("secret"), "{message}");
        }
    }

    #[test]
    fn the_trace_repository_of_the_python_client_is_known_by_its_name() {
        let known = |path: &str| known_repository(&[path.to_owned()], Some(Task::T2i)).map(|remote| remote.to_string());
        let named = Some("hf:asukaqaqzz/Dit_Trace/sd3_trace.txt".to_owned());
        assert_eq!(known("asukaqaqzz/Dit_Trace"), named);
        assert_eq!(known("scenarios/asukaqaqzz/Dit_Trace"), named);
        assert_eq!(known("a/asukaqaqzz/Dit_Trace/b.txt"), Some("hf:asukaqaqzz/Dit_Trace/b.txt".to_owned()));
        assert_eq!(known("other/Dit_Trace"), None);
    }
}
