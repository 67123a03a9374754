//! Reads the scenario file and the files it extends, base files first.

use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::layer::{Layer, NAMED_LISTS, Origin};
use super::node::{Data, Node};
use super::secret;
use super::syntax::{self, Syntax};
use crate::diagnostic::{KeyPath, Problem, Segment, SourceText};

/// Most files one scenario is built from.
const MOST_FILES: usize = 64;

/// Keys that name files; they are relative to the file that wrote them.
const PATHS: [&[&str]; 13] = [
    &["datasets", "*", "path"],
    &["datasets", "*", "profiles", "*", "image_path"],
    &["datasets", "*", "profiles", "*", "image_paths"],
    &["datasets", "*", "profiles", "*", "video_path"],
    &["datasets", "*", "profiles", "*", "video_paths"],
    &["datasets", "*", "profiles", "*", "input_reference"],
    &["datasets", "*", "profiles", "*", "input_references"],
    &["endpoint", "ca_file"],
    &["variants", "*", "endpoint", "ca_file"],
    &["server", "cwd"],
    &["gate", "baseline"],
    &["dashboard", "page"],
    &["dashboard", "template"],
];

/// A problem and where it was found: a layer and a range of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) problem: Problem,
    pub(super) at: Option<(usize, Range<usize>)>,
}

/// Files as layers, with what is wrong with them.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) layers: Vec<Layer>,
    pub(super) found: Vec<Found>,
    /// Whether the text of some file could not be read, so that nothing more can be said about its keys.
    pub(super) unread: bool,
}

impl Files {
    /// The file and everything it extends.
    pub(super) fn read(file: &Path) -> Self {
        let mut files = Self::default();
        if let Err(problem) = files.add(file, &mut Vec::new()) {
            files.found.push(Found { problem, at: None });
            files.unread = true;
        }
        files
    }

    /// A text in hand, as if it stood in a file of this name in the working folder; TOML when the name does
    /// not say.
    pub(super) fn of_text(name: &str, text: &str) -> Self {
        let mut files = Self::default();
        let source = SourceText { name: name.to_owned(), text: text.to_owned() };
        let syntax = Syntax::of(Path::new(name)).unwrap_or(Syntax::Toml);
        let own = files.parse(&source, Path::new(""), syntax);
        files.push(source, own);
        files
    }

    /// `open` holds the files being read, outermost first. An error means that the file gave no text.
    fn add(&mut self, file: &Path, open: &mut Vec<PathBuf>) -> Result<(), Problem> {
        let shown = file.display();
        let problem = |message: String| Problem::value(KeyPath::root(), message);
        let syntax = Syntax::of(file).ok_or_else(|| {
            problem(format!("`{shown}` is neither TOML nor YAML by its name"))
                .hint("a scenario ends in `.toml`, `.yaml` or `.yml`")
        })?;
        let text = read_text(file).map_err(problem)?;
        let identity = fs_err::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        if open.contains(&identity) {
            return Err(problem(format!("`{shown}` extends itself")));
        }
        if self.layers.len() + open.len() >= MOST_FILES {
            return Err(problem(format!("a scenario is built from at most {MOST_FILES} files")));
        }
        // a file's text has its place before its bases are read, its turn in the merge after them
        let source = SourceText { name: shown.to_string(), text };
        let mut own = self.parse(&source, file.parent().unwrap_or(Path::new("")), syntax);
        open.push(identity);
        for (path, range) in std::mem::take(&mut own.bases) {
            if let Err(problem) = self.add(&path, open) {
                self.unread = true;
                own.faults.push((problem, range));
            }
        }
        open.pop();
        self.push(source, own);
        Ok(())
    }

    /// The content of a text that stands in this folder.
    fn parse(&mut self, source: &SourceText, folder: &Path, syntax: Syntax) -> Pending {
        let mut own = Pending { faults: Vec::new(), bases: Vec::new(), root: Node::empty_table() };
        match syntax::parse(&source.text, syntax, 0) {
            Ok(root) => own.take(root, folder, syntax),
            Err(faults) => {
                self.unread = true;
                own.faults = faults.into_iter().map(Pending::fault).collect();
            }
        }
        own
    }

    fn push(&mut self, mut source: SourceText, own: Pending) {
        let index = self.layers.len();
        let mut root = own.root;
        renumber(&mut root, index);
        if root.table().is_none_or(indexmap::IndexMap::is_empty) {
            secret::mask_unread(&mut source.text);
        }
        for (problem, range) in own.faults {
            let at = range.map(|range| (index, range));
            let problem = if at.is_some() {
                problem
            } else {
                Problem { message: format!("`{}`: {}", source.name, problem.message), ..problem }
            };
            self.found.push(Found { problem, at });
        }
        self.layers.push(Layer::new(Origin::File, source, root));
    }
}

/// A file that is being read.
struct Pending {
    faults: Vec<(Problem, Option<Range<usize>>)>,
    bases: Vec<(PathBuf, Option<Range<usize>>)>,
    root: Node,
}

impl Pending {
    fn fault(fault: syntax::Fault) -> (Problem, Option<Range<usize>>) {
        (Problem { hint: fault.hint, ..Problem::value(KeyPath::root(), fault.message) }, fault.range)
    }

    fn take(&mut self, mut root: Node, folder: &Path, syntax: Syntax) {
        self.extends(&mut root, folder);
        self.named_lists(&mut root, syntax);
        anchor(&mut root, folder);
        self.root = root;
    }

    /// Notes the base files; a value that is no list of texts is reported and dropped here, because
    /// a later layer's `extends` would hide it.
    fn extends(&mut self, root: &mut Node, folder: &Path) {
        let Some(node) = root.get("extends") else { return };
        let range = |node: &Node| node.mark.as_ref().map(|mark| mark.value.clone());
        let wrong = |node: &Node, path: KeyPath| {
            let problem = Problem::value(path, format!("expected a list of files, found {}", node.kind()));
            (problem.hint("write `extends = [\"base.toml\"]`"), range(node))
        };
        let path = KeyPath::root().key("extends");
        let mut faults = Vec::new();
        match &node.data {
            Data::List(list) => {
                for (index, node) in list.iter().enumerate() {
                    match node.text() {
                        Some(base) => self.bases.push((folder.join(base), range(node))),
                        None => faults.push(wrong(node, path.index(index))),
                    }
                }
            }
            Data::Null => {}
            _ => faults.push(wrong(node, path)),
        }
        if !faults.is_empty() {
            root.table_mut().and_then(|table| table.shift_remove("extends"));
            self.faults.append(&mut faults);
        }
    }

    /// A list that is merged by name must be a list in a file.
    fn named_lists(&mut self, root: &mut Node, syntax: Syntax) {
        for path in NAMED_LISTS {
            let path = path.iter().fold(KeyPath::root(), |path, key| path.key(*key));
            let Some(node) = root.at(&path).filter(|node| node.table().is_some()) else { continue };
            let mark = node.mark.clone();
            if let (Some(table), Some(Segment::Key(key))) =
                (root.at_mut(&path.parent()).and_then(Node::table_mut), path.segments().last())
            {
                table.shift_remove(key);
            }
            let hint = match syntax {
                Syntax::Toml => format!("write `[[{path}]]` before each entry"),
                Syntax::Yaml => "begin each entry with `- name: …`".to_owned(),
            };
            let problem = Problem::key(path, "expected a list of tables, found a table").hint(hint);
            self.faults.push((problem, mark.map(|mark| mark.key.unwrap_or(mark.value))));
        }
    }
}

fn read_text(file: &Path) -> Result<String, String> {
    let most = syntax::MOST_BYTES as u64;
    let mut bytes = Vec::new();
    let reader = fs_err::File::open(file).map_err(|error| error.to_string())?;
    reader.take(most + 1).read_to_end(&mut bytes).map_err(|error| format!("`{}`: {error}", file.display()))?;
    if bytes.len() as u64 > most {
        return Err(format!(
            "`{}` has more than {most} bytes, the most that is read (limit `scenario_bytes`)",
            file.display()
        ));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("`{}` is not UTF-8 text (byte {at})", file.display())
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Joins path-valued keys with the folder of the file that wrote them.
fn anchor(root: &mut Node, folder: &Path) {
    for pattern in PATHS {
        let reached: Vec<KeyPath> = root.matching(pattern).into_iter().map(|(path, _)| path).collect();
        for path in reached {
            match root.at_mut(&path).map(|node| &mut node.data) {
                Some(Data::Text(text)) => join(folder, text),
                Some(Data::List(list)) => {
                    for node in list {
                        if let Data::Text(text) = &mut node.data {
                            join(folder, text);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

fn join(folder: &Path, text: &mut String) {
    if !text.contains("://") && !text.starts_with("data:") {
        *text = folder.join(&*text).display().to_string();
    }
}

fn renumber(node: &mut Node, layer: usize) {
    if let Some(mark) = &mut node.mark {
        mark.layer = layer;
    }
    match &mut node.data {
        Data::List(list) => list.iter_mut().for_each(|node| renumber(node, layer)),
        Data::Table(table) => table.values_mut().for_each(|node| renumber(node, layer)),
        _ => {}
    }
}
